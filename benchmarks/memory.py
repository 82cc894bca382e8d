"""Time and peak memory of one fit over many labels, with the default options.

    python benchmarks/memory.py --labels 20000

The taxonomy is a seeded random tree: each new node hangs below a random earlier one,
until there are enough leaves, which are the labels. The whole process is measured, so
run it on its own.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings

import numpy as np

from phcle import PHCLE, RelationalContext
from phcle.errors import ConvergenceWarning


def random_tree(n_leaves: int, seed: int = 0) -> list[tuple[str, str]]:
    """(child, parent) edges of a random recursive tree with so many leaves."""
    rng = np.random.default_rng(seed)
    edges: list[tuple[str, str]] = []
    internal = {0}  # the root is never a label
    while len(edges) + 1 - len(internal) < n_leaves:
        child = len(edges) + 1
        parent = int(rng.integers(child))
        internal.add(parent)
        edges.append((f"n{child}", f"n{parent}"))
    return edges


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def main(arguments: list[str] | None = None) -> None:
    """Fit and print what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--backend", default="numpy", choices=("numpy", "torch"))
    options = parser.parse_args(arguments)

    context = RelationalContext.from_hierarchy(random_tree(options.labels))
    n_labels, n_columns = context.counts.shape
    print(
        f"{n_labels:,} labels × {n_columns:,} columns, {context.counts.nnz:,} counts, "
        f"d = {options.dim}; {peak_megabytes():,.0f} MB before the fit",
        flush=True,
    )
    model = PHCLE(dim=options.dim, backend=options.backend, device="cpu")
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told below
        model.fit(context)
    seconds = time.perf_counter() - began

    *sweeps, final = model.history_
    in_sweeps = sum(sweep["seconds"] for sweep in sweeps)
    print(
        f"fit {seconds:.1f} s: {len(sweeps)} sweeps in {in_sweeps:.1f} s, start and "
        f"last solve {seconds - in_sweeps:.1f} s\n"
        f"gap {sweeps[0]['gap']:,.0f} after the first sweep, "
        f"{sweeps[-1]['gap']:,.0f} after the last, {final['gap']:,.0f} at the end\n"
        f"peak resident memory {peak_megabytes():,.0f} MB"
    )


if __name__ == "__main__":
    main()
