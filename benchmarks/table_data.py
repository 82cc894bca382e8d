"""Public data sets with gaps, read from a folder of all data for `table_sets.py`.

    python benchmarks/table_data.py graph DATA/fb15k-numbers
    python benchmarks/table_data.py sigtyp DATA/sigtyp2020 --log FILE

score PHCLE where others have published scores: numbers of a knowledge graph, and the
test languages of SIGTYP 2020. Every scoring of that test is added to the log, and
nothing removes it: a test that is scored often is no test.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from phcle import PHCLE, DescriptiveContext, RelationalContext, __version__

FILES = ("train.csv", "dev.csv", "test_blinded.csv")
GOLD = "test_gold.csv"
ASKED = "?"
SECOND_NAME = re.compile(r"\t(Word|Prefix)&NoDoubleNeg")
"""The second name of a value of SIGTYP, after "no double negation" and a tab."""

EARTH_KM, REACH_KM, NEIGHBOURS = 6371.0, 500.0, 10
"""Weight exp(−km/500): places of one region count, those of another hardly do."""

ANIMAL, PRODUCE, ARTIFACT = "n00015388", "n07705711", "n00021939"
LAD_GROUPS = {"A": ANIMAL, "F": PRODUCE, "V": ARTIFACT, "E": ARTIFACT, "H": ""}
"""Where the groups of LAD lie in WordNet; a hair style has no place there."""
LAD_SENSES = {
    "coach": "n02924116",  # a bus, not drawn by horses
    "keyboard": "n03085013",  # of a computer, not of a piano
    "television": "n04405907",  # the set, not the broadcast
    "tram": "n04335435",  # on rails, not on cables
    "van": "n04520170",  # on the road, not on rails
    "switch": "",  # joins networks; WordNet's turns on the light
}

PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*", re.I)
FEWEST_FACETS, FEWEST_PACKAGES = 5, 10
"""Facets that a package of Debian must have, and packages that a tag must have."""


@dataclass(frozen=True)
class Field:
    """What one cell holds: a number, yes or no ("truth"), a category or its tags."""

    title: str
    kind: str = "number"
    values: tuple[str, ...] = ()  # of a category, or the tags
    is_log: bool = False  # whether the table has the logarithm of the number

    @property
    def columns(self) -> tuple[str, ...]:
        """A column for each value or tag, else one."""
        return self.values or (self.title,)


@dataclass(frozen=True, eq=False)
class PatchyTable:
    """A table with gaps and the groups above its labels."""

    labels: tuple[str, ...]
    fields: tuple[Field, ...]
    values: np.ndarray  # (labels, columns), NaN where unknown
    edges: tuple[tuple[str, str], ...]  # (child, parent)

    @cached_property
    def slices(self) -> list[slice]:
        """The columns of every field."""
        ends = np.cumsum([len(x.columns) for x in self.fields]).tolist()
        return list(map(slice, [0, *ends[:-1]], ends))

    @cached_property
    def is_log(self) -> np.ndarray:
        """Which columns are logarithms."""
        return np.array([x.is_log for x in self.fields for _ in x.columns])


def load_pantheria(folder: Path) -> PatchyTable:
    """Traits of mammals; positive ones are in logs, as most are log-normal."""
    traits = pd.read_csv(folder / "traits.csv", index_col="species")
    values = traits.to_numpy(float)
    positive = ~(values <= 0).any(axis=0)
    values[:, positive] = np.log(values[:, positive])
    above = pd.read_csv(folder / "taxonomy.csv", dtype=str)
    chains = [
        # An order and a family may share a name.
        [row["species"]]
        + [f"{x.lower()} {row[x]}" for x in ("Genus", "Family", "Order") if row[x]]
        for row in above.fillna("").to_dict("records")
    ]
    fields = (
        Field(name, is_log=bool(log))
        for name, log in zip(traits, positive, strict=True)
    )
    return PatchyTable(tuple(traits.index), tuple(fields), values, edges_of(chains))


def load_grambank(folder: Path) -> PatchyTable:
    """Yes-or-no features of languages below their lineage."""
    features = pd.read_csv(folder / "features.csv", index_col="language_id")
    lineage = pd.read_csv(folder / "languages.csv", index_col="language_id")["lineage"]
    chains = [
        [label, *reversed([x.strip() for x in str(own).split(",") if x.strip()])]
        for label, own in lineage.dropna().items()
    ]
    return PatchyTable(
        tuple(features.index),
        tuple(Field(x, "truth") for x in features),
        features.to_numpy(float),
        edges_of(chains),
    )


def edges_of(chains: list[list[str]]) -> tuple[tuple[str, str], ...]:
    """Every label and group with the group above it."""
    return tuple(dict.fromkeys(edge for chain in chains for edge in pairwise(chain)))


def great_circle_km(places: np.ndarray) -> np.ndarray:
    """Distances between places given as latitude and longitude: (places,)²."""
    latitude, longitude = np.radians(places).T
    x = np.cos(latitude) * np.cos(longitude)
    y = np.cos(latitude) * np.sin(longitude)
    points = np.column_stack([x, y, np.sin(latitude)])
    return EARTH_KM * np.arccos(np.clip(points @ points.T, -1, 1))


def nearest_places(
    labels: list[str], places: np.ndarray, *, name: str = "neighbours"
) -> RelationalContext:
    """Every label with its ten nearest, by weight of distance."""
    known = np.flatnonzero(~np.isnan(places).any(axis=1))
    distance = great_circle_km(places[known])
    np.fill_diagonal(distance, np.inf)
    n = min(NEIGHBOURS, len(known) - 1)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :n]
    weight = np.exp(-distance / REACH_KM)
    edges = [
        (labels[known[i]], labels[known[j]], float(weight[i, j]))
        for i in range(len(known))
        for j in nearest[i]
    ]
    return RelationalContext.from_edges(edges, name=name)


@dataclass(frozen=True)
class Language:
    """One line of SIGTYP: values are texts such as "2 Strongly suffixing"."""

    code: str
    place: tuple[float, float]
    genus: str
    family: str
    features: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Sigtyp:
    """The table of all languages, which are for development, and what is asked."""

    table: PatchyTable
    is_dev: np.ndarray  # (labels,)
    asked: np.ndarray  # (labels, fields), of test languages


def load_sigtyp(folder: Path) -> Sigtyp:
    """All languages of SIGTYP 2020 below genus and family; what is asked is unknown."""
    parts = [list(_languages(folder, name)) for name in FILES]
    languages = [language for part in parts for language in part]
    values: dict[str, dict[int, str]] = {}
    for language in languages:
        for feature, text in language.features.items():
            if text != ASKED:
                values.setdefault(feature, {}).setdefault(number_of(text), text)
    fields = tuple(
        Field(x, "category", tuple(text for _, text in sorted(own.items())))
        for x, own in sorted(values.items())
    )
    chains = [[x.code, f"genus {x.genus}", f"family {x.family}"] for x in languages]
    table = PatchyTable(
        tuple(x.code for x in languages),
        fields,
        np.array([one_hot(x, fields) for x in languages]),
        edges_of(chains),
    )
    asked = [[x.features.get(y.title) == ASKED for y in fields] for x in languages]
    is_dev = np.repeat([False, True, False], list(map(len, parts)))
    return Sigtyp(table, is_dev, np.array(asked))


def one_hot(language: Language, fields: tuple[Field, ...]) -> list[float]:
    """All columns of a language: 1 and 0 in features that are known."""
    row: list[float] = []
    for field in fields:
        text = language.features.get(field.title, ASKED)
        if text == ASKED:
            row += [math.nan] * len(field.values)
        else:
            row += [float(number_of(x) == number_of(text)) for x in field.values]
    return row


def number_of(text: str) -> int:
    """The number that a value begins with; the words after it vary."""
    return int(text.split(maxsplit=1)[0])


def _languages(folder: Path, name: str) -> Iterator[Language]:
    """Languages of a file, with feature names in lower case."""
    lines = (folder / name).read_text("utf-8").splitlines()[1:]
    for line in filter(str.strip, lines):
        parts = SECOND_NAME.sub("", line).split("\t")
        code, _, latitude, longitude, genus, family, _, *pairs = parts
        # A missing separator shows as a further tab.
        split = [x.partition("=") for part in pairs for x in part.split("|") if x]
        features = {x.strip().lower(): value.strip() for x, _, value in split}
        place = (float(latitude), float(longitude))
        yield Language(code, place, genus, family, features)


def score_test(folder: Path, log: Path) -> dict[str, float]:
    """Score PHCLE's defaults on the SIGTYP test, and write that down in the log."""
    found = load_sigtyp(folder)
    table, languages = found.table, [y for x in FILES for y in _languages(folder, x)]
    cells = {
        field.title: [
            field.values[int(row.argmax())] if row[0] == row[0] else None
            for row in table.values[:, own]
        ]
        for field, own in zip(table.fields, table.slices, strict=True)
    }
    contexts = [
        DescriptiveContext.from_cells(table.labels, cells, "features"),
        RelationalContext.from_hierarchy(table.edges, labels=table.labels),
        nearest_places(list(table.labels), np.array([x.place for x in languages])),
    ]
    embedding = PHCLE().fit(contexts).embedding_
    said = embedding.complete(contexts=["features"], why=False).cells
    guesses = {
        (x.label, x.column): number_of(x.value)
        for x in said
        if isinstance(x.value, str)
    }
    for feature, own in cells.items():  # where nothing is said
        (usual, _), *_ = Counter(x for x in own if x is not None).most_common(1)
        guesses[feature] = number_of(usual)
    gold = {x.code: x.features for x in _languages(folder, GOLD)}
    shares = []
    for label, asked in zip(table.labels, found.asked, strict=True):
        own = [field.title for field, x in zip(table.fields, asked, strict=True) if x]
        right = [
            guesses.get((label, x), guesses[x]) == number_of(gold[label][x])
            for x in own
        ]
        shares += [right] if right else []
    scores = {
        "accuracy": float(np.concatenate(shares).mean()),
        "mean over labels": float(np.mean([np.mean(x) for x in shares])),
    }
    today = datetime.date.today().isoformat()
    entry = {"date": today, "version": __version__, "scores": scores}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    return scores


def load_lad(folder: Path) -> tuple[DescriptiveContext, dict[str, str]]:
    """Attributes of LAD's classes, and the letter of each class's group.

    The file has zeros for attributes of other groups, which nobody looked at: they are
    unknown here. Attributes of the same name in several groups are one column.
    """
    classes, listed = (
        [x.split(", ", 1) for x in (folder / name).read_text("utf-8").splitlines()]
        for name in ("label_list.txt", "attribute_list.txt")
    )
    lines = (folder / "attributes_per_class.txt").read_text("utf-8").splitlines()
    rows = [line.partition(",")[2].strip(" []").split() for line in lines]
    names = [english(rest).replace("_", " ") for _, rest in classes]
    titles = [english(rest) for _, rest in listed]
    columns = tuple(dict.fromkeys(titles))
    at = np.array([columns.index(x) for x in titles])
    letters = np.array([x.split("_")[1] for x, _ in listed])
    groups = {
        name: x.split("_")[1] for name, (x, _) in zip(names, classes, strict=True)
    }
    values = np.full((len(names), len(columns)), np.nan)
    for i, (letter, row) in enumerate(zip(groups.values(), rows, strict=True)):
        own = letters == letter
        values[i, at[own]] = np.array(row, dtype=float)[own]
    return DescriptiveContext("LAD", tuple(names), columns, values), groups


def english(rest: str) -> str:
    """The first of the names; the second is Chinese."""
    return rest.rsplit(",", 1)[0].strip()


def noun_table(name: str, data: Path) -> PatchyTable:
    """Attributes of AWA or LAD under the wnids of WordNet's nouns."""
    from phcle_paper.datasets import load_awa, load_wordnet_nouns

    nouns = load_wordnet_nouns()
    if name == "AWA":
        described = load_awa(data / "awa")
        below = dict.fromkeys(described.labels, ANIMAL)
    else:
        described, groups = load_lad(data / "lad")
        below = {label: LAD_GROUPS[letter] for label, letter in groups.items()}
    found: dict[str, str] = {}  # wnid -> label
    for label in described.labels:
        fit = nouns.senses_of(label, below=below[label]) if below[label] else ()
        chiefly = [x for x in fit if nouns.name_of(x).lower() == label.lower()]
        wnid = LAD_SENSES.get(label, next(iter([*chiefly, *fit]), ""))
        if wnid and wnid not in found:
            found[wnid] = label
    rows = [described.index[label] for label in found.values()]
    return PatchyTable(
        tuple(found),
        tuple(map(Field, described.columns)),
        np.asarray(described.values)[rows],
        tuple(nouns.edges(found)),
    )


@dataclass(frozen=True)
class Package:
    """What an index of Debian says about one package."""

    name: str
    source: str
    section: str
    tags: frozenset[str]
    needs: tuple[str, ...]  # packages that it depends on or recommends
    summary: str

    @cached_property
    def facets(self) -> frozenset[str]:
        """Facets of which it has a tag; of these it is taken to have all tags."""
        return frozenset(x.partition("::")[0] for x in self.tags)


@dataclass(frozen=True, eq=False)
class DebianPackages:
    """Packages as labels, those that most others need first."""

    packages: Mapping[str, Package]

    def descriptions(self) -> dict[str, str]:
        """Name and summary of each package."""
        return {x.name: f"{x.name}: {x.summary}" for x in self.packages.values()}

    def tag_table(self) -> PatchyTable:
        """Tags, a field for each facet; a facet of which nothing is said is unknown."""
        own = list(self.packages.values())
        counts = Counter(tag for x in own for tag in x.tags)
        tags = sorted(x for x, n in counts.items() if n >= FEWEST_PACKAGES)
        facets = dict.fromkeys(x.partition("::")[0] for x in tags)
        fields = tuple(
            Field(x, "tags", tuple(y for y in tags if y.startswith(f"{x}::")))
            for x in facets
        )
        values = [
            [
                float(tag in x.tags) if field.title in x.facets else math.nan
                for field in fields
                for tag in field.values
            ]
            for x in own
        ]
        chains = [[x.name, f"section {x.section}", "packages"] for x in own]
        return PatchyTable(
            tuple(self.packages), fields, np.array(values), edges_of(chains)
        )


def load_debian(path: str | Path, *, most: int = 2000) -> DebianPackages:
    """The packages of an index (`apt-cache dumpavail`) that are well tagged.

    Of the packages of one source only the one that most others need is kept: siblings
    have the same tags, and would make any completion look good.
    """
    known: dict[str, Package] = {}
    for text in Path(path).read_text("utf-8").split("\n\n"):
        if package := parse_package(text):
            # A security update has no tags of its own; those of the release hold.
            earlier = known.get(package.name, package)
            known[package.name] = replace(package, tags=package.tags | earlier.tags)
    needed = Counter(need for x in known.values() for need in x.needs)

    def rank(package: Package) -> tuple[int, int, str]:
        return (-needed[package.name], -len(package.tags), package.name)

    best: dict[str, Package] = {}
    for package in sorted(known.values(), key=rank):
        if len(package.facets) >= FEWEST_FACETS:
            best.setdefault(package.source, package)
    return DebianPackages({x.name: x for x in list(best.values())[:most]})


def parse_package(stanza: str) -> Package | None:
    """A package from its lines; None where it lacks a name, section or summary."""
    fields: dict[str, str] = {}
    field = ""
    for line in stanza.splitlines():
        if line.startswith((" ", "\t")):
            fields[field] += f"\n{line.strip()}"
        else:
            field, _, value = line.partition(":")
            fields[field] = value.strip()
    name, section = fields.get("Package"), fields.get("Section")
    summary = fields.get("Description", fields.get("Description-en", ""))
    summary = summary.partition("\n")[0].strip()
    if not (name and section and summary):
        return None
    tags = {tag.strip() for tag in fields.get("Tag", "").split(",")}
    clauses = ",".join(
        fields.get(x, "") for x in ("Pre-Depends", "Depends", "Recommends")
    )
    needs = [PACKAGE.match(x.strip()) for x in clauses.split(",")]
    return Package(
        name,
        fields.get("Source", name).split()[0],
        section.rpartition("/")[2],  # "contrib/games" is games too
        # Tags of the facet "special" are about tagging itself.
        frozenset(x for x in tags if "::" in x and not x.startswith("special::")),
        tuple(dict.fromkeys(x[0] for x in needs if x)),  # the first of alternatives
        summary,
    )


def score_graph(folder: Path) -> None:
    """Errors of a knowledge graph's hidden numbers, beside those of the median.

    The folder holds `triples.tsv.gz` (head, relation, tail), `numbers_train.csv.gz` and
    `numbers_dev.csv.gz` (entity, attribute, value).
    """
    train, dev = (
        pd.read_csv(folder / f"numbers_{x}.csv.gz", header=0, names=["e", "a", "v"])
        for x in ("train", "dev")
    )
    rows = pd.read_csv(folder / "triples.tsv.gz", sep="\t", header=None)
    for column in (0, 2):  # the numbers name entities without the first three letters
        rows[column] = rows[column].str.removeprefix("/m/")
    known = train.groupby(["e", "a"]).v.mean().unstack()
    contexts = [
        RelationalContext.from_triples(rows.itertuples(index=False, name=None)),
        DescriptiveContext.from_frame(known, name="numbers"),
    ]
    embedding = PHCLE(verbose=True).fit(contexts).embedding_
    asked = [x for x in dev.e.unique() if x in embedding]
    cells = embedding.complete(asked, why=False).cells
    said = {(x.label, x.column): x.value for x in cells}
    for attribute, own in dev.groupby("a"):
        middle = known[attribute].median()
        found = np.array([said.get((x, attribute), middle) for x in own.e])
        error, usual = (np.abs(x - own.v).mean() for x in (found, middle))
        print(f"{attribute:45} {len(own):4} {error:10.4g}, median {usual:10.4g}")


def main(arguments: list[str] | None = None) -> None:
    """Score what others have published scores of."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["sigtyp", "graph"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--log", type=Path, default=Path("sigtyp-test.scorings.jsonl"))
    given = parser.parse_args(arguments)
    if given.what == "graph":
        score_graph(given.folder)
        return
    print(score_test(given.folder, given.log))
    n_scored = len(given.log.read_text("utf-8").splitlines())
    print(f"{given.log} lists {n_scored} scorings of the test")


if __name__ == "__main__":
    main()
