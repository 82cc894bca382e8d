"""Show the parameters and attributes of docstrings as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes

# Sections of docstrings that become tables, with the title to show.
TITLES = {
    "Parameters": "Parameters",
    "Other Parameters": "Other parameters",
    "Variables": "Attributes",
}
DASHED = ("Returns", "Yields", "Raises")  # sections that read `type -- meaning`
DEFAULT = re.compile(
    r"^(?P<type>.*?),? (?:default:? (?P<value>.+)|(?P<optional>optional))$"
)


def set_tables(app: Any, doctree: nodes.document) -> None:
    """Replace the lists of parameters by tables, and drop comments of the page."""
    for field in list(doctree.findall(nodes.field)):
        title = field[0].astext()
        if title in TITLES and isinstance(field.parent.parent, addnodes.desc_content):
            rows = [_row(item) for item in _items(field[1])]
            field.replace_self(_field(TITLES[title], rows))
        elif title in DASHED:
            for text in list(field[1].findall(nodes.Text)):
                text.parent.replace(text, nodes.Text(text.replace(" -- ", " – ", 1)))
    for comment in list(doctree.findall(nodes.raw)):
        if comment.astext().lstrip().startswith("<!--"):
            comment.parent.remove(comment)


def _items(body: nodes.Element) -> Iterator[list[nodes.Node]]:
    """Yield what is said of each parameter: a list, or one paragraph."""
    if isinstance(body[0], nodes.bullet_list):
        for item in body[0]:
            yield list(item.children)
    else:
        yield list(body.children)


def _row(item: list[nodes.Node]) -> tuple[list[nodes.Node], ...]:
    """Split `name (type, default) – meaning` into its four cells."""
    first: Any = item[0]
    name, *rest = first.children
    kind: list[nodes.Node] = []
    if rest and isinstance(rest[0], nodes.Text) and rest[0].startswith(" ("):
        left = rest[0][2:]
        rest = ([nodes.Text(left)] if left else []) + rest[1:]
        while rest and not (
            isinstance(rest[0], nodes.Text) and rest[0].startswith(")")
        ):
            kind.append(rest.pop(0))
    if rest and isinstance(rest[0], nodes.Text):
        rest[0] = nodes.Text(re.sub(r"^\)?\s*[–-]*\s*", "", rest[0]))
    if len(rest) > 1 and isinstance(rest[1], nodes.Text) and not rest[0].astext():
        rest[1] = nodes.Text(re.sub(r"^\s*[–-]+\s*", "", rest[1]))
    default: list[nodes.Node] = []
    said = DEFAULT.match("".join(x.astext() for x in kind))
    if said:
        kind = [nodes.Text(said["type"])]
        value = said["value"]
        default = [nodes.literal("", value) if value else nodes.Text("optional")]
    meaning = nodes.paragraph("", "", *rest)
    return [nodes.literal("", name.astext())], kind, default, [meaning, *item[1:]]


def _field(title: str, rows: list[tuple[list[nodes.Node], ...]]) -> nodes.field:
    """Return a field that holds a table; without defaults it has no such column."""
    shown = [0, 1, 2, 3] if any(row[2] for row in rows) else [0, 1, 3]
    names = ["name", "type", "default", "meaning"]
    group = nodes.tgroup(cols=len(shown))
    group += [nodes.colspec(colwidth=1) for _ in shown]
    head = nodes.row(
        "", *(nodes.entry("", nodes.paragraph("", names[i])) for i in shown)
    )
    group += nodes.thead("", head)
    body = nodes.tbody()
    for row in rows:
        entries = []
        for i in shown:
            inside = row[i]
            if inside and i != 3:
                inside = [nodes.paragraph("", "", *inside)]
            entries.append(nodes.entry("", *inside, classes=[names[i]]))
        body += nodes.row("", *entries)
    group += body
    table = nodes.table("", group, classes=["parameters"])
    return nodes.field("", nodes.field_name("", title), nodes.field_body("", table))


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("doctree-read", set_tables)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
