"""What stands between a browser, or another program, and the explorer.

A page of a stranger must not read an embedding through the user's browser. So a request
must name a host that is ours (no name that was made to point here), must not come from
another origin, and whatever is served may load nothing but from here. On an address
that others can reach a token is asked for besides.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.exceptions import HTTPException

from phcle.errors import OptionError

__all__ = ["Guard", "Rules", "is_loopback"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
COOKIE = "phcle_token"
SHORTEST_TOKEN = 16
MOST_BYTES = 16 << 20
"""Of a request; a vector of features has kilobytes, a picture some megabytes."""

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)

HEADERS = [
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-cache",
    }.items()
]


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True)
class Rules:
    """Who may ask, and how much may be sent."""

    hosts: frozenset[str]
    """Values of the Host header that are ours, such as `localhost:8642`."""
    token: str | None = None
    allows_addresses: bool = False
    """Whether any IP address serves as host: no stranger can make it point here."""
    most_bytes: int = MOST_BYTES

    @classmethod
    def for_address(
        cls,
        host: str,
        port: int,
        *,
        public: bool = False,
        token: str | None = None,
        names: Iterable[str] = (),
    ) -> Rules:
        """Rules of a server; a public address needs the flag and a token."""
        if is_loopback(host):
            names = LOOPBACK_NAMES
        elif not public:
            raise OptionError(
                f"{host} can be reached by others; use 127.0.0.1, or say --public and "
                "give a --token."
            )
        if public and (token is None or len(token) < SHORTEST_TOKEN):
            raise OptionError(
                f"--public needs a --token of {SHORTEST_TOKEN} characters or more that "
                "nobody can guess, such as that of `openssl rand -hex 16`."
            )
        if token is not None and not re.fullmatch(r"[\w.~-]+", token, re.ASCII):
            raise OptionError(
                "a --token may hold letters, figures and _ . ~ - only: it stands in "
                "addresses and cookies; make one with `openssl rand -hex 16`."
            )
        hosts = {f"{name.lower()}:{port}" for name in (*names, *LOOPBACK_NAMES)}
        if port == 80:
            hosts |= {name.partition(":")[0] for name in hosts}
        return cls(frozenset(hosts), token, allows_addresses=public)

    def knows_host(self, value: str) -> bool:
        """Whether a Host header names this server."""
        if value.lower() in self.hosts:
            return True
        if not self.allows_addresses:
            return False
        try:
            ipaddress.ip_address((urlsplit(f"//{value}").hostname or "").strip("[]"))
        except ValueError:
            return False
        return True

    def knows_token(self, given: str | None) -> bool:
        """Whether a token is the right one, told in a time that says nothing."""
        if self.token is None:
            return True
        return given is not None and hmac.compare_digest(
            given.encode(), self.token.encode()
        )


class Guard:
    """Checks every request by the rules, and marks every answer with the policy."""

    def __init__(self, app: App, rules: Rules) -> None:
        self.app = app
        self.rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise HTTPException(404)

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(marked, *refusal)
            return
        await self.app(scope, self._bounded(receive), marked)

    def _refusal(
        self, scope: Scope, headers: dict[bytes, str]
    ) -> tuple[int, str, list[tuple[bytes, bytes]]] | None:
        """Status, message and headers of a refusal, or None."""
        host = headers.get(b"host", "")
        if not self.rules.knows_host(host):
            return 421, "this name is not one of the explorer's own.", []
        origin = headers.get(b"origin")
        if origin is not None and _host_of(origin) != host.lower():
            return 403, "a page of another origin must not ask the explorer.", []
        is_reading = scope["method"] in ("GET", "HEAD")
        site = headers.get(b"sec-fetch-site", "none")
        if not is_reading and site not in ("none", "same-origin"):
            return 403, "a page of another site must not ask the explorer.", []
        if self.rules.token is not None:
            refusal = self._ask_for_token(scope, headers)
            if refusal is not None:
                return refusal
        length = headers.get(b"content-length", "0")
        if not length.isdigit() or int(length) > self.rules.most_bytes:
            return 413, self._too_much(), []
        return None

    def _ask_for_token(
        self, scope: Scope, headers: dict[bytes, str]
    ) -> tuple[int, str, list[tuple[bytes, bytes]]] | None:
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        given = dict(query).get("token")
        if scope["method"] == "GET" and given and self.rules.knows_token(given):
            # Kept in a cookie, so that it does not stay in the address.
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            # Quoted, as a line break in it would begin another header.
            path = "/" + quote(scope["path"].lstrip("/")) + (f"?{rest}" if rest else "")
            cookie = f"{COOKIE}={given}; HttpOnly; SameSite=Strict; Path=/"
            place = [(b"location", path.encode()), (b"set-cookie", cookie.encode())]
            return 303, "", place
        kind, _, bearer = headers.get(b"authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.rules.knows_token(bearer.strip()):
            return None
        try:
            cookies = SimpleCookie(headers.get(b"cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        kept = cookies[COOKIE].value if COOKIE in cookies else None
        if self.rules.knows_token(kept):
            return None
        wanted = [(b"www-authenticate", b"Bearer")]
        return 401, "a token is needed: open the address with ?token=… once.", wanted

    def _bounded(self, receive: Receive) -> Receive:
        """Stop reading a request that is longer than it said."""
        left = self.rules.most_bytes

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, self._too_much())
            return message

        return bounded

    def _too_much(self) -> str:
        return f"at most {self.rules.most_bytes >> 20} megabytes can be sent."


def _host_of(origin: str) -> str | None:
    """The host and port of an origin, if it has any."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


async def _answer(
    send: Send, status: int, message: str, headers: list[tuple[bytes, bytes]]
) -> None:
    """The one shape that errors have."""
    body = json.dumps({"error": {"status": status, "message": message}}).encode()
    start = [(b"content-type", b"application/json"), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
