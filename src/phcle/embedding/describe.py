"""What a label, or any vector, is like: related labels and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.base import PredictingContext
from phcle.contexts.descriptive.confidence import support

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding

__all__ = [
    "Attribute",
    "Description",
    "confidences",
    "describe",
    "is_telling",
    "support_by",
]

Floats = npt.NDArray[np.float64]

LIKELY = 0.5
"""A prediction is listed if it is at least this sure, and its odds are twice those of
any label, …"""
POSSIBLE, RAISED = 0.02, 3.0
"""… or at least this sure, and so many times as sure as for any label."""
WAY = 0.2
"""Without a calibration it is listed from this share of the way from the mean to the
largest value that is known of any label. Anything less says little."""

CARRIED = 0.8
"""Related labels are listed until they carry this share of the similarity."""


@dataclass(frozen=True)
class Attribute:
    """One description of a label, in the user's units."""

    context: str
    name: str
    value: float
    strength: float  # deviation from the mean, in units of the context
    observed: bool
    confidence: float | None = None
    """Chance that the label has it; None if it is known, or was not calibrated."""


@dataclass(frozen=True)
class Description:
    """Related labels with shares that sum to one, and the strongest attributes."""

    label: str | None
    related: tuple[tuple[str, float], ...]
    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    contexts: dict[str, bool]  # which contexts know the label
    untold: tuple[str, ...] = ()
    """Descriptions that the label lacks and that too little is known to predict."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "label": self.label,
            "related": [{"label": x, "share": share} for x, share in self.related],
            "observed": [_attribute(a) for a in self.observed],
            "predicted": [_attribute(a) for a in self.predicted],
            "contexts": self.contexts,
            "untold": list(self.untold),
        }


def describe(
    embedding: LabelEmbedding, label_or_vector: str | npt.ArrayLike, k: int
) -> Description:
    """Describe a label by its neighbours and by its k strongest attributes."""
    label = None
    if isinstance(label_or_vector, str):
        label = embedding.resolve(label_or_vector)
    vector = embedding.vector_of(label_or_vector)
    observed: list[Attribute] = []
    predicted: list[Attribute] = []
    untold: list[str] = []
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
            telling = ~is_known & is_telling(context, values, sure)
            found = _strongest(context, values, telling, k, sure, observed=False)
        if not found and not is_known.any():
            untold.append(context.name)
        predicted += found
    return Description(
        label,
        _related(embedding, vector if label is None else label, k),
        tuple(sorted(observed, key=lambda a: -a.strength)[:k]),
        tuple(sorted(predicted, key=lambda a: -a.strength)[:k]),
        {} if label is None else embedding.contexts_of(label),
        tuple(untold),
    )


def confidences(
    embedding: LabelEmbedding,
    context: PredictingContext,
    vectors: npt.NDArray[np.floating],
) -> Floats | None:
    """Chance of every attribute for every vector: (vectors, columns).

    None if the fit could not calibrate the context, or if no label that it describes
    is in this embedding.
    """
    if context.calibration is None:
        return None
    backed = support_by(embedding, context, vectors)
    if backed is None:
        return None
    return context.calibration.confidence(
        context.predict(vectors), context.offset, backed
    )


def support_by(
    embedding: LabelEmbedding,
    context: PredictingContext,
    vectors: npt.NDArray[np.floating],
) -> Floats | None:
    """How near every vector is to a label that the context describes: (vectors,).

    None if no such label is in this embedding.
    """
    described = [x for x in context.observed_labels if x in embedding]
    if not described:
        return None
    return support(vectors, embedding.select(described).vectors)


def is_telling(
    context: PredictingContext, values: Floats, sure: Floats | None
) -> npt.NDArray[np.bool_]:
    """Which predictions say something about this label rather than about all."""
    if context.calibration is None or sure is None:
        reach = context.largest - context.offset
        return np.asarray(values - context.offset > WAY * reach)
    usual = context.calibration.presence
    likely = (sure >= LIKELY) & (sure * (1 - usual) >= 2 * usual * (1 - sure))
    return np.asarray(likely | ((sure >= POSSIBLE) & (sure >= RAISED * usual)))


def _related(
    embedding: LabelEmbedding, query: str | npt.ArrayLike, k: int
) -> tuple[tuple[str, float], ...]:
    """Of the k nearest labels, those that carry most of their similarity."""
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
    strength = np.where(wanted, (values - context.offset) / context.scale, -np.inf)
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


def _attribute(attribute: Attribute) -> dict[str, Any]:
    return {
        "context": attribute.context,
        "name": attribute.name,
        "value": attribute.value,
        "strength": attribute.strength,
        "confidence": attribute.confidence,
    }
