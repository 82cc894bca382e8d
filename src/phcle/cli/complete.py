"""`phcle complete`: the unknown cells of tables, with confidence and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phcle.cli import options, output
from phcle.cli.options import Several, flag, have, option, rare
from phcle.errors import OptionError, some

if TYPE_CHECKING:
    from phcle.answers import Cell, FilledTable
    from phcle.embedding.label_embedding import LabelEmbedding


SUSPICIOUS = ("label", "column", "value", "chance", "expected", "low", "high", "family")

NOTHING = "No cell is unknown, or none is likely enough to be shown."
NO_SUSPICION = "No known cell is unlikely."

SHOWN = 20
"""Cells that are printed without --out."""


@options.taking(options.TABLES)
def complete(
    file: options.EmbeddingFile,
    out: Path | None = option(
        None, "FILE", "Write all cells: .csv, .tsv, .parquet, .json or .jsonl."
    ),
    wide: Path | None = have(
        None, "TABLE", "Fill this table of your own, whose first column is labels."
    ),
    decisions: Path | None = have(
        None, "FILE", "What was accepted or refused on the explorer's Complete page."
    ),
    fill_markers: bool = rare(
        False, None, "With --wide: also fill cells such as n/a.", "--fill-markers"
    ),
    labels: Several = option(None, "LABEL|FILE", "Only these; may be repeated."),
    columns: Several = option(None, "COLUMN", "Only these; may be repeated."),
    contexts: Several = option(
        None, "CONTEXT", "Only these tables; may be repeated.", "--context"
    ),
    min_confidence: float = option(
        0.0, "NUMBER", "Leave out less likely values, but no numbers.", min=0, max=1
    ),
    probabilities: bool = flag("Those of all values, too.", "--probabilities"),
    why: bool = option(True, None, "Give reasons.", "--why/--no-why"),
    draws: int = option(0, "N", "Draw each value N times.", min=0),
    seed: int = rare(0, "SEED", "Seed of --draws.", min=0),
    suspicious: bool = flag("Known cells that are unlikely instead.", "--suspicious"),
    k: int | None = rare(
        None, "N", "Of --suspicious so many, also likely ones.", "-k", "--count", min=1
    ),
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    **given: Any,
) -> None:
    """Complete tables: look up every unknown cell, with confidence and reasons.

    The fit predicted them. A number has an interval that holds the truth in 80 of 100
    cases. The column family is the mean or most common value of the nearest group of a
    hierarchy. Without --out the first cells are shown.

    Example: phcle complete labels.phcle --columns size --out filled.csv
    """
    from phcle.embedding import export, load
    from phcle.embedding.complete import completed_cells, warn_of_unpredicted
    from phcle.embedding.suspicious import suspicious_cells
    from phcle.tables.fill import complete_table, decided_cells, read_decisions

    single = "has one value for each cell; leave out --draws."
    decided_alone = "--decisions are about single values; leave out"
    for is_wrong, why_not in (
        (k and not suspicious, "-k needs --suspicious, the list to extend."),
        (fill_markers and not wide, "--fill-markers needs --wide, the table to fill."),
        (wide and not out, "--wide needs --out, the file for the filled table."),
        (draws and suspicious, f"--suspicious {single}"),
        (draws and wide, f"--wide {single}"),
        (decisions and suspicious, f"{decided_alone} --suspicious."),
        (decisions and draws, f"{decided_alone} --draws."),
    ):
        if is_wrong:
            raise OptionError(why_not)
    if out is not None:
        if wide is None:
            export.check_ending(out)
        output.check_can_write(out, [file, wide, decisions])
    embedding = load(file)
    decided = {} if decisions is None else read_decisions(decisions, embedding)
    chosen = options.labels_or_files(labels)
    asked: dict[str, Any] = {"columns": columns, "contexts": contexts}
    if wide is not None and out is not None and not suspicious:
        asked |= {"min_confidence": min_confidence, "fill_markers": fill_markers}
        asked |= {"decisions": decided, "reading": options.reading_of(given)}
        answer = complete_table(embedding, wide, out, labels=chosen, **asked)
        output.show(answer, _show_filled, as_json=as_json)
        warn_of_unpredicted(embedding, contexts)
        return
    wanted = None if chosen is None else list(map(embedding.resolve, chosen))
    cells: Iterable[Cell]
    if suspicious:
        titles = list(SUSPICIOUS)
        cells = suspicious_cells(embedding, labels=wanted, k=k, **asked)
    else:
        titles = [
            *export.COLUMNS,
            *["probabilities"] * probabilities,
            *["draw"] * bool(draws),
        ]
        asked |= {"min_confidence": min_confidence, "why": why, "draws": draws}
        asked |= {"seed": seed, "probabilities": probabilities}
        cells = completed_cells(embedding, labels=wanted, **asked)
        cells = decided_cells(
            cells, decided, label=wanted, column=columns, context=contexts
        )
    cells = _unambiguous(cells, embedding)
    if out is not None:
        with output.progress_bar("completing", quiet=quiet):
            n_cells = export.write_cells(cells, out, titles)
        written = {"file": str(out), "cells": n_cells}
        remark = f"{out}: {n_cells:,} cells"
        output.show(written, lambda _: output.show_written(remark), as_json=as_json)
    elif as_json:
        rows = export.rows_of_cells(cells, ".json", titles)
        for piece in export.table_text(".json", *rows):
            typer.echo(piece, nl=False)  # as they come: they may be many
    else:
        _show_first(cells, titles, embedding)
    if not suspicious:
        warn_of_unpredicted(embedding, contexts)


def _unambiguous(cells: Iterable[Cell], embedding: LabelEmbedding) -> Iterator[Cell]:
    """Cells of a column that several contexts have name their context, too."""
    titles = Counter(
        field.title for context in embedding.predicting for field in context.fields
    )
    for cell in cells:
        if titles[cell.column] > 1:
            yield replace(cell, column=f"{cell.context}: {cell.column}")
        else:
            yield cell


def _show_first(
    cells: Iterable[Cell], titles: Sequence[str], embedding: LabelEmbedding
) -> None:
    """Print the first cells as a table."""
    first = list(islice(cells, SHOWN + 1))
    shown = [output.SURE if x == "confidence" else x for x in titles]
    shown = [x for x in shown if x not in ("low", "high")]
    output.show_table(shown, [_row(cell, shown) for cell in first[:SHOWN]])
    if not first and ("chance" not in titles or embedding.predictions):
        output.show_line(NO_SUSPICION if "chance" in titles else NOTHING)
    if len(first) > SHOWN:
        output.show_line(
            f"The first {SHOWN} cells; --out filled.csv writes all of them."
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
        texts[output.SURE] = (
            f"{cell.confidence:.0%}" if texts["confidence"] else interval
        )
    elif interval:
        texts["expected"] += f" ({interval})"
    return [texts[title] for title in titles]


def _show_filled(answer: FilledTable) -> None:
    output.show_written(f"{answer.file}: {answer.filled:,} cells filled")
    of_these = "cells of these columns"
    for n, what in (
        (answer.changed, "known cells changed, as was decided."),
        (answer.left_empty, f"{of_these} stay empty: too unlikely, or not predicted."),
        (
            answer.markers,
            f"{of_these} hold a marker such as n/a and stay; --fill-markers fills "
            "them, too.",
        ),
    ):
        if n:
            output.show_line(f"{n:,} {what}")
    if answer.unknown_rows:
        output.show_line(
            f"{answer.unknown_rows:,} of {answer.rows:,} rows stay as they are: "
            "their labels are not in the embedding, such as "
            f"{some(answer.unknown_labels)}."
        )
