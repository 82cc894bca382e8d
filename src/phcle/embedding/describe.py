"""Describe a label or vector by related labels and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.answers import Attribute, Description
from phcle.contexts.base import PredictingContext
from phcle.contexts.descriptive.confidence import support

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding

__all__ = [
    "Attribute",
    "Description",
    "confidences",
    "describe",
    "is_informative",
    "support_by",
]

Floats = npt.NDArray[np.float64]

LIKELY = 0.5
"""List a prediction with at least this probability, more likely than not, if its odds
are also twice those of an average label."""

POSSIBLE, RAISED = 0.02, 3.0
"""List a prediction with at least the probability POSSIBLE if it is RAISED times that
of an average label. Rare attributes are never likely, but may be likelier here."""

WAY = 0.2
"""Without a calibration, list predictions beyond this share of the way from the mean to
the largest known value. Smaller ones differ little from the mean."""

CARRIED = 0.8
"""List related labels until they carry this share of the similarity of the k nearest.
The paper takes this share of the similarity of all labels: that lists hundreds."""


def describe(
    embedding: LabelEmbedding, label_or_vector: str | npt.ArrayLike, k: int
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
        observed += _strongest(context, known, is_known, k, observed=True)
        found = []
        if context.weight > 0:
            values = context.predict(vector[None, :])[0]
            sure = confidences(embedding, context, vector[None, :])
            sure = None if sure is None else sure[0]
            informative = ~is_known & is_informative(context, values, sure)
            found = _strongest(context, values, informative, k, sure, observed=False)
        if not found and not is_known.any():
            not_predictable.append(context.name)
        predicted += found
    return Description(
        label,
        _related(embedding, vector if label is None else label, k),
        tuple(sorted(observed, key=lambda a: -a.strength)[:k]),
        tuple(sorted(predicted, key=lambda a: -a.strength)[:k]),
        {} if label is None else embedding.contexts_of(label),
        tuple(not_predictable),
    )


def confidences(
    embedding: LabelEmbedding,
    context: PredictingContext,
    vectors: npt.NDArray[np.floating],
) -> Floats | None:
    """Compute how likely every vector has every attribute of a context.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : PredictingContext
        One of `embedding.predicting`.
    vectors : array of shape (vectors, dim)
        Vectors in the space of the embedding.

    Returns
    -------
    array of shape (vectors, columns), or None
        Probabilities. None if the fit could not calibrate the context, or if no label
        that it describes is in this embedding.
    """
    if context.calibration is None:
        return None
    backed = support_by(embedding, context, vectors)
    if backed is None:
        return None
    return context.calibration.confidence(
        context.on_fit_scale(context.predict(vectors)), context.offset, backed
    )


def support_by(
    embedding: LabelEmbedding,
    context: PredictingContext,
    vectors: npt.NDArray[np.floating],
) -> Floats | None:
    """Compute how near every vector is to a label that the context describes.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : PredictingContext
        One of `embedding.predicting`.
    vectors : array of shape (vectors, dim)
        Vectors in the space of the embedding.

    Returns
    -------
    array of shape (vectors,), or None
        From 0 to 1. None if no such label is in this embedding.
    """
    described = [x for x in context.observed_labels if x in embedding]
    if not described:
        return None
    return support(vectors, embedding.select(described).vectors)


def is_informative(
    context: PredictingContext, values: Floats, sure: Floats | None
) -> npt.NDArray[np.bool_]:
    """Tell which predictions are specific to a label rather than true of most labels.

    Parameters
    ----------
    context : PredictingContext
        The context that made the predictions.
    values : array of shape (..., columns)
        Predictions, in the user's units.
    sure : array of the same shape, or None
        Their probabilities, if the context is calibrated.

    Returns
    -------
    array of bool
        Of the same shape.
    """
    if context.calibration is None or sure is None:
        reach = context.on_fit_scale(context.largest) - context.offset
        return np.asarray(context.on_fit_scale(values) - context.offset > WAY * reach)
    usual = context.calibration.presence
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
    values: Floats,
    wanted: npt.NDArray[np.bool_],
    k: int,
    sure: Floats | None = None,
    *,
    observed: bool,
) -> list[Attribute]:
    """The k values furthest above their column's mean."""
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
            None if sure is None else float(sure[i]),
        )
        for i in order
        if strength[i] > 0
    ]
