"""One vocabulary over partial contexts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.labels import as_labels
from phcle.contexts.relational.data import RelationalContext
from phcle.errors import ContextError, some

__all__ = ["Aligned", "Context", "align"]

Context = RelationalContext | DescriptiveContext


@dataclass(frozen=True)
class Aligned:
    """Contexts and the labels that any of them knows, in order of appearance."""

    labels: tuple[str, ...]
    relational: tuple[RelationalContext, ...]
    descriptive: tuple[DescriptiveContext, ...]

    @property
    def contexts(self) -> tuple[Context, ...]:
        """All contexts, relational ones first."""
        return (*self.relational, *self.descriptive)


def align(
    contexts: Context | Iterable[Context],
    *,
    labels: Iterable[Any] | None = None,
    complete_only: bool = False,
    must_inform: bool = True,
) -> Aligned:
    """Join contexts by label; the vocabulary is the union of what they name.

    `labels` restricts and orders the vocabulary. `complete_only` keeps the labels that
    every context observes. With `must_inform`, a context or a label without any
    information is refused by name.
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
    given = [
        context.naming_also(vocabulary)
        if isinstance(context, RelationalContext)
        else context
        for context in given
    ]
    if must_inform or complete_only:
        vocabulary = _informed(given, vocabulary, complete_only, must_inform)
    return Aligned(
        vocabulary,
        tuple(c for c in given if isinstance(c, RelationalContext)),
        tuple(c for c in given if isinstance(c, DescriptiveContext)),
    )


def _informed(
    contexts: Sequence[Context],
    vocabulary: tuple[str, ...],
    complete_only: bool,
    must_inform: bool,
) -> tuple[str, ...]:
    """The labels to keep, after a look at what the contexts say about them."""
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
            raise ContextError(
                f"context {context.name!r} relates no two labels, so it says nothing; "
                "leave it out, or add the edges that join its labels."
            )
        if labels.isdisjoint(vocabulary):
            raise ContextError(
                f"context {context.name!r} says nothing about any of the labels "
                f"{some(vocabulary)}; leave it out, or check how it spells its labels."
            )


def _check_contexts(contexts: Context | Iterable[Context]) -> Sequence[Context]:
    if isinstance(contexts, (RelationalContext, DescriptiveContext)):
        contexts = [contexts]
    given = list(contexts)
    if not given:
        raise ContextError("at least one context is needed. Got none.")
    for context in given:
        if not isinstance(context, (RelationalContext, DescriptiveContext)):
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
