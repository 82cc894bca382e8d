"""The command explore: show an embedding in the browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from phcle.cli import options, output
from phcle.cli.options import Several, flag, have, option
from phcle.errors import FileError, OptionError

if TYPE_CHECKING:
    from phcle.atlas import Workspace


def explore(
    file: options.EmbeddingFile,
    compare: Path | None = have(None, "FILE", "A second embedding to compare with."),
    model: Path | None = have(None, "FILE", "A map of understand --learn."),
    network: str | None = option(
        None, "FOLDER|NAME", "The network that the map was learned with, if moved."
    ),
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
        workspace = _workspace(file, compare, model, network, quiet=quiet)
        app = atlas.make_app(workspace, rules)
        address = atlas.address_of(listening, host, token=token, names=names)
        # The socket listens already, so a browser waits for the answer.
        typer.echo(f"exploring {file} at {address}  (Ctrl-C stops it)")
        if browser and not public:
            output.open_browser(address)
        atlas.serve(app, listening)


def _workspace(
    file: Path,
    compare: Path | None,
    model: Path | None,
    network: str | None,
    *,
    quiet: bool,
) -> Workspace:
    """Load the files that were given."""
    from phcle.atlas import Opened, Pictures, Second, Workspace
    from phcle.embedding import load

    tell = output.say if output.shows_progress(quiet=quiet) else lambda message: None

    def opened(path: Path) -> Opened:
        return Opened(load(path), path.stem, path, output.say, tell)

    one = opened(file)
    if len(one.embedding) < 2:
        raise FileError(f"{file}: has one label; the explorer needs two or more.")
    second = None if compare is None else Second(one, opened(compare))
    if model is None:
        if network is not None:
            raise OptionError("--network needs a map of pictures: give --model too.")
        return Workspace(one, second)
    from phcle.cli.pictures import network_of
    from phcle.images import load_map

    image_map = load_map(model)
    seeing = partial(network_of, image_map, model, network)
    # A map that was learned from features has no network.
    pictures = Pictures(image_map, seeing if image_map.network else None)
    return Workspace(one, second, pictures)
