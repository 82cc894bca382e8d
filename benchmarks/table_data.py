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
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from email.parser import HeaderParser
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import haversine_distances

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
FEWEST_FACETS = 5
"""Facets that a package of Debian must have."""


def great_circle_km(places: np.ndarray) -> np.ndarray:
    """Distances between places given as latitude and longitude: (places,)²."""
    return EARTH_KM * haversine_distances(np.radians(places))


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
    groups: tuple[str, str]  # genus and family
    features: Mapping[str, str]


@dataclass(frozen=True)
class Sigtyp:
    """All languages of SIGTYP 2020, their known features, and those for development."""

    languages: list[Language]
    features: pd.DataFrame  # (labels, features) of texts
    is_dev: np.ndarray  # (labels,)

    @property
    def places(self) -> dict[str, tuple[float, float]]:
        """Latitude and longitude of each language."""
        return {x.code: x.place for x in self.languages}

    @property
    def groups(self) -> pd.DataFrame:
        """Genus and family of each language."""
        found = {x.code: x.groups for x in self.languages}
        return pd.DataFrame.from_dict(found, orient="index")


def load_sigtyp(folder: Path) -> Sigtyp:
    """All languages; a value has one text, that of the first language with it."""
    parts = [list(_languages(folder, name)) for name in FILES]
    languages = [language for part in parts for language in part]
    texts: dict[tuple[str, int], str] = {}
    rows = {
        language.code: {
            feature: texts.setdefault((feature, number_of(text)), text)
            for feature, text in language.features.items()
            if text != ASKED
        }
        for language in languages
    }
    features = pd.DataFrame.from_dict(rows, orient="index").sort_index(axis=1)
    is_dev = np.repeat([False, True, False], list(map(len, parts)))
    return Sigtyp(languages, features, is_dev)


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
        groups = (f"genus {genus}", f"family {family}")
        yield Language(code, place, groups, features)


def score_test(folder: Path, log: Path) -> dict[str, float]:
    """Score PHCLE's defaults on the SIGTYP test, and write that down in the log."""
    found = load_sigtyp(folder)
    labels = list(found.features.index)
    known = found.features.astype(object).where(found.features.notna(), None)
    chains = [[label, *above] for label, *above in found.groups.itertuples()]
    contexts = [
        DescriptiveContext.from_cells(labels, known.to_dict("list"), "features"),
        RelationalContext.from_hierarchy(edges_of(chains), labels=labels),
        nearest_places(labels, np.array(list(found.places.values()))),
    ]
    embedding = PHCLE().fit(contexts).embedding_
    said = embedding.complete(contexts=["features"], why=False).cells
    guesses = {(x.label, x.column): x.value for x in said if isinstance(x.value, str)}
    usual = found.features.mode().iloc[0]  # where nothing is said
    gold = {x.code: x.features for x in _languages(folder, GOLD)}
    rows = []
    for x in found.languages:
        for feature in (k for k, text in x.features.items() if text == ASKED):
            guess = guesses.get((x.code, feature), usual[feature])
            is_right = number_of(guess) == number_of(gold[x.code][feature])
            rows.append((x.code, is_right))
    right = pd.DataFrame(rows, columns=["code", "right"])
    by_label = right.groupby("code")["right"].mean()
    scores = {
        "accuracy": float(right["right"].mean()),
        "mean over labels": float(by_label.mean()),
    }
    today = datetime.date.today().isoformat()
    entry = {"date": today, "version": __version__, "scores": scores}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    return scores


def edges_of(chains: Iterable[list[str]]) -> list[tuple[str, str]]:
    """Every label and group with the group above it."""
    return list(dict.fromkeys(edge for chain in chains for edge in pairwise(chain)))


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


def noun_table(name: str, data: Path) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """Attributes of AWA or LAD under the wnids of WordNet's nouns, and their edges."""
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
    frame = pd.DataFrame(described.values, described.labels, described.columns)
    return frame.loc[[*found.values()]].set_axis([*found]), nouns.edges(found)


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


def load_debian(path: str | Path, *, most: int) -> list[Package]:
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
    return list(best.values())[:most]


def parse_package(stanza: str) -> Package | None:
    """A package from its lines; None where it lacks a name, section or summary."""
    fields = dict(HeaderParser().parsestr(stanza.strip()).items())
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
