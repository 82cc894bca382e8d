"""A label that a visitor makes up: contexts from a form, then fold-in."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from phcle.answers import as_json
from phcle.atlas.opened import Opened
from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.protocol import Context
from phcle.embedding.describe import table_called
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, PhcleWarning
from phcle.tables.new_labels import parent_called

N_NEIGHBOURS = 10
N_ATTRIBUTES = 12
"""Observed attributes, and predicted ones, that are listed."""
N_EXPLAINED = 3
"""Neighbours whose similarity is explained."""
N_COLUMNS = 5
"""Columns of each context that an explanation lists."""

# One thread at a time: recording warnings is a setting of the whole process.
_WARNINGS = threading.Lock()

Text = Annotated[str, Field(min_length=1, max_length=200)]


class NewValue(BaseModel):
    """An attribute of a new label; 1 and 0 for a tag that it has or lacks."""

    model_config = ConfigDict(extra="forbid")

    context: Text
    column: Text
    value: Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)] = 1.0


class NewLabelForm(BaseModel):
    """A label to add, and what is known about it."""

    model_config = ConfigDict(extra="forbid")

    label: Text
    name: Annotated[str, Field(max_length=200)] | None = None
    parents: Annotated[list[Text], Field(max_length=20)] = []
    values: Annotated[list[NewValue], Field(max_length=200)] = []
    texts: dict[str, Annotated[str, Field(max_length=10_000)]] = {}


def land(opened: Opened, new: NewLabelForm) -> tuple[LabelEmbedding, list[str]]:
    """Add a label to a copy of the embedding.

    Parameters
    ----------
    opened : Opened
        The embedding, which stays as it is.
    new : NewLabelForm
        The label and what is known about it.

    Returns
    -------
    LabelEmbedding
        All labels and, last, the new one.
    list of str
        Warnings about what was entered.
    """
    from phcle import fold_in

    label = new.label.strip()
    if not label:
        raise ContextError("a new label needs an id. Got nothing; type one.")
    known = opened.embedding.called.spelled(label)
    if known is not None:
        spelled = "" if known == label else f", as {known!r}"
        raise ContextError(
            f"{label!r} is in the embedding already{spelled}; give the new label "
            "another id."
        )
    contexts = _contexts(opened, new, label)
    names = {label: new.name.strip()} if new.name and new.name.strip() else {}
    with _WARNINGS, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PhcleWarning)
        later = fold_in(opened.embedding, contexts, names=names)
    notes = [str(x.message) for x in caught if issubclass(x.category, PhcleWarning)]
    return opened.embedding.joined(later), notes


def landed(
    opened: Opened, whole: LabelEmbedding, notes: Sequence[str]
) -> dict[str, Any]:
    """Say where a new label would stand.

    Parameters
    ----------
    opened : Opened
        The embedding without it.
    whole : LabelEmbedding
        All labels and, last, the new one.
    notes : sequence of str
        Warnings about what was entered.

    Returns
    -------
    dict
        Its neighbours and why, its attributes, and its place on the map.
    """
    label = whole.labels[-1]
    (found,) = whole.neighbours([label], N_NEIGHBOURS)
    described = whole.describe(label, N_ATTRIBUTES)
    why = [
        whole.explain(label, near.label, N_COLUMNS)
        for near in found.neighbours[:N_EXPLAINED]
    ]
    return {
        **as_json(found),
        "predicted": as_json(described.predicted),
        "why": as_json(why),
        "place": opened.places_near(whole.unit_vectors[-1:])[0].tolist(),
        "notes": notes,
    }


def _contexts(opened: Opened, new: NewLabelForm, label: str) -> list[Context]:
    """Make contexts of one label from what was entered."""
    embedding = opened.embedding
    found: list[Context] = []
    if new.parents:
        found.append(_hierarchy(opened, new.parents, label))
    by_context: dict[str, dict[str, float]] = {}
    for each in new.values:
        table = table_called(embedding, each.context)
        table.context.field_of(each.column)  # raises if there is no such column
        by_context.setdefault(each.context, {})[each.column] = each.value
    for name, values in by_context.items():
        columns = tuple(values)
        numbers = np.array([[values[column] for column in columns]])
        # Attributes that were not chosen are unknown, not absent.
        found.append(DescriptiveContext(name, (label,), columns, numbers))
    for name, text in new.texts.items():
        if not text.strip():
            continue
        if table_called(embedding, name).context.value_kind != "text":
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


def _hierarchy(opened: Opened, parents: Sequence[str], label: str) -> RelationalContext:
    """Make edges from the label to its parents."""
    name, tree = opened.taxonomy
    if not tree.nodes:
        raise ContextError(
            "this embedding has no hierarchy, so a label can have no parent in it."
        )
    edges = [(label, parent_called(opened.nodes, parent)) for parent in parents]
    if label in tree.index:
        raise ContextError(
            f"{label!r} is a node of the hierarchy already; give another id."
        )
    return RelationalContext.from_hierarchy(list(dict.fromkeys(edges)), name=name)
