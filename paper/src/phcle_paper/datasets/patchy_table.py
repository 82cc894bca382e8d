"""PatchyTable: a table with gaps, the groups above its labels, and other contexts."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts import Context, DescriptiveContext, Hierarchy, RelationalContext
from phcle.contexts.family_means import Groups
from phcle.errors import FileError
from phcle.files.text import read_text
from phcle_paper.datasets.releases import Release

__all__ = ["Field", "PatchyTable", "numbers_of", "read_cells"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.intp]

NUMBER, TRUTH, CATEGORY, TAGS = "number", "truth", "category", "tags"


@dataclass(frozen=True)
class Field:
    """One field of a table: what a single cell of it holds.

    A number and a truth value (0 or 1) have one column. A category has a column for
    each value, of which one is 1. Tags have a column each, known or hidden together.
    """

    title: str
    kind: str = NUMBER
    values: tuple[str, ...] = ()  # of a category, or the tags
    is_log: bool = False  # whether the table has the logarithm of the number

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        if self.kind == TAGS:
            return self.values
        return tuple(f"{self.title}={x}" for x in self.values) or (self.title,)


@dataclass(frozen=True, eq=False)
class PatchyTable:
    """A table with gaps, the groups above its labels, and other contexts."""

    name: str
    labels: tuple[str, ...]
    fields: tuple[Field, ...]
    values: Floats  # (labels, columns), NaN where unknown; logarithms where is_log
    edges: tuple[tuple[str, str], ...] = ()  # (child, parent), labels at the bottom
    others: tuple[Context, ...] = ()  # besides the hierarchy

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of all fields."""
        return tuple(column for field in self.fields for column in field.columns)

    @cached_property
    def field_of(self) -> Numbers:
        """The number of every column's field."""
        return np.repeat(
            np.arange(len(self.fields)), [len(x.columns) for x in self.fields]
        )

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The columns of every field."""
        ends = np.cumsum([len(x.columns) for x in self.fields]).tolist()
        return tuple(map(slice, [0, *ends[:-1]], ends))

    @cached_property
    def known(self) -> Mask:
        """Which cells are known: (labels, fields)."""
        first = [own.start for own in self.slices]
        return np.asarray(~np.isnan(self.values[:, first]))

    def without(self, hidden: Mask) -> Floats:
        """The values without those of hidden cells (labels, fields)."""
        return np.where(hidden[:, self.field_of], np.nan, self.values)

    @cached_property
    def is_log(self) -> Mask:
        """Which columns are logarithms."""
        return np.array([self.fields[i].is_log for i in self.field_of], dtype=bool)

    @cached_property
    def hierarchy(self) -> RelationalContext | None:
        """The groups above the labels as a context."""
        if not self.edges:
            return None
        inside = {child for child, _ in self.edges}
        return RelationalContext.from_hierarchy(
            self.edges, labels=[x for x in self.labels if x in inside]
        )

    @cached_property
    def groups(self) -> Groups:
        """The groups of the labels, from the nearest to the farthest."""
        trees = [Hierarchy.from_edges(self.edges)] if self.edges else []
        return Groups.of(self.labels, trees)

    @cached_property
    def ancestors(self) -> list[tuple[Numbers, Numbers]]:
        """Rows and nodes of each distance, from a label itself (0) upwards."""
        if not self.edges:
            return []
        hierarchy = Hierarchy.from_edges(self.edges)
        inside = [i for i, x in enumerate(self.labels) if x in hierarchy.index]
        rows, nodes, steps = hierarchy.ancestor_distances(
            [self.labels[i] for i in inside]
        )
        rows = np.array(inside)[rows]
        return [
            (rows[steps == step], nodes[steps == step])
            for step in range(int(steps.max()) + 1)
        ]

    def contexts(self, values: Floats) -> list[Context]:
        """What PHCLE may see: the given values in the user's units, and the rest."""
        hierarchy = [] if self.hierarchy is None else [self.hierarchy]
        return [self.attributes(values), *hierarchy, *self.others]

    def attributes(self, values: Floats) -> DescriptiveContext:
        """Values as a user would give them: texts of categories, numbers as such."""
        values = np.where(self.is_log, np.exp(values), values)
        if any(field.kind == TAGS for field in self.fields):
            return DescriptiveContext(self.name, self.labels, self.columns, values)
        cells = {
            field.title: list(_cells(field, values[:, own]))
            for field, own in zip(self.fields, self.slices, strict=True)
        }
        return DescriptiveContext.from_cells(self.labels, cells, self.name)


def _cells(field: Field, values: Floats) -> Iterator[str | float | None]:
    """Cells of a field from its columns."""
    for row in values:
        if np.isnan(row[0]):
            yield None
        else:
            is_text = field.kind == CATEGORY
            yield field.values[int(row.argmax())] if is_text else float(row[0])


def read_cells(
    release: Release, folder: Path, name: str, *, needs: Sequence[str] = ()
) -> list[dict[str, str]]:
    """Rows of a CSV file by column; the columns that it needs must be there."""
    path = release.file(folder, name)
    rows = list(csv.DictReader(StringIO(read_text(path))))
    if not rows:
        raise FileError(f"{path}: is empty. {release.remedy}")
    for column in needs:
        if column not in rows[0]:
            raise FileError(f"{path}: needs the column {column!r}. {release.remedy}")
    return rows


def numbers_of(
    rows: Sequence[Mapping[str, str]], columns: Sequence[str], path: Path
) -> Floats:
    """Numbers of some columns, NaN where a cell is empty."""
    found = np.full((len(rows), len(columns)), np.nan)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            text = (row[column] or "").strip()
            try:
                found[i, j] = float(text) if text else np.nan
            except ValueError as error:
                raise FileError(
                    f"{path}, line {i + 2}: {column!r} must be a number or empty. "
                    f"Got {text!r} instead."
                ) from error
    return found
