"""Answers that are kept, because the embedding does not change while it is served.

Equal questions are computed once: later ones get the answer that was kept, and those
that come while it is being computed wait for it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["StoredAnswers"]

CHANGING = frozenset(
    {
        *("/embeddings", "/api/differences", "/api/colour/differences"),
        *("/api/map", "/api/two-maps"),
    }
)
"""Costly answers that are not kept: they change with the background work."""

QUICK = frozenset(
    {
        *("/label", "/api/label", "/api/explain", "/api/describe"),
        *("/api/search", "/api/nodes", "/api/attributes"),
    }
)
"""Answers that are not costly but asked for so often that they are kept."""

MOST_BYTES = 32 << 20
"""All answers that are kept: some 160 colourings of a map with 50,000 labels."""

LARGEST = 2 << 20
"""An answer that is kept; a larger one, such as a table as CSV, would displace others
and is seldom asked for twice."""

Key = tuple[str, bytes]


class StoredAnswers:
    """Middleware that keeps answers to questions that were asked before.

    Parameters
    ----------
    app : ASGI application
        What answers new questions.
    costly : frozenset of str
        Paths of the costly answers, which are kept.
    most_bytes : int, default=33554432
        Size of all answers that are kept; the ones used longest ago go first.
    """

    def __init__(
        self, app: ASGIApp, costly: frozenset[str], most_bytes: int = MOST_BYTES
    ) -> None:
        self.app = app
        self.kept_paths = costly - CHANGING | QUICK
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self._kept: OrderedDict[Key, tuple[Message, bytes]] = OrderedDict()
        self._under_way: dict[Key, asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from what is kept, or pass the question on (ASGI)."""
        is_kept = scope["type"] == "http" and scope["method"] == "GET"
        if not is_kept or scope["path"] not in self.kept_paths:
            await self.app(scope, receive, send)
            return
        key = (scope["path"], scope["query_string"])
        if key in self._under_way:
            await self._under_way[key].wait()
        if key in self._kept:
            self._kept.move_to_end(key)
            start, body = self._kept[key]
            await send({**start, "headers": list(start["headers"])})
            await send({"type": "http.response.body", "body": body})
            return
        # Several may wait for an answer that was not kept; each then asks for itself.
        done = self._under_way.setdefault(key, asyncio.Event())
        try:
            await self.app(scope, receive, self._keeping(key, send))
        finally:
            done.set()
            self._under_way.pop(key, None)

    def _keeping(self, key: Key, send: Send) -> Send:
        """Send an answer, and keep it if it is whole and right."""
        start: Message = {}

        async def kept(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                # Before headers are added that belong to one request.
                start = {**message, "headers": list(message["headers"])}
            elif start["status"] == 200 and not message.get("more_body"):
                self._keep(key, start, message.get("body", b""))
                start = {"status": 0}
            else:  # an answer in parts is long
                start = {"status": 0}
            await send(message)

        return kept

    def _keep(self, key: Key, start: Message, body: bytes) -> None:
        """Keep an answer, and let go of the ones used longest ago."""
        if len(body) > LARGEST or key in self._kept:
            return
        self._kept[key] = (start, body)
        self.n_bytes += len(body)
        while self.n_bytes > self.most_bytes:
            _, (_, oldest) = self._kept.popitem(last=False)
            self.n_bytes -= len(oldest)
