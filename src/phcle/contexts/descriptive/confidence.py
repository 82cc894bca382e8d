"""How sure a predicted value is.

Curves turn a prediction into what a user can rely on:

- whether a label has an attribute (a yes, a tag, or a number above the mean): a
  logistic curve in the prediction gives the chance;
- which value of a category it has: a softmax over its values gives chances that add up
  to one;
- which number: a factor corrects it, the mean of the label's family has a share in it,
  and an interval holds 80 of 100 truths.

There are two sets of curves: one for gaps of labels that the table describes in part,
and one for labels that it does not describe at all. `confidence_learning` learns both
from cells that were hidden from trial fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.matrices import check_array, check_number
from phcle.files.tensor_store import TensorStore

MARGIN = 1e-3
"""Shares of labels are kept this far from 0 and 1, where the logit is infinite. So an
attribute is never taken for rarer than 1 in 1000."""

BLOCK, MOST_DESCRIBED = 1_000, 10_000
"""Rows whose cosines are computed at once, and most described labels that they are
compared with: 40 MB. If there are more, some of them stand for all."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves of all columns of a table. Predictions are in standard deviations.

    Attributes
    ----------
    intercept, slope : arrays of shape (columns,)
        The log odds of having the attribute, or the log of a category's value up to a
        constant, are intercept + slope · prediction.
    low, high : arrays of shape (columns,)
        Ends of the interval around a number; NaN where no number was hidden.
    tilt, family : arrays of shape (columns,)
        A number is (1 - family) · tilt · prediction + family · mean of the family.
        Where no family is known, it is tilt · prediction.
    widening : float
        Logarithm of how much wider intervals are without any support.
    least_support : float
        Predictions with less support than this are drawn to the mean: nothing as far
        from the described labels was seen in the trials.
    n_values : int
        Number of hidden cells that the curves were learned from.
    """

    intercept: Floats
    slope: Floats
    low: Floats
    high: Floats
    tilt: Floats
    family: Floats
    widening: float
    least_support: float
    n_values: int

    @classmethod
    def plain(
        cls, intercept: Floats, slope: Floats, least_support: float, n_values: int
    ) -> Self:
        """Make curves that leave numbers as they are, without intervals.

        Parameters
        ----------
        intercept, slope : arrays of shape (columns,)
            Of the chances.
        least_support : float
            Support below which predictions are drawn to the mean.
        n_values : int
            Number of hidden cells.

        Returns
        -------
        Curves
            The curves.
        """
        n = len(intercept)
        nothing, tilt, family = np.full(n, np.nan), np.ones(n), np.zeros(n)
        return cls(
            intercept,
            slope,
            nothing,
            nothing,
            tilt,
            family,
            0.0,
            least_support,
            n_values,
        )

    def on_columns(self, at: Ints) -> Curves:
        """Return the curves of some columns.

        Parameters
        ----------
        at : array of int
            Positions of the columns.

        Returns
        -------
        Curves
            Their curves.
        """
        return replace(
            self,
            intercept=self.intercept[at],
            slope=self.slope[at],
            low=self.low[at],
            high=self.high[at],
            tilt=self.tilt[at],
            family=self.family[at],
        )


@dataclass(frozen=True, eq=False)
class Read:
    """What predictions of a table mean, in standard deviations from the mean.

    Attributes
    ----------
    chance : array of shape (labels, columns)
        Probability that a label has the attribute, or this value of a category.
    number : array of shape (labels, columns)
        Predicted numbers.
    low, high : arrays of shape (labels, columns)
        80 % intervals of them; NaN where none was learned.
    """

    chance: Floats
    number: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Calibration:
    """Turns predictions of a table into chances, numbers and intervals.

    Attributes
    ----------
    presence : array of shape (columns,)
        Share of the known labels that have each attribute.
    deviation : array of shape (columns,)
        Standard deviation of each column, on the scale of the fit.
    gaps : Curves
        For gaps of labels that the table describes in part.
    alone : Curves
        For labels that the table does not describe.
    """

    presence: Floats
    deviation: Floats
    gaps: Curves
    alone: Curves = field(repr=False)

    @property
    def n_values(self) -> int:
        """Number of hidden cells that the curves were learned from."""
        return self.gaps.n_values + self.alone.n_values

    @property
    def asks_family(self) -> bool:
        """Whether the family of a label has a share in any number."""
        return any((x.family > 0).any() for x in (self.gaps, self.alone))

    def check(self, n_columns: int, what: str) -> None:
        """Refuse what a damaged or forged file may hold.

        Parameters
        ----------
        n_columns : int
            Number of columns of the table.
        what : str
            The calibration, for messages.
        """
        for array in (self.presence, self.deviation):
            check_array(array, (n_columns,), what)
        for curves in (self.gaps, self.alone):
            for x in fields(curves):
                value = getattr(curves, x.name)
                if x.name in ("low", "high"):  # NaN where no number was hidden
                    value = np.nan_to_num(value)
                if not isinstance(value, np.ndarray):
                    check_number(value, what)
                else:
                    check_array(value, (n_columns,), what)

    def on_columns(self, at: Ints) -> Calibration:
        """Return the calibration of some columns.

        Parameters
        ----------
        at : array of int
            Positions of the columns.

        Returns
        -------
        Calibration
            Their calibration.
        """
        return Calibration(
            self.presence[at],
            self.deviation[at],
            self.gaps.on_columns(at),
            self.alone.on_columns(at),
        )

    def read(
        self,
        steps: Floats,
        table: Sequence[Field],
        is_described: Flags,
        supports: Floats,
        family: Floats | None = None,
    ) -> Read:
        """Read predictions.

        Parameters
        ----------
        steps : array of shape (labels, columns)
            Predictions, in standard deviations from the mean.
        table : sequence of Field
            Fields of the table.
        is_described : array of bool of shape (labels,)
            Labels of which the table knows a cell.
        supports : array of shape (labels,)
            Support of each label.
        family : array of shape (labels, columns), optional
            Means of their families, in standard deviations from the mean of the
            column; NaN where none is known. By default none is.

        Returns
        -------
        Read
            Chances, numbers and intervals.
        """
        found = Read(*(np.empty_like(steps) for _ in range(4)))
        for curves, rows in ((self.gaps, is_described), (self.alone, ~is_described)):
            if rows.any():
                own = None if family is None else family[rows]
                _read(curves, steps[rows], table, supports[rows], own, found, rows)
        return found


def _read(
    curves: Curves,
    steps: Floats,
    table: Sequence[Field],
    supports: Floats,
    family: Floats | None,
    found: Read,
    rows: Flags,
) -> None:
    """Read some rows with their curves."""
    least = curves.least_support
    trust = np.ones(len(supports))
    if least > 0:  # half the cosine, half the trust
        trust = np.minimum(supports / least, 1.0) ** 0.25
    steps = trust[:, None] * steps
    logs = curves.intercept + curves.slope * steps
    chance = 1 / (1 + np.exp(-np.clip(logs, -50, 50)))
    for each in table:
        if each.kind == "category":
            chance[:, each.at] = softmax(logs[:, each.at])
    found.chance[rows] = chance
    number = with_family(curves.tilt * steps, family, curves.family)
    width = np.exp(curves.widening * (1 - supports))[:, None]
    found.number[rows] = number
    found.low[rows] = number + curves.low * width
    found.high[rows] = number + curves.high * width


def with_family(number: Floats, family: Floats | None, share: Floats) -> Floats:
    """Give the mean of the family a share in numbers.

    Parameters
    ----------
    number : array
        Numbers without the family.
    family : array of the same shape, or None
        Means of the families; NaN where none is known.
    share : array
        Shares of the families, from 0 to 1.

    Returns
    -------
    array
        The numbers; unchanged where no family is known.
    """
    if family is None:
        return number
    return np.where(np.isnan(family), number, number + share * (family - number))


def steps_per_unit(scale: Floats, deviation: Floats) -> Floats:
    """Compute how many standard deviations one unit of the fit is.

    Parameters
    ----------
    scale : array of shape (columns,)
        Scale of each column.
    deviation : array of shape (columns,)
        Standard deviation of each column.

    Returns
    -------
    array of shape (columns,)
        The ratios; 0 for a constant column.
    """
    nothing = np.zeros(len(deviation))
    return np.divide(scale, deviation, out=nothing, where=deviation > 0)


def softmax(logs: Floats) -> Floats:
    """Turn logs of shares into shares that add up to one.

    Parameters
    ----------
    logs : array of shape (rows, values)
        Logarithms, up to a constant in each row.

    Returns
    -------
    array of shape (rows, values)
        Shares.
    """
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def support(
    vectors: AnyFloats,
    described: AnyFloats,
    own: Ints | None = None,
) -> Floats:
    """Compute the support of vectors: how near another described label is.

    Parameters
    ----------
    vectors : array of shape (rows, dim)
        Label vectors.
    described : array of shape (labels, dim)
        Vectors of labels that the context describes.
    own : array of int of shape (rows,), optional
        Position of each row among the described labels, where it does not count; -1
        if it is none of them.

    Returns
    -------
    array of shape (rows,)
        The fourth power of the cosine with the nearest other described label.
    """
    return Described(described).support(vectors, own)


class Described:
    """Labels that a context describes, prepared for many questions about support.

    Parameters
    ----------
    vectors : array of shape (labels, dim)
        Their vectors.
    """

    def __init__(self, vectors: AnyFloats) -> None:
        self.step = -(-len(vectors) // MOST_DESCRIBED) or 1
        self.units = _unit(vectors[:: self.step])

    def support(self, vectors: AnyFloats, own: Ints | None = None) -> Floats:
        """Compute the support of vectors, as the function `support` does.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.
        own : array of int of shape (rows,), optional
            Position of each row among the described labels; -1 if it is none of them.

        Returns
        -------
        array of shape (rows,)
            The support.
        """
        step = self.step
        if own is None:
            own = np.full(len(vectors), -1)
        own = np.where((own >= 0) & (own % step == 0), own // step, -1)
        best = np.zeros(len(vectors))
        room = np.empty((min(BLOCK, len(vectors)), len(self.units)), np.float32)
        for start in range(0, len(vectors), BLOCK):
            block = slice(start, start + BLOCK)
            units = _unit(vectors[block])
            cosine = np.matmul(units, self.units.T, out=room[: len(units)])
            is_own = np.flatnonzero(own[block] >= 0)
            cosine[is_own, own[block][is_own]] = 0.0
            best[block] = cosine.max(axis=1, initial=0.0)
        return best**4


def _unit(vectors: AnyFloats) -> npt.NDArray[np.float32]:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), np.float32)


def logit(share: Floats) -> Floats:
    """Compute log odds that stay finite.

    Parameters
    ----------
    share : array
        Numbers from 0 to 1.

    Returns
    -------
    array
        Log odds, of the same shape.
    """
    inside = np.clip(share, MARGIN, 1 - MARGIN)
    return np.asarray(np.log(inside / (1 - inside)))


CURVES = ("intercept", "slope", "low", "high", "tilt", "family")
CURVE_NUMBERS = ("widening", "least_support", "n_values")
"""Parts of a calibration's curves that a file stores as arrays, and as JSON."""


def pack_calibration(calibration: Calibration, store: TensorStore) -> dict[str, Any]:
    """Put a calibration into the store of a file.

    Parameters
    ----------
    calibration : Calibration
        The curves of a context.
    store : TensorStore
        Where to put its arrays.

    Returns
    -------
    dict
        Its numbers, which JSON can store.
    """
    store["presence"] = calibration.presence
    store["deviation"] = calibration.deviation
    packed = {}
    for name in ("gaps", "alone"):
        curves = getattr(calibration, name)
        store[name] = np.stack([getattr(curves, x) for x in CURVES])
        packed[name] = {x: getattr(curves, x) for x in CURVE_NUMBERS}
    return packed


def unpack_calibration(packed: Mapping[str, Any], store: TensorStore) -> Calibration:
    """Make the calibration that a file stores.

    Parameters
    ----------
    packed : mapping
        What `pack_calibration` returned.
    store : TensorStore
        Its arrays.

    Returns
    -------
    Calibration
        The calibration, not checked yet.
    """
    presence, deviation = store["presence"], store["deviation"]
    found = []
    for name in ("gaps", "alone"):
        numbers = {x: packed[name][x] for x in CURVE_NUMBERS}
        found.append(Curves(*store[name], **numbers))
    return Calibration(presence, deviation, *found)
