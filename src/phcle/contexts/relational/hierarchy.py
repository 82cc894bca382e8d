"""The ways to turn a taxonomy into counts.

`HierarchyCounts` is the recipe that turns a `Hierarchy` into relational counts. The
context keeps it, so that labels added after the fit are counted in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from phcle.contexts.labels import index_of, positions_of
from phcle.contexts.matrices import take_columns
from phcle.contexts.relational.taxonomy import Hierarchy
from phcle.errors import ContextWarning, OptionError, did_you_mean, some

DENSE_LIMIT = 5_000
"""Up to this many labels, every pair with a common ancestor may be counted. The 25
million pairs of 5000 labels still fit into memory."""

LARGE_GROUP = 100
"""Above `DENSE_LIMIT`, ancestors of more labels than this do not link pairs of labels.
They are too general to say much, and their pairs would fill the memory."""

Named = tuple[tuple[str, ...], sp.csr_array]


@dataclass(frozen=True)
class HierarchyCounts:
    """How a hierarchy becomes counts; see `RelationalContext.from_hierarchy`.

    Attributes
    ----------
    hierarchy : Hierarchy
        The taxonomy.
    kind : {"ancestors", "path"}
        How labels are related.
    decay : float or None
        How slowly weights fall with distance; None is the default of the kind.
    radius : int or None
        Longest path that counts; None counts any.
    labels_are_fixed : bool
        Whether the user chose the labels. If not, other contexts may add nodes as
        labels.
    """

    hierarchy: Hierarchy
    kind: str = "ancestors"
    decay: float | None = None
    radius: int | None = None
    labels_are_fixed: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            instead = INSTEAD.get(str(self.kind))
            advice = did_you_mean(str(self.kind), KINDS)
            if instead is not None:
                advice = f" This kind is gone; {instead!r} comes closest to it."
            raise OptionError(
                f"kind must be one of {', '.join(map(repr, KINDS))}. "
                f"Got {self.kind!r} instead.{advice}"
            )
        if self.decay is not None and not self.decay > 0:
            raise OptionError(f"decay must be above 0. Got {self.decay!r} instead.")
        if self.radius is not None and not (
            isinstance(self.radius, (int, np.integer)) and self.radius >= 1
        ):
            raise OptionError(
                "radius must be a whole number, 1 or more. "
                f"Got {self.radius!r} instead."
            )
        if self.radius is not None and self.kind != "path":
            raise OptionError(
                f"radius has no meaning for kind={self.kind!r}, only for 'path'; leave "
                "it out."
            )

    def count(self, labels: Sequence[str]) -> Named:
        """Count labels.

        Parameters
        ----------
        labels : sequence of str
            Nodes of the hierarchy.

        Returns
        -------
        columns : tuple of str
            Nodes or labels that are counted with the labels.
        counts : csr_array of shape (labels, columns)
            Their weights.
        """
        columns, counts = KINDS[self.kind](self, labels)
        if self.kind == "path":  # the columns are labels
            return columns, counts
        # A node of a single label says nothing about how labels relate.
        n_labels = np.bincount(counts.indices, minlength=len(columns))
        used = np.flatnonzero(n_labels > 1)
        return tuple(columns[i] for i in used), sp.csr_array(counts[:, used])

    def extended(self, new: Hierarchy, *, name: str) -> HierarchyCounts:
        """Add edges to the hierarchy.

        Parameters
        ----------
        new : Hierarchy
            The new edges.
        name : str
            Name of the context, for messages.

        Returns
        -------
        HierarchyCounts
            The same recipe on the larger hierarchy.
        """
        return replace(self, hierarchy=self.hierarchy.extended(new, name=name))

    def count_on(
        self, labels: Sequence[str], *, trained: Sequence[str], columns: Sequence[str]
    ) -> sp.csr_array:
        """Count labels that are added later on the columns of a fit.

        Parameters
        ----------
        labels : sequence of str
            The new labels, nodes of the hierarchy.
        trained : sequence of str
            Labels of the fit.
        columns : sequence of str
            Columns of the fit.

        Returns
        -------
        csr_array of shape (labels, columns)
            The counts of the new labels.
        """
        everyone = tuple(labels)
        if self.kind == "path":
            at_fit = (label for label in trained if label in self.hierarchy.index)
            everyone = tuple(dict.fromkeys((*at_fit, *labels)))
        found, counts = KINDS[self.kind](self, everyone)
        own = counts[positions_of(labels, index_of(everyone))]
        return take_columns(own, positions_of(columns, index_of(found)))


def _count_ancestors(recipe: HierarchyCounts, labels: Sequence[str]) -> Named:
    """Columns are the internal nodes at or above a label: exp(−steps/decay)."""
    tree, decay = recipe.hierarchy, recipe.decay or 4.0
    rows, nodes, steps = tree.ancestor_distances(labels)
    internal = tree.has_children[nodes]
    used, columns = np.unique(nodes[internal], return_inverse=True)
    weights = np.exp(-steps[internal] / decay)
    counts = sp.csr_array(
        (weights, (rows[internal], columns)), shape=(len(labels), len(used))
    )
    return tuple(tree.nodes[i] for i in used), counts


def _count_paths(recipe: HierarchyCounts, labels: Sequence[str]) -> Named:
    """Columns are labels: exp(−path/decay), where paths lead over a common ancestor."""
    n, decay = len(labels), recipe.decay or 2.0
    steps = _linking_ancestors(recipe.hierarchy, labels)  # (labels, nodes), plus one
    below = sp.csr_array(steps.T)  # (nodes, labels)
    farthest = np.iinfo(np.int32).max
    path = np.full(n, farthest, dtype=np.int32)  # from one label to every other
    indices, weights, indptr = [], [], [0]
    for row in range(n):
        groups = []
        for entry in range(steps.indptr[row], steps.indptr[row + 1]):
            node, up = steps.indices[entry], steps.data[entry]
            members = slice(below.indptr[node], below.indptr[node + 1])
            group = below.indices[members]
            # Both step counts are stored plus one.
            path[group] = np.minimum(path[group], up + below.data[members] - 2)
            groups.append(group)
        if sum(map(len, groups)) < n:
            near = np.unique(np.concatenate([below.indices[:0], *groups]))
        else:  # checking all labels is faster than sorting this many
            near = np.flatnonzero(path < farthest)
        near_path = path[near]
        path[near] = farthest  # reset for the next label
        kept = near != row  # a label does not occur with itself
        if recipe.radius is not None:
            kept &= near_path <= recipe.radius
        indices.append(near[kept])
        weights.append(np.exp(-near_path[kept] / decay))
        indptr.append(indptr[-1] + len(indices[-1]))
    counts = sp.csr_array(
        (np.concatenate(weights), np.concatenate(indices), indptr), shape=(n, n)
    )
    return tuple(labels), counts


def _linking_ancestors(tree: Hierarchy, labels: Sequence[str]) -> sp.csr_array:
    """Steps up to each node that links labels, plus one: (labels, nodes).

    A node links labels if it is above at least two of them. If there are many labels,
    it must not be above too many; a warning names the labels that are left without
    links.
    """
    n = len(labels)
    rows, nodes, steps = tree.ancestor_distances(labels)
    n_labels = np.bincount(nodes, minlength=len(tree.nodes))
    most = n if n <= DENSE_LIMIT else LARGE_GROUP
    linking = (n_labels[nodes] > 1) & (n_labels[nodes] <= most)
    n_links = np.bincount(rows[linking], minlength=n)
    if n > DENSE_LIMIT and not n_links.all():
        lost = [labels[i] for i in np.flatnonzero(n_links == 0).tolist()]
        warnings.warn(
            f"{len(lost)} of {n} labels share only ancestors of more than "
            f"{LARGE_GROUP} labels, too many to link in pairs, and get no links: "
            f"{some(lost)}; kind='ancestors' has no such limit.",
            ContextWarning,
            stacklevel=6,
        )
    return sp.csr_array(
        ((steps[linking] + 1).astype(np.int32), (rows[linking], nodes[linking])),
        shape=(n, len(tree.nodes)),
    )


KINDS: dict[str, Callable[[HierarchyCounts, Sequence[str]], Named]] = {
    "ancestors": _count_ancestors,
    "path": _count_paths,
}
"""Functions that count, by kind. The first kind is the default."""

INSTEAD = {"shared": "path", "walks": "ancestors"}
"""Kinds that are gone, and what comes closest to them."""
