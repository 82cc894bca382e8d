"""The files that commands write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phcle.answers.answer import Answer

__all__ = [
    "CompletedFile",
    "ExportedFile",
    "FilledTable",
    "WrittenReport",
]


@dataclass(frozen=True)
class ExportedFile(Answer):
    """What `phcle export` wrote.

    Attributes
    ----------
    file : str
        The new file or folder.
    format : str
        Its format.
    labels : int
        Number of labels in it.
    """

    file: str
    format: str
    labels: int


@dataclass(frozen=True)
class CompletedFile(Answer):
    """What `phcle complete --out` reports.

    Attributes
    ----------
    file : str
        The file.
    cells : int
        Number of cells in it.
    """

    file: str
    cells: int


@dataclass(frozen=True)
class FilledTable(Answer):
    """What `phcle complete --wide` reports.

    Attributes
    ----------
    table : str
        The user's table.
    file : str
        The filled table.
    rows : int
        Rows of the table.
    filled : int
        Cells that were empty and now have a value.
    left_empty : int
        Cells of the same columns that are still empty.
    unknown_rows : int
        Rows whose label is not in the embedding.
    unknown_labels : tuple of str
        The first of these labels.
    """

    table: str
    file: str
    rows: int
    filled: int
    left_empty: int
    unknown_rows: int
    unknown_labels: tuple[str, ...]


@dataclass(frozen=True)
class WrittenReport(Answer):
    """Files of a report, and the data of its sections.

    Attributes
    ----------
    report : str
        The page.
    figures : tuple of str
        The figures.
    labels : int
        Number of labels.
    map : str
        How the labels were placed on the map.
    clustered : tuple of str
        Labels of the heat map.
    left_out : str
        What cards and filters of the page had no room for, with the remedy; or nothing.
    summary, coverage, convergence : mapping
        Data of the sections, as `phcle.report.section_data` makes them.
    sparsity, retrieval : sequence of mapping
        Data of the sections with one entry for each context or label.
    """

    report: str
    figures: tuple[str, ...]
    labels: int
    map: str
    clustered: tuple[str, ...]
    left_out: str
    summary: Mapping[str, Any]
    coverage: Mapping[str, Any]
    convergence: Mapping[str, Any]
    sparsity: Sequence[Mapping[str, Any]]
    retrieval: Sequence[Mapping[str, Any]]
