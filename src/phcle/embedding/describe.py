"""Describe a label or vector by related labels and attributes, and find it by them.

To find labels that have some attributes and lack others, each label has a probability
of having each attribute: 0 or 1 where the attribute is observed, the predicted one
elsewhere. The score of a label is the geometric mean of these probabilities, so that
many matching attributes cannot outweigh a wrong one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.answers import Attribute, Description, Neighbour, Related
from phcle.arrays import Flags, Floats
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.columns import LIKELY, Reading, Table, as_number
from phcle.errors import OptionError, did_you_mean, some

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding


POSSIBLE, RAISED = 0.02, 3.0
"""List a prediction with at least the probability POSSIBLE if it is RAISED times that
of an average label. Rare attributes are never likely, but may be likelier here. Others
must be more likely than not, and their odds twice those of an average label."""

WAY = 0.2
"""Without probabilities, list predictions beyond this share of the way from the mean to
the largest known value. Smaller ones differ little from the mean."""

CARRIED = 0.8
"""List related labels until they carry this share of the similarity of the k nearest.
The paper takes this share of the similarity of all labels: that lists hundreds."""


def describe(
    embedding: LabelEmbedding,
    label_or_vector: str | npt.ArrayLike,
    k: int,
    *,
    has_related: bool = True,
) -> Description:
    """Describe a label by its neighbours and by its k strongest attributes.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    label_or_vector : str or array of shape (dim,)
        What to describe.
    k : int
        Most neighbours, known attributes and predicted attributes to list.
    has_related : bool, default True
        Whether to search for neighbours, which takes longest with many labels.

    Returns
    -------
    Description
        What `LabelEmbedding.describe` returns.
    """
    label = name = None
    if isinstance(label_or_vector, str):
        label = embedding.resolve(label_or_vector)
        name = embedding.name_of(label)
    vector = embedding.vector_of(label_or_vector)
    observed: list[Attribute] = []
    predicted: list[Attribute] = []
    not_predictable: list[str] = []
    for table in embedding.tables.values():
        context = table.context
        if label is None:
            read = Reading.of_vectors(context, vector[None, :])
        else:
            read = table.read(np.array([embedding.row_of[label]]))
        is_known = ~np.isnan(read.known[0])
        observed += _strongest(Reading(context, read.known, read.known), is_known, k)
        found: list[Attribute] = []
        if context.weight > 0:
            sure = None if read.chance is None else read.chance[0]
            wanted = ~is_known & _is_informative(context, read.values[0], sure)
            found = _strongest(read, wanted & _is_first(context, sure), k)
        if not found and not is_known.any():
            not_predictable.append(context.name)
        predicted += found
    return Description(
        label,
        name,
        _related(embedding, label or vector, k) if has_related else (),
        tuple(sorted(observed, key=lambda a: -a.strength)[:k]),
        tuple(sorted(predicted, key=lambda a: -a.strength)[:k]),
        {} if label is None else embedding.contexts_of(label),
        tuple(not_predictable),
    )


def _is_informative(
    context: DescriptiveContext, values: Floats, sure: Floats | None
) -> Flags:
    """Which predictions are specific to a label rather than true of most labels.

    Values are in the user's units: (..., columns). Probabilities are of the same shape;
    None if the fit predicted nothing.
    """
    if sure is None:
        reach = context.on_fit_scale(context.largest) - context.offset
        return np.asarray(context.on_fit_scale(values) - context.offset > WAY * reach)
    usual = context.presence
    likely = (sure >= LIKELY) & (sure * (1 - usual) >= 2 * usual * (1 - sure))
    return np.asarray(likely | ((sure >= POSSIBLE) & (sure >= RAISED * usual)))


def _related(
    embedding: LabelEmbedding, query: str | npt.ArrayLike, k: int
) -> tuple[Related, ...]:
    """Those of the k nearest labels that carry most of their total similarity."""
    (found,) = embedding.neighbours([query], k)
    near = [x for x in found.neighbours if x.similarity > 0]
    total = sum(x.similarity for x in near)
    carried = 0.0
    kept: list[Neighbour] = []
    for each in near:
        if not kept or carried < CARRIED * total:
            carried += each.similarity
            kept.append(each)
    return tuple(Related(**vars(x), share=x.similarity / carried) for x in kept)


def _strongest(read: Reading, wanted: Flags, k: int) -> list[Attribute]:
    """The k values furthest above their column's mean."""
    context, values = read.context, read.values[0]
    above = (context.on_fit_scale(values) - context.offset) / context.scale
    strength = np.where(wanted, above, -np.inf)
    order = np.argsort(-strength, kind="stable")[:k]
    return [
        Attribute(
            context.name,
            context.columns[i],
            float(values[i]),
            float(strength[i]),
            *how_sure(read, 0, i),
        )
        for i in order
        if strength[i] > 0
    ]


def how_sure(
    read: Reading, row: int, column: int
) -> tuple[float | None, float | None, float | None]:
    """Say how sure an attribute is.

    Parameters
    ----------
    read : Reading
        What was predicted.
    row, column : int
        The label and the attribute.

    Returns
    -------
    tuple of float or None
        Probability that the label has it, or the ends of the interval of a number.
    """
    is_chance = read.chance is not None and not read.context.is_number[column]
    sure = float(read.chance[row, column]) if is_chance else None  # type: ignore[index]
    low, high = (
        None if x is None else as_number(x[row, column]) for x in (read.low, read.high)
    )
    return sure, low, high


def _is_first(context: DescriptiveContext, chance: Floats | None) -> Flags:
    """False for the values of a category that are less likely than another one."""
    is_first = np.ones(len(context.columns), dtype=bool)
    if chance is not None:
        for field in context.fields:
            if field.kind == "category":
                is_first[field.at] = False
                is_first[field.at.start + int(chance[field.at].argmax())] = True
    return is_first


def table_called(embedding: LabelEmbedding, name: str) -> Table:
    """Return a table of readable attributes by the name of its context.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    name : str
        Name of the context; an unknown one is refused.

    Returns
    -------
    Table
        The table.
    """
    if name not in embedding.tables:
        raise OptionError(
            f"no attributes are called {name!r} in this embedding."
            f"{did_you_mean(name, embedding.tables)} It has "
            f"{some(embedding.tables) or 'none'}."
        )
    return embedding.tables[name]


def attribute_probabilities(table: Table, column: str) -> Floats:
    """Say how likely all labels have an attribute.

    Parameters
    ----------
    table : Table
        The table.
    column : str
        The attribute: a column of the context; an unknown one is refused.

    Returns
    -------
    array of shape (labels,)
        1 or 0 where it is known. Else the probability of a tag, truth value or value of
        a category, or that a number is above the mean; without predictions, how far the
        value is from the mean towards the largest one.
    """
    field = table.context.field_of(column)
    read = table.read(np.arange(len(table)), field)
    own = read.context
    at = own.columns.index(column)
    known = read.known[:, at]
    is_observed = ~np.isnan(known)
    has_it = np.zeros(len(known), dtype=bool)
    if own.labels:
        least = own.matrix.threshold(own.offset)[at]
        has_it = own.on_fit_scale(read.known)[:, at] > least
    if read.chance is None:
        # The fit predicted no gaps: how far from the mean towards the largest value.
        reach = (own.on_fit_scale(own.largest) - own.offset)[at] or 1.0
        fitted = own.on_fit_scale(read.values)[:, at]
        chance = np.nan_to_num(np.clip((fitted - own.offset[at]) / reach, 0, 1))
    else:
        chance = read.chance[:, at]
    return np.where(is_observed, has_it, chance)
