"""Describe a label or vector by related labels and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.answers import Attribute, Description
from phcle.arrays import Flags, Floats
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.embedding.read import Reading, read_predictions, read_vectors

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding


LIKELY = 0.5
"""List a prediction with at least this probability, more likely than not, if its odds
are also twice those of an average label."""

POSSIBLE, RAISED = 0.02, 3.0
"""List a prediction with at least the probability POSSIBLE if it is RAISED times that
of an average label. Rare attributes are never likely, but may be likelier here."""

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
    label = None
    if isinstance(label_or_vector, str):
        label = embedding.resolve(label_or_vector)
    vector = embedding.vector_of(label_or_vector)
    observed: list[Attribute] = []
    predicted: list[Attribute] = []
    not_predictable: list[str] = []
    for context in embedding.predicting:
        known = (
            np.full(len(context.columns), np.nan)
            if label is None
            else context.observed_row(label)
        )
        is_known = ~np.isnan(known)
        given = Reading(known[None, :])
        observed += _strongest(context, given, is_known, k, observed=True)
        found = []
        if context.weight > 0:
            if label is None:
                read = read_vectors(context, vector[None, :])
            else:
                rows = np.array([embedding.row_of[label]])
                read = read_predictions(embedding, context, rows)
            sure = None if read.chance is None else read.chance[0]
            informative = ~is_known & is_informative(context, read.values[0], sure)
            informative &= _is_first(context, sure)
            found = _strongest(context, read, informative, k, observed=False)
        if not found and not is_known.any():
            not_predictable.append(context.name)
        predicted += found
    return Description(
        label,
        _related(embedding, vector if label is None else label, k)
        if has_related
        else (),
        tuple(sorted(observed, key=lambda a: -a.strength)[:k]),
        tuple(sorted(predicted, key=lambda a: -a.strength)[:k]),
        {} if label is None else embedding.contexts_of(label),
        tuple(not_predictable),
    )


def is_informative(
    context: PredictingContext, values: Floats, sure: Floats | None
) -> Flags:
    """Tell which predictions are specific to a label rather than true of most labels.

    Parameters
    ----------
    context : PredictingContext
        The context that made the predictions.
    values : array of shape (..., columns)
        Predictions, in the user's units.
    sure : array of the same shape, or None
        Their probabilities, if the fit predicted gaps.

    Returns
    -------
    array of bool
        Of the same shape.
    """
    if sure is None:
        reach = context.on_fit_scale(context.largest) - context.offset
        return np.asarray(context.on_fit_scale(values) - context.offset > WAY * reach)
    usual = context.presence
    likely = (sure >= LIKELY) & (sure * (1 - usual) >= 2 * usual * (1 - sure))
    return np.asarray(likely | ((sure >= POSSIBLE) & (sure >= RAISED * usual)))


def _related(
    embedding: LabelEmbedding, query: str | npt.ArrayLike, k: int
) -> tuple[tuple[str, float], ...]:
    """Those of the k nearest labels that carry most of their total similarity."""
    near = [(x, s) for x, s in embedding.nearest(query, k=k) if s > 0]
    total = sum(similarity for _, similarity in near)
    kept, carried = [], 0.0
    for label, similarity in near:
        kept.append((label, similarity))
        carried += similarity
        if carried >= CARRIED * total:
            break
    return tuple((label, similarity / carried) for label, similarity in kept)


def _strongest(
    context: PredictingContext,
    read: Reading,
    wanted: Flags,
    k: int,
    *,
    observed: bool,
) -> list[Attribute]:
    """The k values furthest above their column's mean."""
    values = read.values[0]
    above = (context.on_fit_scale(values) - context.offset) / context.scale
    strength = np.where(wanted, above, -np.inf)
    order = np.argsort(-strength, kind="stable")[:k]
    return [
        Attribute(
            context.name,
            context.columns[i],
            float(values[i]),
            float(strength[i]),
            observed,
            *_how_sure(context, read, i),
        )
        for i in order
        if strength[i] > 0
    ]


def _how_sure(
    context: PredictingContext, read: Reading, column: int
) -> tuple[float | None, float | None, float | None]:
    """Confidence of a value, or the interval of a number."""
    if not context.is_number[column]:
        sure = None if read.chance is None else float(read.chance[0, column])
        return sure, None, None
    if read.low is None or read.high is None or np.isnan(read.low[0, column]):
        return None, None, None
    return None, float(read.low[0, column]), float(read.high[0, column])


def _is_first(context: PredictingContext, chance: Floats | None) -> Flags:
    """False for the values of a category that are less likely than another one."""
    is_first = np.ones(len(context.columns), dtype=bool)
    if chance is not None:
        for field in context.fields:
            if field.kind == "category":
                is_first[field.at] = False
                is_first[field.at.start + int(chance[field.at].argmax())] = True
    return is_first
