"""Newick trees, as phylogenetics writes them: names, and lengths of branches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from phcle.contexts.hierarchy import Hierarchy
from phcle.contexts.labels import normal
from phcle.errors import FileError, some
from phcle.files.text import read_text
from phcle.optional_imports import import_optional

ENDINGS = (".nwk", ".newick", ".tree", ".tre")

SUPPORT = re.compile(r"[\d.]*")
"""How sure a branching is, which many programs write in the place of its name."""

FARTHEST = 100.0
"""Lengths count as this many times the median at most, and as that part of it at least:
a branch of no length would tie two nodes together for good."""


def is_newick(path: object) -> bool:
    """Tell whether something is the path of a Newick tree, by its ending.

    Parameters
    ----------
    path : object
        Anything.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> is_newick("mammals.nwk"), is_newick(Path("tree.csv")), is_newick([("a", "b")])
    (True, False, False)
    """
    return isinstance(path, (str, Path)) and Path(path).suffix.lower() in ENDINGS


def read_newick(path: Path) -> Hierarchy:
    """Read the trees of a Newick file as one hierarchy.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Hierarchy
        An underscore in a name without quotation marks is a space. Nodes without a
        name, or with a number in its place, are called after their first and last leaf.
        Without lengths, or if all are equal, it has none. A missing length is the
        median of the others, and none is more than 100 times shorter or longer than
        that.
    """
    newick = import_optional("newick", extra="trees", purpose=f"reading {path}")
    text = normal(read_text(path))
    try:
        trees = [x for x in newick.loads(text) if x.name or x.descendants]
        nodes = [node for tree in trees for node in tree.walk()]
        # A node has the length 0 also if there is none.
        given = [node.length if node._length is not None else None for node in nodes]
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{path}: is not a tree in Newick notation ({error})."
        ) from error
    ends: dict[int, tuple[str, str]] = {}
    names: dict[int, str] = {}
    for node in reversed(nodes):  # children first
        name, below = (node.unquoted_name or "").strip(), node.descendants
        if name == node.name:  # without quotation marks
            name = name.replace("_", " ")
        ends[id(node)] = name, name
        if below:
            ends[id(node)] = ends[id(below[0])][0], ends[id(below[-1])][1]
            if SUPPORT.fullmatch(name):
                name = " + ".join(ends[id(node)])
                while len(below) == 1 and name in names.values():
                    name += "'"
        names[id(node)] = name
    if "" in names.values():
        raise FileError(f"{path}: a leaf has no name; name every leaf.")
    if again := [name for name, n in Counter(names.values()).items() if n > 1]:
        raise FileError(f"{path}: several nodes are called {some(again)}; rename them.")
    lengths = {
        (names[id(node)], names[id(node.ancestor)]): length
        for node, length in zip(nodes, given, strict=True)
        if node.ancestor is not None
    }
    return Hierarchy.from_edges(list(lengths), name=path.stem).measured(
        _usable(path, lengths)
    )


def _usable(
    path: Path, lengths: Mapping[tuple[str, str], float | None]
) -> dict[tuple[str, str], float]:
    """Lengths above zero that are not too different; none if they say nothing."""
    given = {edge: length for edge, length in lengths.items() if length is not None}
    for (child, _), length in given.items():
        if not 0 <= length < np.inf:
            raise FileError(
                f"{path}: the branch of {child!r} has the length {length:g}; lengths "
                "must be zero or more."
            )
    middle = float(np.median([x for x in given.values() if x] or [0.0]))
    nearest, farthest = middle / FARTHEST, middle * FARTHEST
    found = {x: min(max(given.get(x, middle), nearest), farthest) for x in lengths}
    return found if len({*found.values()}) > 1 else {}
