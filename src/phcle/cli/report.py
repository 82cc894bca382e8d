"""The command report: a web page about an embedding that works offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phcle.cli import options, output
from phcle.cli.options import option

if TYPE_CHECKING:
    from phcle.answers import WrittenReport


def report(
    file: options.EmbeddingFile,
    out: Path = option(..., "FOLDER", "Where to write the page."),
    title: str | None = option(None, "TEXT", "Title; default: the file's name."),
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Write the pages of explore into one file, which needs no server.

    It holds the map, the table, filters, predicted cells and how well they were
    measured. If the explorer has stored a map beside the file, it shows the same map.

    Example: phcle report labels.phcle --out report
    """
    from phcle.atlas import write_report
    from phcle.embedding import load
    from phcle.progress import staged_progress

    embedding = load(file)
    with staged_progress(enabled=output.shows_progress(quiet=quiet)) as progress:
        made = write_report(
            embedding,
            out / "report.html",
            title=file.stem if title is None else title,
            file=file,
            progress=progress,
        )
    output.show(made, _show, as_json=as_json)


def _show(made: WrittenReport) -> None:
    """Print where the page was written."""
    output.show_written(made.report)
    if made.left_out:
        output.show_line(made.left_out)
