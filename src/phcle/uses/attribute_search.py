"""Labels that fit a description: some attributes wanted, others unwanted.

Each label has a chance of having each attribute: certainty where it is observed, the
calibrated prediction of the model elsewhere. A label fits as well as the geometric mean
of the chances says, so that one wrong attribute is not outweighed by many right ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.embedding.describe import is_telling, support_by
from phcle.embedding.fitted import FittedDescriptive
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, did_you_mean, some

__all__ = ["AttributeColumn", "Criterion", "Match", "attribute_column", "find_labels"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

CERTAIN = 0.98
"""What an observed attribute counts: a table may be wrong, and 0 would end it all."""


@dataclass(frozen=True, eq=False)
class AttributeColumn:
    """One attribute of all labels, observed or predicted."""

    value: Floats  # (labels,): observed, or else predicted, in the user's units
    chance: Floats  # (labels,): that the label has it; 0 or 1 where observed
    is_observed: Bools  # (labels,)
    is_telling: Bools  # (labels,): predicted so clearly that a description lists it


@dataclass(frozen=True)
class Criterion:
    """An attribute that labels shall have, or shall not have."""

    context: str
    column: str
    present: bool = True


@dataclass(frozen=True)
class Match:
    """A label, how well it fits, and the chance of each attribute asked for."""

    label: str
    score: float
    chances: tuple[tuple[float, bool], ...]  # chance of having it, is observed


def descriptive_context(embedding: LabelEmbedding, name: str) -> FittedDescriptive:
    """A descriptive context that people can read, by name."""
    known = {
        context.name: context
        for context in embedding.contexts
        if isinstance(context, FittedDescriptive) and context.readable
    }
    if name not in known:
        raise OptionError(
            f"no attributes are called {name!r} here.{did_you_mean(name, known)} "
            f"There are {some(known) or 'none'}."
        )
    return known[name]


def attribute_column(
    embedding: LabelEmbedding,
    context: str,
    column: str,
    *,
    support: Floats | None = None,
) -> AttributeColumn:
    """One attribute of all labels; `support` is that of the context, if at hand."""
    whole = descriptive_context(embedding, context)
    own = whole.only(column)
    n = len(embedding)
    observed = np.full(n, np.nan)
    if own.data is not None:
        rows = {label: i for i, label in enumerate(embedding.labels)}
        values = own.data.values
        known = np.asarray(
            values[:, 0] if isinstance(values, np.ndarray) else values.toarray()[:, 0]
        )
        if own.data.observed is not None:
            known = np.where(own.data.observed.toarray()[:, 0] > 0, known, np.nan)
        kept = [i for i, label in enumerate(own.data.labels) if label in rows]
        observed[[rows[own.data.labels[i]] for i in kept]] = known[kept]
    is_sparse = whole.data is not None and whole.data.is_sparse
    has_it = observed > (0 if is_sparse else own.offset[0])
    predicted = own.predict(embedding.vectors)  # (labels, 1)
    sure = None
    if own.calibration is not None:
        if support is None:
            support = support_by(embedding, whole, embedding.vectors)
        if support is not None:
            sure = own.calibration.confidence(predicted, own.offset, support)
    if sure is None:
        way = float(own.largest[0] - own.offset[0]) or 1.0
        chance = np.clip((predicted[:, 0] - own.offset[0]) / way, 0, 1)
    else:
        chance = sure[:, 0]
    is_observed = ~np.isnan(observed)
    telling = is_telling(own, predicted, sure)[:, 0] & (whole.weight > 0)
    return AttributeColumn(
        np.where(is_observed, observed, predicted[:, 0]),
        np.where(is_observed, has_it.astype(np.float64), chance),
        is_observed,
        telling & ~is_observed,
    )


def find_labels(
    embedding: LabelEmbedding,
    wanted: Sequence[Criterion],
    k: int = 20,
    *,
    supports: Mapping[str, Floats] | None = None,
) -> list[Match]:
    """The k labels that fit a description best, best first."""
    if not wanted:
        raise OptionError("a description needs an attribute or more. Got none.")
    columns = [
        attribute_column(
            embedding, x.context, x.column, support=(supports or {}).get(x.context)
        )
        for x in wanted
    ]
    told = np.zeros(len(embedding))
    for each, column in zip(wanted, columns, strict=True):
        right = column.chance if each.present else 1 - column.chance
        told += np.log(np.clip(right, 1 - CERTAIN, CERTAIN))
    score = np.exp(told / len(wanted))
    return [
        Match(
            embedding.labels[i],
            float(score[i]),
            tuple((float(x.chance[i]), bool(x.is_observed[i])) for x in columns),
        )
        for i in np.argsort(-score, kind="stable")[:k]
    ]
