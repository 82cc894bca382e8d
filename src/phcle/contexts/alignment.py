"""Join contexts that know different labels into one vocabulary."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phcle.arrays import Flags
from phcle.contexts.counts import RelationalContext
from phcle.contexts.family import FamilyContext
from phcle.contexts.labels import (
    as_labels,
    normal,
    positions_of,
    some_names,
    union_of,
)
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.errors import ContextError, ContextWarning, check_choice, did_you_mean, some
from phcle.tables.matching import MATCH_MODES, LabelMatch, LabelSource, match_labels

KINDS: dict[str, type[Context]] = {
    kind.kind: kind for kind in (RelationalContext, FamilyContext, DescriptiveContext)
}
"""Every kind of context, by the name that files use."""


@dataclass(frozen=True)
class Aligned:
    """Contexts and their common vocabulary.

    Attributes
    ----------
    labels : tuple of str
        The labels that any context names.
    contexts : tuple of Context
        The contexts, ordered by kind.
    """

    labels: tuple[str, ...]
    contexts: tuple[Context, ...]


@dataclass(frozen=True)
class Matched:
    """Contexts whose labels are spelled alike.

    Attributes
    ----------
    contexts : tuple of Context
        The contexts, in the given order.
    labels : tuple of str or None
        The labels to embed; None for all.
    names : dict
        Readable names by label.
    match : LabelMatch
        What was joined, and what may be joined.
    """

    contexts: tuple[Context, ...]
    labels: tuple[str, ...] | None
    names: dict[str, str]
    match: LabelMatch


def match_contexts(
    contexts: Context | Iterable[Context],
    *,
    labels: Iterable[Any] | None = None,
    names: Mapping[str, str] | None = None,
    mode: str = "safe",
    synonyms: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    known: LabelSource | None = None,
) -> Matched:
    """Spell labels alike that differ only in case, spaces or Unicode form.

    Parameters
    ----------
    contexts : Context or iterable of Context
        What is known about the labels.
    labels : iterable of str, optional
        The labels to embed. Their spelling wins, then that of the first context.
    names : mapping from str to str, optional
        Readable names by label.
    mode : {"safe", "exact"}, default "safe"
        Whether labels are joined.
    synonyms : mapping from str to str, optional
        Labels by other spellings of them.
    titles : mapping from str to str, optional
        What a report calls a context, by its name, and "labels" and "names". Contexts
        with the same title come from one file.
    known : LabelSource, optional
        Labels whose spelling wins over all others.

    Returns
    -------
    Matched
        The contexts, labels and names in one spelling.

    Examples
    --------
    >>> from phcle import DescriptiveContext, RelationalContext
    >>> tree = RelationalContext.from_hierarchy([("Beds", "Home"), ("Sofas", "Home")])
    >>> looks = DescriptiveContext.from_tags({"BEDS": ["soft"]}, name="looks")
    >>> found = match_contexts([tree, looks])
    >>> found.contexts[1].labels, found.match.spellings
    (('Beds',), {'BEDS': 'Beds'})
    """
    check_choice("match", mode, MATCH_MODES)
    given = _check_contexts(contexts)
    called = titles or {}
    asked = None if labels is None else as_labels(labels, "labels")
    readable = {normal(label): name for label, name in (names or {}).items()}
    sources = [] if known is None else [known]
    if asked is not None:
        title = called.get("labels", "labels")
        sources.append(LabelSource(title, asked, role="labels"))
    files: defaultdict[str, list[Context]] = defaultdict(list)
    for context in given:
        files[called.get(context.name, context.name)].append(context)
    for title, own in files.items():
        trees = [context.nodes or context.labels for context in own]
        nodes = union_of(trees) if any(context.nodes for context in own) else ()
        sources.append(LabelSource(title, union_of([x.labels for x in own]), nodes))
    if readable:
        title = called.get("names", "names")
        sources.append(LabelSource(title, tuple(readable), role="names"))
    other = {normal(x).strip(): y for x, y in (synonyms or {}).items()}
    match = match_labels(sources, mode=mode, synonyms=other)
    spellings = match.spellings
    if asked is not None:
        asked = tuple(dict.fromkeys(spellings.get(x, x) for x in asked))
    names_now: dict[str, str] = {}
    for label, name in readable.items():
        names_now.setdefault(spellings.get(label, label), name)
    now = tuple(
        context
        if spellings.keys().isdisjoint(context.nodes or context.labels)
        else context.renamed(spellings)
        for context in given
    )
    return Matched(now, asked, names_now, match)


def align(
    contexts: Context | Iterable[Context],
    *,
    labels: Iterable[Any] | None = None,
    complete_only: bool = False,
    must_inform: bool = True,
) -> Aligned:
    """Join contexts by label; the vocabulary is the union of their labels.

    Parameters
    ----------
    contexts : Context or iterable of Context
        What is known about the labels.
    labels : iterable of str, optional
        The vocabulary, in this order. By default all labels of all contexts.
    complete_only : bool, default False
        Keep only labels that every context knows.
    must_inform : bool, default True
        Refuse contexts that know none of the labels, and what `labels` names and no
        context knows. Other labels that no context knows are left out with a warning.

    Returns
    -------
    Aligned
        The contexts and their common vocabulary.
    """
    given = _check_contexts(contexts)
    if labels is None:
        vocabulary = union_of([context.labels for context in given])
    else:
        vocabulary = as_labels(labels, "labels")
        if not vocabulary:
            raise ContextError("labels= is empty; name the labels to embed.")
    given = [context.naming_also(vocabulary) for context in given]
    aligned = Aligned(vocabulary, tuple(sorted(given, key=lambda c: c.order)))
    if not (must_inform or complete_only):
        return aligned
    observed = [observed_among(context, vocabulary) for context in given]
    if must_inform:
        for context, seen in zip(given, observed, strict=True):
            if not context.has_values.any():
                raise context.empty_error()
            if not seen.any():
                raise ContextError(
                    f"context {context.name!r} says nothing about any of the labels "
                    f"{some(vocabulary)}; leave it out, or check the spelling of "
                    "labels."
                )
    kept = (np.all if complete_only else np.any)(observed, axis=0)
    if complete_only and not kept.any():
        raise ContextError(
            "complete_only=True keeps the labels that are in every context, and "
            "there are none; check that the contexts use the same labels."
        )
    if kept.all():
        return aligned
    if not complete_only:
        unknown = some_names(vocabulary, np.flatnonzero(~kept))
        said = f"no context says anything about {len(unknown)} of {len(kept)} labels"
        if labels is not None:
            known = set().union(*(context.observed_labels for context in given))
            raise ContextError(
                f"{said}: {some(unknown)}; leave them out, or describe them in a "
                f"context.{did_you_mean(unknown[0], known)}"
            )
        warnings.warn(
            f"{said}, which are left out: {some(unknown)}.",
            ContextWarning,
            stacklevel=3,
        )
    return replace(aligned, labels=some_names(vocabulary, np.flatnonzero(kept)))


def observed_among(context: Context, vocabulary: Sequence[str]) -> Flags:
    """Tell which labels of a vocabulary a context knows something about.

    Parameters
    ----------
    context : Context
        The context.
    vocabulary : sequence of str
        The labels.

    Returns
    -------
    array of bool of shape (labels,)
        True where the context has a count or a known value.
    """
    if context.labels == vocabulary:
        return context.has_values
    at = positions_of(vocabulary, context.index)
    has_values = np.append(context.has_values, False)  # −1 means the last one
    return np.asarray(has_values[at])


def _check_contexts(contexts: Context | Iterable[Context]) -> Sequence[Context]:
    if isinstance(contexts, Context):
        contexts = [contexts]
    # What is not iterable is refused below, as one thing that is no context.
    given = list(contexts if isinstance(contexts, Iterable) else [contexts])
    if not given:
        raise ContextError("at least one context is needed. Got none.")
    for context in given:
        if not isinstance(context, Context):
            raise ContextError(
                "a context must be a RelationalContext or a DescriptiveContext. "
                f"Got {type(context).__name__} instead; see their from_… constructors."
            )
    names = [context.name for context in given]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ContextError(
            f"contexts must have different names, but {some(sorted(repeated))} "
            "occurs more than once; give each one name=."
        )
    return given
