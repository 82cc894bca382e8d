"""The command check: look at files before a fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.command_style import have, want
from phcle.cli.flags import (
    Json,
    SynonymsFile,
    reading_flags,
    reading_of,
    with_flags,
)
from phcle.cli.output import check_can_write, show_line, show_match, show_table

if TYPE_CHECKING:
    from phcle.tables.check import CheckedFile, CheckedFiles


MANY_FILES = 8
"""Files up to which the table of shared labels is shown; more do not fit a screen."""

MANY_ODD = 20
"""Odd cells of a file that are listed."""

MANY_SHARED_WORDS = 0.3
"""Share of labels with a common word from which their words are worth a context."""


@with_flags(*reading_flags())
def check(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES|FOLDER", help="Files, or a folder with files."),
    ],
    match: Annotated[
        str,
        have(
            "safe|exact",
            "Join labels that differ in case, spaces or Unicode form, or none.",
        ),
    ] = "safe",
    synonyms: SynonymsFile = None,
    write_synonyms: Annotated[
        Path | None,
        want(
            "FILE.csv",
            "Write labels that may be other spellings to this file. Delete the "
            "lines that are wrong, and give it to fit as --synonyms.",
        ),
    ] = None,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Look at files before a fit: what they are, what is wrong, how they overlap.

    The last line is the fit command to run next. The exit code is 2 if anything must be
    repaired before.
    """
    from phcle.tables.check import check_files

    if write_synonyms is not None:
        check_can_write(write_synonyms, files)
    found = check_files(
        *files, reading=reading_of(given), match=match, synonyms=synonyms
    )
    if write_synonyms is not None and found.match.suggestions:
        found = _with_synonyms(found, write_synonyms)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        _show(found)
    if found.command is None:
        raise typer.Exit(2)


def _with_synonyms(found: CheckedFiles, path: Path) -> CheckedFiles:
    """Write the suggested spellings, and put the file into the next command."""
    from phcle.files.atomic import write_whole
    from phcle.tables.matching import synonym_lines

    with write_whole(path) as temporary:
        lines = [*synonym_lines(found.match), ""]
        temporary.write_text("\n".join(lines), encoding="utf-8")
    if found.command is None:
        return found
    return replace(found, command=f"{found.command} --synonyms {quote(str(path))}")


def _show(found: CheckedFiles) -> None:
    show_table(
        ("file", "taken as", "rows", "labels", "encoding", "delimiter"),
        (
            (
                file.path.name,
                file.kind or "?",
                _number(file.n_rows),
                _number(file.labels),
                file.encoding or "",
                _delimiter(file),
            )
            for file in found.files
        ),
    )
    for file in found.files:
        show_line(f"{file.path.name}: {file.why or 'could not be read'}")
        for remark in file.remarks:
            show_line(f"  {remark}")
        for cell in file.odd_cells[:MANY_ODD]:
            show_line(f"  odd: {cell}")
        n_more = len(file.odd_cells) - MANY_ODD
        if n_more > 0:
            show_line(f"  odd: and {n_more:,} more (--json lists them)")
    if found.ignored:
        names = ", ".join(path.name for path in found.ignored)
        show_line(f"ignored: {names}")
    for file in found.files:
        if file.columns:
            _show_columns(file)
    _show_shared(found)
    show_match(found.match, show_line)
    _show_next(found)


def _number(n: int | None) -> str:
    return f"{n:,}" if n else ""


def _delimiter(file: CheckedFile) -> str:
    from phcle.tables.text_tables import DELIMITERS

    sign = file.delimiter
    return "" if sign is None else DELIMITERS.get(sign, repr(sign))


def _show_columns(file: CheckedFile) -> None:
    show_line(f"Columns of {file.path.name}:")
    show_table(
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
    names = list(found.shared)
    if not 1 < len(names) <= MANY_FILES:
        return
    show_line("Labels that files share:")
    show_table(
        ("labels of", *names),
        (
            (one, *(_number(found.shared[one][other]) or "none" for other in names))
            for one in names
        ),
    )


def _show_next(found: CheckedFiles) -> None:
    for fault in found.faults:
        show_line(fault)
    if found.command is None:
        n = len(found.faults)
        what = f"{n} fault{'' if n == 1 else 's'} to repair before a fit."
        show_line(
            what if n else "No file tells what labels are like, so nothing to fit."
        )
        return
    if found.shared_words > MANY_SHARED_WORDS:
        show_line(
            f"{found.shared_words:.0%} of the labels share a word with another label: "
            "--label-words adds their words as a context."
        )
    show_line("Run next:")
    show_line(f"  {found.command}")
