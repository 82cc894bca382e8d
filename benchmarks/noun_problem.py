"""Problems to measure with: WordNet's nouns, or a random tree of any size.

A problem can be put into a file and measured on a machine without WordNet:

    python benchmarks/noun_problem.py --labels 82115 --out nouns.npz
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts.alignment import Context, align
from phcle.datasets import load_wordnet_nouns
from phcle.errors import ConvergenceWarning
from phcle.experiments.speed import noun_contexts
from phcle.model.options import OPTIONS
from phcle.model.problem import Penalties, Problem, pose

ALL_NOUNS = 82_115


def default_penalties() -> Penalties:
    """The λ's that a fit has by default."""
    default = {option.name: option.default for option in OPTIONS}
    return Penalties(
        negatives=default["negatives"],
        descriptive=default["descriptive_weight"],
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
            for key in ("labels", "columns", "data", "indices", "indptr")
        }
        labels, columns = (tuple(part[key].tolist()) for key in ("labels", "columns"))
        matrix = sp.csr_array(
            (part["data"], part["indices"], part["indptr"]),
            shape=(len(labels), len(columns)),
        )
        if kind == "relational":
            contexts.append(RelationalContext(name, labels, columns, matrix))
        else:
            contexts.append(DescriptiveContext(name, labels, columns, matrix, None))
    return contexts


def random_tree_context(
    n_labels: int, n_nonzeros: int, *, seed: int = 0, name: str = "tree"
) -> RelationalContext:
    """Labels as leaves of a random tree, each counted with `n_nonzeros` near ones.

    Neighbours are drawn with probabilities that fall with the distance between leaves
    in the order of the tree, so that labels of one branch share them.
    """
    rng = np.random.default_rng(seed)
    jump = rng.geometric(4 / n_nonzeros, size=(n_labels, n_nonzeros))
    jump *= rng.choice([-1, 1], size=jump.shape)
    columns = (np.arange(n_labels)[:, None] + jump) % n_labels
    rows = np.repeat(np.arange(n_labels), n_nonzeros)
    counts = sp.csr_array(
        (np.ones(rows.size), (rows, columns.ravel())), shape=(n_labels, n_labels)
    )
    counts.sum_duplicates()
    names = tuple(map(str, range(n_labels)))
    return RelationalContext(name, names, names, counts)


def warm_up(backend: str) -> None:
    """Import and compile what a fit needs, as peers do before their clock starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        PHCLE(dim=2, max_iter=2, backend=backend).fit(random_tree_context(60, 4))


def posed(contexts: list[Context], dim: int) -> Problem:
    """The problem of a fit with default penalties."""
    return pose(align(contexts), default_penalties(), dim)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=ALL_NOUNS)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    save_contexts(noun_contexts(load_wordnet_nouns(), options.labels), options.out)
