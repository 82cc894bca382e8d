"""Look up what was predicted for the labels of an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.family_means import TIE, FamilyMeans, Groups
from phcle.contexts.labels import index_of

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding
    from phcle.embedding.predictions import TablePredictions

ROUNDING = 1e-5
"""Share of a column's range by which stored numbers may be off."""

TAIL = 1.2816
"""Deviations of a normal distribution at the ends of an interval of 80 %."""


class FamilyValues:
    """What the families of an embedding's labels say about the fields of a context.

    It is the mean of a number (the geometric mean of one on a log scale), or the most
    common value, of the nearest group of a hierarchy that knows any.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding.
    context : PredictingContext
        One of its contexts.
    groups : Groups, optional
        What `FamilyValues.groups_of` returns, for use with several contexts.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        context: PredictingContext,
        groups: Groups | None = None,
    ) -> None:
        groups = self.groups_of(embedding) if groups is None else groups
        self.context = context
        self.means: FamilyMeans | None = None
        if groups.steps and context.data is not None:
            position = index_of(embedding.labels)
            inside = [x for x in context.data.labels if x in position]
            matrix = context.data.on_fit_scale().matrix
            if len(inside) < len(context.data.labels):
                matrix = matrix.take([context.data.index[x] for x in inside])
            rows = np.array([position[x] for x in inside], dtype=np.int64)
            self.means = FamilyMeans(matrix, groups, rows)

    @staticmethod
    def groups_of(embedding: LabelEmbedding) -> Groups:
        """Find the groups of all labels of an embedding.

        Parameters
        ----------
        embedding : LabelEmbedding
            An embedding.

        Returns
        -------
        Groups
            The groups of all its hierarchies; none if it has no hierarchy.
        """
        return Groups.of_contexts(embedding.labels, embedding.contexts)

    def at(
        self, labels: Ints, fields: Sequence[Field]
    ) -> list[Sequence[float | bool | str | None]]:
        """Say what the families of some labels say.

        Parameters
        ----------
        labels : array of int
            Positions of the labels in the embedding.
        fields : sequence of Field
            The fields asked for.

        Returns
        -------
        list of sequence
            For each field the values of all labels; None where the family knows none.
        """
        if self.means is None:
            return [[None] * len(labels) for _ in fields]
        found = self.means.at(labels)
        return [self._read(field, found[:, field.at]) for field in fields]

    def _read(self, field: Field, means: Floats) -> list[float | bool | str | None]:
        """One value for each label from its means."""
        assert self.means is not None
        at = field.at
        is_known = ~np.isnan(means[:, 0])
        if field.kind == "number":
            numbers = self.context.of_field(field).in_units(means)
            found: list[Any] = numbers[:, 0].tolist()
        else:
            means = means + TIE * (self.means.overall[at] - means)
            if field.kind == "category":
                best = np.nan_to_num(means, nan=-1.0).argmax(axis=1)
                found = [field.values[i] for i in best.tolist()]
            else:
                found = (means[:, 0] > 0.5).tolist()
        return [x if known else None for x, known in zip(found, is_known, strict=True)]


@dataclass(frozen=True, eq=False)
class Reading:
    """What a context predicts, in the user's units.

    Attributes
    ----------
    values : array of shape (rows, columns)
        Numbers, and probabilities of tags, of values of categories and of a yes.
    chance : array of the same shape, or None
        The same probabilities; of a number, that it is above the mean. None if the fit
        predicted nothing.
    low, high : arrays of the same shape, or None
        Intervals of numbers; NaN elsewhere.
    """

    values: Floats
    chance: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None


def read_vectors(context: PredictingContext, vectors: AnyFloats) -> Reading:
    """Read what a context predicts for vectors, from the vectors alone.

    Parameters
    ----------
    context : PredictingContext
        The context.
    vectors : array of shape (rows, dim)
        Any vectors.

    Returns
    -------
    Reading
        Values without chances.
    """
    return Reading(context.predict(vectors))


def read_predictions(
    embedding: LabelEmbedding,
    context: PredictingContext,
    rows: Ints,
    *,
    field: Field | None = None,
) -> Reading:
    """Look up what was predicted for labels.

    Of a known cell it is what was predicted without it.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : PredictingContext
        One of its contexts.
    rows : array of int
        Rows of the labels.
    field : Field, optional
        Read one field only; by default all columns.

    Returns
    -------
    Reading
        What was predicted. Without predictions, what the vectors say.
    """
    if embedding.base is not None and not embedding.is_within_base:
        rows, embedding = rows + len(embedding.base), embedding.with_base
        context = next(x for x in embedding.predicting if x.name == context.name)
    own = context if field is None else context.of_field(field)
    columns = slice(None) if field is None else field.at
    found = read_stored(embedding, context)
    if found is None:
        return read_vectors(own, embedding.vectors[rows])
    chances = getattr(found, "chances", None)
    if chances is not None:
        chance = sp.csr_array(chances[rows])[:, columns].toarray().astype(np.float64)
        return Reading(chance, chance)
    chance = found.shares[rows][:, columns].astype(np.float64)  # type: ignore[union-attr]
    at = [n for n, x in enumerate(context.fields) if field is None or x.at == field.at]
    numbers = [n for n in at if context.fields[n].kind == "number"]
    place = np.flatnonzero(own.is_number)
    low, high = (np.full(chance.shape, np.nan) for _ in range(2))
    values = chance.copy()
    if len(place):
        steps = [getattr(found, x)[rows][:, numbers] for x in ("step", "low", "high")]
        step, *ends = (x.astype(np.float64) for x in steps)
        width = np.maximum(ends[1] - ends[0], 1e-12) / (2 * TAIL)
        chance[:, place] = ndtr(step / width)
        for into, said in zip((values, low, high), (step, *ends), strict=True):
            whole = np.zeros(chance.shape)
            whole[:, place] = said
            into[:, place] = own.in_units(whole * own.scale + own.offset)[:, place]
        _snap(own, place, low, high)
    return Reading(values, chance, low, high)


def _snap(own: PredictingContext, place: Ints, low: Floats, high: Floats) -> None:
    """Ends that rounding moved off the smallest or largest known number lie on it."""
    if own.data is None:  # a field of which nothing is known
        return
    with np.errstate(invalid="ignore"):
        scaled_low, scaled_high = own.on_fit_scale(low), own.on_fit_scale(high)
    whole = own.data.on_fit_scale().matrix
    for at in place.tolist():
        known, scaled = own.data.matrix.column(at), whole.column(at)
        if np.isnan(known).all():
            continue
        least, most = np.nanmin(scaled), np.nanmax(scaled)
        near = ROUNDING * (most - least)
        low[np.abs(scaled_low[:, at] - least) <= near, at] = np.nanmin(known)
        high[np.abs(scaled_high[:, at] - most) <= near, at] = np.nanmax(known)


def read_stored(
    embedding: LabelEmbedding, context: PredictingContext
) -> TablePredictions | None:
    """Return the predictions of a context; None if the fit predicted nothing.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : PredictingContext
        One of its contexts.

    Returns
    -------
    Predictions or TagPredictions or None
        One row for each label.
    """
    if not embedding.predictions:
        return None
    from phcle.embedding.completion import predictions_of  # scikit-learn is slow

    return predictions_of(embedding, context)


_rows: WeakKeyDictionary[LabelEmbedding, dict[str, Ints]] = WeakKeyDictionary()
"""What `rows_of_data` found: questions about single labels come one after the other."""


def rows_of_data(embedding: LabelEmbedding, context: PredictingContext) -> Ints:
    """Find the rows of the labels that a context lists; they are found once.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : PredictingContext
        One of its contexts.

    Returns
    -------
    array of int
        For each label of the context's data its row, or −1.
    """
    kept = _rows.setdefault(embedding, {})
    if context.name not in kept:
        labels = () if context.data is None else context.data.labels
        row_of = embedding.row_of
        kept[context.name] = np.array([row_of.get(x, -1) for x in labels], np.int64)
    return kept[context.name]
