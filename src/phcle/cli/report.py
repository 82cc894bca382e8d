"""The command report: a web page about an embedding that works offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from phcle.cli.command_style import want
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import progress_stages, show, show_line, show_written
from phcle.cli.query_commands import labels_or_files

if TYPE_CHECKING:
    from phcle.answers import WrittenReport


def report(
    file: EmbeddingFile,
    out: Annotated[Path, want("FOLDER", "Where to write page and figures.")],
    title: Annotated[
        str | None,
        want("TEXT", "Title of the page; default: the file's name."),
    ] = None,
    labels: Annotated[
        list[str] | None,
        want("LABEL|FILE", "List the neighbours of these labels; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a page with a map of the labels and figures about the fit.

    The page is one file that needs no network. Its figures are also written as PNG and
    SVG. If the explorer has stored a map beside the file, the page shows the same map.
    """
    from phcle.embedding import load
    from phcle.explorer.precomputed import stored_layout
    from phcle.report import write_report

    embedding = load(file)
    with progress_stages() as progress:
        made = write_report(
            embedding,
            out,
            title=file.stem if title is None else title,
            shown=labels_or_files(labels) or (),
            layout=stored_layout(file, embedding),
            progress=progress,
        )
    show(made, _show, as_json=as_json)


def _show(made: WrittenReport) -> None:
    """Print where page and figures were written."""
    show_written(made.report)
    show_written(f"{Path(made.figures[0]).parent} (figures)")
    if made.left_out:
        show_line(made.left_out)
