"""Problems to measure with: WordNet's nouns, or a random tree of any size.

A problem can be put into a file and measured on a machine without WordNet:

    python benchmarks/noun_problem.py --labels 82115 --out nouns.npz
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from trees import noun_contexts

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts.base.context import Context
from phcle.contexts.name_arrays import NameArray
from phcle.contexts.terms import Penalties
from phcle.errors import ConvergenceWarning
from phcle.options import OPTIONS
from phcle.solver.settings import Setting

ALL_NOUNS = 82_115


def default_penalties() -> Penalties:
    """The λ's that a fit has by default."""
    default = {option.name: option.default for option in OPTIONS}
    return Penalties(
        negatives=Setting.negatives,
        descriptive=Setting.descriptive_weight,
        sparsity=default["sparsity"],
        ridge=default["ridge"],
        context_ridge=default["context_ridge"],
    )


def save_contexts(contexts: list[Context], path: Path) -> None:
    """Put contexts of sparse values into one file of arrays."""
    arrays = {}
    for context in contexts:
        is_relational = isinstance(context, RelationalContext)
        matrix = context.counts if is_relational else context.values
        kind = "relational" if is_relational else "descriptive"
        key = f"{kind}/{context.name}"
        arrays[f"{key}/labels"] = np.array(context.labels)
        arrays[f"{key}/columns"] = np.array(context.columns)
        # Words of texts are never filled in, so nothing is hidden among them.
        arrays[f"{key}/is_text"] = getattr(context, "source", None) is not None
        for part in ("data", "indices", "indptr"):
            arrays[f"{key}/{part}"] = getattr(matrix, part)
    np.savez_compressed(path, **arrays)


def load_contexts(path: Path) -> list[Context]:
    """Contexts from such a file."""
    arrays = np.load(path)
    contexts: list[Context] = []
    for kind, name in dict.fromkeys(tuple(key.split("/")[:2]) for key in arrays):
        part = {
            key: arrays[f"{kind}/{name}/{key}"]
            for key in ("labels", "columns", "data", "indices", "indptr", "is_text")
        }
        labels, columns = (tuple(part[key].tolist()) for key in ("labels", "columns"))
        matrix = sp.csr_array(
            (part["data"], part["indices"], part["indptr"]),
            shape=(len(labels), len(columns)),
        )
        if kind == "relational":
            contexts.append(RelationalContext(name, labels, columns, matrix))
        else:
            is_readable = not part["is_text"]
            contexts.append(
                DescriptiveContext(name, labels, columns, matrix, readable=is_readable)
            )
    return contexts


def random_tree_context(
    n_labels: int,
    n_nonzeros: int,
    *,
    seed: int = 0,
    name: str = "tree",
    as_array: bool = False,
) -> RelationalContext:
    """Leaves of a random tree, each with a count for `n_nonzeros` leaves near it.

    Leaves are drawn from the branches that hold the label, small branches rather than
    large ones, until there are enough different ones; few labels may have fewer.
    """
    rng = np.random.default_rng(seed)
    branches = _random_branches(n_labels, rng)
    drawn = 2 * n_nonzeros
    parts = []
    for labels in np.array_split(np.arange(n_labels), 1 + n_labels // 50_000):
        level = rng.geometric(0.25, size=(len(labels), drawn)) - 1
        level = np.minimum(level, len(branches) - 1)
        first, size = branches[level, :, labels[:, None]].transpose(2, 0, 1)
        leaves = first + (rng.random(size.shape, np.float32) * size).astype(np.int32)
        rows, columns = _first_different(leaves, n_nonzeros)
        parts.append((labels[rows], columns))
    rows, columns = map(np.concatenate, zip(*parts, strict=True))
    counts = sp.csr_array(
        (np.ones(rows.size), (rows, columns)), shape=(n_labels, n_labels)
    )
    names: Any = tuple(map(str, range(n_labels)))
    if as_array:  # as a user has them who gives millions
        names = NameArray(np.arange(n_labels).astype("S"))
    return RelationalContext(name, names, names, counts)


def _random_branches(n_leaves: int, rng: np.random.Generator) -> np.ndarray:
    """First leaf and size of the branch of every leaf: (levels, 2, leaves).

    Leaves stand in the order of the tree. A branch of the next level joins four of the
    last one on average, so the smallest ones that count have 200 leaves or so.
    """
    cuts, levels = np.arange(n_leaves), []
    while len(cuts) > 1 or not levels:
        keep = rng.random(len(cuts)) < 0.25
        keep[0] = True
        cuts = cuts[keep]
        if n_leaves / len(cuts) < 128 and len(cuts) > 1:
            continue
        ends = np.append(cuts[1:], n_leaves)
        number = np.searchsorted(cuts, np.arange(n_leaves), side="right") - 1
        levels.append(np.stack([cuts, ends - cuts]).astype(np.int32)[:, number])
    return np.stack(levels)


def _first_different(leaves: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and values of the first `n` different values of every row."""
    order = np.argsort(leaves, axis=1)
    ordered = np.take_along_axis(leaves, order, axis=1)
    again = np.zeros(leaves.shape, dtype=bool)
    repeated = ordered[:, 1:] == ordered[:, :-1]
    np.put_along_axis(again, order[:, 1:], repeated, axis=1)
    taken = ~again & (np.cumsum(~again, axis=1) <= n)
    return np.nonzero(taken)[0], leaves[taken]


def warm_up(backend: str) -> None:
    """Import and compile what a fit needs, as peers do before their clock starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        PHCLE(dim=2, max_iter=2, backend=backend).fit(random_tree_context(60, 4))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=ALL_NOUNS)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    save_contexts(noun_contexts(options.labels), options.out)
