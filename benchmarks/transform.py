"""How long `transform` takes to embed labels that arrive later.

    python benchmarks/transform.py --known 10000 --new 10000

A tree context of `known` labels is fitted; the new labels are more leaves of the same
tree, with counts of their own. With --device cuda the fit and the fold-in run there.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from noun_problem import random_tree_context
from own_process import Stopwatch

from phcle import PHCLE, RelationalContext
from phcle.fit_speed import yardstick


def split_context(
    n_known: int, n_new: int, nonzeros: int
) -> tuple[RelationalContext, RelationalContext]:
    """Leaves of one tree: those to fit, and those that come later.

    The later ones are spread over the tree, and keep the columns of the known ones.
    """
    whole = random_tree_context(n_known + n_new, nonzeros)
    order = np.random.default_rng(0).permutation(n_known + n_new)
    known, new = np.sort(order[:n_known]), np.sort(order[n_known:])
    columns = tuple(whole.columns[i] for i in known)

    def part(rows: np.ndarray) -> RelationalContext:
        counts = sp.csr_array(whole.counts[rows][:, known])
        labels = tuple(whole.labels[i] for i in rows)
        return RelationalContext("tree", labels, columns, counts)

    return part(known), part(new)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Fit once, transform three times."""
    known, new = split_context(options.known, options.new, options.nonzeros)
    model = PHCLE(dim=options.dim, device=options.device, max_iter=options.sweeps)
    began = time.perf_counter()
    model.fit(known)
    fitted = time.perf_counter() - began
    runs = []
    for _ in range(3):
        watch = Stopwatch()
        model.transform(new)
        runs.append(watch.read())
    return {
        "known": options.known,
        "new": options.new,
        "dim": options.dim,
        "fit_seconds": fitted,
        "transform": runs,
        "gflops": yardstick(),
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--known", type=int, default=10_000)
    parser.add_argument("--new", type=int, default=10_000)
    parser.add_argument("--nonzeros", type=int, default=50)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=10)
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    report = measure(options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    best = min(report["transform"], key=lambda run: run["seconds"])
    print(
        f"{report['new']:,} new labels beside {report['known']:,}, "
        f"d = {report['dim']}: {best['seconds']:.2f} s "
        f"({best['cpu_seconds']:.2f} processor seconds), "
        f"{report['gflops']:.0f} GFLOP/s; the fit took {report['fit_seconds']:.1f} s"
    )


if __name__ == "__main__":
    main()
