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
from phcle.errors import check_choice

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
        as_known = Reading(context, read.known, read.known)
        observed += strongest(as_known, _rank(as_known, is_known), k)
        found: list[Attribute] = []
        if context.weight > 0:
            sure = None if read.chance is None else read.chance[0]
            wanted = ~is_known & _is_informative(context, read.values[0], sure)
            found = strongest(read, _rank(read, wanted), k)
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
    likely |= (sure >= POSSIBLE) & (sure >= RAISED * usual)
    for field in context.fields:  # of a category, only the likeliest value
        if field.kind == "category":
            own, best = likely[field.at], int(sure[field.at].argmax())
            own[np.arange(len(own)) != best] = False
    return likely


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


def strengths(read: Reading) -> Floats:
    """Say how far the values of the first label are above their column's mean.

    Parameters
    ----------
    read : Reading
        The values.

    Returns
    -------
    array of shape (columns,)
        Distances, in units of the context's scale.
    """
    own = read.context
    return np.asarray((own.on_fit_scale(read.values[0]) - own.offset) / own.scale)


def _rank(read: Reading, wanted: Flags) -> Floats:
    """How far values are above the mean; those of no interest come last."""
    strength = strengths(read)
    return np.where(wanted & (strength > 0), strength, -np.inf)


def strongest(read: Reading, rank: Floats, k: int) -> list[Attribute]:
    """Give the attributes of the first label that have the highest rank.

    Parameters
    ----------
    read : Reading
        Values, and how sure they are.
    rank : array of shape (columns,)
        The rank of each; those of −∞ are left out.
    k : int
        How many.

    Returns
    -------
    list of Attribute
        The attributes, best first.
    """
    own, strength = read.context, strengths(read)
    found = []
    for i in np.argsort(-rank, kind="stable")[:k]:
        if rank[i] == -np.inf:
            break
        sure = low = high = None
        if read.chance is not None and not own.is_number[i]:
            sure = float(read.chance[0, i])
        if read.low is not None and read.high is not None:
            low, high = as_number(read.low[0, i]), as_number(read.high[0, i])
        numbers = float(read.values[0, i]), float(strength[i]), sure, low, high
        found.append(Attribute(own.name, own.columns[i], *numbers))
    return found


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
    check_choice("a table", name, embedding.tables)
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
    own, at = read.context, read.context.columns.index(column)
    known, values, largest = (
        own.on_fit_scale(x)[..., at] for x in (read.known, read.values, own.largest)
    )
    chance = np.clip(
        (values - own.offset[at]) / ((largest - own.offset[at]) or 1), 0, 1
    )
    if read.chance is not None:
        chance = read.chance[:, at]
    least = own.matrix.threshold(own.offset)[at]
    return np.asarray(np.where(np.isnan(known), np.nan_to_num(chance), known > least))
