"""Check what is installed, listen on a port and serve the application.

The socket is opened first, so that the address is known before the server starts.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from phcle.errors import OptionError, PhcleError
from phcle.optional_imports import install_command, is_installed

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["address_of", "bind", "check_extra", "serve"]

NEEDED = ("fastapi", "jinja2", "rapidfuzz", "uvicorn")
"""Libraries that the extra `phcle[explore]` installs."""

USUAL_PORT = 8642


def check_extra() -> None:
    """Raise an error if a library of the extra is missing."""
    missing = [name for name in NEEDED if not is_installed(name)]
    if missing:
        raise PhcleError(
            f"the explorer needs {', '.join(missing)}: {install_command('explore')}"
        )


def bind(host: str, port: int | None) -> socket.socket:
    """Open a socket to listen on.

    Parameters
    ----------
    host : str
        Address to listen on.
    port : int or None
        The port; 0 takes any free port. None takes 8642, or any free port if that is
        in use.

    Returns
    -------
    socket.socket
        The socket.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        found = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # on Windows two servers could then share a port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host.strip("[]"), wanted))
        except (OSError, OverflowError) as error:
            found.close()
            if port is None and wanted:
                continue
            raise OptionError(
                f"cannot listen on {host} port {wanted} ({error}); give another --port."
            ) from error
        return found
    raise OptionError(f"cannot listen on {host}; give a --port that is free.")


def address_of(listening: socket.socket, host: str) -> str:
    """Build the URL to open in a browser.

    Parameters
    ----------
    listening : socket.socket
        The socket from `bind`.
    host : str
        The address that was given to `bind`.

    Returns
    -------
    str
        The URL.
    """
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}/"


def serve(
    app: FastAPI,
    listening: socket.socket,
    *,
    started: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests until Ctrl-C.

    Parameters
    ----------
    app : FastAPI
        The application.
    listening : socket.socket
        The socket from `bind`.
    started : callable
        Called once the server answers. Default: does nothing.
    """
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                started()

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        limit_concurrency=1000,
        ws="none",
    )
    Server(config).run(sockets=[listening])
