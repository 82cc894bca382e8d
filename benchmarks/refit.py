"""Time a refit that starts from an earlier embedding, beside a cold fit of the data.

The earlier embedding knows the data without 5 % of the labels, without one column, or
with 1 % wrong values. Then both fit the whole data with all defaults, in one run:

- cold: `PHCLE().fit(contexts)`;
- warm: `PHCLE().fit(contexts, warm_start=earlier)`.

Seconds are CPU time, which other work on the machine changes little. The objective
(above its floor) and the cosines of all pairs of labels are compared with a cold fit at
the settings of the warm one. The score is that of hidden cells.

    OMP_NUM_THREADS=1 python benchmarks/refit.py 1000 10000 nouns

Numbers are made-up trees and tables of so many labels; `nouns` needs WordNet.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from measuring import yardstick
from trees import noun_contexts, table_contexts

from phcle import PHCLE, DescriptiveContext, LabelEmbedding
from phcle.contexts.alignment import align
from phcle.errors import ConvergenceWarning, PhcleWarning
from phcle.solver.setting_choice import SettingChoice
from phcle.solver.settings import Chosen

NEW_ROWS, CORRECTED, N_NOUNS, MOST_COMPARED = 0.05, 0.01, 2_000, 2_000


@dataclass(frozen=True)
class Change:
    """Data before and after a change, and how to score an embedding of the latter."""

    name: str
    before: list
    labels: list[str] | None
    now: list
    score: Callable[[LabelEmbedding], str]


def score_nothing(embedding: LabelEmbedding) -> str:
    """No cell is hidden."""
    return ""


def planted_changes(n: int) -> Iterator[Change]:
    """Changes of a made-up tree and table."""
    tree, table = table_contexts(n)
    rng = np.random.default_rng(1)
    values = np.array(table.matrix.arrays[0])
    hidden = ~np.isnan(values) & (rng.random(values.shape) < 0.1)
    left = np.where(hidden, np.nan, values)
    spread = np.nanstd(left, axis=0)

    def table_of(cells: np.ndarray, at: slice = slice(None)) -> DescriptiveContext:
        return DescriptiveContext(
            "table", table.labels, table.columns[at], cells[:, at]
        )

    def score(embedding: LabelEmbedding) -> str:
        found = next(c for c in embedding.contexts if c.name == "table")
        vectors = embedding.select(table.labels).vectors
        errors = ((found.predict(vectors) - values) / spread)[hidden]
        means = ((np.nanmean(left, axis=0) - values) / spread)[hidden]
        return f"R² {1 - np.mean(errors**2) / np.mean(means**2):.3f}"

    now = [tree, table_of(left)]
    early = [x for x in table.labels if rng.random() > NEW_ROWS]
    yield Change("5 % new rows", now, early, now, score)
    narrow = [tree, table_of(left, slice(0, -1))]
    yield Change("1 new column", narrow, None, now, score)
    wrong = left.copy()
    rows, columns = np.nonzero(~np.isnan(left))
    at = rng.choice(len(rows), int(CORRECTED * len(rows)), replace=False)
    wrong[rows[at], columns[at]] = left[rng.permutation(rows[at]), columns[at]]
    wrong = np.where(np.isnan(wrong) & ~np.isnan(left), 0.0, wrong)
    yield Change("1 % corrected", [tree, table_of(wrong)], None, now, score)


def noun_changes() -> Iterator[Change]:
    """New nouns of WordNet: hypernyms, glosses and parts."""
    now = noun_contexts(N_NOUNS)
    rng = np.random.default_rng(1)
    early = [x for x in align(now).labels if rng.random() > NEW_ROWS]
    yield Change("5 % new rows", now, early, now, score_nothing)


def timed(contexts: list, **given: object) -> tuple[float, PHCLE]:
    """CPU seconds of a fit that predicts no gaps, with all other defaults."""
    began = time.process_time()
    model = PHCLE(completion="none").fit(contexts, **given)
    return time.process_time() - began, model


def cold_at(chosen: Chosen, contexts: list) -> PHCLE:
    """A cold fit at given settings that predicts no gaps."""
    model = PHCLE(completion="none")
    kept = SettingChoice.chosen
    try:
        SettingChoice.chosen = lambda self, aligned, warm=None: self.posed(
            aligned, chosen
        )
        return model.fit(contexts)
    finally:
        SettingChoice.chosen = kept


def cosine_difference(one: LabelEmbedding, other: LabelEmbedding) -> float:
    """Root mean square difference of the cosines of pairs of labels."""
    labels = list(one.labels)
    if len(labels) > MOST_COMPARED:
        labels = np.random.default_rng(0).choice(labels, MOST_COMPARED, replace=False)

    def cosines(embedding: LabelEmbedding) -> np.ndarray:
        vectors = embedding.select(list(labels)).vectors.astype(np.float64)
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None]
        return unit @ unit.T

    return float(np.sqrt(np.mean((cosines(one) - cosines(other)) ** 2)))


def main() -> None:
    """Refit every data set after every change, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", help="numbers of labels, or nouns")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", PhcleWarning)
    print(f"matrix product: {yardstick():.0f} GFLOP/s")
    print(
        "| data | change | cold | warm | warm / cold | sweeps | objective | cosines "
        "| score cold | score warm | taken |"
    )
    print("| --- " * 11 + "|")
    for name in given.sets:
        changes = noun_changes() if name == "nouns" else planted_changes(int(name))
        for change in changes:
            model = PHCLE(completion="none")
            earlier = model.fit(change.before, labels=change.labels).embedding_
            cold_seconds, cold = timed(change.now)
            seconds, warm = timed(change.now, warm_start=earlier)
            usual = cold_at(warm.chosen_, change.now)
            gap = warm.history_[-1]["gap"] / usual.history_[-1]["gap"] - 1
            far = cosine_difference(warm.embedding_, usual.embedding_)
            taken = "settings" if warm.chosen_.changed is not None else "factors"
            n_cold, n_warm = (len(x.history_) - 1 for x in (usual, warm))
            print(
                f"| {name} | {change.name} | {cold_seconds:.2f} s | {seconds:.2f} s "
                f"| {seconds / cold_seconds:.2f} | {n_cold} → {n_warm} | {gap:+.1e} "
                f"| {far:.3f} | {change.score(cold.embedding_)} "
                f"| {change.score(warm.embedding_)} | {taken} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
