"""Which nodes of a hierarchy say much about the labels below them.

A node above nearly everything, such as "physical entity", is no reason why two labels
are alike. The fewer labels a node is above, the more it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from phcle.contexts.relational.taxonomy import Hierarchy

__all__ = ["SpecificNodes"]

GENERAL = 0.5
"""A node above more than this share of the labels is general: most pairs share it."""

FEWEST = 20
"""With fewer labels no node is general: two of three labels may be a small group."""

MOST = 5_000
"""Most labels that are looked at, evenly taken. It takes a second for these."""


class SpecificNodes:
    """Shares of labels at or below the nodes of a hierarchy.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy.
    labels : sequence of str
        The labels to count; those outside the hierarchy are below no node.
    """

    def __init__(self, hierarchy: Hierarchy, labels: Sequence[str]) -> None:
        looked_at = labels[:: len(labels) // MOST + 1]
        inside = [label for label in looked_at if label in hierarchy.index]
        _, nodes, _ = hierarchy.ancestor_distances(inside)
        n_below = np.bincount(nodes, minlength=len(hierarchy.nodes))
        self._index = hierarchy.index
        self._share = n_below / max(len(looked_at), 1)
        self._can_be_general = len(labels) >= FEWEST

    def is_general(self, node: str) -> bool:
        """Tell whether most labels are below a node.

        Parameters
        ----------
        node : str
            A name; what is not a node is not general.

        Returns
        -------
        bool
            Whether it says little.
        """
        at = self._index.get(node)
        return self._can_be_general and at is not None and self._share[at] > GENERAL

    def first(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """Sort nodes by how much they say, and leave out general ones.

        Parameters
        ----------
        nodes : iterable of str
            Nodes of the hierarchy, those that come first among equals first.

        Returns
        -------
        tuple of str
            The node above the fewest labels first.
        """
        said = [node for node in nodes if not self.is_general(node)]
        return tuple(sorted(said, key=lambda node: self._share[self._index[node]]))
