"""Time and peak memory of `phcle complete` on a large planted table.

    python benchmarks/complete_cells.py --labels 60000

The table has numbers, truth values and categories of four values, which follow vectors
of the labels; vectors follow the groups of a tree. Most cells are unknown. The fit is
short: its quality does not matter here. Each way to complete runs in its own process.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from own_process import Stopwatch, peak_mb, run_apart

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import PhcleWarning

NUMBERS, TRUTHS, CATEGORIES, VALUES = 80, 60, 60, 4
HIDDEN_DIM = 8
PER_GROUP = 20
WAYS = {"with reasons": ("--why",), "without": ("--no-why",)}


def planted(n_labels: int, unknown: float, seed: int = 0) -> list[object]:
    """A tree and a table whose values follow it."""
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
    return [
        RelationalContext.from_hierarchy(edges, labels=labels, role="family"),
        DescriptiveContext.from_cells(labels, cells, "table"),
    ]


def fit(n_labels: int, unknown: float, dim: int, file: Path) -> dict[str, float]:
    """Fit a planted table for a few sweeps, and save it."""
    watch = Stopwatch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhcleWarning)
        model = PHCLE(dim=dim, choose=False, max_iter=2)
        model.fit(planted(n_labels, unknown)).embedding_.save(file)
    return {**watch.read(), "peak_mb": peak_mb()}


def complete(file: Path, out: Path, flags: tuple[str, ...]) -> dict[str, float]:
    """Run the command in this process."""
    from typer.testing import CliRunner

    from phcle.cli.app import app

    watch = Stopwatch()
    command = ["complete", str(file), "--out", str(out), *flags]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
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

    with TemporaryDirectory() as folder:
        file, out = Path(folder) / "table.phcle", Path(folder) / "filled.csv"
        size = (options.labels, options.unknown, options.dim)
        show("fit", run_apart(fit, *size, file))
        show("load", run_apart(load_only, file))
        for title, flags in WAYS.items():
            show(title, run_apart(complete, file, out, flags))
            print(f"{out.stat().st_size / 1e6:,.0f} MB of CSV", flush=True)


if __name__ == "__main__":
    main()
