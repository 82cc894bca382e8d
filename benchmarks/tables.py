"""Complete hidden cells of many tables, and compare PHCLE with other ways to do so.

    python benchmarks/tables.py --data DATA --out FILE [--tables foods,games]
        [--methods phcle,family] [--draws 3] [--jobs 2]
    python benchmarks/tables.py --report FILE ...

Of each table, 15 % of the known cells are hidden (regime "cells") and all cells of
10 % of the labels (regime "labels"). Every result is a line of JSON that is appended to
FILE, and is not computed again. R² is a mean over columns of numbers, on the scale of
`table_rivals.Scale`; a column counts for at least -1.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import pickle
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from measuring import print_head, print_row
from table_rivals import (
    CATEGORY,
    NUMBER,
    RIVALS,
    SURPRISES,
    TAG,
    Guess,
    Scale,
    Table,
    usual,
    without,
    words_of,
)

from phcle import PHCLE, DescriptiveContext, RelationalContext, suspicious_cells

LABELS = 0.1  # share of the labels that lose all cells
FEWEST = 8  # hidden cells of a column, to be scored by itself
REGIMES = ("cells", "labels")
WORDS = {True: "yes", False: "no"}


def draw(table: Table, seed: int) -> dict[str, np.ndarray]:
    """Masks (labels, columns): single cells to hide, and all cells of some labels."""
    rng = np.random.default_rng(seed)
    known = table.known
    asked = np.ones(len(known), bool) if table.asked is None else table.asked
    whole = (rng.random(len(known)) < LABELS) & has_relatives(table)
    cells = rng.random(known.shape) < table.share
    for tags in facets(table).values():  # known or hidden as a whole
        cells[:, tags] = cells[:, tags[:1]]
    cells &= known & (asked & ~whole)[:, None]
    # A row keeps a known cell, or it would be a hidden label.
    cells[~(known & ~cells).any(axis=1)] = False
    return {"cells": cells, "labels": known & whole[:, None]}


def has_relatives(table: Table) -> np.ndarray:
    """Labels with links, or a group of three: nothing is known of the rest alone."""
    linked = {x for given in table.links.values() for x, _ in words_of(*given)}
    found = np.array([x in linked for x in table.labels])
    for level in map(pd.Series, table.groups.T):
        found |= (level.map(level.value_counts()) > 2).to_numpy(bool)
    return found


def facets(table: Table) -> dict[str, list[int]]:
    """Columns of tags by facet."""
    found: dict[str, list[int]] = {}
    for j, (name, kind) in enumerate(zip(table.columns, table.kinds, strict=True)):
        if kind == TAG:
            found.setdefault(name.partition("::")[0], []).append(j)
    return found


def contexts(table: Table) -> list:
    """What PHCLE gets: the table, its groups and its links."""
    rows = np.flatnonzero(table.known.any(axis=1))
    labels, values = [table.labels[i] for i in rows], table.values[rows]
    if TAG in table.kinds:
        columns, numbers = tuple(table.columns), values.astype(float)
        found = [DescriptiveContext("table", labels, columns, numbers)]
    else:
        known = np.flatnonzero(table.known.any(axis=0))
        cells = {table.columns[j]: values[:, j].tolist() for j in known}
        found = [DescriptiveContext.from_cells(labels, cells, "table")]
    above = [[y for y in x if y is not None] for x in table.groups]
    chains = [[a, *b] for a, b in zip(table.labels, above, strict=True) if b]
    edges = sorted({edge for chain in chains for edge in pairwise(chain)})
    if edges:
        below = [chain[0] for chain in chains]
        options = {"name": "groups", "labels": below}
        found.append(RelationalContext.from_hierarchy(edges, **options))
    return [*found, *(linked(*x) for x in table.links.items())]


def linked(name: str, given: tuple[str, Any]) -> Any:
    """A further context."""
    kind, rows = given
    if kind == "places":
        from table_data import nearest_places

        return nearest_places(list(rows), np.array(list(rows.values())), name=name)
    make = {
        "edges": RelationalContext.from_edges,
        "items": RelationalContext.from_annotations,
        "tags": DescriptiveContext.from_tags,
        "texts": DescriptiveContext.from_texts,
    }
    return make[kind](rows, name=name)


def phcle(table: Table, seed: int) -> Guess:
    """PHCLE with default options."""
    embedding = PHCLE().fit(contexts(table)).embedding_
    found, options = Guess(table), {}
    if TAG in table.kinds:  # list them all; one that is not listed has no chance
        found.values[:], options["min_confidence"] = 0.0, 1e-6
    at = places(table)
    for cell in embedding.complete(contexts=["table"], why=False, **options).cells:
        i, j = at(cell)
        found.values[i, j] = cell.value
        found.low[i, j], found.high[i, j] = cell.low, cell.high
        found.chance[i, j] = cell.confidence
        if isinstance(cell.value, bool):
            chance = cell.confidence if cell.value else 1 - cell.confidence
            is_text = table.kinds[j] == CATEGORY
            found.values[i, j] = WORDS[cell.value] if is_text else chance
    return found


def places(table: Table) -> Callable[[Any], tuple[int, int]]:
    """Row and column of a cell of PHCLE."""
    row = {label: i for i, label in enumerate(table.labels)}
    column = {name: j for j, name in enumerate(table.columns)}
    return lambda cell: (row[cell.label], column[cell.column])


def phcle_surprise(table: Table) -> np.ndarray:
    """How early PHCLE names a cell as suspicious: (labels, columns)."""
    embedding = PHCLE().fit(contexts(table)).embedding_
    found, at = np.full(table.values.shape, -np.inf), places(table)
    every = suspicious_cells(embedding, contexts=["table"], k=table.values.size)
    for n, cell in enumerate(every):
        found[at(cell)] = -n
    return found


METHODS = {"phcle": phcle, **RIVALS}
if importlib.util.find_spec("tabpfn") is None:
    del METHODS["TabPFN"]
PARTIAL = ("TabPFN", "quantiles")  # methods of some columns, or of intervals alone


def scored(table: Table, shown: Table, hidden: np.ndarray, guess: Guess) -> dict:
    """Sums over the hidden cells of each column, and how sure the method was.

    A cell of which it says nothing gets the mean or most common value. Bins of a tenth
    hold the number of cells, their chances, and how many were right; intervals the
    number of cells, how many were inside, and widths.
    """
    usually = usual(shown, 0).values
    columns: dict[str, list] = {}
    intervals, bins = np.zeros(3), np.zeros((10, 3))
    for j, kind in enumerate(table.kinds):
        rows = np.flatnonzero(hidden[:, j] & np.not_equal(usually[:, j], None))
        if not len(rows):
            continue
        truth, said = table.values[rows, j], guess.values[rows, j]
        said = np.where(np.equal(said, None), usually[rows, j], said)
        chances, right = guess.chance[rows, j], said == truth
        sums = [int(right.sum())]
        if kind != CATEGORY:
            scale = Scale(shown.values[shown.known[:, j], j].astype(float), kind)
            truth, said = truth.astype(float), said.astype(float)
            wrong = scale.to(said) - scale.to(truth)
            sums = [float((x**2).sum()) for x in (wrong, scale.to(truth))]
            chances, right = np.where(kind == TAG, said, None), truth
            low, high = (x[rows, j].astype(float) for x in (guess.low, guess.high))
            width = np.nan_to_num(scale.to(high) - scale.to(low))
            inside = (low <= truth) & (truth <= high)
            intervals += (~np.isnan(low)).sum(), inside.sum(), width.sum()
        sure = chances[np.not_equal(chances, None)].astype(float)
        parts = [np.ones(len(sure)), sure, right[np.not_equal(chances, None)]]
        at = (sure * 10).astype(int).clip(0, 9)
        np.add.at(bins, at, np.column_stack(parts))
        columns[table.columns[j]] = [kind, len(rows), *sums]
    more = {"intervals": intervals.tolist(), "bins": bins.tolist()}
    return {"columns": columns, **more}


def run(table: Table, seed: int, method: str) -> list[dict]:
    """The lines of one method on one draw."""
    warnings.simplefilter("ignore")
    hidden = draw(table, seed)
    shown = without(table, hidden["cells"] | hidden["labels"])
    line = {"table": table.name, "draw": seed, "method": method}
    began = time.perf_counter()
    try:
        guess = METHODS[method](shown, seed)
    except Exception:
        return [{**line, "regime": None, "failed": traceback.format_exc(limit=-3)}]
    line["seconds"] = round(time.perf_counter() - began, 2)
    told = np.not_equal(guess.values, None).any(axis=0) | (method not in PARTIAL)
    return [
        {**line, "regime": x, **scored(table, shown, hidden[x] & told, guess)}
        for x in REGIMES
        if hidden[x].any()
    ]


def find_errors(table: Table, wrong: set[tuple[int, int]], method: str) -> list[dict]:
    """How many of so many cells that are named first are wrong."""
    warnings.simplefilter("ignore")
    surprise = {"phcle": phcle_surprise, **SURPRISES}[method](table)
    named = np.argwhere(surprise > -np.inf)
    order = np.argsort(-surprise[surprise > -np.inf], kind="stable")[: len(wrong)]
    line = {"table": table.name, "draw": 0, "method": method, "regime": "errors"}
    n_found = len(wrong & set(map(tuple, named[order].tolist())))
    return [{**line, "wrong": len(wrong), "found": n_found}]


def scores(columns: dict[str, list]) -> dict[str, float]:
    """Mean R² of numbers and of tags, and the share of categories that is right."""
    found: dict[str, float] = {}
    for kind in (NUMBER, TAG):
        own = [x[1:] for x in columns.values() if x[0] == kind]
        many = [x for x in own if x[0] >= FEWEST and kind == NUMBER]
        # Tags count together; so do columns, if all have few hidden cells.
        many = many or ([np.sum(own, axis=0)] if own else [])
        parts = [max(1 - wrong / total, -1.0) for _, wrong, total in many if total > 0]
        if parts:
            found[f"{kind}s"] = float(np.mean(parts))
    own = [x[1:] for x in columns.values() if x[0] == CATEGORY]
    if own:
        n, right = np.sum(own, axis=0)
        found["categories"] = float(right / n)
    return found


def read_lines(paths: Iterable[Path]) -> list[dict]:
    """The lines of some files; of a result that was computed again, the last one."""
    found = {}
    for path in paths:
        for text in path.read_text("utf-8").splitlines():
            line = json.loads(text)
            key = (line["table"], line["draw"], line["method"])
            found.pop((*key, None), None)  # it failed before
            found[(*key, line["regime"])] = line
    return list(found.values())


def report(lines: list[dict]) -> None:
    """Scores by table, kind and regime: who is first, and who is level with the first.

    Errors are those of a mean over draws. A method is level (≈) if it is behind by at
    most two standard errors of the difference. TabPFN is compared on its own columns.
    """
    by: dict[tuple, dict] = defaultdict(lambda: defaultdict(dict))
    place_of = itemgetter("table", "regime", "draw")
    some = {
        place_of(x): x["columns"]
        for x in lines
        if x["method"] == "TabPFN" and "columns" in x
    }
    for line in lines:
        (name, regime, n), method = place_of(line), line["method"]
        columns = line.get("columns", {})
        own = {k: v for k, v in columns.items() if k in some.get(place_of(line), ())}
        for kind, value in scores({} if method in PARTIAL else columns).items():
            by[name, kind, regime][method][n] = value
        for kind, value in scores(own).items():
            by[f"{name}, columns of TabPFN", kind, regime][method][n] = value
        if regime == "errors":
            by[name, f"of {line['wrong']:,} errors", "none"][method][n] = line["found"]
        if "failed" in line:
            print(name, n, method, line["failed"])
    methods = list(dict.fromkeys(m for own in by.values() for m in own))
    print_head("table", "scored", "hidden", "draws", *methods, texts=3)
    for key, own in by.items():
        draws = sorted(set.intersection(*map(set, own.values())))
        values = {x: np.array([y[n] for n in draws]) for x, y in own.items()}
        best = max(values.values(), key=lambda x: x.sum())
        cells = [marked(values[x], best) if x in values else "–" for x in methods]
        if draws:
            print_row(*key, len(draws), *cells)


def report_trust(lines: list[dict]) -> None:
    """Do intervals hold 80 %, and chances what they say? By table and of all tables.

    The last column is how far the worst tenth is off, less two standard errors.
    """
    sums: dict[tuple, list] = defaultdict(lambda: [np.zeros(3), np.zeros((10, 3))])
    for line in lines:
        if line["method"] in ("phcle", "quantiles") and "columns" in line:
            kinds = {x[0] for x in line["columns"].values()}
            for name in (line["table"], "all tags" if TAG in kinds else "all tables"):
                own = sums[name, line["regime"], line["method"]]
                own[0] += line["intervals"]
                own[1] += line["bins"]
    print()
    numbers = ("inside", "width", "said", "right", "off")
    print_head("table", "hidden", "method", *numbers, texts=3)
    for key, ((n, inside, width), bins) in sorted(sums.items()):
        cells, said, right = bins[bins[:, 0] > 0].T
        share = said / cells
        off = abs(right / cells - share) - 2 * np.sqrt(share * (1 - share) / cells)
        own = [inside / n, width / n] if n else [np.nan] * 2
        if len(cells):
            own += [x.sum() / cells.sum() for x in (said, right)]
            own.append(max(off.max(), 0))
        print_row(*key, *(f"{x:.3f}" for x in own))


def marked(own: np.ndarray, best: np.ndarray) -> str:
    """A mean with its error, and a mark if it is first or level with the first."""
    text = f"{own.mean():.3f}" if own.dtype == float else f"{own.mean():.0f}"
    error, behind = (
        x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else 0.0
        for x in (own, best - own)
    )
    text += f" ± {error:.3f}" if len(own) > 1 else ""
    if own is best:
        return f"**{text}**"
    return f"≈ {text}" if (best - own).mean() <= 2 * behind else text


def wanted(given: str | None, known: Iterable[str]) -> list[str]:
    """Names that were given, separated by commas; by default all."""
    known = list(known)
    names = given.split(",") if given else known
    missing = [x for x in names if x not in known]
    if missing:
        raise SystemExit(f"{', '.join(missing)}: unknown; there are {', '.join(known)}")
    return names


def read_tables(given: argparse.Namespace) -> Iterator[Table]:
    """The tables that were asked for; those that cannot be read are named."""
    if given.pickled:
        tables = {x["name"]: x for x in pickle.loads(given.pickled.read_bytes())}
        yield from (Table(**tables[x]) for x in wanted(given.tables, tables))
        return
    from table_sets import TABLES

    for name in wanted(given.tables, TABLES):
        try:
            yield TABLES[name](given.data)
        except (Exception, SystemExit) as error:
            print(f"{name}: left out ({error})", flush=True)


def tasks_of(given: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Functions with what they are given, and the names of their lines."""
    if given.errors:
        from table_sets import WITH_ERRORS

        for name in wanted(given.tables, WITH_ERRORS):
            cells = WITH_ERRORS[name](given.data)
            for method in wanted(given.methods, ["phcle", *SURPRISES]):
                yield find_errors, *cells, method
        return
    tables = list(read_tables(given))
    for seed in range(given.draws):
        for table in tables:
            for method in wanted(given.methods, METHODS):
                yield run, table, seed, method


def compute(given: argparse.Namespace) -> None:
    """Run what FILE does not have yet, and append it."""
    done = {
        (x["table"], x["draw"], x["method"], x["regime"] == "errors")
        for x in (read_lines([given.out]) if given.out.exists() else [])
        if "failed" not in x
    }
    tasks = [
        (function, table, more, method)
        for function, table, more, method in tasks_of(given)
        if (table.name, 0 if given.errors else more, method, given.errors) not in done
    ]
    with given.out.open("a", encoding="utf-8") as out:
        for lines in results(tasks, given.jobs):
            for line in lines:
                out.write(json.dumps(line) + "\n")
                names = [line[x] for x in ("table", "draw", "method", "regime")]
                said = [line[x] for x in ("failed", "found") if x in line]
                print(*names, *said, scores(line.get("columns", {})) or "")
            out.flush()


def results(tasks: list[tuple[Any, ...]], jobs: int) -> Iterator[list[dict]]:
    """Lines of each task as they come, from one or more processes."""
    if jobs == 1:
        yield from (function(*given) for function, *given in tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for future in as_completed([pool.submit(*task) for task in tasks]):
            yield future.result()


def main(arguments: list[str] | None = None) -> None:
    """Compute, or report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", help="names, separated by commas")
    parser.add_argument("--methods", help="names, separated by commas")
    parser.add_argument("--data", type=Path, help="folder of all data")
    parser.add_argument("--out", type=Path, help="file to append results to")
    parser.add_argument("--pickle", type=Path, help="write the tables to this file")
    parser.add_argument("--pickled", type=Path, help="read the tables from this file")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--errors", action="store_true", help="find wrong cells")
    parser.add_argument("--report", type=Path, nargs="+", help="results to compare")
    given = parser.parse_args(arguments)
    if given.report:
        report(read_lines(given.report))
        report_trust(read_lines(given.report))
    elif given.pickle:
        found = [vars(x) for x in read_tables(given)]
        given.pickle.write_bytes(pickle.dumps(found))
    elif given.out and (given.data or given.pickled):
        compute(given)
    else:
        parser.error("needs --report, or --data or --pickled with --out or --pickle")


if __name__ == "__main__":
    main()
