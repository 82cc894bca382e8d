"""The page in the browser (explore), and in a file (report)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from phcle.cli import options, output
from phcle.cli.options import Several, flag, have, option
from phcle.errors import FileError

if TYPE_CHECKING:
    from phcle.answers import WrittenReport
    from phcle.atlas import Workspace


def explore(
    file: options.EmbeddingFile,
    compare: Path | None = have(None, "FILE", "A second embedding to compare with."),
    model: Path | None = have(None, "FILE", "A map of understand --learn."),
    port: int | None = option(
        None, "N", "Port to listen on; 0 takes any free port.", min=0, max=65535
    ),
    host: str = option("127.0.0.1", "ADDRESS", "Address to listen on."),
    public: bool = flag("Allow an address that others can reach.", "--public"),
    token: str | None = option(
        None, "SECRET", "What visitors of --public must give.", envvar="PHCLE_TOKEN"
    ),
    name: Several = option(
        None, "HOST", "A host name that visitors use; may be repeated."
    ),
    browser: bool = option(True, None, "Open a browser.", "--browser/--no-browser"),
    quiet: options.Quiet = False,
) -> None:
    """Show and search an embedding in the browser, until Ctrl-C.

    The pages load nothing from other machines. The first start computes neighbours and
    a map, and stores them in LABELS.phcle.explorer for the next one.

    Example: phcle explore labels.phcle
    """
    from phcle import atlas

    atlas.check_extra()
    names = name or ()
    with atlas.bind(host, port) as listening:
        taken = listening.getsockname()[1]
        rules = atlas.Rules.for_address(
            host, taken, public=public, token=token, names=names
        )
        workspace = _workspace(file, compare, model, quiet=quiet)
        app = atlas.make_app(workspace, rules)
        address = atlas.address_of(listening, host, token=token, names=names)
        # The socket listens already, so a browser waits for the answer.
        typer.echo(f"exploring {file} at {address}  (Ctrl-C stops it)")
        if browser and not public:
            output.open_browser(address)
        atlas.serve(app, listening)


def _workspace(
    file: Path, compare: Path | None, model: Path | None, *, quiet: bool
) -> Workspace:
    """Load the files that were given."""
    from phcle.atlas import Opened, Second, Workspace
    from phcle.embedding import load
    from phcle.images import load_map

    tell = output.say if output.shows_progress(quiet=quiet) else lambda message: None

    def opened(path: Path) -> Opened:
        return Opened(load(path), path.stem, path, output.say, tell)

    one = opened(file)
    if len(one.embedding) < 2:
        raise FileError(f"{file}: has one label; the explorer needs two or more.")
    second = None if compare is None else Second(one, opened(compare))
    return Workspace(one, second, None if model is None else load_map(model))


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

    title, page = file.stem if title is None else title, out / "report.html"
    embedding = load(file)
    with output.progress_bar("writing the page", quiet=quiet):
        made = write_report(embedding, page, title=title, file=file)
    output.show(made, _show_written, as_json=as_json)


def _show_written(made: WrittenReport) -> None:
    """Print where the page was written."""
    output.show_written(made.report)
    if made.left_out:
        output.show_line(made.left_out)
