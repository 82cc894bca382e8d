"""A table of results as Markdown, CSV and JSON files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phcle.files import csv_lines, write_whole

Table = dict[str, Any]


def write_table(table: Table, stem: Path, *, body: Sequence[str] = ()) -> list[Path]:
    """Write a table to three files: `stem` with the endings .md, .csv and .json.

    Parameters
    ----------
    table : dict
        The table; see `as_markdown`.
    stem : Path
        Path of the files without their ending.
    body : sequence of str, optional
        Lines of Markdown in place of those made from the columns.

    Returns
    -------
    list of Path
        The files.
    """
    texts = {
        ".md": as_markdown(table, body=body),
        ".csv": as_csv(table),
        ".json": json.dumps(table, indent=2) + "\n",
    }
    paths = []
    for ending, text in texts.items():
        path = stem.with_name(stem.name + ending)
        with write_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def as_csv(table: Table) -> str:
    """Rows of a table as CSV; title, command and caveats come first as comments.

    Parameters
    ----------
    table : dict
        The table; see `as_markdown`.

    Returns
    -------
    str
        The text of the file.
    """
    said = (table["title"], table.get("command", ""), *table["caveats"])
    keys = dict.fromkeys(key for row in table["rows"] for key in row)
    rows = [[row.get(key) for key in keys] for row in table["rows"]]
    return "".join([*(f"# {line}\n" for line in said), *csv_lines([keys, *rows])])


def as_markdown(table: Table, *, body: Sequence[str] = ()) -> str:
    """A table as a page of Markdown.

    Parameters
    ----------
    table : dict
        `title`, `rows` (a list of dictionaries), `caveats`, and `columns`: for each
        key of the rows a tuple of its title, a format, and the key of a standard error
        to print beside it; only the title is required. Optional: `lead` (lines before
        the table), `figures`, `findings`, and `command` with `version`.
    body : sequence of str, optional
        Lines of Markdown in place of those made from the columns.

    Returns
    -------
    str
        The text of the page.
    """
    lines = [f"# {table['title']}", "", *(body or _body(table)), "", "Caveats:", ""]
    lines += [f"- {caveat}" for caveat in table["caveats"]]
    if table.get("command"):
        lines += ["", f"Made by phcle {table['version']}: `{table['command']}`"]
    return "\n".join(lines) + "\n"


def markdown_grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells as the lines of a Markdown table.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences of str
        The cells.

    Returns
    -------
    list of str
        The lines.
    """
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _body(table: Table) -> list[str]:
    """What was measured, the figures, and what was found."""
    columns = table["columns"]
    rows = [
        [_cell(row, key, *columns[key]) for key in columns] for row in table["rows"]
    ]
    lines = [*table.get("lead", ()), ""]
    lines += markdown_grid([title for title, *_ in columns.values()], rows)
    for figure in table.get("figures", ()):
        lines += ["", f"![{figure['title']}]({figure['file']})"]
    if table.get("findings"):
        lines += ["", *(f"- {finding}" for finding in table["findings"])]
    return lines


def _cell(row: Table, key: str, title: str, form: str = "", error: str = "") -> str:
    """One value as text, with its standard error if there is one."""
    value = row.get(key)
    if value is None:
        return "–"
    text = format(value, form)
    if error and row.get(error) is not None:
        text += f" ± {format(row[error], form.lstrip('+'))}"
    return text.replace("|", "\\|")
