"""The command report: a web page about an embedding that works offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phcle.cli import options, output
from phcle.cli.options import Several, option

if TYPE_CHECKING:
    from phcle.answers import WrittenReport


def report(
    file: options.EmbeddingFile,
    out: Path = option(..., "FOLDER", "Where to write page and figures."),
    title: str | None = option(None, "TEXT", "Title; default: the file's name."),
    labels: Several = option(
        None, "LABEL|FILE", "List the neighbours of these labels; may be repeated."
    ),
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Write a page with a map of the labels and figures about the fit.

    The page is one file that needs no network. Its figures are also written as PNG and
    SVG. If the explorer has stored a map beside the file, the page shows the same map.

    Example: phcle report labels.phcle --out report
    """
    from phcle.embedding import load
    from phcle.explorer.precomputed import stored_layout
    from phcle.progress import staged_progress
    from phcle.report import write_report

    embedding = load(file)
    with staged_progress(enabled=output.shows_progress(quiet=quiet)) as progress:
        made = write_report(
            embedding,
            out,
            title=file.stem if title is None else title,
            shown=options.labels_or_files(labels) or (),
            layout=stored_layout(file, embedding),
            progress=progress,
        )
    output.show(made, _show, as_json=as_json)


def _show(made: WrittenReport) -> None:
    """Print where page and figures were written."""
    output.show_written(made.report)
    output.show_written(f"{Path(made.figures[0]).parent} (figures)")
    if made.left_out:
        output.show_line(made.left_out)
