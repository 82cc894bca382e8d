"""How similar a label is to a node of its taxonomy, in two ways.

A common ancestor c of label u and node v is at or above both (a node is at 0 steps
from itself); steps(u, c) is the fewest edges up from u to c. Without a common
ancestor every similarity is 0. With several, the one that gives the most counts.

- path: 1 / (1 + steps(u, c) + steps(v, c)).
- lin: 2 I(c) / (I(u) + I(v)), and where I(u) = I(v) = 0, 1 if u is v, else 0.

The information content I(c) is −log of the share of the hierarchy's leaves that
are at or below c: each leaf counts once, whichever labels are embedded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from phcle.contexts import Hierarchy
from phcle_paper.baselines.reduction import Floats

__all__ = ["SIMILARITIES"]

Ints = npt.NDArray[np.int64]


def _most_over_ancestors(
    tree: Hierarchy,
    labels: Sequence[str],
    nodes: Sequence[str],
    score: Callable[[int, Ints], Floats | float],
) -> Floats:
    """The largest `score(c, steps over c)` of common ancestors c: (labels, nodes).

    Pairs without a common ancestor get 0, the least any score can be.
    """
    below_labels = _by_ancestor(tree, labels)
    below_nodes = _by_ancestor(tree, nodes)
    most = np.zeros((len(labels), len(nodes)))
    for ancestor, (rows, up) in below_labels.items():
        if ancestor not in below_nodes:
            continue
        columns, down = below_nodes[ancestor]
        block = np.ix_(rows, columns)
        steps = up[:, None] + down[None, :]
        most[block] = np.maximum(most[block], score(ancestor, steps))
    return most


def _by_ancestor(tree: Hierarchy, nodes: Sequence[str]) -> dict[int, tuple[Ints, Ints]]:
    """For each ancestor, the positions in `nodes` below it and their steps up to it."""
    rows, ancestors, steps = tree.ancestor_distances(nodes)
    order = np.argsort(ancestors, kind="stable")
    found, first = np.unique(ancestors[order], return_index=True)
    groups = np.split(order, first[1:])
    return {
        ancestor: (rows[group], steps[group])
        for ancestor, group in zip(found.tolist(), groups, strict=True)
    }


def _path(tree: Hierarchy, labels: Sequence[str], nodes: Sequence[str]) -> Floats:
    return _most_over_ancestors(tree, labels, nodes, lambda _, steps: 1 / (1 + steps))


def _information(tree: Hierarchy) -> Floats:
    """−log of the share of leaves at or below each node: (all nodes,)."""
    leaves = tree.leaves
    _, ancestors, _ = tree.ancestor_distances(leaves)
    n_leaves = np.bincount(ancestors, minlength=len(tree.nodes))
    return np.asarray(np.log(len(leaves) / n_leaves))


def _lin(tree: Hierarchy, labels: Sequence[str], nodes: Sequence[str]) -> Floats:
    information = _information(tree)
    # I(c) of the most informative common ancestor, and I(u) + I(v).
    shared = _most_over_ancestors(tree, labels, nodes, lambda c, _: information[c])
    of_labels = information[[tree.index[x] for x in labels]]
    of_nodes = information[[tree.index[x] for x in nodes]]
    total = of_labels[:, None] + of_nodes[None, :]
    same = np.array(labels, dtype=object)[:, None] == np.array(nodes, dtype=object)
    return np.where(total > 0, 2 * shared / np.where(total > 0, total, 1), same)


SIMILARITIES: dict[str, Callable[[Hierarchy, Sequence[str], Sequence[str]], Floats]] = {
    "path": _path,
    "lin": _lin,
}
"""Similarities by name, each (labels, nodes); the first is the default."""
