"""Which role of a taxonomy fills the gaps of a table better? Made-up genera, all cases.

    python benchmarks/family_or_counts.py

Species of a genus share the mean of their values. Some values are hidden; R² is that of
the hidden ones, the mean of three draws. Every fit runs until it has converged, and
every case is printed, whichever role does better. It takes about 15 minutes on a core;
`--fixed` leaves the settings as they are instead of choosing them on hidden cells.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import ConvergenceWarning

DRAWS = 3
ROLES: dict[str, dict[str, Any]] = {
    "counts": {"role": "counts"},
    "family": {"role": "family"},
    "both": {"role": "both"},
    "family, stiffness 0.1": {"role": "family", "stiffness": 0.1},
}


class Case(NamedTuple):
    """A table: `has_full_row` shows the first species of each genus in full."""

    genera: int
    species: int
    columns: int
    rank: int
    hidden: float
    noise: float
    has_full_row: bool


CASES = [
    Case(200, 6, 12, 12, 0.5, 0.3, True),
    Case(1000, 3, 12, 6, 0.5, 0.3, True),
    Case(400, 4, 12, 6, 0.9, 0.3, True),
    Case(1000, 3, 10, 10, 0.9, 0.3, True),
    Case(1000, 3, 20, 10, 0.9, 0.3, True),
    Case(1000, 3, 10, 10, 1.0, 0.3, True),
    Case(1000, 2, 10, 5, 1.0, 0.3, True),
    Case(300, 5, 28, 10, 0.1, 0.3, False),
    Case(300, 5, 28, 10, 0.6, 1.0, False),
    Case(1000, 3, 28, 10, 0.8, 0.7, False),
    Case(1000, 3, 5, 5, 0.5, 0.3, False),
]


def draw(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of all species, and which of them are hidden."""
    rng = np.random.default_rng(seed)
    mixing = (
        rng.normal(size=(case.genera, case.rank)),
        rng.normal(size=(case.rank, case.columns)),
    )
    means = mixing[0] @ mixing[1] / case.rank**0.5
    shape = (case.genera * case.species, case.columns)
    truth = means.repeat(case.species, axis=0) + case.noise * rng.normal(size=shape)
    hidden = rng.random(shape) < case.hidden
    if case.has_full_row:
        hidden[:: case.species] = False
    # A genus without any known value would be refused in the role of a family.
    empty = hidden.reshape(case.genera, -1).all(axis=1)
    hidden[:: case.species][empty, 0] = False
    return truth, hidden


def r2(truth: np.ndarray, hidden: np.ndarray, predicted: np.ndarray) -> float:
    """Share of the variance of the hidden values that is predicted."""
    error = (predicted - truth)[hidden]
    return float(1 - (error**2).sum() / ((truth - truth.mean())[hidden] ** 2).sum())


def genus_means(case: Case, truth: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """The mean of the known values in the genus, or else in the column."""
    known = np.where(hidden, np.nan, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # genera without a value
        means = np.nanmean(known.reshape(case.genera, case.species, -1), axis=1)
    means = np.where(np.isnan(means), np.nanmean(known, axis=0), means)
    return means.repeat(case.species, axis=0)


def fitted(
    case: Case, truth: np.ndarray, hidden: np.ndarray, role: str, **options: Any
) -> np.ndarray:
    """Predictions of a fit with ten dimensions. One that does not converge fails."""
    labels = tuple(f"s{i}" for i in range(len(truth)))
    edges = [(label, f"g{i // case.species}") for i, label in enumerate(labels)]
    edges += [(f"g{i}", "all") for i in range(case.genera)]
    columns = tuple(f"t{i}" for i in range(case.columns))
    values = np.where(hidden, np.nan, truth)
    contexts = [
        RelationalContext.from_hierarchy(edges, role=role),
        DescriptiveContext("table", labels, columns, values),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = PHCLE(dim=10, calibrate=False, max_iter=500, **options).fit(contexts)
    table = next(c for c in model.embedding_.contexts if c.name == "table")
    return np.asarray(table.predict(model.embedding_.vectors))


def main(cases: list[Case] = CASES, draws: int = DRAWS) -> None:
    """Print a row for every case."""
    titles = [*Case._fields, "genus mean", *ROLES]
    print("|", " | ".join(titles), "|")
    print("|", " | ".join("--:" for _ in titles), "|")
    for case in cases:
        found: dict[str, list[float]] = {"genus mean": [], **{x: [] for x in ROLES}}
        for seed in range(draws):
            truth, hidden = draw(case, seed)
            guess = genus_means(case, truth, hidden)
            found["genus mean"].append(r2(truth, hidden, guess))
            for name, options in ROLES.items():
                guess = fitted(case, truth, hidden, **options)
                found[name].append(r2(truth, hidden, guess))
        scores = (f"{np.mean(values):.3f}" for values in found.values())
        shown = ("yes" if x is True else "no" if x is False else str(x) for x in case)
        print("|", " | ".join([*shown, *scores]), "|", flush=True)


if __name__ == "__main__":
    if "--fixed" in sys.argv[1:]:
        for options in ROLES.values():
            options["choose"] = False
    main()
