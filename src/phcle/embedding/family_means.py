"""Means over families: the simple rule for the unknown cells of a label.

The family is the nearest group of a hierarchy, from the parent upwards, in which
another label has a known value. The label itself is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats, Ints
from phcle.contexts.gaps import Gaps
from phcle.contexts.hierarchy import Hierarchy

if TYPE_CHECKING:
    from phcle.contexts.protocol import Context


TIE = 1e-6
"""Weight of the overall mean in a group's mean: it decides between equal values."""

MOST_WITH_FAMILIES = 200_000
"""Labels above which families have no share in predictions, and pages do not say what
they say: groups of more labels take gigabytes."""


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
        found: list[tuple[Ints, Ints, Ints]] = []
        n_nodes = 0
        for tree in hierarchies:
            inside = [i for i, label in enumerate(labels) if label in tree.index]
            rows, nodes, steps = tree.ancestor_distances([labels[i] for i in inside])
            rows = np.array(inside, dtype=np.int64)[rows]
            found.append((rows, nodes + n_nodes, steps))
            n_nodes += len(tree.nodes)
        if not found:
            return cls(())
        rows, nodes, steps = (np.concatenate(x) for x in zip(*found, strict=True))
        # Without the label itself, a group of one label has no member.
        is_group = np.bincount(nodes, minlength=n_nodes) > 1
        position = np.cumsum(is_group) - 1
        shape = (len(labels), int(is_group.sum()))
        chosen = is_group[nodes]
        rows, nodes, steps = rows[chosen], position[nodes[chosen]], steps[chosen]
        each = [steps == step for step in range(int(steps.max(initial=-1)) + 1)]
        return cls(
            tuple(
                sp.csr_array((np.ones(at.sum()), (rows[at], nodes[at])), shape=shape)
                for at in each
            )
        )

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
