"""Pages in plain words for visitors without a token, or from another site.

They load nothing, because scripts and styles need the token, too. Their one style is
inside the page, and their content security policy names its digest.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse


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
    title = "A token is needed"
    made = _page(401, title=title, path=path, query=query, is_wrong=is_wrong)
    made.headers["www-authenticate"] = "Bearer"
    return made


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
    return _page(403, title="A link from another site", address=address)


def _page(status: int, **values: Any) -> HTMLResponse:
    """Fill the one template; the content security policy allows its style alone."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("phcle.explorer"), autoescape=True)
    content = environment.get_template("plain.html.j2").render(**values)
    style = content.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(content, status, {"content-security-policy": policy})
