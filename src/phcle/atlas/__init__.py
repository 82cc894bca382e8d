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

from itertools import chain

from phcle.errors import PhcleError
from phcle.lazy_names import lazy_names
from phcle.optional_imports import install_command, is_installed

NEEDED = ("fastapi", "uvicorn")
"""Libraries that the extra `phcle[explore]` installs for the server."""

HOMES = {
    "api": ("Workspace",),
    "layout": ("lay_out",),
    "opened": ("Opened",),
    "regions": ("find_branches",),
    "report": ("NotebookFrame", "write_report"),
    "second": ("Second",),
    "security": ("Rules", "is_loopback"),
    "server": ("address_of", "bind", "make_app", "serve"),
}
"""Public names by module."""

__all__ = [*chain(*HOMES.values()), "check_extra"]

__getattr__ = lazy_names(
    __name__, {x: f"phcle.atlas.{home}" for home, own in HOMES.items() for x in own}
)


def check_extra() -> None:
    """Raise an error if a library of the extra is missing."""
    missing = [name for name in NEEDED if not is_installed(name)]
    if missing:
        raise PhcleError(
            f"the explorer needs {', '.join(missing)}: {install_command('explore')}"
        )
