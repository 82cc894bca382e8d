"""The web application: pages, HTTP API, error handling and security checks."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from phcle import __version__
from phcle.errors import PhcleError, UnknownLabelError
from phcle.explorer.api import api_routers
from phcle.explorer.assets import Assets
from phcle.explorer.map_colours import MapFile
from phcle.explorer.pages import Pages
from phcle.explorer.security import (
    MOST_COSTLY,
    Guard,
    Rules,
    costly_paths,
    failure_response,
)
from phcle.explorer.two_maps import NotReady
from phcle.explorer.workspace import Workspace

N_THREADS = 4
"""Quick answers that are computed at once, beside the costly ones. Python runs one
thread at a time, so more would only make all of them late."""


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
    map_file = MapFile(workspace.opened.on_map)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        limiter = to_thread.current_default_thread_limiter()
        limiter.total_tokens = N_THREADS + MOST_COSTLY
        workspace.start()
        # Make the map while the browser opens: the first page needs it.
        threading.Thread(target=map_file.content, daemon=True).start()
        yield

    app = FastAPI(
        title="phcle explorer",
        version=__version__,
        description="Ask a label embedding. Each HTML page has a JSON version here.",
        openapi_url="/api/openapi.json",
        # FastAPI's own pages load scripts from other servers.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    assets = Assets()
    pages = Pages(workspace, assets)
    routers = [*api_routers(workspace, map_file), *pages.routers(), assets.router()]
    for router in routers:
        app.include_router(router)

    def failed(
        request: Request,
        status: int,
        message: str,
        instead: Sequence[tuple[str, str]] = (),
    ) -> Response:
        if request.url.path.startswith("/api/"):
            return failure_response(status, message)
        return pages.failure(status, message, instead)

    @app.exception_handler(PhcleError)
    async def refuse(request: Request, error: PhcleError) -> Response:
        if isinstance(error, NotReady):
            answer = failed(request, 503, str(error))
            answer.headers["retry-after"] = "1"
            return answer
        if isinstance(error, UnknownLabelError):
            name_of = workspace.opened.embedding.name_of
            instead = [(name_of(x), _meant(request, error.text, x)) for x in error.near]
            return failed(request, 404, str(error), instead)
        return failed(request, 400, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return failed(request, 422, _reasons(error.errors()))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        answer = failed(request, error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    app.add_middleware(Guard, rules=rules, costly=costly_paths(*routers))
    return app


def _meant(request: Request, text: str, label: str) -> str:
    """The address that was asked for, with a label in place of a text."""
    query = [
        (key, label if value == text else value)
        for key, value in request.query_params.multi_items()
    ]
    return f"{request.url.path}?{urlencode(query)}"


def _reasons(errors: Any) -> str:
    """Say which parameters are wrong, and why."""
    parts = []
    for each in errors:
        where = ".".join(str(x) for x in each["loc"][1:]) or "the body"
        parts.append(f"{where}: {each['msg']}")
    return "; ".join(parts) + "."
