"""Join contexts that know different labels into one vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from phcle.contexts.base import Context
from phcle.contexts.labels import as_labels
from phcle.errors import ContextError, some

__all__ = ["Aligned", "align"]


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
        Refuse contexts and labels about which nothing is known.

    Returns
    -------
    Aligned
        The contexts and their common vocabulary.
    """
    given = _check_contexts(contexts)
    if labels is None:
        vocabulary = tuple(
            dict.fromkeys(chain.from_iterable(context.labels for context in given))
        )
    else:
        vocabulary = as_labels(labels, "labels")
        if not vocabulary:
            raise ContextError("labels= is empty; name the labels to embed.")
    given = [context.naming_also(vocabulary) for context in given]
    if must_inform or complete_only:
        vocabulary = _informed(given, vocabulary, complete_only, must_inform)
    return Aligned(vocabulary, tuple(sorted(given, key=lambda c: c.order)))


def _informed(
    contexts: Sequence[Context],
    vocabulary: tuple[str, ...],
    complete_only: bool,
    must_inform: bool,
) -> tuple[str, ...]:
    """The labels to keep, given what the contexts know about them."""
    observed = [set(context.observed_labels) for context in contexts]
    if must_inform:
        _refuse_empty(contexts, observed, vocabulary)
    if complete_only:
        vocabulary = tuple(x for x in vocabulary if all(x in seen for seen in observed))
        if not vocabulary:
            raise ContextError(
                "complete_only=True keeps the labels that are in every context, and "
                "there are none; check that the contexts use the same labels."
            )
    known = set().union(*observed)
    unknown = [x for x in vocabulary if x not in known]
    if unknown and must_inform:
        raise ContextError(
            f"no context says anything about {len(unknown)} of {len(vocabulary)} "
            f"labels: {some(unknown)}; leave them out, or describe them in a context."
        )
    return vocabulary


def _refuse_empty(
    contexts: Sequence[Context],
    observed: Sequence[set[str]],
    vocabulary: Sequence[str],
) -> None:
    for context, labels in zip(contexts, observed, strict=True):
        if not labels:
            raise context.empty_error()
        if labels.isdisjoint(vocabulary):
            raise ContextError(
                f"context {context.name!r} says nothing about any of the labels "
                f"{some(vocabulary)}; leave it out, or check the spelling of labels."
            )


def _check_contexts(contexts: Context | Iterable[Context]) -> Sequence[Context]:
    if isinstance(contexts, Context):
        contexts = [contexts]
    given = list(contexts)
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
