"""The web application: the page, the API, errors, and the socket it listens on.

The socket is opened first, so that the address is known before the server starts.
"""

from __future__ import annotations

import gc
import mimetypes
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from phcle import __version__
from phcle.atlas.api import Workspace, api_routers
from phcle.atlas.opened import named
from phcle.atlas.security import MOST_COSTLY, Guard, Rules, failure_response
from phcle.errors import OptionError, PhcleError, UnknownLabelError

USUAL_PORT = 8642

ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""An address to open, of a server that listens on all addresses of this machine."""

N_THREADS = 4
"""Quick answers that are computed at once, beside the costly ones. Python runs one
thread at a time, so more would only make all of them late."""

SWITCH_S = 0.001
"""A thread that computes lets others run after this time. With Python's own 5 ms, quick
answers wait several times as long as they take."""

LEVEL, SMALL = 1, 1_000
"""Level of compression, which must be quick, and bytes below which nothing is gained:
one packet of the network is larger."""


def make_app(workspace: Workspace, rules: Rules) -> FastAPI:
    """Make the web application.

    Parameters
    ----------
    workspace : Workspace
        The embeddings to answer about.
    rules : Rules
        Which requests are allowed.

    Returns
    -------
    FastAPI
        The application.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        limiter = to_thread.current_default_thread_limiter()
        limiter.total_tokens = N_THREADS + MOST_COSTLY
        workspace.start()
        yield

    app = FastAPI(
        title="phcle explorer",
        version=__version__,
        description="Ask a label embedding.",
        openapi_url="/api/openapi.json",
        # FastAPI's own pages load scripts from other servers.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    for router in api_routers(workspace):
        app.include_router(router)
    _add_files(app)
    _add_errors(app, workspace)
    app.add_middleware(GZipMiddleware, minimum_size=SMALL, compresslevel=LEVEL)
    app.add_middleware(Guard, rules=rules)
    return app


def _add_files(app: FastAPI) -> None:
    """Serve the page, its scripts and styles."""
    mimetypes.add_type("text/javascript", ".js")  # a machine may call it plain text
    files = StaticFiles(packages=[("phcle.atlas", "static")])
    app.mount("/static", files)

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)


def _add_errors(app: FastAPI, workspace: Workspace) -> None:
    """Answer every error as JSON."""
    opened = workspace.opened

    @app.exception_handler(PhcleError)
    async def refuse(_request: Request, error: PhcleError) -> Response:
        if isinstance(error, UnknownLabelError):
            near = [named(opened, x) for x in error.near]
            return failure_response(404, str(error), near=near)
        return failure_response(400, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> Response:
        why = [
            f"{'.'.join(map(str, each['loc'][1:])) or 'the body'}: {each['msg']}"
            for each in error.errors()
        ]
        return failure_response(422, f"{'; '.join(why)}.")

    @app.exception_handler(HTTPException)
    async def http_error(_request: Request, error: HTTPException) -> Response:
        return failure_response(error.status_code, str(error.detail), error.headers)


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
    why: Exception | None = None
    for wanted in (USUAL_PORT, 0) if port is None else (port,):
        try:
            return socket.create_server((host.strip("[]"), wanted), family=family)
        except (OSError, OverflowError) as error:
            why = error
    raise OptionError(
        f"cannot listen on {host} port {port or 0} ({why}); give another --port."
    )


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
    reached = names[0] if names else ANY.get(host.strip("[]"), host.strip("[]"))
    shown = f"[{reached}]" if ":" in reached else reached
    query = f"?token={token}" if token else ""
    return f"http://{shown}:{listening.getsockname()[1]}/{query}"


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Answer requests until Ctrl-C.

    Parameters
    ----------
    app : FastAPI
        The application.
    listening : socket.socket
        The socket from `bind`.
    """
    import uvicorn

    # Labels stay until the end: the collector need not look at them again, which would
    # stop all answers for a moment.
    gc.collect()
    gc.freeze()
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
    uvicorn.Server(config).run(sockets=[listening])
