"""Pages in plain words for visitors without a token, or from another site.

They load nothing, because scripts and styles need the token, too. Their one style is
inside the page, and their content security policy names its digest.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse

STYLE = """
:root { color-scheme: light dark; }
body { font: 17px/1.6 system-ui, sans-serif; margin: 12vh auto; max-width: 34rem;
  padding: 0 1.2rem; background: light-dark(#ffffff, #15171c);
  color: light-dark(#1b1b1f, #ececf0); }
h1 { font-size: 1.5rem; line-height: 1.25; }
input, button { font: inherit; padding: 0.4rem 0.8rem; border-radius: 8px;
  border: 1px solid light-dark(#8a8f99, #6e727c); color: inherit;
  background: light-dark(#ffffff, #1f2229); max-width: 100%; }
button { background: light-dark(#0072b2, #6cc0f0); border-color: transparent;
  color: light-dark(#ffffff, #10131a); }
a { color: light-dark(#0072b2, #6cc0f0); overflow-wrap: anywhere; }
"""
DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{DIGEST}'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


def is_page(request: HTTPConnection) -> bool:
    """Whether a request is for a page that a person reads.

    Parameters
    ----------
    request : HTTPConnection
        The request.

    Returns
    -------
    bool
        False for the API, for scripts and styles, and for programs.
    """
    is_read = request.scope["method"] in ("GET", "HEAD")
    path = request.scope["path"]
    return (
        is_read
        and not path.startswith(("/api/", "/static/"))
        and "text/html" in request.headers.get("accept", "")
    )


def token_page(
    path: str, query: Iterable[tuple[str, str]], *, is_wrong: bool
) -> HTMLResponse:
    """Ask for the token.

    Parameters
    ----------
    path : str
        The page that the visitor wants, on this server.
    query : iterable of (str, str)
        The query of its address, without a token.
    is_wrong : bool
        Whether a token was given, but not the right one.

    Returns
    -------
    HTMLResponse
        The page, with a form.
    """
    told = "This token is not the right one." if is_wrong else "This page is protected."
    kept = "".join(
        f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
        for key, value in query
    )
    body = (
        "<h1>A token is needed</h1>"
        f"<p>{told} Ask whoever started the explorer for its token, or for the whole "
        "address, which ends in <code>?token=…</code>. Your browser then remembers it."
        f'</p><form method="get" action="{escape(path)}">{kept}'
        '<p><label for="token">Token</label><br>'
        '<input id="token" name="token" type="password" required autofocus> '
        '<button type="submit">Open</button></p></form>'
    )
    headers = {"www-authenticate": "Bearer"}
    return _page("A token is needed", body, 401, headers)


def from_elsewhere_page(address: str) -> HTMLResponse:
    """Ask before a link from another site makes the server compute something.

    Parameters
    ----------
    address : str
        Path and query of the page that the link leads to.

    Returns
    -------
    HTMLResponse
        The page, with the link.
    """
    body = (
        "<h1>A link from another site</h1><p>Another site sent you here. This page "
        "makes the explorer compute something, so it opens only if you want it to.</p>"
        f'<p><a href="{escape(address)}">Open it</a></p>'
    )
    return _page("A link from another site", body, 403)


def _page(
    title: str, body: str, status: int, headers: dict[str, str] | None = None
) -> HTMLResponse:
    """A page with the one style."""
    content = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · phcle</title><style>{STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>"
    )
    own = {"content-security-policy": POLICY}
    return HTMLResponse(content, status, own | (headers or {}))
