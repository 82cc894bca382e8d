"""The command check: look at files before a fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from phcle.cli import options, output
from phcle.cli.options import have, option

if TYPE_CHECKING:
    from phcle.tables.check import CheckedFiles
    from phcle.tables.file_kinds import FileSummary


MANY_FILES = 8
"""Files up to which the table of shared labels is shown; more do not fit a screen."""

MANY_ODD = 20
"""Odd cells of a file that are listed."""

MANY_SHARED_WORDS = 0.3
"""Share of labels with a common word from which their words are worth a context."""


@options.taking(options.TABLES)
def check(
    files: list[Path] = typer.Argument(
        ..., metavar="FILES|FOLDER", help="Files, or a folder with files."
    ),
    match: str = have(
        "safe", "safe|exact", "Join labels that differ in case, spaces or Unicode form."
    ),
    synonyms: Path | None = have(
        None, "FILE", "Other spellings: columns label,synonym."
    ),
    write_synonyms: Path | None = option(
        None,
        "FILE.csv",
        "Write labels that may be other spellings to this file. Delete the lines that "
        "are wrong, and give it to fit as --synonyms.",
    ),
    as_json: options.Json = False,
    **given: Any,
) -> None:
    """Look at files before a fit: what they are, what is wrong, how they overlap.

    The last line is the fit command to run next. The exit code is 2 if anything must be
    repaired before.

    Example: phcle check my_folder
    """
    from phcle.files.atomic import write_whole
    from phcle.tables.check import check_files
    from phcle.tables.matching import synonym_lines

    if write_synonyms is not None:
        output.check_can_write(write_synonyms, files)
    reading = options.reading_of(given)
    found = check_files(*files, reading=reading, match=match, synonyms=synonyms)
    if write_synonyms is not None and found.match.suggestions:
        with write_whole(write_synonyms) as temporary:
            lines = [*synonym_lines(found.match), ""]
            temporary.write_text("\n".join(lines), encoding="utf-8")
        if found.command is not None:
            more = f"--synonyms {quote(str(write_synonyms))}"
            found = replace(found, command=f"{found.command} {more}")
    output.show(found.to_dict(), lambda _: _show(found), as_json=as_json)
    if found.command is None:
        raise typer.Exit(2)


def _show(found: CheckedFiles) -> None:
    output.show_table(
        ("file", "taken as", "rows", "labels", "encoding", "delimiter"),
        [_row(file) for file in found.files],
    )
    for file in found.files:
        if file.why:
            output.show_line(f"{file.path.name}: {file.why}")
        for remark in file.remarks:
            output.show_line(f"  {remark}")
        for cell in file.odd_cells[:MANY_ODD]:
            output.show_line(f"  odd: {cell}")
        n_more = len(file.odd_cells) - MANY_ODD
        if n_more > 0:
            output.show_line(f"  odd: and {n_more:,} more (--json lists them)")
    if found.ignored:
        output.show_line(f"ignored: {', '.join(path.name for path in found.ignored)}")
    for file in found.files:
        if file.columns:
            _show_columns(file)
    _show_shared(found)
    output.show_match(found.match, output.show_line)
    _show_next(found)


def _row(file: FileSummary) -> tuple[str, ...]:
    """What a file is, for the first table."""
    from phcle.tables.sources import DELIMITERS

    numbers = _number(file.n_rows), _number(file.labels)
    sign = file.delimiter
    shown = "" if sign is None else DELIMITERS.get(sign, repr(sign))
    return file.path.name, file.kind or "?", *numbers, file.encoding or "", shown


def _number(n: int | None) -> str:
    return f"{n:,}" if n else ""


def _show_columns(file: FileSummary) -> None:
    output.show_line(f"Columns of {file.path.name}:")
    output.show_table(
        ("column", "holds", "known", "such as"),
        (
            (
                x.title,
                x.holds,
                f"{x.known:,} ({x.known / max(file.labels, 1):.0%})",
                ", ".join(x.examples) or x.doubt,
            )
            for x in file.columns
        ),
    )


def _show_shared(found: CheckedFiles) -> None:
    """How many labels of each file the others have."""
    names = list(found.shared_labels)
    if not 1 < len(names) <= MANY_FILES:
        return
    output.show_line("Labels that files share:")
    output.show_table(
        ("labels of", *names),
        (
            (
                one,
                *(
                    _number(found.shared_labels[one][other]) or "none"
                    for other in names
                ),
            )
            for one in names
        ),
    )


def _show_next(found: CheckedFiles) -> None:
    for fault in found.faults:
        output.show_line(fault)
    if found.command is None:
        n = len(found.faults)
        faults = f"{n} fault{'' if n == 1 else 's'} to repair before a fit."
        nothing = "No file tells what labels are like: nothing to fit."
        output.show_line(faults if n else nothing)
        return
    if found.shared_words > MANY_SHARED_WORDS:
        output.show_line(
            f"{found.shared_words:.0%} of the labels share a word with another label: "
            "--label-words adds their words as a context."
        )
    output.show_line("Run next:")
    output.show_line(f"  {found.command}")
