"""What commands print and write: answers, tables, lines, progress, output files."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phcle.errors import FileError
from phcle.files.atomic import check_can_write as check_place_to_write
from phcle.files.atomic import write_whole

if TYPE_CHECKING:
    from phcle import answers
    from phcle.tables.file_kinds import FileSummary
    from phcle.tables.matching import LabelMatch


SURE = "how sure"
"""Title of confidences and intervals."""

ANSWERS = (".csv", ".tsv", ".json")
"""Endings of files of answers."""


def show(
    answer: Any,
    text: Callable[[Any], None],
    *,
    as_json: bool,
    out: Path | None = None,
    rows: Iterable[Sequence[object]] = (),
) -> None:
    """Print an answer for people or as JSON, and write it to a file.

    Parameters
    ----------
    answer : object
        An answer, a list of answers, or plain values. JSON of a list of one answer is
        that answer.
    text : callable
        Prints the answer for people.
    as_json : bool
        Print JSON instead.
    out : Path, optional
        Write the answer here, and print the name of the file in place of the answer.
    rows : iterable of sequence of object, optional
        The answer as a table for this file; the first row has the titles.
    """
    from phcle.answers import as_json as plain

    is_alone = isinstance(answer, list) and len(answer) == 1
    data = plain(answer[0] if is_alone else answer)
    if out is not None and out.suffix.lower() == ".json":
        lines = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        with write_whole(out) as temporary:
            temporary.write_text(lines, encoding="utf-8", newline="")
    elif out is not None:
        from phcle.embedding.export import write_table

        titles, *cells = rows
        write_table(out, [str(title) for title in titles], cells)
    if as_json:
        typer.echo(json.dumps(data, indent=2))
    elif out is not None:
        show_written(out)
    else:
        text(answer)


def show_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    """Print rows below a header; long words are folded, never cut.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : iterable of sequence of str
        The cells of each row.
    title : str or None, default=None
        A title above the table.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = None if title is None else _printable(title)
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in header:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(_printable, row))
    _print(table)


def show_line(text: str) -> None:
    """Print one line; the terminal may wrap it.

    Parameters
    ----------
    text : str
        The line; control characters are escaped.
    """
    _print(_printable(text), soft_wrap=True)


def _print(what: Any, **settings: Any) -> None:
    """Print text as it is: a label may hold brackets or colons."""
    from rich.console import Console

    Console(markup=False, emoji=False, highlight=False).print(what, **settings)


def _printable(text: str) -> str:
    """Escape control characters: a label from an untrusted file may hold them."""
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() else ascii(x)[1:-1] for x in text)


def say(message: str) -> None:
    """Print one line on standard error.

    Parameters
    ----------
    message : str
        What to print; line breaks become spaces.
    """
    typer.echo(f"phcle: {' '.join(message.splitlines())}", err=True)


def show_written(path: object) -> None:
    """Print where a result was written.

    Parameters
    ----------
    path : object
        The path, perhaps followed by a remark.
    """
    show_line(f"written to {path}")


def show_next(commands: Iterable[Sequence[str]]) -> None:
    """Print commands to try next.

    Parameters
    ----------
    commands : iterable of sequence of str
        The words of each command.
    """
    show_line("Try next:")
    for command in commands:
        show_line(f"  {shlex.join(command)}")


def shows_progress(*, quiet: bool) -> bool:
    """Say whether progress is shown: on a terminal, unless the command is --quiet.

    Parameters
    ----------
    quiet : bool
        Whether it is.

    Returns
    -------
    bool
        True if it is shown.
    """
    return sys.stderr.isatty() and not quiet


def progress_bar(
    title: str, unit: str = "", *, quiet: bool
) -> AbstractContextManager[Callable[[int, int], None]]:
    """Show a progress bar on a terminal, unless the command is --quiet.

    Parameters
    ----------
    title : str
        What is done.
    unit : str, default=""
        What is counted.
    quiet : bool
        Whether the command is.

    Returns
    -------
    context manager
        Gives a function to call with the numbers of steps done and in total.
    """
    from phcle.progress import counted_progress

    return counted_progress(title, enabled=shows_progress(quiet=quiet), unit=unit)


def open_browser(address: str) -> None:
    """Open a page, if there is a display.

    Parameters
    ----------
    address : str
        Where it is.
    """
    displays = os.environ.get("DISPLAY"), os.environ.get("WAYLAND_DISPLAY")
    if sys.platform != "linux" or any(displays):
        import webbrowser

        webbrowser.open(address)


def check_can_write(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse an output path now rather than after a long run.

    Parameters
    ----------
    path : Path
        Where the output will be written.
    inputs : iterable of Path or None, default=()
        Input files of the command, which must not be overwritten.
    """
    for file in inputs:
        if file is not None and file.exists() and path.exists() and path.samefile(file):
            raise FileError(f"{path}: is an input of this command; give another --out.")
    check_place_to_write(path)


def check_answers_file(path: Path | None, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse a file of answers whose ending or place is wrong.

    Parameters
    ----------
    path : Path or None
        Where the answers will be written, if at all.
    inputs : iterable of Path or None, default=()
        Input files of the command, which must not be overwritten.
    """
    from phcle.embedding.export import check_ending

    if path is not None:
        check_ending(path, ANSWERS)
        check_can_write(path, inputs)


def say_what_was_read(summaries: Iterable[FileSummary]) -> None:
    """Print one line per file on standard error.

    Parameters
    ----------
    summaries : iterable of FileSummary
        What was read.
    """
    for summary in summaries:
        say(summary.line)
        if summary.column_line:
            say(summary.column_line)


def show_match(match: LabelMatch, line: Callable[[str], None] = say) -> None:
    """Print which labels were joined, may be joined, or match nothing.

    Parameters
    ----------
    match : LabelMatch
        What was found.
    line : callable, default say
        Prints one line; by default to stderr.
    """
    from phcle.tables.matching import match_lines, suggestion_lines

    for text in [*match_lines(match), *suggestion_lines(match)]:
        if line is say and text.startswith(" "):
            typer.echo(text, err=True)  # to copy, without the name of the program
        else:
            line(text)


def show_nearest(found: Iterable[answers.Nearest]) -> None:
    """Print a table of neighbours for each label or vector.

    Parameters
    ----------
    found : iterable of Nearest
        Labels or vectors with their neighbours.
    """
    for answer in found:
        show_table(
            ("similarity", "nearer than", "label"),
            ((*shown_similarity(x), title_of(x)) for x in answer.neighbours),
            title=f"nearest to {title_of(answer)}",
        )


def shown_similarity(near: answers.Neighbour | answers.Related) -> tuple[str, str]:
    """Write a cosine, and the share of pairs of labels that are less similar.

    Parameters
    ----------
    near : Neighbour or Related
        A similar label.

    Returns
    -------
    tuple of str
        Both texts.
    """
    from phcle.embedding.search import shown_percentile

    return f"{near.similarity:.3f}", f"{shown_percentile(near.percentile)} of pairs"


def title_of(answer: answers.Named | answers.Nearest | answers.Description) -> str:
    """Write name and label, or only the name if they are the same.

    Parameters
    ----------
    answer : Named, Nearest or Description
        What is about a label.

    Returns
    -------
    str
        The text.
    """
    name = answer.name or ""
    return name if answer.label in (None, name) else f"{name} ({answer.label})"


def show_summary(
    answer: answers.EmbeddingSummary, seconds: float | None = None
) -> None:
    """Print size, contexts with coverage and weight, choices, and how the fit ended.

    Parameters
    ----------
    answer : EmbeddingSummary
        The summary.
    seconds : float, optional
        Time that the fit took.
    """
    show_line(f"{answer.labels:,} labels × {answer.dim} dimensions")
    show_table(
        ("context", "kind", "labels", "coverage", "columns", "weight"),
        (
            (
                *(x["name"], x["kind"], f"{x['labels']:,}", f"{x['coverage']:.0%}"),
                *(f"{x['columns']:,}", f"{x['weight']:.3g}"),
            )
            for x in answer.contexts
        ),
    )
    for sentence in answer.chosen["words"] if answer.chosen else ():
        show_line(sentence)
    if answer.completion is not None and answer.completion.columns:
        show_line(answer.completion.summary)
    if answer.objective is not None:
        took = "" if seconds is None else f" in {seconds:.1f} s"
        show_line(
            f"{answer.sweeps} sweeps{took}, objective {answer.objective:,.1f}, "
            f"seed {answer.seed}"
        )
