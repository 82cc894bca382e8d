"""Read the predictions of a context for labels or vectors of an embedding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.confidence import Described
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.family_means import TIE, FamilyMeans, Groups
from phcle.contexts.labels import index_of

if TYPE_CHECKING:
    from phcle.contexts.base.predicting_context import PredictingContext
    from phcle.contexts.descriptive.fields import Field
    from phcle.embedding.label_embedding import LabelEmbedding


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
        self.is_log = context.is_log
        self.means: FamilyMeans | None = None
        if groups.steps and context.data is not None:
            position = index_of(embedding.labels)
            inside = [x for x in context.data.labels if x in position]
            matrix = context.data.matrix.with_logs(context.is_log)
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
            numbers = np.exp(means[:, 0]) if self.is_log[at.start] else means[:, 0]
            found: list[Any] = numbers.tolist()
        else:
            means = means + TIE * (self.means.overall[at] - means)
            if field.kind == "category":
                best = np.nan_to_num(means, nan=-1.0).argmax(axis=1)
                found = [field.values[i] for i in best.tolist()]
            else:
                found = (means[:, 0] > 0.5).tolist()
        return [x if known else None for x, known in zip(found, is_known, strict=True)]


if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding


@dataclass(frozen=True, eq=False)
class Reading:
    """What a context predicts, in the user's units.

    Attributes
    ----------
    values : array of shape (labels, columns)
        Predicted numbers. In columns that hold yes or no, tags or values of a category:
        their probabilities, if the context is calibrated.
    chance : array of shape (labels, columns), or None
        Probability that a label has the attribute: a yes, the tag, this value of the
        category, or a number above the mean. None without a calibration.
    low, high : arrays of shape (labels, columns), or None
        Intervals that hold the number in 80 of 100 cases; NaN where none was learned.
    """

    values: Floats
    chance: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None


def read_predictions(
    embedding: LabelEmbedding,
    context: PredictingContext,
    vectors: AnyFloats,
    labels: Sequence[str | None],
    *,
    field: Field | None = None,
    supports: Floats | None = None,
    rows: Ints | None = None,
) -> Reading:
    """Read what a context predicts.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : PredictingContext
        One of `embedding.predicting`.
    vectors : array of shape (labels, dim)
        Vectors in the space of the embedding.
    labels : sequence of str or None
        The label of each vector; None for a vector that belongs to none.
    field : Field, optional
        The only field to read; by default all are read.
    supports : array of shape (labels,), optional
        What `support_of` returns, if it is known already.
    rows : array of int of shape (labels,), optional
        Rows of the labels in the embedding, if they are known. Faster for many labels.

    Returns
    -------
    Reading
        Values, probabilities and intervals.
    """
    if supports is None and context.calibration is not None:
        supports = support_of(embedding, context, vectors, labels)
    own = context if field is None else context.of_field(field)
    if supports is None or own.calibration is None:
        return Reading(own.predict(vectors))
    known = _described(embedding, context)
    if rows is None:
        is_described = np.array([x in known.labels for x in labels], dtype=bool)
        rows = np.array([embedding.row_of.get(x or "", -1) for x in labels], np.int64)
    else:
        is_described = known.is_described[rows]
    columns = slice(None) if field is None else field.at
    family = _family_of(embedding, context, rows, columns)
    found = own.read(vectors, is_described, supports, family)
    values = np.where(own.is_number, found.number, found.chance)
    return Reading(values, found.chance, found.low, found.high)


def support_of(
    embedding: LabelEmbedding,
    context: PredictingContext,
    vectors: AnyFloats,
    labels: Sequence[str | None],
) -> Floats | None:
    """Compute how near every vector is to another label that the context describes.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context : PredictingContext
        One of `embedding.predicting`.
    vectors : array of shape (labels, dim)
        Vectors in the space of the embedding.
    labels : sequence of str or None
        The label of each vector; None for a vector that belongs to none.

    Returns
    -------
    array of shape (labels,), or None
        From 0 to 1. None if no label that the context describes is in the embedding.
    """
    known = _described(embedding, context)
    if not known.position:
        return None
    own = np.array(
        [-1 if label is None else known.position.get(label, -1) for label in labels]
    )
    return known.vectors.support(vectors, own)


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
        For each label of its data the row in the embedding, or −1.
    """
    return _described(embedding, context).data_rows


def _family_of(
    embedding: LabelEmbedding,
    context: PredictingContext,
    rows: Ints,
    columns: slice,
) -> Floats | None:
    """Means of the families of labels, on the scale of the fit; NaN if unknown.

    None if families have no share in the numbers of the context.
    """
    if context.calibration is None or not context.calibration.asks_family:
        return None
    means = _described(embedding, context).family_means(embedding, context)
    if means is None:
        return None
    found = np.full((len(rows), len(context.columns[columns])), np.nan)
    found[rows >= 0] = means.at(rows[rows >= 0], columns)
    return found


class _Known:
    """The labels that a context describes, and those of them in the embedding."""

    def __init__(self, embedding: LabelEmbedding, context: PredictingContext) -> None:
        self.labels = frozenset(context.observed_labels)
        found = [x for x in context.observed_labels if x in embedding]
        self.position = index_of(found)
        vectors = embedding.select(found).vectors if found else embedding.vectors[:0]
        self.vectors = Described(vectors)
        self.is_described = np.zeros(len(embedding), dtype=bool)
        self.is_described[[embedding.row_of[x] for x in found]] = True
        labels = () if context.data is None else context.data.labels
        row_of = embedding.row_of
        self.data_rows = np.array([row_of.get(x, -1) for x in labels], np.int64)
        self._families: FamilyValues | None = None

    def family_means(
        self, embedding: LabelEmbedding, context: PredictingContext
    ) -> FamilyMeans | None:
        """What families say; None without a hierarchy. Found at the first call."""
        if self._families is None:
            self._families = FamilyValues(embedding, context)
        return self._families.means


_kept: WeakKeyDictionary[LabelEmbedding, dict[str, _Known]] = WeakKeyDictionary()
"""What `_described` found: questions about single labels come one after the other."""


def _described(embedding: LabelEmbedding, context: PredictingContext) -> _Known:
    """What a context describes; found once for each embedding."""
    kept = _kept.setdefault(embedding, {})
    if context.name not in kept:
        kept[context.name] = _Known(embedding, context)
    return kept[context.name]


ROWS_AT_ONCE = 10_000
"""Labels of a step: a fraction of a second."""

Supports = dict[str, Floats]


def fill_supports(
    embedding: LabelEmbedding,
    supports: Supports,
    *,
    whole: LabelEmbedding | None = None,
) -> Iterator[tuple[int, int]]:
    """Compute the supports of all calibrated contexts that are not there yet.

    Predictions of attributes are surer near described labels. For many labels this
    takes seconds to minutes, so whoever asks can show how far it is, and stop in
    between.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    supports : dict from str to array
        Supports by name of the context; new ones are put into it when they are whole.
        Labels of contexts that describe no label have a support of zero.
    whole : LabelEmbedding or None, default None
        The embedding that this one is a sample of, if any; its described labels count.

    Yields
    ------
    tuple of (int, int)
        Labels done and all labels of the present context, before each step.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> tags = {"cat": ["fur"], "dog": ["fur"], "carp": ["fins"], "eel": ["fins"]}
    >>> tags = DescriptiveContext.from_tags(tags, name="looks")
    >>> supports: Supports = {}
    >>> embedding = PHCLE(dim=2).fit([tags]).embedding_
    >>> list(fill_supports(embedding, supports)), sorted(supports)
    ([], [])
    """
    n, done = len(embedding), dict[tuple[str, ...], str]()
    for context in embedding.predicting:
        if context.calibration is None:
            continue
        described = tuple(context.observed_labels)
        if context.name not in supports:
            if described in done:  # tables of the same labels have the same support
                supports[context.name] = supports[done[described]]
                continue
            found = np.zeros(n)
            for start in range(0, n, ROWS_AT_ONCE):
                yield start, n
                part = slice(start, start + ROWS_AT_ONCE)
                own = support_of(
                    embedding if whole is None else whole,
                    context,
                    embedding.vectors[part],
                    embedding.labels[part],
                )
                if own is not None:
                    found[part] = own
            supports[context.name] = found
        done[described] = context.name
