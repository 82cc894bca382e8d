"""Fill templates into HTML pages that are one file and load nothing else."""

from __future__ import annotations

import base64
import gzip
import json
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

from phcle import __version__
from phcle.embedding.search import shown_percentile
from phcle.files.atomic import write_whole
from phcle.optional_imports import import_optional
from phcle.web import MAP_SCRIPTS


def needed(module: str) -> ModuleType:
    """Import a module that reports need.

    Parameters
    ----------
    module : str
        Name of the module.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    BackendError
        If its library is not installed.
    """
    return import_optional(module, extra="report", purpose="a report")


def write_page(path: Path, template: str, **values: Any) -> None:
    """Fill a template and write it to a file.

    Every value is escaped unless our code marked it as HTML. Data goes into a page
    through the filter `tojson`, which escapes `<`.

    Parameters
    ----------
    path : Path
        The file to write; an old one is replaced only when the new one is complete.
    template : str
        Name of a template; templates of `phcle.web` can be used in it.
    **values : Any
        The values that the template uses.
    """
    jinja2 = needed("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(x) for x in ("phcle.report", "phcle.web")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        static=_static, version=__version__, map_scripts=MAP_SCRIPTS
    )
    environment.filters.update(percentile=shown_percentile)
    text = environment.get_template(template).render(**values)
    with write_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def compressed(data: Any) -> str:
    """Compress data for a page.

    Parameters
    ----------
    data : Any
        Values for JSON.

    Returns
    -------
    str
        Base64 of JSON in gzip, which `web/static/report.js` reads; no character in it
        needs to be escaped.

    Examples
    --------
    >>> json.loads(gzip.decompress(base64.b64decode(compressed([1, 2]))))
    [1, 2]
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Without the time: the same data always gives the same file.
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _static(name: str) -> Any:
    """A script or style sheet of the package, inserted into the page unchanged."""
    text = files("phcle.web").joinpath(f"static/{name}").read_text("utf-8")
    return needed("markupsafe").Markup(text)  # ours, not the user's
