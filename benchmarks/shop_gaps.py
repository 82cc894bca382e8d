"""Complete the shop's numbers in many draws of its gaps, beside the mean of the family.

    python benchmarks/shop_gaps.py DATA [--draws 6]

The gaps that the shop's table has are 195 prices, in which a few dear goods decide.
Here gaps are drawn anew from the complete table, with as many labels without a row and
as many gaps in each column as the table has. All draws share their labels, so the error
over draws is a lower bound.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from shop import shop_task

from phcle_paper.datasets.patchy_table import NUMBER
from phcle_paper.studies.cell_rivals import family_mean
from phcle_paper.studies.cell_tasks import CellTask, complete


def drawn(task: CellTask, rng: np.random.Generator) -> CellTask:
    """Draw the gaps of a table anew."""
    known = task.table.known
    has_row = known.any(axis=1)
    is_left = rng.random(known.shape) < known[has_row].mean(axis=0)
    hidden = ~(rng.permutation(has_row)[:, None] & is_left)
    return replace(task, table=replace(task.table, values=task.truth), hidden=hidden)


def main() -> None:
    """Print the errors of each draw, and the lead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=6)
    given = parser.parse_args()
    shop = shop_task(given.data)
    titles = [x.title for x in shop.table.fields if x.kind == NUMBER]
    print("RMSE\n\n| draw | column | PHCLE | family | PHCLE, logs | family, logs |")
    print("| --- | --- | --- | --- | --- | --- |")
    leads: dict[str, list[float]] = {title: [] for title in titles}
    for draw in range(1, given.draws + 1):
        task = drawn(shop, np.random.default_rng(draw))
        guesses = complete(task), family_mean(task, np.random.default_rng(0))
        for i, title in enumerate(titles):
            rows, at = task.hidden[:, i], task.table.slices[i].start
            truth = task.truth[rows, at]
            found = [_rmse(x[rows, at], truth) for x in guesses]
            logs = ["–", "–"]
            if (truth > 0).all() and all((x[rows, at] > 0).all() for x in guesses):
                logs = [
                    f"{_rmse(np.log(x[rows, at]), np.log(truth)):.3f}" for x in guesses
                ]
            leads[title].append(found[1] - found[0])
            cells = [str(draw), title, *(f"{x:.2f}" for x in found), *logs]
            print("|", " | ".join(cells), "|", flush=True)
    print()
    for title, own in leads.items():
        error = np.std(own, ddof=1) / np.sqrt(len(own)) if len(own) > 1 else np.nan
        print(f"{title}: PHCLE leads by {np.mean(own):.2f} ± {error:.2f}")


def _rmse(guess: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((guess - truth) ** 2)))


if __name__ == "__main__":
    main()
