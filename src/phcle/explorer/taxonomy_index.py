"""Parents, children and labels of every node of a taxonomy, found without a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from phcle.contexts.relational.taxonomy import Hierarchy

__all__ = ["TaxonomyIndex"]

Ints = npt.NDArray[np.int64]


class TaxonomyIndex:
    """Walks a taxonomy up and down.

    Parameters
    ----------
    tree : Hierarchy
        The taxonomy.
    labels : sequence of str
        The labels of the embedding.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal")])
    >>> index = TaxonomyIndex(tree, ("dog", "cat", "eel"))
    >>> index.children("pet"), index.parents("pet"), index.rows_below("animal").tolist()
    (['cat', 'dog'], ['animal'], [0, 1])
    """

    def __init__(self, tree: Hierarchy, labels: Sequence[str]) -> None:
        self.tree = tree
        n = len(tree.nodes)
        self._down = _Grouped(tree.edges[:, 1], tree.edges[:, 0], n)
        self._up = _Grouped(tree.edges[:, 0], tree.edges[:, 1], n)
        self._row_of = np.full(n, -1, np.int64)
        for row, label in enumerate(labels):
            node = tree.index.get(label)
            if node is not None:
                self._row_of[node] = row

    def children(self, node: str) -> list[str]:
        """List the children of a node.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        list of str
            Its children, in the order of the taxonomy.
        """
        return self._named(self._down.of(self.tree.index[node]))

    def parents(self, node: str) -> list[str]:
        """List the parents of a node.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        list of str
            Its parents, in the order of the taxonomy.
        """
        return self._named(self._up.of(self.tree.index[node]))

    def path(self, node: str) -> list[str]:
        """Find the way from a root down to a node, along first parents.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        list of str
            The nodes, the root first.
        """
        found = [node]
        while above := self.parents(found[-1]):
            found.append(above[0])
        return found[::-1]

    def rows_below(self, node: str) -> Ints:
        """Find the labels below a node, with the node itself if it is one.

        Parameters
        ----------
        node : str
            A node.

        Returns
        -------
        array of int
            Rows of the labels in the embedding, in ascending order.
        """
        level = np.array([self.tree.index[node]], np.int64)
        is_seen = np.zeros(len(self.tree.nodes), dtype=bool)
        while len(level):
            is_seen[level] = True
            level = np.unique(self._down.of_all(level))
            level = level[~is_seen[level]]
        rows = self._row_of[is_seen]
        return np.sort(rows[rows >= 0])

    def _named(self, nodes: Ints) -> list[str]:
        return [self.tree.nodes[i] for i in nodes.tolist()]


class _Grouped:
    """Values by key, in the order in which they came."""

    def __init__(self, keys: Ints, values: Ints, n: int) -> None:
        order = np.argsort(keys, kind="stable")
        self.values = np.asarray(values[order], np.int64)
        self.starts = np.searchsorted(keys[order], np.arange(n + 1))

    def of(self, key: int) -> Ints:
        """Values of one key."""
        return self.values[self.starts[key] : self.starts[key + 1]]

    def of_all(self, keys: Ints) -> Ints:
        """Values of several keys, one after the other."""
        counts = self.starts[keys + 1] - self.starts[keys]
        before = np.repeat(np.cumsum(counts) - counts, counts)
        at = np.arange(counts.sum()) - before + np.repeat(self.starts[keys], counts)
        return np.asarray(self.values[at])
