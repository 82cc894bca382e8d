"""Content that is sent again and again: scripts, styles and large answers.

It is compressed once, and not sent to who has it. The path of a request for a script is
only looked up in a list and never used to open a file.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request, Response

from phcle.web import MAP_SCRIPTS

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


LEVEL = 6
"""Level of compression; higher ones take much longer for little."""

SMALL = 1_000
"""Bytes below which compression saves nothing: one packet of the network is larger."""


@dataclass(frozen=True, eq=False)
class StoredContent:
    """The content of a file or an answer.

    Attributes
    ----------
    content : bytes
        The content.
    kind : str
        Its media type.

    Examples
    --------
    >>> StoredContent(b"[]", "application/json").tag[:8]
    '4f53cda1'
    """

    content: bytes
    kind: str

    @cached_property
    def tag(self) -> str:
        """A digest of the content."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def compressed(self) -> bytes | None:
        """The content compressed by gzip; None if it is short."""
        if len(self.content) < SMALL:
            return None
        return gzip.compress(self.content, LEVEL, mtime=0)

    def response(self, request: Request) -> Response:
        """Answer a request.

        Parameters
        ----------
        request : Request
            The request, which says what the browser has and can read.

        Returns
        -------
        Response
            The content, compressed if possible; or "not modified".
        """
        headers = {"etag": f'"{self.tag}"', "vary": "accept-encoding"}
        known = request.headers.get("if-none-match", "")
        if headers["etag"] in known:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", "") and self.compressed:
            headers["content-encoding"] = "gzip"
            return Response(self.compressed, media_type=self.kind, headers=headers)
        return Response(self.content, media_type=self.kind, headers=headers)


def stored_json(value: object) -> StoredContent:
    """Compress the JSON of a value.

    Parameters
    ----------
    value : object
        Dictionaries, lists and plain values.

    Returns
    -------
    StoredContent
        The JSON.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    made = StoredContent(text.encode(), "application/json")
    _ = made.compressed
    return made


class Assets:
    """All scripts and styles, by the name that pages use."""

    def __init__(self) -> None:
        own = files("phcle.explorer").joinpath("static")
        shared = files("phcle.web").joinpath("static")
        found = {item.name: item for item in own.iterdir() if item.is_file()}
        found |= {name: shared.joinpath(name) for name in SHARED}
        self._by_name = {
            name: StoredContent(item.read_bytes(), KINDS[Path(name).suffix])
            for name, item in found.items()
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
