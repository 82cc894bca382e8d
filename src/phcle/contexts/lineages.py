"""A taxonomy from a wide table: species, genus, family, order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from phcle.contexts.labels import is_missing

__all__ = ["lineage_edges"]


def lineage_edges(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, Any]]:
    """Return the edges of a taxonomy that is given as one lineage per label.

    Parameters
    ----------
    rows : iterable of sequences
        Each row is a label and the nodes above it, the nearest first. Missing nodes
        are passed over.

    Returns
    -------
    list of (child, parent)
        Every edge once.

    Examples
    --------
    >>> lineage_edges([("cat", "Felis", "felids"), ("lynx", None, "felids")])
    [('cat', 'Felis'), ('Felis', 'felids'), ('lynx', 'felids')]
    """
    edges: dict[tuple[Any, Any], None] = {}
    for row in rows:
        nodes = [node for node in row if not is_missing(node)]
        # A group of one is often called like its only member.
        edges.update((pair, None) for pair in pairwise(nodes) if pair[0] != pair[1])
    return list(edges)
