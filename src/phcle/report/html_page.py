"""Templates and the files they inline: a page is one file and loads nothing."""

from __future__ import annotations

import base64
import mimetypes
from importlib.resources import files
from pathlib import Path
from typing import Any

from phcle import __version__
from phcle.files.writing import write_whole
from phcle.report.extras import needed

__all__ = ["as_data_uri", "write_page"]


def write_page(path: Path, template: str, **values: Any) -> None:
    """Fill a template and write it whole.

    Every value is escaped, unless it was marked as HTML by us; data goes into the page
    by the filter `tojson`, which leaves no `<` in it.
    """
    jinja2 = needed("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("phcle.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(static=_static, version=__version__)
    text = environment.get_template(template).render(**values)
    with write_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def as_data_uri(path: Path) -> str:
    """A picture as an address that holds it."""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    content = base64.b64encode(path.read_bytes()).decode()
    return f"data:{kind};base64,{content}"


def _static(name: str) -> Any:
    """A script or style sheet of the package, to stand in the page as it is."""
    text = files("phcle.web").joinpath(f"static/{name}").read_text("utf-8")
    return needed("markupsafe").Markup(text)  # ours, not the user's
