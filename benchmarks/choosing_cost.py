"""Time what choosing settings and calibration cost, as a ratio to a plain fit.

A made-up tree and table of the given size: values follow the tree and eight hidden
dimensions, and half of the cells are known. Three fits of the same data:

- with all defaults: settings are chosen, and confidences are calibrated;
- plain: the chosen setting is given, and nothing is calibrated;
- a matrix product in the same run, as a measure of the machine.

The first two are repeated in turn after a fit that is not counted, which loads
libraries; the table has the medians. The ratio is all defaults / plain: 4 means that
choosing and calibration together cost three plain fits.

Run it with `python benchmarks/choosing_cost.py 1000 10000`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from statistics import median

import numpy as np
import pandas as pd

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import ConvergenceWarning
from phcle.fit_speed import yardstick

N_COLUMNS, N_HIDDEN_DIMENSIONS, CHILDREN = 30, 8, 8


def make_contexts(n: int, seed: int = 0) -> list:
    """A tree with eight children per node, and a table that follows it."""
    rng = np.random.default_rng(seed)
    labels = [f"label {i}" for i in range(n)]
    edges, level, names = [], 0, labels
    place = np.zeros((n, N_HIDDEN_DIMENSIONS))
    of_label = np.arange(n)
    while len(names) > 1:
        of_label = of_label // CHILDREN
        above = [f"node {level}.{i}" for i in range(int(of_label.max()) + 1)]
        edges += [(name, above[i // CHILDREN]) for i, name in enumerate(names)]
        place += rng.standard_normal((len(above), N_HIDDEN_DIMENSIONS))[of_label]
        names, level = above, level + 1
    own = rng.standard_normal((n, N_HIDDEN_DIMENSIONS))
    columns = rng.standard_normal((N_HIDDEN_DIMENSIONS, N_COLUMNS))
    values = (place + own) @ columns + rng.standard_normal((n, N_COLUMNS))
    values[rng.random(values.shape) < 0.5] = np.nan
    frame = pd.DataFrame(values, index=labels).add_prefix("column ")
    return [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_frame(frame, name="table", log=False),
    ]


def seconds_of(contexts: list, **options: object) -> tuple[float, PHCLE]:
    """Time one fit."""
    began = time.perf_counter()
    model = PHCLE(**options).fit(contexts)
    return time.perf_counter() - began, model


def plain_options(model: PHCLE, contexts: list) -> tuple[list, dict]:
    """Contexts and options of a plain fit with the setting that a model chose."""
    setting = model.chosen_.setting
    roles = dict(setting.roles)
    placed = [c.in_role(roles[c.name]) if c.name in roles else c for c in contexts]
    return placed, {
        "choose": False,
        "calibrate": False,
        "dim": setting.dim,
        "negatives": setting.negatives,
        "descriptive_weight": setting.descriptive_weight,
        "stiffness": setting.stiffness,
        "shrinkage": setting.shrinkage.get("table", 0.2),
    }


def main() -> None:
    """Time every size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", type=int, nargs="+", help="numbers of labels")
    parser.add_argument("--device", default="auto", help="where torch computes")
    parser.add_argument("--repeat", type=int, default=5, help="fits of each sort")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    backend = "torch" if given.device == "cuda" else "auto"
    fixed = {"device": given.device, "backend": backend}
    print(f"matrix product: {yardstick():.0f} GFLOP/s")
    print("| labels | plain fit | all defaults | ratio | trials | chosen |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n in given.labels:
        contexts = make_contexts(n)
        _, model = seconds_of(contexts, **fixed)
        placed, options = plain_options(model, contexts)
        whole, plain = [], []
        for _ in range(given.repeat):
            whole.append(seconds_of(contexts, **fixed)[0])
            plain.append(seconds_of(placed, **options, **fixed)[0])
        all_defaults, alone = median(whole), median(plain)
        setting = model.chosen_.setting
        print(
            f"| {n:,} | {alone:.2f} s | {all_defaults:.2f} s "
            f"| {all_defaults / alone:.1f} | {len(model.chosen_.trials)} "
            f"| {setting.roles.get('tree', 'counts')}, dim {setting.dim} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
