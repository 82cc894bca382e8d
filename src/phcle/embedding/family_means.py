"""Means over families: the simple rule for the unknown cells of a label.

The family is the nearest group of a hierarchy, from the parent upwards, in which
another label has a known value. The label itself is left out.

Readers read means by parts of labels instead: a known cell sees what its family
says without the labels of its part. A mean that leaves out only the label itself falls
as the label's value rises, and readers would read that backwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import Floats, Ints
from phcle.contexts.gaps import Gaps
from phcle.contexts.hierarchy import Hierarchy

if TYPE_CHECKING:
    from phcle.contexts.protocol import Context


TIE = 1e-6
"""Weight of the overall mean in a group's mean: it decides between equal values."""

LEVELS = 3
"""Nearest levels of a hierarchy whose plain means readers are given."""

PULLS = (0.3, 1.0, 3.0, 10.0)
"""How many labels the level above may count for; known cells choose, by column."""

MOST_WITH_FAMILIES = 200_000
"""Labels above which families have no share in predictions, and pages do not say what
they say: groups of more labels take gigabytes."""

Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of labels, from the nearest to the farthest.

    Parameters
    ----------
    steps : tuple of csr_array of shape (labels, groups)
        For each distance, ones where a label is in a group at that distance. A label
        that has others below it is a group itself, at distance 0.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("cat", "pet"), ("dog", "pet")])
    >>> len(Groups.of(["cat", "dog", "fly"], [tree]).steps)
    2
    """

    steps: tuple[sp.csr_array, ...]

    @classmethod
    def of(cls, labels: Sequence[str], hierarchies: Iterable[Hierarchy]) -> Groups:
        """Find the groups of labels in hierarchies.

        Parameters
        ----------
        labels : sequence of str
            The labels; those that are in no hierarchy are in no group.
        hierarchies : iterable of Hierarchy
            The hierarchies. Groups at the same distance are joined.

        Returns
        -------
        Groups
            The groups that have at least two labels.
        """
        empty = np.zeros(0, dtype=np.int64)
        found: list[tuple[Ints, Ints, Ints]] = [(empty, empty, empty)]
        n_nodes = 0
        for tree in hierarchies:
            inside = [i for i, label in enumerate(labels) if label in tree.index]
            rows, nodes, steps = tree.ancestor_distances([labels[i] for i in inside])
            rows = np.array(inside, dtype=np.int64)[rows]
            found.append((rows, nodes + n_nodes, steps))
            n_nodes += len(tree.nodes)
        rows, nodes, steps = (np.concatenate(x) for x in zip(*found, strict=True))
        # Without the label itself, a group of one label has no member.
        chosen = np.bincount(nodes, minlength=n_nodes)[nodes] > 1
        rows, steps = rows[chosen], steps[chosen]
        groups, nodes = np.unique(nodes[chosen], return_inverse=True)
        shape = len(labels), len(groups)
        each = [steps == step for step in range(int(steps.max(initial=-1)) + 1)]
        ones = [(np.ones(at.sum()), (rows[at], nodes[at])) for at in each]
        return cls(tuple(sp.csr_array(x, shape=shape) for x in ones))

    @classmethod
    def of_contexts(cls, labels: Sequence[str], contexts: Iterable[Context]) -> Groups:
        """Find the groups of labels in the hierarchies of contexts.

        Parameters
        ----------
        labels : sequence of str
            The labels.
        contexts : iterable of Context
            The contexts.

        Returns
        -------
        Groups
            The groups; none without a hierarchy.
        """
        # A hierarchy with two roles is there twice, under one name.
        trees = {x.given_name: x.hierarchy for x in contexts if x.hierarchy}
        return cls.of(labels, (x for x in trees.values() if x is not None))


class FamilyMeans:
    """Means over the nearest group in which another label has a known value.

    Sums and counts of all groups are computed once, and means when they are asked for.

    Parameters
    ----------
    values : Gaps of shape (members, columns)
        The known values, on the scale on which means are taken. Values that are to be
        predicted may be there: a label never sees its own.
    groups : Groups
        The groups of all labels, at least one.
    rows : array of int of shape (members,)
        Which label every row of `values` belongs to.

    Examples
    --------
    >>> from phcle.contexts.gaps import Gaps
    >>> tree = Hierarchy.from_edges([("a", "x"), ("b", "x"), ("c", "x")])
    >>> values = Gaps.of([[1.0], [3.0], [np.nan]], None, "weights")
    >>> every = np.arange(3)
    >>> means = FamilyMeans(values, Groups.of(["a", "b", "c"], [tree]), every)
    >>> means.at(every).ravel()
    array([3., 1., 2.])
    """

    def __init__(self, values: Gaps, groups: Groups, rows: Ints) -> None:
        self.values, self.steps = values, groups.steps
        self.row_of = np.full(self.steps[0].shape[0], -1)
        self.row_of[rows] = np.arange(len(rows))
        members = sum(self.steps[1:], start=self.steps[0])[rows].T
        filled, known = _filled_and_known(values)
        self.sums, self.counts = members @ filled, members @ known
        self.overall = values.moments().mean

    def at(self, labels: Ints) -> Floats:
        """Compute the means for some labels.

        Parameters
        ----------
        labels : array of int
            Positions of the labels.

        Returns
        -------
        array of shape (labels, columns)
            The means; NaN where no other label of any group has a known value.
        """
        found = np.full((len(labels), self.values.shape[1]), np.nan)
        own = self.row_of[labels]
        is_member = np.flatnonzero(own >= 0)
        own_parts = _filled_and_known(self.values.take(own[is_member]))
        own_values, own_known = map(_dense, own_parts)
        for step in self.steps:
            part = sp.csr_array(step[labels])
            counts, sums = _dense(part @ self.counts), _dense(part @ self.sums)
            times = np.diff(part.indptr)[is_member, None]  # once in every group
            counts[is_member] -= times * own_known
            sums[is_member] -= times * own_values
            is_first = np.isnan(found) & (counts > 0.5)
            np.divide(sums, counts, out=found, where=is_first)
            if not np.isnan(found).any():  # larger groups are not asked
                break
        return found


def _filled_and_known(values: Gaps) -> tuple[Any, Any]:
    """Values with zeros for missing ones, and ones where they are known.

    Sparse values stay sparse. If all of them are known, one column of ones is enough.
    """
    stored, mask = values.arrays
    if not sp.issparse(stored):
        return np.nan_to_num(stored, nan=0.0), (~np.isnan(stored)).astype(np.float64)
    return stored, np.ones((values.shape[0], 1)) if mask is None else mask


def _dense(matrix: Any) -> Floats:
    """An array of a sparse or dense matrix."""
    found = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return np.asarray(found, np.float64)


class Families:
    """Means of groups that leave out the labels of each label's own part.

    Parameters
    ----------
    groups : Groups
        The groups of all labels.
    part : array of int of shape (labels,)
        The part of each label; -1 for labels that are left out of nothing.
    values : array of shape (labels, columns)
        Known values; NaN is missing.
    centre : array of shape (columns,)
        What is said where nobody of any group is known.
    """

    def __init__(
        self, groups: Groups, part: Ints, values: Floats, centre: Floats
    ) -> None:
        self.steps = groups.steps
        self.own_steps = [_of_own_part(step, part) for step in self.steps]
        self.values, self.centre = values - centre, centre
        known = ~np.isnan(values)
        errors = [
            np.where(known, self._say(self.values, pull)[0] - self.values, 0.0)
            for pull in PULLS
        ]
        lost = [(error**2).sum(axis=0) for error in errors]
        self.pulls = np.array(PULLS)[np.argmin(lost, axis=0)]

    def mean(self, at: slice) -> Floats:
        """Say what families say about some columns.

        Parameters
        ----------
        at : slice
            The columns.

        Returns
        -------
        array of shape (labels, columns)
            Means of groups, each pulled to that of the group above.
        """
        pulled = self._say(self.values[:, at], self.pulls[at])[0]
        return np.asarray(pulled + self.centre[at], np.float64)

    def features(self, at: slice, hidden: Ints) -> Singles:
        """Say the same without some labels, and what the nearest groups say.

        Parameters
        ----------
        at : slice
            The columns.
        hidden : array of int
            Labels whose values are left out.

        Returns
        -------
        array of shape (labels, columns of at most 4 parts)
            Pulled means around the centre; then plain means of the nearest groups.
        """
        values = self.values[:, at].copy()
        values[hidden] = np.nan
        return np.hstack(self._say(values, self.pulls[at]))

    def _say(self, values: Floats, pull: Floats | float) -> list[Singles]:
        """Pulled means, and plain ones, or the pulled ones where nobody is known."""
        pulled = np.zeros(values.shape)
        if not self.steps:
            return [pulled.astype(np.float32)]
        known = ~np.isnan(values)
        both = np.hstack([np.where(known, values, 0.0), known])
        sums = sum(self.steps[1:], start=self.steps[0]).T @ both
        own_sums = sum(self.own_steps[1:], start=self.own_steps[0]).T @ both
        plain: list[Floats] = []
        for step, own_step in zip(self.steps[::-1], self.own_steps[::-1], strict=True):
            left = step @ sums - own_step @ own_sums
            total, n = left[:, : values.shape[1]], left[:, values.shape[1] :]
            pulled = (total + pull * pulled) / (n + pull)
            plain.append(np.where(n > 0.5, total / np.maximum(n, 1), np.nan))
        levels = [np.where(np.isnan(x), pulled, x) for x in plain[::-1][:LEVELS]]
        return [x.astype(np.float32) for x in (pulled, *levels)]


def _of_own_part(step: sp.csr_array, part: Ints) -> sp.csr_array:
    """Which labels are in which group, each part of a group by itself."""
    rows, at = sp.coo_array(step).coords
    inside = part[rows] >= 0
    rows, at = rows[inside], at[inside]
    n_parts = max(int(part.max(initial=-1)) + 1, 1)
    places = rows, part[rows] * step.shape[1] + at
    shape = (step.shape[0], n_parts * step.shape[1])
    return sp.csr_array((np.ones(len(rows)), places), shape=shape)
