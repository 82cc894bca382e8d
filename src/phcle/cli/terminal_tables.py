"""Answers as tables and lines on the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "show_description",
    "show_explanation",
    "show_nearest",
    "show_next",
    "show_summary",
    "show_table",
    "show_written",
]

Answer = dict[str, Any]


def show_nearest(answers: Answer | list[Answer]) -> None:
    """Neighbours of one label or of several."""
    for answer in answers if isinstance(answers, list) else [answers]:
        show_table(
            ("similarity", "label"),
            (
                (f"{near['similarity']:.3f}", _both(near))
                for near in answer["neighbours"]
            ),
            title=f"nearest to {_both(answer)}",
        )


def show_description(answer: Answer) -> None:
    """Related labels with their shares, then attributes."""
    known_by = [name for name, known in answer["contexts"].items() if known]
    _print(f"{_both(answer)}: known in {', '.join(known_by) or 'no context'}")
    show_table(
        ("share", "related label"),
        ((f"{x['share']:.0%}", _both(x)) for x in answer["related"]),
    )
    rows = [
        (kind, x["name"], f"{x['value']:.3g}", _sure(x), x["context"])
        for kind in ("observed", "predicted")
        for x in answer[kind]
    ]
    if rows:
        show_table(("", "attribute", "value", "sure", "context"), rows)
    if answer["untold"]:
        _print(f"Too little is known to tell its {', '.join(answer['untold'])}.")


def _sure(attribute: Answer) -> str:
    confidence = attribute["confidence"]
    return "" if confidence is None else f"{confidence:.0%}"


def show_explanation(answer: Answer) -> None:
    """Parts that add up to the similarity, and shared ancestors in words."""
    a, b = answer["a"]["name"], answer["b"]["name"]
    _print(f"{a} and {b}: similarity {answer['similarity']:.3f}, which is the sum of")
    rows = []
    for part in answer["parts"]:
        most = ", ".join(f"{x['name']} {x['part']:+.3f}" for x in part["columns"])
        rows.append((f"{part['part']:+.3f}", part["context"], most))
    rows.append((f"{answer['rest']:+.3f}", "rounding", ""))
    show_table(("part", "context", "most of it from"), rows)
    for part in answer["parts"]:
        if part["shared"]:
            names = ", ".join(node["name"] for node in part["shared"])
            _print(f"Both are below (nearest first): {names}")


def show_summary(answer: Answer) -> None:
    """Size, contexts with coverage and weight, and how the fit went."""
    _print(f"{answer['labels']:,} labels × {answer['dim']} dimensions")
    show_table(
        ("context", "kind", "labels", "coverage", "columns", "weight"),
        (
            (
                context["name"],
                context["kind"],
                f"{context['labels']:,}",
                f"{context['coverage']:.0%}",
                f"{context['columns']:,}",
                f"{context['weight']:.3g}",
            )
            for context in answer["contexts"]
        ),
    )
    if answer["objective"] is not None:
        took = f" in {answer['seconds']:.1f} s" if "seconds" in answer else ""
        _print(
            f"{answer['sweeps']} sweeps{took}, objective {answer['objective']:,.1f}, "
            f"seed {answer['seed']}"
        )


def show_provenance(answer: Answer) -> None:
    """Whatever else is told of a file: options, versions, how the fit ran."""
    skipped = {"file", "format_version"}
    if answer["what"] == "embedding":  # which the summary above tells
        skipped |= {"labels", "dim", "contexts", "sweeps", "objective", "seed"}
    for title, value in answer.items():
        if title not in skipped and value not in ({}, [], None):
            _print(f"{title}: {_plain(value)}")
    _print(f"format version: {answer['format_version']}")


def _plain(value: object) -> str:
    """Values of a list or of names, on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(_plain, value))
    return str(value)


def show_written(path: object) -> None:
    """Where the result lies."""
    _print(f"written to {path}")


def show_next(commands: Iterable[Sequence[str]]) -> None:
    """Commands that work with what was just written."""
    _print("Try next:")
    for command in commands:
        _print(f"  {shlex.join(command)}")


def show_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    """Rows below a header; long words are folded, never cut."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = None if title is None else _shown(title)
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in header:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(_shown, row))
    _console().print(table)


def _print(text: str) -> None:
    _console().print(_shown(text), soft_wrap=True)


def _shown(text: str) -> str:
    """Text without what a terminal would obey: a label may come from a stranger."""
    if text.isprintable():
        return text
    return "".join(x if x.isprintable() else ascii(x)[1:-1] for x in text)


def _console() -> Console:
    """A console that shows text as it is: a label may hold brackets or colons."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False)


def _both(answer: Answer) -> str:
    """Name and label, or one of them if they are the same."""
    name, label = answer["name"], answer["label"]
    return str(name) if label in (None, name) else f"{name} ({label})"
