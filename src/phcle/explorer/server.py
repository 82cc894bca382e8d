"""Check what is installed, listen on a port and serve the application.

The socket is opened first, so that the address is known before the server starts.
"""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from phcle.errors import OptionError, PhcleError
from phcle.optional_imports import install_command, is_installed

if TYPE_CHECKING:
    from fastapi import FastAPI


NEEDED = ("fastapi", "jinja2", "rapidfuzz", "uvicorn")
"""Libraries that the extra `phcle[explore]` installs."""

USUAL_PORT = 8642

SWITCH_S = 0.001
"""A thread that computes lets others run after this time. With Python's own 5 ms, quick
answers wait several times as long as they take."""


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


def address_of(
    listening: socket.socket,
    host: str,
    *,
    token: str | None = None,
    names: Sequence[str] = (),
) -> str:
    """Build the URL to open in a browser.

    Parameters
    ----------
    listening : socket.socket
        The socket from `bind`.
    host : str
        The address that was given to `bind`.
    token : str or None, default=None
        The token that visitors must give, if any.
    names : sequence of str, default=()
        Host names of this machine; the first stands in the URL.

    Returns
    -------
    str
        The URL; with the token, so that it opens.
    """
    reached = names[0] if names else _reached(host)
    shown = f"[{reached}]" if ":" in reached else reached
    query = f"?token={token}" if token else ""
    return f"http://{shown}:{listening.getsockname()[1]}/{query}"


def _reached(host: str) -> str:
    """An address of this machine, if the server listens on all of them."""
    host = host.strip("[]")
    try:
        is_any = ipaddress.ip_address(host).is_unspecified
    except ValueError:  # a name
        is_any = False
    if not is_any:
        return host
    is_long = ":" in host
    # A connected UDP socket knows its own address; nothing is sent. The other end is
    # an address that documentation uses.
    other = "2001:db8::1" if is_long else "192.0.2.1"
    family = socket.AF_INET6 if is_long else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((other, 9))
        except OSError:  # no network: only this machine can open it
            return "::1" if is_long else "127.0.0.1"
        return str(probe.getsockname()[0])


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
            # Labels stay until the end: the collector need not look at them again,
            # which would stop all answers for a moment.
            gc.collect()
            gc.freeze()
            if not self.should_exit:
                started()

    sys.setswitchinterval(SWITCH_S)
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
