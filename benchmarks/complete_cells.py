"""Time and peak memory of `phcle complete` on a large planted table.

    python benchmarks/complete_cells.py --labels 60000

The table has numbers, truth values and categories of four values, which follow vectors
of the labels; vectors follow the groups of a tree. Most cells are unknown. The fit is
short: its quality does not matter here. Each way to complete runs in its own process.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measuring import Stopwatch, peak_mb, run_apart

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts import Context
from phcle.errors import PhcleWarning

NUMBERS, TRUTHS, CATEGORIES, VALUES = 80, 60, 60, 4
HIDDEN_DIM = 8
PER_GROUP = 20
WAYS = {
    "with reasons": ("--out", "filled.csv"),
    "without reasons": ("--no-why", "--out", "filled.csv"),
    "the own table": ("--wide", "table.csv", "--out", "table_filled.csv"),
}


def planted(
    n_labels: int, unknown: float, seed: int = 0
) -> tuple[list[str], dict[str, np.ndarray], list[Context]]:
    """Labels, cells of a table by column, and contexts: a tree and the table."""
    rng = np.random.default_rng(seed)
    labels = [f"label {i}" for i in range(n_labels)]
    n_groups = max(n_labels // PER_GROUP, 1)
    group = rng.integers(0, n_groups, n_labels)
    edges = [(label, f"group {g}") for label, g in zip(labels, group, strict=True)]
    edges += [(f"group {g}", f"class {g % 50}") for g in np.unique(group)]
    means = rng.normal(size=(n_groups, HIDDEN_DIM))
    vectors = means[group] + 0.6 * rng.normal(size=(n_labels, HIDDEN_DIM))

    def scores(n: int) -> np.ndarray:
        noise = rng.normal(size=(n_labels, n))
        return vectors @ rng.normal(size=(HIDDEN_DIM, n)) + noise

    cells: dict[str, np.ndarray] = {}
    for i in range(NUMBERS):
        cells[f"number {i}"] = scores(1)[:, 0].round(3).astype(object)
    for i in range(TRUTHS):
        cells[f"truth {i}"] = np.where(scores(1)[:, 0] > 0, "yes", "no").astype(object)
    names = np.array([f"value {v}" for v in range(VALUES)], dtype=object)
    for i in range(CATEGORIES):
        cells[f"category {i}"] = names[scores(VALUES).argmax(axis=1)]
    for column in cells.values():
        column[rng.random(n_labels) < unknown] = None
    tree = RelationalContext.from_hierarchy(edges, labels=labels, role="family")
    return labels, cells, [tree, DescriptiveContext.from_cells(labels, cells, "table")]


def fit(n_labels: int, unknown: float, dim: int, folder: Path) -> dict[str, float]:
    """Fit a planted table for a few sweeps; save the embedding and the table."""
    watch = Stopwatch()
    labels, cells, contexts = planted(n_labels, unknown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhcleWarning)
        model = PHCLE(dim=dim, choose=False, max_iter=2)
        model.fit(contexts).embedding_.save(folder / "table.phcle")
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["label", *cells])
        writer.writerows(zip(labels, *cells.values(), strict=True))
    return {**watch.read(), "peak_mb": peak_mb()}


def complete(folder: Path, flags: tuple[str, ...]) -> dict[str, float]:
    """Run the command in this process."""
    from typer.testing import CliRunner

    from phcle.cli.app import app

    watch = Stopwatch()
    with chdir(folder):
        result = CliRunner().invoke(app, ["complete", "table.phcle", *flags])
    assert result.exit_code == 0, result.output
    print(result.stdout, end="", flush=True)
    return {**watch.read(), "peak_mb": peak_mb()}


def load_only(file: Path) -> dict[str, float]:
    """What loading the embedding takes."""
    from phcle import load

    watch = Stopwatch()
    load(file)
    return {**watch.read(), "peak_mb": peak_mb()}


def main(arguments: list[str] | None = None) -> None:
    """Fit, complete and print what each took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=int, default=60_000)
    parser.add_argument("--unknown", type=float, default=0.84)
    parser.add_argument("--dim", type=int, default=30)
    options = parser.parse_args(arguments)

    def show(title: str, found: dict[str, float]) -> None:
        seconds, peak = found["seconds"], found["peak_mb"]
        print(f"{title}: {seconds:,.1f} s, peak {peak:,.0f} MB", flush=True)

    with TemporaryDirectory() as name:
        folder = Path(name)
        size = (options.labels, options.unknown, options.dim)
        show("fit", run_apart(fit, *size, folder))
        show("load", run_apart(load_only, folder / "table.phcle"))
        for title, flags in WAYS.items():
            show(title, run_apart(complete, folder, flags))


if __name__ == "__main__":
    main()
