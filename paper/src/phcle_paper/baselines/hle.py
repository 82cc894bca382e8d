"""HLE, hierarchy label embedding: how similar a label is to every node of a taxonomy.

Akata et al., "Evaluation of output embeddings for fine-grained image classification",
CVPR 2015, with paths or the similarity of Lin 1998.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from phcle.contexts import Hierarchy, RelationalContext, as_labels
from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, check_choice, did_you_mean
from phcle_paper.baselines.node_similarity import SIMILARITIES
from phcle_paper.baselines.reduction import reduce_dimensions

__all__ = ["hierarchy_embedding"]


def hierarchy_embedding(
    hierarchy: Hierarchy | RelationalContext,
    labels: Iterable[Any] | None = None,
    *,
    nodes: Iterable[Any] | None = None,
    similarity: str = "path",
    dim: int | None = None,
    names: Mapping[str, str] | None = None,
) -> LabelEmbedding:
    """HLE: one dimension per node, holding the label's similarity to the node.

    Parameters
    ----------
    hierarchy
        A taxonomy, or a relational context made by `from_hierarchy`.
    labels
        Nodes to embed; by default those of the context, or the leaves.
    nodes
        Nodes to compare with, by default all. The PHCLE paper compares each of the
        1000 ImageNet labels with these labels, so it has 1000 dimensions.
    similarity
        "path" or "lin"; `node_similarity.py` defines them.
    dim
        Then reduce to this many dimensions; see `reduce_dimensions`.
    names
        Readable names of labels.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("cat", "pet"), ("dog", "pet")])
    >>> hierarchy_embedding(tree, nodes=["dog", "pet", "cat"])["dog"].round(2)
    array([1.  , 0.5 , 0.33])
    """
    check_choice("similarity", similarity, SIMILARITIES)
    tree, own_labels = _tree_of(hierarchy)
    kept = own_labels if labels is None else _nodes_of(tree, labels, "labels")
    compared = tree.nodes if nodes is None else _nodes_of(tree, nodes, "nodes")
    vectors = SIMILARITIES[similarity](tree, kept, compared)
    return LabelEmbedding(
        kept,
        reduce_dimensions(vectors, dim),
        names=dict(names or {}),
        options={
            "method": "HLE",
            "similarity": similarity,
            "nodes": len(compared),
            "dim": dim,
        },
    )


def _tree_of(given: Any) -> tuple[Hierarchy, tuple[str, ...]]:
    """The taxonomy and the labels that go with it."""
    if isinstance(given, RelationalContext) and given.hierarchy is not None:
        return given.hierarchy, given.labels
    tree = getattr(given, "hierarchy", given)  # a recipe for counts holds its tree
    if isinstance(tree, Hierarchy):
        return tree, tree.leaves
    what = getattr(given, "name", type(given).__name__)
    raise ContextError(
        "a hierarchy is needed: a Hierarchy, or a context made by "
        f"RelationalContext.from_hierarchy. Got {what!r} instead."
    )


def _nodes_of(tree: Hierarchy, given: Iterable[Any], what: str) -> tuple[str, ...]:
    """Checked names of nodes."""
    names = as_labels(given, what)
    for name in names:
        if name not in tree.index:
            raise ContextError(
                f"{what}: {name!r} is not a node of the hierarchy; add its edges or "
                f"leave it out.{did_you_mean(name, tree.nodes)}"
            )
    return names
