"""Scripts and styles, read once at the start.

The path of a request is only looked up in this list and never used to open a file.
"""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Request, Response

from phcle.explorer.stored_content import StoredContent
from phcle.web import MAP_SCRIPTS

__all__ = ["Assets"]

KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}

SHARED = (
    "page.css", "map.css", "filters.css",
    "elements.js", "combobox.js", "filters.js", *MAP_SCRIPTS,
)  # fmt: skip
"""Files of `phcle.web`, which reports use too."""


class Assets:
    """All scripts and styles, by the name that pages use."""

    def __init__(self) -> None:
        own = files("phcle.explorer").joinpath("static")
        shared = files("phcle.web").joinpath("static")
        found = {item.name: item for item in own.iterdir() if item.is_file()}
        found |= {name: shared.joinpath(name) for name in SHARED}
        self._by_name = {
            name: _asset(name, item.read_bytes()) for name, item in found.items()
        }

    def address(self, name: str) -> str:
        """Build the URL of a file; it changes with the content.

        Parameters
        ----------
        name : str
            Name of the file.

        Returns
        -------
        str
            The URL.
        """
        return f"/static/{name}?{self._by_name[name].tag[:8]}"

    def router(self) -> APIRouter:
        """Make the route that serves the files.

        Returns
        -------
        APIRouter
            The route.
        """
        router = APIRouter(include_in_schema=False)

        @router.get("/static/{name:path}")
        async def static(name: str, request: Request) -> Response:
            asset = self._by_name.get(name)
            if asset is None:
                return Response("no such file", 404, media_type="text/plain")
            return asset.response(request)

        return router


def _asset(name: str, content: bytes) -> StoredContent:
    """Add the media type to a file."""
    return StoredContent(content, KINDS[name[name.rindex(".") :]])
