"""What is predicted for every cell of a table, as the file stores it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit, logit

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.contexts.labels import positions_of
from phcle.contexts.matrices import check_array, check_number
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.held_out import HeldOut
from phcle.errors import ContextError
from phcle.files.container import TensorStore

Singles = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]

REASONS = 3
"""Labels that are named as the reason of a prediction."""

READ = ("step", "low", "high")
"""A number and the ends of its interval, as files call them."""

LEAST = 0.02
"""Least probability of a tag that is kept."""

MOST_STEPS = 30.0
"""No prediction counts as further from the mean, in odds."""

BY_LABEL = ("is_known", "numbers", "shares", "because", "because_share")
"""Arrays with a row for each label."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """What is predicted for a table of numbers, categories and truth values.

    Gaps hold predictions; known cells what was predicted for them without them.

    Attributes
    ----------
    is_known : array of bool of shape (labels, fields)
        Cells that the table knows.
    numbers : array of shape (labels, fields, 3)
        Numbers and the ends of their intervals, in steps of the table's scale; NaN
        elsewhere.
    shares : array of shape (labels, columns)
        Probabilities of values of categories, and of a yes; NaN elsewhere.
    because : array of int of shape (labels, fields, 3)
        Rows of the labels that speak most for a gap.
    because_share : array of shape (labels, fields, 3)
        Their shares; 0 where there is none.
    readers : tuple of str
        The readers.
    weights : array of shape (2, fields, readers)
        Their weights for labels with known cells, and for other labels.
    held : HeldOut
        What fits said of known cells without them.
    """

    is_known: Flags
    numbers: Singles
    shares: Halves
    because: npt.NDArray[np.int32]
    because_share: Halves
    readers: tuple[str, ...]
    weights: Singles
    held: HeldOut

    @classmethod
    def nothing(
        cls,
        table: DescriptiveContext,
        known: Flags,
        held: HeldOut,
        readers: Sequence[str],
    ) -> Self:
        """Make predictions of a table before any reader was asked.

        Parameters
        ----------
        table : DescriptiveContext
            The table.
        known : array of bool of shape (labels, fields)
            What the table knows.
        held : HeldOut
            What fits said of known cells without them.
        readers : sequence of str
            Names of the readers.

        Returns
        -------
        Predictions
            Nothing but what is known.
        """
        n, n_fields = known.shape
        return cls(
            known,
            numbers=np.full((n, n_fields, len(READ)), np.nan, np.float32),
            shares=np.full((n, len(table.columns)), np.nan, np.float16),
            because=np.zeros((n, n_fields, REASONS), np.int32),
            because_share=np.zeros((n, n_fields, REASONS), np.float16),
            readers=tuple(readers),
            weights=np.zeros((2, n_fields, len(readers)), np.float32),
            held=held,
        )

    def __len__(self) -> int:
        return len(self.is_known)

    def shares_of(self, rows: Ints, columns: slice) -> Floats:
        """Return the probabilities of some labels and columns.

        Parameters
        ----------
        rows : array of int
            The labels.
        columns : slice
            The columns.

        Returns
        -------
        array of shape (labels, columns)
            The probabilities.
        """
        return np.asarray(self.shares[:, columns][rows], np.float64)

    def take(self, rows: Ints) -> Self:
        """Return the predictions of some labels; reasons stay rows of all labels.

        Parameters
        ----------
        rows : array of int
            Rows of the labels.

        Returns
        -------
        Predictions
            Those of these labels.
        """
        parts: dict[str, Any] = {x: getattr(self, x)[rows] for x in BY_LABEL}
        return replace(self, **parts)

    def joined(self, later: Self) -> Self:
        """Append the predictions of labels that were added.

        Parameters
        ----------
        later : predictions of the same table
            Those of the labels that were added.

        Returns
        -------
        Predictions
            All of them.
        """
        both: dict[str, Any] = {
            x: np.concatenate([getattr(self, x), getattr(later, x)]) for x in BY_LABEL
        }
        return replace(self, **both)

    def pack(self, store: TensorStore, table: DescriptiveContext) -> dict[str, Any]:
        """Put the predictions into the store of a file; the table tells what is known.

        Numbers hold no shares and classes no intervals, and reasons are those of gaps.

        Parameters
        ----------
        store : TensorStore
            The part of the file.
        table : DescriptiveContext
            The table.

        Returns
        -------
        dict
            What JSON holds of it.
        """
        for name, array, place in self._parts(table):
            store[name] = array[place]
        self.held.pack(store)
        return {"readers": list(self.readers)}

    def _parts(self, table: DescriptiveContext) -> Iterator[tuple[str, Any, Any]]:
        """Names and arrays of what is stored, and which part of them."""
        is_number = np.array([x.kind == "number" for x in table.fields], dtype=bool)
        every, gaps = slice(None), ~self.is_known
        for i, name in enumerate(READ):
            yield name, self.numbers[..., i], (every, is_number)
        yield "shares", self.shares, (every, ~table.is_number)
        yield "because", self.because, gaps
        yield "because_share", self.because_share, gaps
        yield "mix", self.weights, every

    @classmethod
    def unpack(
        cls,
        packed: Mapping[str, Any],
        store: TensorStore,
        table: DescriptiveContext,
        known: Flags,
    ) -> Self:
        """Read what `pack` stored, and refuse what does not fit the table.

        Parameters
        ----------
        packed : mapping
            What `pack` returned.
        store : TensorStore
            The part of the file.
        table : DescriptiveContext
            The table.
        known : array of bool of shape (labels, fields)
            What the table knows.

        Returns
        -------
        Predictions
            What was stored.
        """
        n, n_fields = known.shape
        held = HeldOut.unpack(store, n, n_fields, len(table.columns))
        where, names = f"the predictions of context {table.name!r}", packed["readers"]
        if not isinstance(names, list) or not all(isinstance(x, str) for x in names):
            raise ContextError(f"{where} do not name their readers")
        found = cls.nothing(table, known, held, names)
        for name, array, place in found._parts(table):
            values = store[name]
            if values.dtype.kind != array.dtype.kind or np.isinf(values).any():
                raise ContextError(f"{where} must be finite numbers")
            # NaN is what nobody was asked.
            check_array(np.nan_to_num(values), array[place].shape, where)
            array[place] = values
        if not ((found.because >= 0) & (found.because < n)).all():
            raise ContextError(f"{where} name labels that are not there")
        return found


class TagCurve(NamedTuple):
    """A logistic curve over how common a tag is, what families and what vectors say.

    Attributes
    ----------
    start : float
        Log odds where all else is zero.
    usual, family, said, more : float
        Weights of the log odds of the tag among all labels, of those in the family, of
        what the vectors say, and of that for rare tags.
    """

    start: float
    usual: float
    family: float
    said: float
    more: float

    @classmethod
    def learn(
        cls, steps: AnyFloats, presence: Floats, family: AnyFloats, has_it: Flags
    ) -> Self:
        """Learn a curve from tags that were predicted out of fold.

        Parameters
        ----------
        steps : array of shape (cells,)
            What the vectors say: shares above the mean.
        presence : array of shape (cells,)
            Share of labels that have the tag.
        family : array of shape (cells,)
            That share in the family.
        has_it : array of shape (cells,)
            Whether the label has the tag.

        Returns
        -------
        TagCurve
            The curve. If all cells are yes, or all no, it says how common each tag is.
        """
        from sklearn.linear_model import LogisticRegression

        if has_it.all() or not has_it.any():
            return cls(0.0, 1.0, 0.0, 0.0, 0.0)
        found = LogisticRegression(C=1e3, max_iter=500)
        found.fit(_features(steps, presence, family), has_it)
        return cls(float(found.intercept_[0]), *found.coef_[0].tolist())

    def chance(
        self, steps: AnyFloats, presence: Floats, family: AnyFloats
    ) -> AnyFloats:
        """Compute probabilities.

        Parameters
        ----------
        steps, presence, family : arrays of shape (..., cells)
            As for `learn`.

        Returns
        -------
        array
            The probabilities.
        """
        found = _features(steps, presence, family) @ np.array(self[1:])
        return np.asarray(expit(found + self.start))


def _features(steps: AnyFloats, presence: Floats, family: AnyFloats) -> Floats:
    """What the curve weighs: (..., 4)."""
    usual = logit(presence)
    said = logit(np.clip(presence + steps, 0.3 * presence, 1 - 0.3 * (1 - presence)))
    clipped = logit(np.clip(family, 0.3 * presence, 1 - 0.1 * (1 - presence)))
    more = np.clip(steps / np.sqrt(presence * (1 - presence)), -MOST_STEPS, MOST_STEPS)
    parts = np.broadcast_arrays(usual, clipped - usual, said - usual, more)
    return np.stack(parts, axis=-1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class TagPredictions:
    """What is predicted for a table of tags.

    Attributes
    ----------
    probabilities : csr_array of shape (labels, tags)
        Probabilities of at least 2 % of tags that are not known.
    curve : TagCurve
        Turns what the embedding says into probabilities.
    """

    probabilities: sp.csr_array
    curve: TagCurve

    def __len__(self) -> int:
        return int(self.probabilities.shape[0])

    def shares_of(self, rows: Ints, columns: slice) -> Floats:
        """Return the probabilities of some labels and columns.

        Parameters
        ----------
        rows : array of int
            The labels.
        columns : slice
            The columns.

        Returns
        -------
        array of shape (labels, columns)
            The probabilities.
        """
        probabilities = sp.csr_array(self.probabilities[rows])[:, columns]
        return np.asarray(probabilities.toarray(), np.float64)

    def take(self, rows: Ints) -> TagPredictions:
        """Return the predictions of some labels.

        Parameters
        ----------
        rows : array of int
            Rows of the labels.

        Returns
        -------
        Predictions
            Those of these labels.
        """
        return replace(self, probabilities=sp.csr_array(self.probabilities[rows]))

    def joined(self, later: TagPredictions) -> TagPredictions:
        """Append the predictions of labels that were added.

        Parameters
        ----------
        later : predictions of the same table
            Those of the labels that were added.

        Returns
        -------
        Predictions
            All of them.
        """
        both = sp.csr_array(sp.vstack([self.probabilities, later.probabilities]))
        return replace(self, probabilities=both)

    def pack(self, store: TensorStore, table: DescriptiveContext) -> dict[str, Any]:
        """Put the predictions into the store of a file.

        Parameters
        ----------
        store : TensorStore
            The part of the file.
        table : DescriptiveContext
            The table.

        Returns
        -------
        dict
            What JSON holds of it.
        """
        store.put_sparse("chances", self.probabilities)
        return {"curve": list(self.curve)}

    @classmethod
    def unpack(
        cls,
        packed: Mapping[str, Any],
        store: TensorStore,
        table: DescriptiveContext,
        known: Flags,
    ) -> TagPredictions:
        """Read what `pack` stored, and refuse what does not fit the table.

        Parameters
        ----------
        packed : mapping
            What `pack` returned.
        store : TensorStore
            The part of the file.
        table : DescriptiveContext
            The table.
        known : array of bool of shape (labels, fields)
            What the table knows.

        Returns
        -------
        Predictions
            What was stored.
        """
        where = f"the predictions of context {table.name!r}"
        found = store.sparse("chances", len(table.columns))
        data = found.data
        if found.shape[0] != len(known) or not ((data >= 0) & (data <= 1)).all():
            raise ContextError(f"{where} are no probabilities of its tags")
        weights = packed["curve"]
        if len(weights) != len(TagCurve._fields):
            raise ContextError(f"{where} have a curve with other weights")
        for weight in weights:
            check_number(weight, f"the curve of {where}")
        return cls(found, TagCurve(*weights))


TablePredictions = Predictions | TagPredictions


def all_classes(shares: Floats) -> Floats:
    """Add the share of a no to that of a yes.

    Parameters
    ----------
    shares : array of shape (cells, outputs)
        Shares of classes, or of a yes.

    Returns
    -------
    array of shape (cells, classes)
        Shares of at least two classes.
    """
    return shares if shares.shape[1] > 1 else np.hstack([1 - shares, shares])


def known_fields(table: DescriptiveContext, labels: Sequence[str]) -> Flags:
    """Tell which fields of a table are known of each label: (labels, fields).

    Parameters
    ----------
    table : DescriptiveContext
        The table.
    labels : sequence of str
        The labels.

    Returns
    -------
    array of bool of shape (labels, fields)
        What is known.
    """
    known = np.zeros((len(labels), len(table.fields)), dtype=bool)
    at = positions_of(labels, table.index)
    for number, field in enumerate(table.fields if table.labels else ()):
        own = ~np.isnan(table.matrix.column(field.at.start))
        known[at >= 0, number] = own[at[at >= 0]]
    return known
