"""Tables as Markdown, CSV and JSON: the paper's in its layout, studies by columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phcle.files import csv_lines, write_whole

__all__ = ["as_csv", "as_markdown", "write_table"]

Table = dict[str, Any]

WORDS = {
    "seen": "seen classes",
    "unseen": "unseen classes",
    "seen_images": "images of seen classes",
    "unseen_images": "images of unseen classes",
    "features": "features of an image",
}


def write_table(table: Table, stem: Path) -> None:
    """Write `stem` with the endings .md, .csv and .json."""
    texts = {
        ".md": as_markdown(table),
        ".csv": as_csv(table),
        ".json": json.dumps(table, indent=2) + "\n",
    }
    for ending, text in texts.items():
        with write_whole(stem.with_name(stem.name + ending)) as temporary:
            temporary.write_text(text, encoding="utf-8")


def as_csv(table: Table) -> str:
    """Rows of a table as CSV; title, command and caveats come first as comments."""
    said = (table["title"], table.get("command", ""), *table["caveats"])
    keys = dict.fromkeys(key for row in table["rows"] for key in row)
    rows = [[row.get(key) for key in keys] for row in table["rows"]]
    return "".join([*(f"# {line}\n" for line in said), *csv_lines([keys, *rows])])


def as_markdown(table: Table) -> str:
    """A table as a page of Markdown.

    It has `title`, `rows` (a list of dictionaries), `caveats` and, in studies,
    `columns`: for each key of the rows a tuple of its title, a format, and the key of a
    standard error to print beside it. `lead` stands before the table, `figures` and
    `findings` behind it, `command` and `version` at the end.
    """
    if "columns" in table:
        body = _columns(table)
    else:
        is_table1 = table["table"] == "table1"
        body = _statistics(table) if is_table1 else _accuracies(table)
    lines = [f"# {table['title']}", "", *body, "", "Caveats:", ""]
    lines += [f"- {caveat}" for caveat in table["caveats"]]
    if table.get("command"):
        lines += ["", f"Made by phcle {table['version']}: `{table['command']}`"]
    return "\n".join(lines) + "\n"


def markdown_grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells as the lines of a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _columns(table: Table) -> list[str]:
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


def _statistics(table: Table) -> list[str]:
    rows = []
    for row in table["rows"]:
        is_known = row["paper"] is not None and row["ours"] is not None
        remark = "differs" if is_known and row["paper"] != row["ours"] else ""
        name = WORDS.get(row["statistic"], row["statistic"])
        rows.append((name, _count(row["paper"]), _count(row["ours"]), remark))
    return markdown_grid(("", "paper", "here", ""), rows)


def _accuracies(table: Table) -> list[str]:
    """Accuracies on the paper's split, on random splits, and the comparison."""
    names = list(dict.fromkeys(row["embedding"] for row in table["rows"]))
    cell = {(row["embedding"], row["classifier"]): row for row in table["rows"]}
    columns = table["classifiers"]
    lines = ["Mean per-class accuracy (%) on the standard split, paper / here:", ""]
    lines += markdown_grid(
        ("", *columns),
        [(name, *(_pair(cell[name, column]) for column in columns)) for name in names],
    )
    if table["n_splits"]:
        reference = table["reference"]
        lines += [
            "",
            f"Random class splits, {table['n_splits']} of them: mean ± standard "
            f"deviation (difference from {reference} ± its standard error):",
            "",
        ]
        lines += markdown_grid(
            ("", *columns),
            [
                (name, *(_spread(cell[name, x], name == reference) for x in columns))
                for name in names
            ],
        )
    if "harmonic" in table["rows"][0]:
        lines += ["", *_generalised(names, columns, cell)]
    for by in dict.fromkeys(x["by"] for x in table["verdicts"]):
        lines += ["", f"Verdict, {by}:", ""]
        own = [x for x in table["verdicts"] if x["by"] == by]
        lines += [f"- {_sentence(table, x)}" for x in own]
    return lines


def _generalised(
    names: Sequence[str], columns: Sequence[str], cell: dict[tuple[str, str], Table]
) -> list[str]:
    keys = ("seen", "unseen", "harmonic")
    rows = [
        (name, *(" / ".join(_number(cell[name, x][k]) for k in keys) for x in columns))
        for name in names
    ]
    return [
        "Generalised: seen / unseen / harmonic mean, answers among all classes:",
        "",
        *markdown_grid(("", *columns), rows),
    ]


def _sentence(table: Table, verdict: Table) -> str:
    """One comparison as a sentence."""
    column, name = verdict["classifier"], table["reference"]
    if verdict["outcome"] == "alone":
        return f"{column}: there is no other method to compare {name} with"
    word = {"won": "beats", "lost": "**lost** to", "tied": "is level with"}
    text = f"{column}: {name} {word[verdict['outcome']]} {verdict['rival']}"
    if verdict["outcome"] != "tied":
        text += f" by {abs(verdict['ahead']):.2f}"
    if verdict["standard_error"] is not None:
        text += f" ± {verdict['standard_error']:.2f}"
        text += "" if verdict["clear"] else ", not clear of chance"
    elif verdict["by"] == "random splits":
        text += ", by a single split"
    return text


def _pair(row: Table) -> str:
    paper = "–" if row["paper"] is None else f"{row['paper']:.2f}"
    return f"{paper} / {_number(row['ours'])}"


def _spread(row: Table, is_reference: bool) -> str:
    text = f"{_number(row['mean'])} ± {_number(row['spread'])}"
    if is_reference:
        return text
    difference = "–" if row["difference"] is None else f"{row['difference']:+.1f}"
    return f"{text} ({difference} ± {_number(row['standard_error'])})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
