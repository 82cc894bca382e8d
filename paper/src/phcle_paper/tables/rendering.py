"""The paper's tables as Markdown, CSV and JSON; studies use phcle's own layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phcle_paper.tables.table_files import as_csv, markdown_grid
from phcle_paper.tables.table_files import as_markdown as lay_out
from phcle_paper.tables.table_files import write_table as write_files

__all__ = ["as_csv", "as_markdown", "write_table"]

Table = dict[str, Any]

WORDS = {
    "seen": "seen classes",
    "unseen": "unseen classes",
    "seen_images": "images of seen classes",
    "unseen_images": "images of unseen classes",
    "features": "features of an image",
}


def write_table(table: Table, stem: Path) -> list[Path]:
    """Write `stem` with the endings .md, .csv and .json."""
    return write_files(table, stem, body=_body(table))


def as_markdown(table: Table) -> str:
    """A table as a page of Markdown."""
    return lay_out(table, body=_body(table))


def _body(table: Table) -> list[str]:
    """Lines of a table of the paper; none for a table that lists its columns."""
    if "columns" in table:
        return []
    return _statistics(table) if table["table"] == "table1" else _accuracies(table)


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
    def triples(prefix: str) -> list[str]:
        keys = [f"{prefix}{part}" for part in ("seen", "unseen", "harmonic")]
        rows = [
            (
                name,
                *(" / ".join(_number(cell[name, x][k]) for k in keys) for x in columns),
            )
            for name in names
        ]
        return markdown_grid(("", *columns), rows)

    return [
        "Generalised: seen / unseen / harmonic mean, answers among all classes:",
        "",
        *triples(""),
        "",
        "The same with a constant taken off the scores of seen classes, chosen on "
        "validation classes:",
        "",
        *triples("balanced_"),
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
