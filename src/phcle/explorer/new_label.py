"""A label that somebody makes up on a page: contexts from a form, then fold-in."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.base import Context
from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.contexts.descriptive.reencoding import Words
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, PhcleWarning
from phcle.explorer.workspace import Opened
from phcle.uses import named_answers as answers
from phcle.uses.attribute_search import descriptive_context
from phcle.uses.node_names import NodeNames

__all__ = ["NewLabel", "Value", "land", "landed", "sort_of"]

N_EXPLAINED = 3
N_PLACED_BY = 5

_WARNINGS = threading.Lock()  # which ones are caught is a setting of the process


@dataclass(frozen=True)
class Value:
    """One attribute of a new label; 1 and 0 for a tag that it has and has not."""

    context: str
    column: str
    value: float


@dataclass(frozen=True)
class NewLabel:
    """All that is known about a label that is not in the embedding."""

    label: str
    name: str | None = None
    parents: Sequence[str] = ()  # nodes of the hierarchy
    values: Sequence[Value] = ()
    texts: Mapping[str, str] = field(default_factory=dict)  # by context


def sort_of(context: FittedDescriptive) -> str:
    """How values of a context are given: as tags, words of a text, or numbers."""
    if isinstance(context.source, Words):
        return "text"
    is_sparse = context.data is not None and context.data.is_sparse
    return "tags" if is_sparse else "numbers"


def land(opened: Opened, new: NewLabel) -> tuple[LabelEmbedding, list[str]]:
    """The embedding with the new label in it, and what was said on the way."""
    from phcle import fold_in

    label = new.label.strip()
    if not label:
        raise ContextError("a new label needs an id. Got nothing; type one.")
    if label in opened.embedding:
        raise ContextError(
            f"{label!r} is in the embedding already; give the new label another id."
        )
    contexts = _contexts(opened, new, label)
    names = {label: new.name.strip()} if new.name and new.name.strip() else {}
    with _WARNINGS, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PhcleWarning)
        later = fold_in(opened.embedding, contexts, names=names)
    notes = [str(x.message) for x in caught if issubclass(x.category, PhcleWarning)]
    return opened.embedding.joined(later), notes


def landed(opened: Opened, new: NewLabel, k: int) -> dict[str, Any]:
    """Where a new label lands: its neighbours and why, attributes, place on the map."""
    whole, notes = land(opened, new)
    label = whole.labels[-1]
    found = answers.nearest_labels(whole, label, k)
    near = [each["label"] for each in found["neighbours"]]
    described = answers.description(whole, label, 12)
    return {
        **found,
        "observed": described["observed"],
        "predicted": described["predicted"],
        "contexts": described["contexts"],
        "why": [answers.explanation(whole, label, x, 5) for x in near[:N_EXPLAINED]],
        "place": _place(opened, found["neighbours"][:N_PLACED_BY]),
        "notes": notes,
    }


def _place(opened: Opened, near: Sequence[Mapping[str, Any]]) -> list[float]:
    """Between the nearest labels, closer to the more similar ones."""
    rows = [opened.neighbours.position(each["label"]) for each in near]
    weight = np.array([max(each["similarity"], 0.0) ** 4 for each in near]) + 1e-9
    place = (opened.places[rows] * weight[:, None]).sum(axis=0) / weight.sum()
    return [float(x) for x in place]


def _contexts(opened: Opened, new: NewLabel, label: str) -> list[Context]:
    embedding = opened.embedding
    found: list[Context] = []
    if new.parents:
        if opened.taxonomy is None:
            raise ContextError(
                "this embedding has no hierarchy, so a label can have no parent in it."
            )
        name, tree = opened.taxonomy
        nodes = NodeNames(embedding, tree)
        edges = [(label, nodes.node_called(parent)) for parent in new.parents]
        if label in tree.index:
            raise ContextError(
                f"{label!r} is a node of the hierarchy already; give another id."
            )
        found.append(
            RelationalContext.from_hierarchy(list(dict.fromkeys(edges)), name=name)
        )
    by_context: dict[str, dict[str, float]] = {}
    for each in new.values:
        context = descriptive_context(embedding, each.context)
        context.only(each.column)  # refuses a column that is not there
        by_context.setdefault(each.context, {})[each.column] = each.value
    for name, values in by_context.items():
        columns = tuple(values)
        numbers = np.array([[values[column] for column in columns]])
        # Whatever was not picked is unknown, not absent.
        found.append(DescriptiveContext(name, (label,), columns, numbers))
    for name, text in new.texts.items():
        if not text.strip():
            continue
        context = descriptive_context(embedding, name)
        if sort_of(context) != "text":
            raise ContextError(f"{name!r} takes no text; pick attributes of it.")
        if name in by_context:
            raise ContextError(
                f"{name!r} has a text and single words as well; give one of them."
            )
        found.append(
            DescriptiveContext.from_texts({label: text}, name=name, min_count=1)
        )
    if not found:
        raise ContextError(
            f"nothing is known about {label!r}; pick a parent, an attribute or more."
        )
    return found
