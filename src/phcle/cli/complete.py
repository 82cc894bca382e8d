"""`phcle complete`: the unknown cells of tables, with confidence and reasons."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.command_style import have, want
from phcle.cli.flags import EmbeddingFile, Json, reading_flags, reading_of, with_flags
from phcle.cli.output import (
    SURE,
    check_can_write,
    progress_bar,
    show,
    show_line,
    show_table,
    show_written,
    shows_progress,
)
from phcle.cli.query_commands import labels_or_files
from phcle.errors import OptionError, some

if TYPE_CHECKING:
    from phcle.answers import Cell, FilledTable
    from phcle.embedding.label_embedding import LabelEmbedding


SUSPICIOUS = ("label", "column", "value", "chance", "expected", "low", "high", "family")

NOTHING = "No cell is unknown, or none is likely enough to be shown."
NO_SUSPICION = "No known cell is unlikely."

SHOWN = 20
"""Cells that are printed without --out."""


@with_flags(*reading_flags())
def complete(
    file: EmbeddingFile,
    out: Annotated[
        Path | None,
        want(
            "FILE",
            "Where to write all cells: .csv, .tsv, .parquet, .json or .jsonl. "
            "Without it the first cells are shown.",
        ),
    ] = None,
    wide: Annotated[
        Path | None,
        have(
            "TABLE",
            "Fill the empty cells of this table of your own; all else stays as "
            "it is. Labels are in its first column. A workbook (.xlsx) stays one.",
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        have(
            "FILE",
            "What was accepted or refused on the explorer's Complete page, as it "
            "exports that. A value changed in this file is taken as it stands.",
        ),
    ] = None,
    fill_markers: Annotated[
        bool,
        want(None, "With --wide: also fill cells such as n/a or ?.", "--fill-markers"),
    ] = False,
    labels: Annotated[
        list[str] | None,
        want("LABEL|FILE", "Complete these labels only; may be repeated."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        want("COLUMN", "Complete these columns only; may be repeated."),
    ] = None,
    contexts: Annotated[
        list[str] | None,
        want("CONTEXT", "Complete these contexts only; may be repeated.", "--context"),
    ] = None,
    min_confidence: Annotated[
        float,
        want(
            "NUMBER",
            "Leave out values that are less likely than this. Numbers have an "
            "interval in place of a confidence, and stay.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.0,
    probabilities: Annotated[
        bool,
        want(None, "Add those of all values of a category.", "--probabilities"),
    ] = False,
    why: Annotated[bool, want(None, "Give reasons.", "--why/--no-why")] = True,
    draws: Annotated[
        int,
        want(
            "N",
            "Draw every cell N times from its own distribution, in place of its "
            "likeliest value: multiple imputations, with a column draw.",
            min=0,
        ),
    ] = 0,
    seed: Annotated[int, want("SEED", "Seed of --draws.", min=0)] = 0,
    suspicious: Annotated[
        bool,
        want(
            None,
            "Instead of unknown cells: known ones that are unlikely, as the fit "
            "predicted them without seeing them.",
            "--suspicious",
        ),
    ] = False,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Complete tables: look up every unknown cell, with confidence and reasons.

    The fit predicted them. A number has an interval that holds the truth in 80 of 100
    cases. The column family is the mean or most common value of the nearest group of a
    hierarchy.
    """
    from phcle.embedding import load
    from phcle.embedding.complete import completed_cells, warn_of_unpredicted
    from phcle.embedding.export import COLUMNS, check_ending
    from phcle.tables.fill import Decisions, complete_table, read_decisions

    if fill_markers and wide is None:
        raise OptionError("--fill-markers needs --wide, the table to fill.")
    if draws and (suspicious or wide is not None):
        other = "--suspicious" if suspicious else "--wide"
        raise OptionError(f"{other} has one value for each cell; leave out --draws.")
    if decisions and (suspicious or draws):
        other = "--suspicious" if suspicious else "--draws"
        raise OptionError(f"--decisions are about single values; leave out {other}.")
    if wide is not None:
        if out is None:
            raise OptionError("--wide needs --out, the file for the filled table.")
    elif out is not None:
        check_ending(out)
    if out is not None:
        check_can_write(out, [x for x in (file, wide, decisions) if x is not None])
    embedding = load(file)
    decided = Decisions()
    if decisions is not None:
        decided = read_decisions(decisions, embedding)
    chosen = labels_or_files(labels)
    if suspicious:
        found = _suspicious(embedding, chosen, columns, contexts)
        _write_or_show(embedding, found, SUSPICIOUS, chosen, out, as_json=as_json)
        return
    if wide is not None and out is not None:
        answer = complete_table(
            embedding,
            wide,
            out,
            labels=chosen,
            columns=columns,
            contexts=contexts,
            min_confidence=min_confidence,
            fill_markers=fill_markers,
            decisions=decided,
            reading=reading_of(given),
        )
        show(answer, _show_filled, as_json=as_json)
    else:
        cells = completed_cells(
            embedding,
            labels=chosen,
            columns=columns,
            contexts=contexts,
            min_confidence=min_confidence,
            why=why,
            probabilities=probabilities,
            draws=draws,
            seed=seed,
        )
        cells = decided.applied(
            cells,
            label=None if chosen is None else set(map(embedding.resolve, chosen)),
            column=columns,
            context=contexts,
        )
        titles = [*COLUMNS, *["probabilities"] * probabilities, *["draw"] * bool(draws)]
        _write_or_show(embedding, cells, titles, chosen, out, as_json=as_json)
    warn_of_unpredicted(embedding, contexts)


def _suspicious(
    embedding: LabelEmbedding,
    labels: Sequence[str] | None,
    columns: Sequence[str] | None,
    contexts: Sequence[str] | None,
) -> list[Cell]:
    """Suspicious cells, perhaps of some labels only."""
    from phcle.embedding.suspicious import suspicious_cells

    found = suspicious_cells(embedding, columns=columns, contexts=contexts)
    if labels is None:
        return found
    wanted = set(map(embedding.resolve, labels))
    return [cell for cell in found if cell.label in wanted]


def _write_or_show(
    embedding: LabelEmbedding,
    cells: Iterable[Cell],
    titles: Sequence[str],
    labels: Sequence[str] | None,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write cells to a file, or show the first of them; JSON has all."""
    from phcle.embedding.export import json_of_cells, table_text, write_cells
    from phcle.progress import counted_progress

    cells = _unambiguous(cells, embedding)
    if out is not None:
        with progress_bar("completing", "labels") as progress:
            tracked = _tracked(cells, labels or embedding.labels, progress)
            n_cells = write_cells(tracked, out, titles)
        remark = f"{out}: {n_cells:,} cells"
        answer = {"file": str(out), "cells": n_cells}
        show(answer, lambda _: show_written(remark), as_json=as_json)
    elif as_json:
        # A bar between lines on the same terminal would be in the way.
        is_shown = shows_progress() and not sys.stdout.isatty()
        with counted_progress(
            "completing", enabled=is_shown, unit="labels"
        ) as progress:
            tracked = _tracked(cells, labels or embedding.labels, progress)
            for piece in table_text(".json", *json_of_cells(tracked, titles)):
                typer.echo(piece, nl=False)
    else:
        first = list(islice(cells, SHOWN + 1))
        shown = [SURE if x == "confidence" else x for x in titles]
        shown = [x for x in shown if x not in ("low", "high")]
        rows = [_row(cell, shown) for cell in first[:SHOWN]]
        show_table(shown, rows)
        if not first and "chance" not in titles:
            show_line(NOTHING)
        elif not first and embedding.predictions:
            show_line(NO_SUSPICION)
        if len(first) > SHOWN:
            show_line(f"The first {SHOWN} cells; --out filled.csv writes all of them.")


def _unambiguous(cells: Iterable[Cell], embedding: LabelEmbedding) -> Iterable[Cell]:
    """Cells of a column that several contexts have name their context, too."""
    titles = Counter(
        field.title for context in embedding.predicting for field in context.fields
    )
    twice = {title for title, n in titles.items() if n > 1}
    if not twice:
        return cells
    return (
        replace(cell, column=f"{cell.context}: {cell.column}")
        if cell.column in twice
        else cell
        for cell in cells
    )


def _row(cell: Cell, titles: Sequence[str]) -> list[str]:
    """The texts of a cell, with the readable name of its label."""
    from phcle.embedding.export import cell_texts

    names = [x.name for x in fields(cell)]
    texts = dict(zip(names, cell_texts(cell, names), strict=True))
    if cell.name != cell.label:
        texts["label"] = f"{cell.name} ({cell.label})"
    interval = f"{texts['low']} to {texts['high']}" if texts["low"] else ""
    if cell.chance is None:
        texts[SURE] = f"{cell.confidence:.0%}" if texts["confidence"] else interval
    elif interval:
        texts["expected"] += f" ({interval})"
    return [texts[title] for title in titles]


def _tracked(
    cells: Iterable[Cell], labels: Sequence[str], progress: Callable[[int, int], None]
) -> Iterator[Cell]:
    """Pass cells on, and count their labels."""
    position = {label: n for n, label in enumerate(labels, 1)}
    before = (0, 0)
    for cell in cells:
        reached = (cell.draw or 0, position.get(cell.label, 0))
        if reached > before:
            before = reached
            progress(reached[1], len(labels))
        yield cell


def _show_filled(answer: FilledTable) -> None:
    show_written(f"{answer.file}: {answer.filled:,} cells filled")
    if answer.changed:
        show_line(f"{answer.changed:,} known cells changed, as was decided.")
    if answer.left_empty:
        show_line(
            f"{answer.left_empty:,} cells of these columns stay empty: too unlikely, "
            "or not predicted."
        )
    if answer.markers:
        show_line(
            f"{answer.markers:,} cells of these columns hold a marker such as n/a and "
            "stay; --fill-markers fills them, too."
        )
    if answer.unknown_rows:
        show_line(
            f"{answer.unknown_rows:,} of {answer.rows:,} rows stay as they are: "
            "their labels are not in the embedding, such as "
            f"{some(answer.unknown_labels)}."
        )
