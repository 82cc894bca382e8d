"""All tables and figures of `phcle reproduce` in one page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from phcle.contexts.readers.delimited import read_text
from phcle.errors import FileError
from phcle.files import parse_json
from phcle.report import as_data_uri, needed, write_page
from phcle_paper.tables.rendering import as_markdown

__all__ = ["assemble"]

PICTURES = (".png", ".svg")

ORDER = ("table1", "table2", "table3", "retrieval", "clusters", "understanding")
"""Order of the page: that of the paper, then our own studies."""


def assemble(out: Path, *, title: str = "PHCLE, reproduced") -> Path:
    """Write `out/index.html` from all tables in `out`, with their figures."""
    tables = []
    for path in sorted(out.glob("*.json"), key=_place):
        table = _read(path)
        if table is None:
            continue
        tables.append(
            {
                "id": re.sub(r"[^\w-]", "-", path.stem),
                "title": table["title"],
                "body": _as_html(as_markdown(table), out),
            }
        )
    if not tables:
        raise FileError(f"{out}: holds no table of `phcle reproduce`; make one first.")
    page = out / "index.html"
    write_page(page, "tables.html.j2", package=__package__, title=title, tables=tables)
    return page


def _place(path: Path) -> tuple[int, str]:
    """Sort key: position of a table in the page."""
    kind = path.stem.partition("-")[0]
    return (ORDER.index(kind) if kind in ORDER else len(ORDER), path.stem)


def _read(path: Path) -> dict[str, Any] | None:
    """Read a table; None if the file is something else."""
    found = parse_json(read_text(path), str(path))
    keys = {"table", "title", "rows", "caveats", "version"}
    return found if isinstance(found, dict) and keys <= set(found) else None


def _as_html(markdown: str, folder: Path) -> Any:
    """Markdown as HTML; markup in it is escaped, and pictures are embedded."""
    parser = needed("markdown_it").MarkdownIt("commonmark", {"html": False})
    parser.enable("table")
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h2"  # the page itself has the one above
        for child in token.children or ():
            if child.type == "image":
                child.attrs["src"] = _picture(folder, str(child.attrs["src"]))
    html = parser.renderer.render(tokens, parser.options, {})
    html = html.replace("<table>", '<div class="scroll"><table>')
    return needed("markupsafe").Markup(html.replace("</table>", "</table></div>"))


def _picture(folder: Path, name: str) -> str:
    """A picture of the folder as a data URI; empty for any other file."""
    path = folder / name
    inside = path.resolve().is_relative_to(folder.resolve())
    if not inside or path.suffix not in PICTURES or not path.is_file():
        return ""
    return as_data_uri(path)
