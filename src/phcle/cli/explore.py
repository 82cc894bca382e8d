"""The command explore: show an embedding in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phcle.cli.command_style import have, machine
from phcle.cli.errors_and_signals import say
from phcle.cli.flags import EmbeddingFile
from phcle.cli.output import has_display, shows_progress

if TYPE_CHECKING:
    from phcle.explorer.opened_embedding import Opened
    from phcle.explorer.workspace import Workspace


def explore(
    file: EmbeddingFile,
    compare: Annotated[
        Path | None,
        have("FILE", "A second embedding to compare with."),
    ] = None,
    model: Annotated[
        Path | None,
        have("FILE", "A map that `phcle map` has written."),
    ] = None,
    network: Annotated[
        str | None,
        have("FOLDER|NAME", "The network that the map of pictures was learned with."),
    ] = None,
    port: Annotated[
        int | None,
        machine("N", "Port to listen on; 0 takes any free port.", min=0, max=65535),
    ] = None,
    host: Annotated[str, machine("ADDRESS", "Address to listen on.")] = "127.0.0.1",
    public: Annotated[
        bool,
        machine(None, "Allow an address that other machines can reach.", "--public"),
    ] = False,
    token: Annotated[
        str | None,
        machine(
            "SECRET",
            "Secret that visitors must give; required with --public.",
            envvar="PHCLE_TOKEN",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        machine(
            "HOST", "A host name of this machine that visitors use; may be repeated."
        ),
    ] = None,
    browser: Annotated[
        bool, machine(None, "Open a browser.", "--browser/--no-browser")
    ] = True,
) -> None:
    """Show and search an embedding in the browser, until Ctrl-C.

    The pages load nothing from other machines. The first start computes neighbours and
    a map, and stores them in LABELS.phcle.explorer for the next one.
    """
    from phcle.explorer.server import address_of, bind, check_extra, serve

    check_extra()
    from phcle.explorer.app import make_app
    from phcle.explorer.security import Rules

    # Check the address before loading anything.
    Rules.for_address(host, port or 0, public=public, token=token)
    with bind(host, port) as listening:
        taken = listening.getsockname()[1]
        rules = Rules.for_address(
            host, taken, public=public, token=token, names=name or ()
        )
        app = make_app(_workspace(file, compare, model, network), rules)
        address = address_of(listening, host, token=token, names=name or ())

        def started() -> None:
            typer.echo(f"exploring {file} at {address}  (Ctrl-C stops it)")
            if browser and not public and has_display():
                import webbrowser

                webbrowser.open(address)

        serve(app, listening, started=started)


def _workspace(
    file: Path, compare: Path | None, model: Path | None, network: str | None
) -> Workspace:
    """Load the files that were given."""
    from phcle.errors import FileError, OptionError
    from phcle.explorer.workspace import Workspace

    opened = _opened(file)
    if len(opened.embedding) < 2:
        raise FileError(f"{file}: has one label; the explorer needs two or more.")
    other = None if compare is None else _opened(compare)
    if model is None:
        if network is not None:
            raise OptionError("--network needs a map of pictures: give --model too.")
        return Workspace(opened, other)
    from phcle.cli.pictures import network_of
    from phcle.images import load_map

    image_map = load_map(model)
    if image_map.network is None:  # it was learned from features
        return Workspace(opened, other, image_map)
    return Workspace(
        opened, other, image_map, lambda: network_of(image_map, model, network)
    )


def _opened(file: Path) -> Opened:
    """Load an embedding; on a terminal, the stages of its background work are shown."""
    from phcle.embedding import load
    from phcle.explorer.opened_embedding import Opened

    tell_progress = say if shows_progress() else lambda message: None
    return Opened(load(file), file.stem, file, say, tell_progress)
