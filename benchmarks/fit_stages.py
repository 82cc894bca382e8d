"""Where does the time of a fit go? Stages in CPU seconds, beside matrix products.

WordNet's nouns with three contexts (hypernyms, gloss words, parts), at the default
settings, with calibration. Every stage is timed inside one fit. Beside the sweeps stand
as many float32 matrix products of the same size (labels × columns of hypernyms × d) as
exact sweeps cannot do without: scores and gradients, for W and for C, once a sweep.

    OMP_NUM_THREADS=1 python benchmarks/fit_stages.py 10000

It needs WordNet. With `--table` a made-up tree and table of `choosing_cost.py` and a
graph of neighbours take the place of the nouns.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from choosing_cost import make_contexts

import phcle.estimator as fits
from phcle import PHCLE, RelationalContext
from phcle.errors import ConvergenceWarning, PhcleWarning
from phcle.fit_speed import noun_contexts
from phcle.solver import hidden_trials

STAGES = {
    "start": (fits, "start_factors"),
    "sweeps": (fits, "run"),
    "last solve": (fits, "solve_labels"),
    "calibration": (fits, "calibrate"),
    "- starts of trials": (hidden_trials, "start_factors"),
    "- sweeps of trials": (hidden_trials, "run"),
    "- last solves of trials": (hidden_trials, "solve_labels"),
}
PRODUCTS = 4
"""Matrix products of an exact sweep: scores and gradients, for W and for C."""


def timed(function: Callable[..., Any], stage: str, spent: Counter) -> Any:
    """The function, which adds its CPU time to a stage."""

    def call(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return function(*given, **named)
        finally:
            spent[stage] += time.process_time() - began

    return call


def product_seconds(n_labels: int, n_columns: int, dim: int) -> float:
    """CPU seconds of one product of label vectors and column vectors."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((n_labels, dim), dtype=np.float32)
    C = rng.standard_normal((n_columns, dim), dtype=np.float32)
    found = []
    for _ in range(3):
        began = time.process_time()
        _ = W @ C.T
        found.append(time.process_time() - began)
    return min(found)


def contexts_of(n: int, *, table: bool) -> list:
    """Three contexts."""
    if not table:
        from phcle.datasets import load_wordnet_nouns

        return noun_contexts(load_wordnet_nouns(), n)
    rng = np.random.default_rng(0)
    edges = [(f"label {i}", f"label {(i + 1 + rng.integers(8)) % n}") for i in range(n)]
    return [*make_contexts(n), RelationalContext.from_edges(edges, name="neighbours")]


def main() -> None:
    """Fit every size once and print its stages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", type=int, nargs="+", help="numbers of labels")
    parser.add_argument("--table", action="store_true", help="made-up data")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", PhcleWarning)
    for n in given.labels:
        contexts = contexts_of(n, table=given.table)
        spent: Counter = Counter()
        whole = {stage: getattr(*place) for stage, place in STAGES.items()}
        for stage, (module, name) in STAGES.items():
            setattr(module, name, timed(whole[stage], stage, spent))
        began = time.process_time()
        model = PHCLE(choose=False).fit(contexts)
        total = time.process_time() - began
        for stage, (module, name) in STAGES.items():
            setattr(module, name, whole[stage])
        n_sweeps, dim = len(model.history_) - 1, model.embedding_.dim
        n_columns = sum(
            len(c.columns) for c in model.embedding_.contexts if c.kind == "relational"
        )
        products = PRODUCTS * n_sweeps * product_seconds(n, n_columns, dim)
        print(f"{n:,} labels, {n_columns:,} columns of counts, d = {dim}")
        print("| stage | CPU seconds | share of the sweeps |")
        print("| --- | --: | --: |")
        rows = {
            **{stage: spent[stage] for stage in STAGES},
            "whole fit": total,
            f"{PRODUCTS * n_sweeps} matrix products": products,
        }
        for stage, seconds in rows.items():
            share = seconds / spent["sweeps"]
            named = f"sweeps ({n_sweeps})" if stage == "sweeps" else stage
            print(f"| {named} | {seconds:.2f} | {share:.2f} |")


if __name__ == "__main__":
    main()
