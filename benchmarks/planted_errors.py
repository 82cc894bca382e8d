"""How many planted errors do suspicious cells find? Beside a rule by family.

Known cells of a real table get wrong values: another value of the category, the other
truth value, or the number of another label. Then `phcle.suspicious_cells` and the rule
each name as many cells as were planted. The rule names values that no sibling has, and
numbers that are furthest from those of the siblings, in their standard deviations.

Run it with `python benchmarks/planted_errors.py DATA pantheria grambank shop`; it needs
the second package, `pip install ./paper`, and its data sets in the folder DATA.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from shop import shop_task

from phcle import PHCLE, suspicious_cells
from phcle.errors import ConvergenceWarning
from phcle_paper.datasets.patchy_table import CATEGORY, NUMBER, PatchyTable
from phcle_paper.studies.cell_tasks import cell_task

Cell = tuple[str, str]


def plant(table: PatchyTable, values: np.ndarray, n: int, seed: int) -> set[Cell]:
    """Change some known cells; returns which."""
    rng = np.random.default_rng(seed)
    rows, numbers = np.nonzero(table.known)
    found: set[Cell] = set()
    for at in rng.permutation(len(rows)):
        row, field = rows[at], table.fields[numbers[at]]
        own = table.slices[numbers[at]]
        if len(found) == n:
            break
        if field.kind == NUMBER:
            others = values[:, own.start]
            others = others[~np.isnan(others) & (others != values[row, own.start])]
            values[row, own.start] = rng.choice(others)
        elif field.kind == CATEGORY:
            now = int(values[row, own].argmax())
            other = rng.choice([i for i in range(own.stop - own.start) if i != now])
            values[row, own] = np.eye(own.stop - own.start)[other]
        else:
            values[row, own.start] = 1 - values[row, own.start]
        found.add((table.labels[row], field.title))
    return found


def by_family(table: PatchyTable, values: np.ndarray) -> list[Cell]:
    """Cells that differ most from all labels below the same parent."""
    _, parents = table.ancestors[1]
    rows = table.ancestors[1][0]
    scored: list[tuple[float, Cell]] = []
    for parent in np.unique(parents):
        members = rows[parents == parent]
        for field, own in zip(table.fields, table.slices, strict=True):
            block = values[members, own]
            inside = np.flatnonzero(~np.isnan(block[:, 0]))
            if len(inside) < 3:
                continue
            for i in inside:
                others = block[inside[inside != i]]
                if field.kind == NUMBER:
                    far = abs(block[i, 0] - others.mean()) / (others.std() + 1e-9)
                elif (others == block[i]).all(axis=1).any():
                    continue
                else:
                    far = 10.0 + len(others)
                scored.append((-far, (table.labels[members[i]], field.title)))
    return [cell for _, cell in sorted(scored)]


def main() -> None:
    """Plant errors in every table and print a row for it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="folder of data sets")
    parser.add_argument("tables", nargs="+", help="pantheria, grambank, sigtyp, shop")
    parser.add_argument("--errors", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        "| table | known cells | planted | found by phcle | by the family | seconds |"
    )
    print("| --- | --: | --: | --: | --: | --: |")
    for name in given.tables:
        is_shop = name == "shop"
        task = shop_task(given.data) if is_shop else cell_task(name, given.data)
        table = task.table
        values = table.values.copy()
        wrong = plant(table, values, given.errors, given.seed)
        embedding = (
            PHCLE(random_state=given.seed).fit(table.contexts(values)).embedding_
        )
        began = time.perf_counter()
        cells = suspicious_cells(embedding, contexts=[table.name])
        found = [(x.label, x.column) for x in cells]
        seconds = time.perf_counter() - began
        own = len(wrong & set(found[: len(wrong)]))
        rule = len(wrong & set(by_family(table, values)[: len(wrong)]))
        print(
            f"| {name} | {int(table.known.sum()):,} | {len(wrong)} | {own} | {rule} "
            f"| {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
