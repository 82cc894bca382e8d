"""Checks of every request to the atlas.

Another website must not read an embedding through the user's browser. So the Host
header must name this server (which stops DNS rebinding), requests from other origins
are refused, and a content security policy keeps pages from loading anything else. On an
address that other machines can reach, visitors need a token too.

Requests that look at all labels wait for their turn (`CostlyRoute`), so that a crowd of
them takes neither all memory nor all threads. A link from another site opens the page
alone, and no answer of the API.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from anyio import CapacityLimiter
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phcle.errors import OptionError

MOST_COSTLY = 2
"""Costly answers at once: each may take some 100 MB at a million labels, and more would
only share the same cores."""

TURNS = CapacityLimiter(MOST_COSTLY)

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
COOKIE = "phcle_token"
SHORTEST_TOKEN = 16
MOST_BYTES = 16 << 20
"""Largest request: a vector of features has kilobytes, a picture some megabytes."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Parameters
    ----------
    host : str
        A host name or an IP address.

    Returns
    -------
    bool
        True for loopback addresses.
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True)
class Rules:
    """Which requests are allowed.

    Attributes
    ----------
    hosts : frozenset of str
        Allowed values of the Host header, such as `localhost:8642`.
    token : str or None, default=None
        The token that visitors must give, if any.
    allows_addresses : bool, default=False
        Allow any IP address as host. This is safe: only names can be rebound.
    most_bytes : int, default=16777216
        Largest size of a request.
    """

    hosts: frozenset[str]
    token: str | None = None
    allows_addresses: bool = False
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
        """Make the rules of a server.

        Parameters
        ----------
        host : str
            Address that the server listens on.
        port : int
            Its port.
        public : bool, default=False
            Allow an address that other machines can reach.
        token : str or None, default=None
            Token that visitors must give; required if the server is public.
        names : iterable of str, default=()
            Host names of this machine that visitors use.

        Returns
        -------
        Rules
            The rules.
        """
        if is_loopback(host):
            names = LOOPBACK_NAMES
        elif not public:
            raise OptionError(
                f"{host} can be reached by others; use 127.0.0.1, or give --public "
                "and a --token."
            )
        if public and (token is None or len(token) < SHORTEST_TOKEN):
            raise OptionError(
                f"--public needs a --token of {SHORTEST_TOKEN} characters or more that "
                "cannot be guessed; make one with `openssl rand -hex 16`."
            )
        if token is not None and not re.fullmatch(r"[\w.~-]+", token, re.ASCII):
            raise OptionError(
                "a --token may hold letters, digits and _ . ~ - only: it is part of "
                "addresses and cookies; make one with `openssl rand -hex 16`."
            )
        hosts = {f"{name.lower()}:{port}" for name in (*names, *LOOPBACK_NAMES)}
        if port == 80:
            hosts |= {name.partition(":")[0] for name in hosts}
        return cls(frozenset(hosts), token, allows_addresses=public)

    def knows_host(self, value: str) -> bool:
        """Whether a Host header names this server.

        Parameters
        ----------
        value : str
            The header's value.

        Returns
        -------
        bool
            True if it does.
        """
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
        """Whether a token is the right one, compared in constant time.

        Parameters
        ----------
        given : str or None
            The visitor's token.

        Returns
        -------
        bool
            True if it is right, or none is required.
        """
        if self.token is None:
            return True
        return given is not None and hmac.compare_digest(
            given.encode(), self.token.encode()
        )


class CostlyRoute(APIRoute):
    """A route that looks at all labels, so that few of them may run at once."""

    def get_route_handler(
        self,
    ) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Make the function that answers a request when its turn has come.

        Returns
        -------
        callable
            The function.
        """
        answer = super().get_route_handler()

        async def in_turn(request: Request) -> Response:
            async with TURNS:
                return await answer(request)

        return in_turn


class Guard:
    """Middleware that checks every request and adds security headers to answers.

    Parameters
    ----------
    app : ASGI application
        What answers the requests that pass.
    rules : Rules
        Which requests are allowed.
    """

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app = app
        self.rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it (ASGI)."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise HTTPException(404)

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(HTTPConnection(scope))
        if refusal is not None:
            await refusal(scope, receive, marked)
        else:
            await self.app(scope, self._bounded(receive), marked)

    def _refusal(self, request: HTTPConnection) -> Response | None:
        """The answer to a request that is not allowed, or None."""
        headers = request.headers
        host = headers.get("host", "")
        if not self.rules.knows_host(host):
            return failure_response(421, "the Host header does not name this server.")
        origin = headers.get("origin")
        if origin is not None and _host_of(origin) != host.lower():
            return failure_response(
                403, "requests from pages of another origin are refused."
            )
        refusal = _refuse_other_sites(request) or self._ask_for_token(request)
        if refusal is not None:
            return refusal
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.rules.most_bytes:
            return failure_response(413, self._too_much())
        return None

    def _ask_for_token(self, request: HTTPConnection) -> Response | None:
        """Refuse a request without the token; move a token in the URL to a cookie."""
        if self.rules.token is None:
            return None
        knows, scope = self.rules.knows_token, request.scope
        given = request.query_params.get("token")
        query = [x for x in request.query_params.multi_items() if x[0] != "token"]
        if scope["method"] == "GET" and given and knows(given):
            # Store it in a cookie, so that it does not stay in the address bar.
            path = _own_path(scope["path"]) + (f"?{urlencode(query)}" if query else "")
            cookie = f"{COOKIE}={given}; HttpOnly; SameSite=Strict; Path=/"
            return Response(
                status_code=303, headers={"location": path, "set-cookie": cookie}
            )
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and knows(bearer.strip()):
            return None
        if knows(request.cookies.get(COOKIE)):
            return None
        if _is_page(request):
            return _token_page(is_wrong=given is not None)
        return failure_response(
            401,
            "a token is required: open the address with ?token=… once.",
            {"www-authenticate": "Bearer"},
        )

    def _bounded(self, receive: Receive) -> Receive:
        """Stop reading a request that is larger than allowed."""
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
        """The message for a request that is too large."""
        return f"at most {self.rules.most_bytes >> 20} megabytes can be sent."


def _is_page(request: HTTPConnection) -> bool:
    """Whether a request is for the page that a person reads."""
    accepted = request.headers.get("accept", "")
    is_read = request.scope["method"] in ("GET", "HEAD")
    return is_read and request.scope["path"] == "/" and "text/html" in accepted


def _refuse_other_sites(request: HTTPConnection) -> Response | None:
    """Refuse what a page of another site asks for, but not a link to the page."""
    headers = request.headers
    site = headers.get("sec-fetch-site", "none")
    is_link = (
        _is_page(request)
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )
    if site in ("none", "same-origin") or is_link:
        return None
    return failure_response(403, "requests from pages of another site are refused.")


def _token_page(*, is_wrong: bool) -> HTMLResponse:
    """Ask for the token; scripts need it too, so this page loads nothing."""
    style = "body{font:16px system-ui;margin:15vh auto;max-width:30em;padding:0 1em}"
    wrong = '<p role="alert">That is not the token.</p>' if is_wrong else ""
    content = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>A token is needed</title><style>{style}</style>"
        f"<main><h1>A token is needed</h1>{wrong}<form><label>Token "
        '<input name="token" type="password" required autofocus></label> '
        "<button>Open</button></form></main></html>"
    )
    headers = {
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "www-authenticate": "Bearer",
    }
    return HTMLResponse(content, 401, headers)


def _own_path(path: str) -> str:
    """A path on this server, quoted: a line break would start another header."""
    return "/" + quote(path.lstrip("/"))


def _host_of(origin: str) -> str | None:
    """Host and port of an origin, if it has any."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def failure_response(
    status: int,
    message: str,
    headers: Mapping[str, str] | None = None,
    near: Sequence[Mapping[str, str]] = (),
) -> JSONResponse:
    """Make the JSON answer to a request that fails.

    Parameters
    ----------
    status : int
        The HTTP status.
    message : str
        What went wrong.
    headers : mapping of str to str, optional
        Further headers.
    near : sequence of mappings, optional
        Labels that may be meant, with their names.

    Returns
    -------
    JSONResponse
        The answer.
    """
    error = {"status": status, "message": message, "near": list(near)}
    return JSONResponse({"error": error}, status, headers)
