"""What commands print and write: checks of output files, JSON, tables and lines."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from phcle.cli.errors_and_signals import say
from phcle.errors import FileError, OptionError
from phcle.files.atomic import check_can_write as check_place_to_write
from phcle.files.atomic import write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from phcle import answers
    from phcle.tables.files import FileSummary
    from phcle.tables.matching import LabelMatch


T = TypeVar("T")

SURE = "how sure"
"""Title of confidences and intervals."""

ANSWERS = (".csv", ".tsv", ".json")
"""Endings of files of answers."""

SHOWN_SUGGESTIONS = 10
"""Lines of suggestions that are printed; more would hide what else a command says."""

is_quiet = False
"""Whether the command was given --quiet."""


def set_quiet(wanted: bool) -> bool:
    """Remember whether the command shows its progress.

    Parameters
    ----------
    wanted : bool
        The value of --quiet.

    Returns
    -------
    bool
        The same value.
    """
    global is_quiet
    is_quiet = wanted
    return wanted


def shows_progress() -> bool:
    """Say whether progress is shown: on a terminal, unless the command is --quiet.

    Returns
    -------
    bool
        True if it is shown.
    """
    return sys.stderr.isatty() and not is_quiet


def has_display() -> bool:
    """Say whether a browser can open: a Linux machine may have no display.

    Returns
    -------
    bool
        False on Linux without a display.
    """
    return sys.platform != "linux" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def progress_bar(
    title: str, unit: str = ""
) -> AbstractContextManager[Callable[[int, int], None]]:
    """Show a progress bar on a terminal, unless the command is --quiet.

    Parameters
    ----------
    title : str
        What is done.
    unit : str, default=""
        What is counted.

    Returns
    -------
    context manager
        Gives a function to call with the numbers of steps done and in total.
    """
    if not shows_progress():
        return nullcontext(lambda done, total: None)
    from phcle.progress import counted_progress

    return counted_progress(title, enabled=True, unit=unit)


def progress_stages(
    unit: str = "",
) -> AbstractContextManager[Callable[[str, int, int], None]]:
    """Show a progress bar of several stages, as `progress_bar` does.

    Parameters
    ----------
    unit : str, default=""
        What is counted.

    Returns
    -------
    context manager
        Gives a function to call with the stage and the numbers of steps done and in
        total.
    """
    from phcle.progress import staged_progress

    return staged_progress(enabled=shows_progress(), unit=unit)


def check_answers_file(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse a file of answers whose ending or place is wrong.

    Parameters
    ----------
    path : Path
        Where the answers will be written.
    inputs : iterable of Path or None, default=()
        Input files of the command, which must not be overwritten.
    """
    if path.suffix.lower() not in ANSWERS:
        raise OptionError(
            f"{path}: must end in .csv, .tsv or .json. Got {path.suffix!r} instead."
        )
    check_can_write(path, inputs)


def write_answers(
    path: Path, answer: object, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write answers as JSON, or as a table with a row for each item.

    Parameters
    ----------
    path : Path
        The file; its ending is the format: .csv, .tsv or .json.
    answer : object
        The answer or answers, for JSON.
    header : sequence of str
        Titles of the columns of a table.
    rows : iterable of sequence of object
        Its rows; None is an empty cell.
    """
    from phcle.answers import as_json as plain
    from phcle.embedding.export import write_table

    if path.suffix.lower() != ".json":
        write_table(path, header, rows)
        return
    text = json.dumps(plain(answer), indent=2, ensure_ascii=False) + "\n"
    with write_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


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


def show(answer: T, table: Callable[[T], None], *, as_json: bool) -> None:
    """Print an answer as JSON or as a table.

    Parameters
    ----------
    answer : object
        An answer, several answers, or plain values.
    table : callable
        Prints the answer for people.
    as_json : bool
        Print JSON instead.
    """
    if as_json:
        from phcle.answers import as_json as plain

        typer.echo(json.dumps(plain(answer), indent=2))
    else:
        table(answer)


def say_what_was_read(summaries: Iterable[FileSummary]) -> None:
    """Print one line per file on standard error, unless the command is --quiet.

    Parameters
    ----------
    summaries : iterable of FileSummary
        What was read.
    """
    for summary in () if is_quiet else summaries:
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
    from phcle.tables.matching import match_lines, synonym_lines

    for text in match_lines(match):
        line(text)
    if not match.near_are_complete:
        line("too many labels for a search of misspelled ones.")
    header, *lines = synonym_lines(match) or [""]
    if not lines:
        return
    line(
        f"possible misspellings: {len(lines)}. Write those that are into synonyms.csv, "
        "and add --synonyms synonyms.csv:"
    )
    # Lines to copy stand alone, without the name of the program.
    plain = partial(typer.echo, err=True) if line is say else line
    for text in (header, *lines[:SHOWN_SUGGESTIONS]):
        plain(f"  {text}")
    if len(lines) > SHOWN_SUGGESTIONS:
        plain(
            f"  … and {len(lines) - SHOWN_SUGGESTIONS} more; "
            "phcle check FILES --write-synonyms synonyms.csv writes all of them"
        )


def show_each(
    found: Sequence[T],
    table: Callable[[Sequence[T]], None],
    *,
    as_json: bool,
    out: Path | None = None,
    columns: Sequence[str] = (),
    rows: Callable[[T], Iterable[Sequence[object]]] = lambda answer: (),
) -> None:
    """Print several answers, or write them; JSON is a list if there is more than one.

    Parameters
    ----------
    found : sequence of object
        The answers.
    table : callable
        Prints them for people.
    as_json : bool
        Print JSON instead.
    out : Path or None, default=None
        Write them to this file, and print its name in place of tables.
    columns : sequence of str, default=()
        Titles of the columns of a table in this file.
    rows : callable, optional
        Gives the rows of an answer in this table.
    """
    answer = found[0] if len(found) == 1 else found
    if out is not None:
        write_answers(out, answer, columns, (row for x in found for row in rows(x)))
        if not as_json:
            show_written(out)
            return
    show(answer, lambda _: table(found), as_json=as_json)


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
            ((*_similarity(near), _title(near)) for near in answer.neighbours),
            title=f"nearest to {_title(answer)}",
        )


def _similarity(near: answers.Neighbour | answers.Related) -> tuple[str, str]:
    """The cosine, and the share of pairs of labels that are less similar."""
    from phcle.embedding.cell_texts import shown_percentile

    return f"{near.similarity:.3f}", f"{shown_percentile(near.percentile)} of pairs"


def show_descriptions(found: Iterable[answers.Description]) -> None:
    """Print each label with related labels and their shares, then attributes.

    Parameters
    ----------
    found : iterable of Description
        The descriptions.
    """
    for answer in found:
        _show_description(answer)


def _show_description(answer: answers.Description) -> None:
    known_by = [name for name, known in answer.contexts.items() if known]
    show_line(f"{_title(answer)}: known in {', '.join(known_by) or 'no context'}")
    show_table(
        ("share", "similarity", "nearer than", "related label"),
        ((f"{x.share:.0%}", *_similarity(x), _title(x)) for x in answer.related),
    )
    rows = [
        (kind, x.name, _value(x), _how_sure(x), x.context)
        for kind, found in (
            ("observed", answer.observed),
            ("predicted", answer.predicted),
        )
        for x in found
    ]
    if rows:
        show_table(("", "attribute", "value", SURE, "context"), rows)
    if answer.not_predictable:
        show_line(
            f"Too little is known to predict {', '.join(answer.not_predictable)}."
        )


def _value(attribute: answers.Attribute) -> str:
    """The value; nothing if it is the probability, which `_how_sure` shows."""
    if attribute.confidence is not None and attribute.value == attribute.confidence:
        return ""
    from phcle.embedding.cell_texts import number_text

    return number_text(attribute.value)


def _how_sure(attribute: answers.Attribute) -> str:
    """Confidence in percent, or the interval of a number; nothing if it is observed."""
    from phcle.embedding.cell_texts import interval_text

    if attribute.confidence is None:
        return interval_text(attribute.low, attribute.high)
    return f"{attribute.confidence:.0%}"


def show_explanation(answer: answers.Explanation) -> None:
    """Print the common ancestors, and the parts of a similarity.

    Parameters
    ----------
    answer : Explanation
        The explanation.
    """
    from phcle.embedding.cell_texts import shown_percentile

    show_line(
        f"{answer.a.name} and {answer.b.name}: similarity {answer.similarity:.3f}, "
        f"nearer than {shown_percentile(answer.percentile)} of pairs"
    )
    shared = (part.shared for part in answer.parts if part.shared)
    for nodes in dict.fromkeys(shared):  # once, though a hierarchy may have two parts
        names = ", ".join(node.name for node in nodes)
        show_line(f"Both are below (most specific first): {names}")
    show_line("The similarity is the sum of")
    show_table(
        ("part", "context", "of it", "what", "columns"),
        (
            (x.part, x.context, x.group_part, x.words, ", ".join(x.columns))
            for x in answer.lines
        ),
    )


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
                context.name,
                context.kind,
                f"{context.labels:,}",
                f"{context.coverage:.0%}",
                f"{context.columns:,}",
                f"{context.weight:.3g}",
            )
            for context in answer.contexts
        ),
    )
    if answer.chosen is not None:
        for sentence in answer.chosen.words:
            show_line(sentence)
    if answer.completion is not None and answer.completion.columns:
        show_line(answer.completion.summary)
    if answer.objective is not None:
        took = "" if seconds is None else f" in {seconds:.1f} s"
        show_line(
            f"{answer.sweeps} sweeps{took}, objective {answer.objective:,.1f}, "
            f"seed {answer.seed}"
        )


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
    _console().print(table)


def show_line(text: str) -> None:
    """Print one line; the terminal may wrap it.

    Parameters
    ----------
    text : str
        The line; control characters are escaped.
    """
    _console().print(_printable(text), soft_wrap=True)


def _printable(text: str) -> str:
    """Escape control characters: a label from an untrusted file may hold them."""
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() else ascii(x)[1:-1] for x in text)


def _console() -> Console:
    """Make a console that prints text as it is: a label may hold brackets or colons."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False)


def _title(answer: answers.Named | answers.Nearest | answers.Description) -> str:
    """Name and label, or only the name if they are the same."""
    name = answer.name or ""
    return name if answer.label in (None, name) else f"{name} ({answer.label})"
