"""The front end: one page on one JSON API, and the report, which is the same page.

`static/` holds the page, which draws the answers of the API and computes filters,
colours and its table from columns. `api` names the routes, each of which is one call of
`pages`, `columns`, `map`, `shared`, `new_label`, `understand` or `second`; `report`
stores the same answers in a file. `opened` is an embedding with its map, which `layout`
and `regions` make and `prepared` stores. `server` and `security` serve it all.

Modules here may import everything but the command line. Names load when they are first
used: reports need no web server.
"""

from __future__ import annotations

from phcle.errors import PhcleError
from phcle.lazy_names import lazy_names
from phcle.optional_imports import install_command, is_installed

NEEDED = ("fastapi", "uvicorn")
"""Libraries that the extra `phcle[explore]` installs for the server."""

__all__ = [
    "NotebookFrame",
    "Opened",
    "Pictures",
    "Rules",
    "Second",
    "Workspace",
    "address_of",
    "bind",
    "check_extra",
    "find_branches",
    "is_loopback",
    "lay_out",
    "make_app",
    "serve",
    "write_report",
]

__getattr__ = lazy_names(
    __name__,
    {
        "NotebookFrame": "phcle.atlas.report",
        "Opened": "phcle.atlas.opened",
        "Pictures": "phcle.atlas.understand",
        "Rules": "phcle.atlas.security",
        "Second": "phcle.atlas.second",
        "Workspace": "phcle.atlas.api",
        "address_of": "phcle.atlas.server",
        "bind": "phcle.atlas.server",
        "find_branches": "phcle.atlas.regions",
        "is_loopback": "phcle.atlas.security",
        "lay_out": "phcle.atlas.layout",
        "make_app": "phcle.atlas.server",
        "serve": "phcle.atlas.server",
        "write_report": "phcle.atlas.report",
    },
)


def check_extra() -> None:
    """Raise an error if a library of the extra is missing."""
    missing = [name for name in NEEDED if not is_installed(name)]
    if missing:
        raise PhcleError(
            f"the explorer needs {', '.join(missing)}: {install_command('explore')}"
        )
