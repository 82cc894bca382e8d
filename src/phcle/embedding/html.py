"""HTML of an embedding for notebooks: a heading and small tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding


SHOWN_LABELS = 8
"""Most labels to show, so that they fit on one line."""


def embedding_html(embedding: LabelEmbedding) -> str:
    """Show the size, the first labels, and the contexts.

    Parameters
    ----------
    embedding : LabelEmbedding
        What to show.

    Returns
    -------
    str
        HTML.
    """
    shown = [embedding.name_of(label) for label in embedding.labels[:SHOWN_LABELS]]
    if len(embedding) > SHOWN_LABELS:
        shown.append("…")
    parts = [
        f"<p><b>LabelEmbedding</b>: {len(embedding):,} labels × {embedding.dim} "
        f"dimensions<br>{escape(', '.join(shown))}</p>"
    ]
    if embedding.contexts:
        rows = [
            (
                context.name,
                f"{len(set(context.observed_labels)):,}",
                f"{len(context.columns):,}",
                f"{context.weight:.3g}",
            )
            for context in embedding.contexts
        ]
        parts.append(table_html(("context", "labels", "columns", "weight"), rows))
    return f"<div>{''.join(parts)}</div>"


def options_html(
    title: str, options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> str:
    """Show options in an element that unfolds, with changed ones in bold.

    Parameters
    ----------
    title : str
        Text of the heading.
    options : mapping
        Values by option.
    defaults : mapping
        Default values by option.

    Returns
    -------
    str
        HTML.
    """
    rows = "".join(
        f"<tr><td>{mark(escape(name))}</td><td>{mark(escape(repr(value)))}</td></tr>"
        for name, value in options.items()
        for mark in [_bold if value != defaults[name] else str]
    )
    return (
        f"<details><summary><b>{escape(title)}</b></summary>"
        f"<table>{rows}</table></details>"
    )


def table_html(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Show a table of texts, which are escaped.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : iterable of sequence of str
        The cells.

    Returns
    -------
    str
        HTML.
    """

    def line(cells: Iterable[str], tag: str) -> str:
        inner = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
        return f"<tr>{inner}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table>{line(header, 'th')}{body}</table>"


def _bold(text: str) -> str:
    return f"<b>{text}</b>"
