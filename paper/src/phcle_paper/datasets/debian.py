"""Debian's packages: sections, dependencies, tags and descriptions, from an index.

`apt-cache dumpavail > Packages` writes such an index on any machine with Debian or one
of its descendants; a mirror has them as `Packages.xz`. Nothing of it ships with phcle.

Tags (debtags) are `facet::value`. A package that has a tag of a facet is taken to be
fully described by that facet; a facet of which it has none is unknown, not absent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from phcle.contexts import (
    Context,
    DescriptiveContext,
    RelationalContext,
    has_sentence_encoder,
)
from phcle.errors import FileError, OptionError
from phcle_paper.context_values import dense_values
from phcle_paper.datasets.debian_index import REMEDY, read_stanzas
from phcle_paper.datasets.patchy_table import TAGS, Field, PatchyTable

__all__ = ["DebianPackages", "Package", "facet_of", "load_debian", "parse_package"]

NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*", re.I)
NOT_TOLD = ("special",)  # about tagging itself


@dataclass(frozen=True)
class Package:
    """What an index says about one package."""

    name: str
    source: str
    section: str
    tags: frozenset[str]
    needs: tuple[str, ...]  # packages that it depends on or recommends
    summary: str  # the first line of its description

    @cached_property
    def facets(self) -> frozenset[str]:
        """Facets of which it has a tag."""
        return frozenset(map(facet_of, self.tags))


@dataclass(frozen=True, eq=False)
class DebianPackages:
    """Packages as labels, each with whatever is known about it."""

    packages: Mapping[str, Package]
    min_count: int = 10  # packages that must have a tag for it to be a column

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the packages, those that most others need first."""
        return tuple(self.packages)

    def sections(self) -> RelationalContext:
        """The package below its section."""
        return RelationalContext.from_hierarchy(
            self.section_edges(), name="section", labels=self.labels
        )

    def section_edges(self) -> list[tuple[str, str]]:
        """Edges from the packages to their sections, and from these to the top."""
        edges = [(x.name, f"section {x.section}") for x in self.packages.values()]
        tops = [(section, "packages") for section in sorted({s for _, s in edges})]
        return [*edges, *tops]

    def dependencies(self) -> RelationalContext:
        """What a package needs: one column per needed package."""
        wanted = {x.name: x.needs for x in self.packages.values()}
        columns = _common(wanted.values(), 2)
        counts = _incidence(wanted, columns)
        return RelationalContext.from_matrix(
            counts, self.labels, columns, name="depends"
        )

    def tags(self) -> DescriptiveContext:
        """One column per tag; a facet that tells nothing of a package is unknown."""
        own = {x.name: sorted(x.tags) for x in self.packages.values()}
        columns = _common(own.values(), self.min_count)
        known = {
            x.name: [tag for tag in columns if facet_of(tag) in x.facets]
            for x in self.packages.values()
        }
        return DescriptiveContext(
            "tags",
            self.labels,
            columns,
            _incidence(own, columns),
            _incidence(known, columns),
        )

    def descriptions(self) -> dict[str, str]:
        """Name and summary of each package."""
        return {x.name: f"{x.name}: {x.summary}" for x in self.packages.values()}

    def words(self) -> DescriptiveContext:
        """The words of names and summaries."""
        return DescriptiveContext.from_texts(self.descriptions(), name="words")

    def sentences(self) -> DescriptiveContext | None:
        """Sentence vectors of names and summaries, where an encoder is installed."""
        if not has_sentence_encoder():
            return None
        return DescriptiveContext.from_texts(
            self.descriptions(), name="sentences", encoder="sentences"
        )

    def besides_tags(self) -> tuple[Context, ...]:
        """What else is known of all packages, sections aside."""
        sentences = self.sentences()
        others: tuple[Context, ...] = (self.dependencies(), self.words())
        return others if sentences is None else (*others, sentences)

    def tag_table(self) -> PatchyTable:
        """Packages and their tags, a field for each facet, below their sections."""
        tags = self.tags()
        facets: dict[str, list[str]] = {}
        for tag in tags.columns:
            facets.setdefault(facet_of(tag), []).append(tag)
        fields = tuple(Field(x, TAGS, tuple(own)) for x, own in facets.items())
        order = [tags.columns.index(tag) for field in fields for tag in field.values]
        return PatchyTable(
            tags.name,
            self.labels,
            fields,
            dense_values(tags, self.labels)[:, order],
            tuple(self.section_edges()),
            self.besides_tags(),
        )

    def contexts(self) -> list[RelationalContext | DescriptiveContext]:
        """Section, dependencies, tags and words."""
        return [self.sections(), self.dependencies(), self.tags(), self.words()]


def load_debian(
    path: str | Path, *, most: int = 2000, min_facets: int = 5, min_count: int = 10
) -> DebianPackages:
    """Read an index, and keep the packages that are well tagged and much needed.

    Parameters
    ----------
    path
        A `Packages` file, plain or compressed by gzip, bzip2 or xz.
    most
        How many packages to keep: those that most others need.
    min_facets
        Facets of which a package must have a tag.
    min_count
        Packages that a tag must have to be a column.

    Of the packages that one source makes, only the one that most others need is kept:
    siblings have the same tags, and would make any completion look good.
    """
    if most < 5:
        raise OptionError(f"most must be 5 or more. Got {most!r} instead.")
    path = Path(path)
    everything: dict[str, Package] = {}
    for package in map(parse_package, read_stanzas(path)):
        if package is not None:
            # A security update has no tags of its own; those of the release hold.
            known = everything.get(package.name, package)
            tags = package.tags | known.tags
            everything[package.name] = replace(package, tags=tags)
    needed = Counter(need for x in everything.values() for need in x.needs)

    def rank(package: Package) -> tuple[int, int, str]:
        return (-needed[package.name], -len(package.tags), package.name)

    best: dict[str, Package] = {}
    for package in sorted(everything.values(), key=rank):
        if len(package.facets) >= min_facets:
            best.setdefault(package.source, package)
    kept = sorted(best.values(), key=rank)[:most]
    if len(kept) < 5:
        raise FileError(
            f"{path}: {len(kept)} of {len(everything)} packages have tags of "
            f"{min_facets} facets or more; is it an index of Debian? {REMEDY}"
        )
    return DebianPackages({x.name: x for x in kept}, min_count)


def parse_package(stanza: Mapping[str, str]) -> Package | None:
    """A package from its fields; None where it lacks a name, section or summary."""
    name, section = stanza.get("Package"), stanza.get("Section")
    summary = stanza.get("Description", stanza.get("Description-en", ""))
    summary = summary.partition("\n")[0].strip()
    if not (name and section and summary):
        return None
    source = stanza.get("Source", name).split()[0]
    tags = {tag.strip() for tag in stanza.get("Tag", "").split(",")}
    needs: dict[str, None] = {}
    for field in ("Pre-Depends", "Depends", "Recommends"):
        for clause in stanza.get(field, "").split(","):
            found = NAME.match(clause.strip())  # the first of alternatives
            if found:
                needs[found[0]] = None
    return Package(
        name,
        source,
        section.rpartition("/")[2],  # "contrib/games" is games too
        frozenset(x for x in tags if "::" in x and facet_of(x) not in NOT_TOLD),
        tuple(needs),
        summary,
    )


def facet_of(tag: str) -> str:
    """The part of a tag before `::`."""
    return tag.partition("::")[0]


def _common(given: Iterable[Iterable[str]], least: int) -> tuple[str, ...]:
    """What at least so many packages have, sorted."""
    counts = Counter(item for items in given for item in set(items))
    return tuple(sorted(item for item, n in counts.items() if n >= least))


def _incidence(
    given: Mapping[str, Iterable[str]], columns: tuple[str, ...]
) -> sp.csr_array:
    """Ones where a row has a column: (rows, columns)."""
    position = {column: i for i, column in enumerate(columns)}
    rows = [sorted(position[x] for x in own if x in position) for own in given.values()]
    indices = [i for row in rows for i in row]
    indptr = np.cumsum([0, *map(len, rows)])
    return sp.csr_array(
        (np.ones(len(indices)), indices, indptr), shape=(len(rows), len(columns))
    )
