"""Print answers as tables and lines in the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from phcle import answers

__all__ = [
    "show_description",
    "show_explanation",
    "show_file_info",
    "show_nearest",
    "show_next",
    "show_summary",
    "show_table",
    "show_written",
]


def show_nearest(found: Iterable[answers.Nearest | answers.NearestToVector]) -> None:
    """Print a table of neighbours for each label or vector.

    Parameters
    ----------
    found : iterable of Nearest or NearestToVector
        Labels or vectors with their neighbours.
    """
    for answer in found:
        show_table(
            ("similarity", "label"),
            ((f"{near.similarity:.3f}", _title(near)) for near in answer.neighbours),
            title=f"nearest to {_title(answer)}",
        )


def show_description(answer: answers.DescribedLabel) -> None:
    """Print related labels with their shares, then attributes.

    Parameters
    ----------
    answer : DescribedLabel
        The description.
    """
    known_by = [name for name, known in answer.contexts.items() if known]
    _print(f"{_title(answer)}: known in {', '.join(known_by) or 'no context'}")
    show_table(
        ("share", "related label"),
        ((f"{x.share:.0%}", _title(x)) for x in answer.related),
    )
    rows = [
        (kind, x.name, f"{x.value:.3g}", _confidence(x), x.context)
        for kind, found in (
            ("observed", answer.observed),
            ("predicted", answer.predicted),
        )
        for x in found
    ]
    if rows:
        show_table(("", "attribute", "value", "sure", "context"), rows)
    if answer.not_predictable:
        _print(f"Too little is known to predict {', '.join(answer.not_predictable)}.")


def _confidence(attribute: answers.Attribute) -> str:
    """Confidence in percent; nothing for an observed attribute."""
    return "" if attribute.confidence is None else f"{attribute.confidence:.0%}"


def show_explanation(answer: answers.ExplainedPair) -> None:
    """Print the parts of a similarity, and the common ancestors.

    Parameters
    ----------
    answer : ExplainedPair
        The explanation.
    """
    _print(
        f"{answer.a.name} and {answer.b.name}: similarity {answer.similarity:.3f}, "
        "which is the sum of"
    )
    rows = []
    for part in answer.parts:
        most = ", ".join(f"{x.name} {x.part:+.3f}" for x in part.columns)
        rows.append((f"{part.part:+.3f}", part.context, most))
    rows.append((f"{answer.rest:+.3f}", "rounding", ""))
    show_table(("part", "context", "most of it from"), rows)
    for part in answer.parts:
        if part.shared:
            names = ", ".join(node.name for node in part.shared)
            _print(f"Both are below (nearest first): {names}")


def show_summary(
    answer: answers.EmbeddingSummary, *, seconds: float | None = None
) -> None:
    """Print size, contexts with coverage and weight, and how the fit ended.

    Parameters
    ----------
    answer : EmbeddingSummary
        The summary.
    seconds : float or None, default=None
        Time that the fit took, if it is known.
    """
    _print(f"{answer.labels:,} labels × {answer.dim} dimensions")
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
    if answer.objective is not None:
        took = "" if seconds is None else f" in {seconds:.1f} s"
        _print(
            f"{answer.sweeps} sweeps{took}, objective {answer.objective:,.1f}, "
            f"seed {answer.seed}"
        )


def show_file_info(answer: answers.FileInfo) -> None:
    """Print what a file holds and how it was made.

    Parameters
    ----------
    answer : FileInfo
        What is known about the file.
    """
    from phcle.answers import EmbeddingInfo

    skipped = {"file", "format_version"}
    if isinstance(answer, EmbeddingInfo):
        show_summary(answer)
        skipped |= {"labels", "dim", "contexts", "sweeps", "objective", "seed"}
    values = answer.to_dict()
    for title, value in values.items():
        if title not in skipped and value not in ({}, [], None):
            _print(f"{title}: {_one_line(value)}")
    _print(f"format version: {values['format_version']}")


def _one_line(value: object) -> str:
    """Write a dictionary or a list on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(_one_line, value))
    return str(value)


def show_written(path: object) -> None:
    """Print where a result was written.

    Parameters
    ----------
    path : object
        The path, perhaps followed by a remark.
    """
    _print(f"written to {path}")


def show_next(commands: Iterable[Sequence[str]]) -> None:
    """Print commands to try next.

    Parameters
    ----------
    commands : iterable of sequence of str
        The words of each command.
    """
    _print("Try next:")
    for command in commands:
        _print(f"  {shlex.join(command)}")


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


def _print(text: str) -> None:
    """Print one line; the terminal may wrap it."""
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


def _title(answer: answers.Named | answers.NearestToVector) -> str:
    """Name and label, or only the name if they are the same."""
    if answer.label in (None, answer.name):
        return answer.name
    return f"{answer.name} ({answer.label})"
