"""Content that is sent again and again: compressed once, and not sent to who has it."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property

from starlette.requests import Request
from starlette.responses import Response

__all__ = ["StoredContent"]

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
