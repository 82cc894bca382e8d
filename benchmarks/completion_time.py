"""Time, file and peak memory of a fit that predicts the gaps of a made-up table.

    python benchmarks/completion_time.py 3000 --completion full

The table has 16 numbers and 4 categories that follow five hidden numbers of each label,
and 30 % of its cells are unknown. Labels stand in a tree, ten to a group.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from measuring import peak_mb, yardstick

from phcle import PHCLE, DescriptiveContext, RelationalContext


def contexts(n: int) -> list:
    """A tree and a table of n labels."""
    rng = np.random.default_rng(0)
    labels = [f"x{i}" for i in range(n)]
    tree = [(label, f"g{i // 10}") for i, label in enumerate(labels)]
    tree += [(f"g{g}", f"t{g // 10}") for g in range(n // 10)]
    tree += [(f"t{t}", "all") for t in range(max(n // 100, 1))]
    hidden = rng.normal(size=(n // 10, 5)).repeat(10, 0) + rng.normal(size=(n, 5))
    numbers = hidden @ rng.normal(size=(5, 16)) + 0.3 * rng.normal(size=(n, 16))
    cells = {f"number {i}": numbers[:, i].tolist() for i in range(16)}
    for j in range(4):
        kind = np.digitize(hidden[:, j], [-1, 0, 1])
        cells[f"kind {j}"] = np.array(list("abcd"))[kind].tolist()
    left = {k: [x if rng.random() < 0.7 else None for x in v] for k, v in cells.items()}
    table = DescriptiveContext.from_cells(tuple(labels), left, "table")
    return [RelationalContext.from_hierarchy(tree, name="tree"), table]


def main(arguments: list[str] | None = None) -> None:
    """Fit, complete and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("labels", type=int, help="a multiple of ten")
    parser.add_argument("--completion", default="full")
    given = parser.parse_args(arguments)
    made = contexts(given.labels)
    began = time.perf_counter()
    embedding = PHCLE(completion=given.completion).fit(made).embedding_
    fitted = time.perf_counter()
    n_cells = len(embedding.complete())
    done = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        embedding.save(Path(folder) / "x.phcle")
        size = (Path(folder) / "x.phcle").stat().st_size
    print(
        f"{given.labels:,} labels, {given.completion}: fit {fitted - began:.1f} s, "
        f"{n_cells:,} cells in {done - fitted:.1f} s, file {size / 1e6:.1f} MB, "
        f"peak {peak_mb():.0f} MB; matrix product {yardstick():.0f} GFLOP/s"
    )


if __name__ == "__main__":
    main()
