"""The report: the page with the API's answers stored in it, in one file.

It opens from disk without a server, and loads nothing. Columns and cards that have no
room are left out, and the page names them. Nothing is fitted.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from phcle.answers import Explanation, WrittenReport, as_json
from phcle.atlas import pages
from phcle.atlas.addresses import Addresses
from phcle.atlas.columns import column_of, columns_of, hierarchy_lists
from phcle.atlas.map import groupings, map_values
from phcle.atlas.opened import Opened
from phcle.atlas.shared import shared_by
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, some
from phcle.files.atomic import make_folder, write_whole

PART = re.compile(
    r'<(?:link rel="stylesheet" href|script src)="static/([^"]+)">(?:</script>)?'
)
"""Where the page names one of its files."""

MOST_LETTERS = 3_200_000
"""Letters for columns, and again for cards: the file then has less than 8 MB."""

MOST_CARDS = 5_000
"""Labels with a card of their own."""

MOST_EXPLAINED = 300
"""Labels up to which the nearest are explained, which takes some ten milliseconds each.
For more, the page names what labels share."""

N_EXPLAINED, N_COLUMNS = 3, 5
"""Nearest labels that are explained, and columns named in each group of reasons."""

MOST_SHARED = 6
"""Common ancestors of two labels that are named."""

DIGITS = 5
"""Significant digits of numbers on cards; known values keep all."""

MOST_NODES = 100
"""Nodes with a page of their own, the largest ones."""

AT_ONCE = 100
"""Cards that are made, and measured, together."""

HEIGHT = 720
"""Pixels of the frame in a notebook."""

Answers = dict[str, dict[str, Any]]


def write_report(
    embedding: LabelEmbedding,
    path: Path,
    *,
    title: str = "Label embedding",
    file: Path | None = None,
    most_letters: int = MOST_LETTERS,
) -> WrittenReport:
    """Write a report on an embedding to one file.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding, with two labels or more.
    path : Path
        The file to write; an old one is replaced only when the new one is complete.
    title : str, default "Label embedding"
        Title of the page.
    file : Path, optional
        File of the embedding. The map that the explorer has stored beside it is shown,
        and pictures in its folder.
    most_letters : int, default 3200000
        Letters for columns, and again for cards; what has no room is left out.

    Returns
    -------
    WrittenReport
        The file written, and what it left out.
    """
    made = _Report(embedding, title, file, most_letters)
    make_folder(path.parent)
    answers = made.answers(path.resolve().parent)
    with write_whole(path) as temporary:
        temporary.write_text(filled_page(answers, title), encoding="utf-8")
    return WrittenReport(
        report=str(path),
        labels=len(embedding),
        map=answers["/api/map"]["[]"]["method"],
        left_out=_in_words(made.left_out),
    )


class NotebookFrame:
    """A report as a frame, which notebooks show.

    The frame can neither read the notebook nor load anything.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding, with two labels or more.
    title : str, default "Label embedding"
        Title of the page.
    """

    def __init__(
        self, embedding: LabelEmbedding, title: str = "Label embedding"
    ) -> None:
        made = _Report(embedding, title)
        self.page = filled_page(made.answers(), title)
        self.title = title

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.page)}" '
            f'width="100%" height="{HEIGHT}" style="border:0" '
            'sandbox="allow-scripts allow-downloads"></iframe>'
        )


def _in_words(left_out: Sequence[str]) -> str:
    """What the report does not hold, and the remedy."""
    if not left_out:
        return ""
    return (
        f"The report leaves out {some(left_out)}: there is no room for them with so "
        "many labels. `phcle explore` shows them."
    )


def filled_page(answers: Answers, title: str) -> str:
    """Put scripts, styles and answers into the page.

    Parameters
    ----------
    answers : dict
        Answers of the API, by path and by parameters.
    title : str
        Title of the page.

    Returns
    -------
    str
        HTML that loads nothing else; its policy allows these scripts alone.
    """
    folder = files("phcle.atlas") / "static"
    page = (folder / "index.html").read_text("utf-8")
    parts = {name: (folder / name).read_text("utf-8") for name in PART.findall(page)}
    sources = {"style": "", "script": ""}
    for name, part in parts.items():
        digest = hashlib.sha256(part.encode()).digest()
        sources[_kind(name)] += f" 'sha256-{base64.b64encode(digest).decode()}'"
    policy = (
        f"default-src 'none'; script-src{sources['script']}; "
        f"style-src{sources['style']}; img-src 'self' file: data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    icon = base64.b64encode((folder / "icon.svg").read_bytes()).decode()
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    data = f'<script id="answers" type="text/plain">{compressed(answers)}</script>'
    for mark, text in (
        ("<head>", f"<head>\n{meta}"),
        ("<body>", f"<body>\n{data}"),
        ("<title>phcle<", f"<title>{escape(title)}<"),
        ("static/icon.svg", f"data:image/svg+xml;base64,{icon}"),
    ):
        page = page.replace(mark, text, 1)
    return PART.sub(
        lambda found: f"<{_kind(found[1])}>{parts[found[1]]}</{_kind(found[1])}>", page
    )


def _kind(name: str) -> str:
    """The element that holds a part of the page."""
    return "style" if name.endswith(".css") else "script"


def compressed(data: Any) -> str:
    """Compress data for a page.

    Parameters
    ----------
    data : Any
        Values for JSON.

    Returns
    -------
    str
        Base64 of JSON in gzip; no character in it needs to be escaped.

    Examples
    --------
    >>> json.loads(gzip.decompress(base64.b64decode(compressed([1, 2]))))
    [1, 2]
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Without the time: the same data always gives the same file.
    packed = gzip.compress(text.encode("utf-8", "replace"), mtime=0)
    return base64.b64encode(packed).decode()


def _key(*values: str) -> str:
    """Parameters of a route, as the page looks them up."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


class _Report:
    """Collects the answers that a report holds."""

    def __init__(
        self,
        embedding: LabelEmbedding,
        title: str,
        file: Path | None = None,
        most_letters: int = MOST_LETTERS,
    ) -> None:
        if len(embedding) < 2:
            raise ContextError("a report needs two labels or more. Got one.")
        self.opened = Opened(embedding, title, file, stores=False)
        self.left_out: list[str] = []
        self.n_cards, self.most_letters, self.room = MOST_CARDS, most_letters, 0
        if self.opened.rows is not None:
            # Reasons of predictions name any labels, so a sample has no cards.
            shown = self.opened.shown
            self.opened, self.n_cards = Opened(shown, title, file, stores=False), 0
            self.left_out.append(f"{len(embedding) - len(shown):,} labels")

    def takes(self, part: Any) -> bool:
        """Whether a part still has room; if so, it takes it."""
        size = len(compressed(part))
        fits = size <= self.room
        self.room -= size * fits
        return fits

    def answers(self, folder: Path | None = None) -> Answers:
        """All answers; pictures are shown if they lie in the folder of the report."""
        opened = self.opened
        opened.map.wait()
        answers: Answers = {
            "/api/map": {"[]": map_values(opened)},
            "/api/hierarchy": {"[]": hierarchy_lists(opened)},
            "/api/suspicious": {"[]": pages.suspicions(opened)} if self.n_cards else {},
            **self._columns(),
            "/api/shared": {},
        }
        for each in groupings(opened):
            for code, name in enumerate(each["groups"][:-1]):
                found = shared_by(opened, np.flatnonzero(each["codes"] == code))
                answers["/api/shared"][_key(each["title"], name)] = found
        answers |= self._cards(folder)
        info = {**pages.about(opened), "is_report": True, "left_out": self.left_out}
        return {**answers, "/api/info": {"[]": info}}

    def _columns(self) -> Answers:
        """Columns and tags, those with most known cells first, while there is room."""
        embedding, every = self.opened.embedding, columns_of(self.opened)
        tags = [(x["context"],) for x in every["tags"]]
        by_known = sorted(every["columns"], key=lambda x: -x["known"])
        columns = [(x["context"], x["title"]) for x in by_known]
        self.room = self.most_letters
        held: dict[str, Any] = {}
        for key in (*tags, *columns):
            made = column_of(embedding, *key, is_short=True)
            if self.takes(made):
                held[_key(*key)] = made
            else:
                self.left_out.append(": ".join(key))
        every["tags"] = [x for x in every["tags"] if _key(x["context"]) in held]
        every["columns"] = [
            x for x in every["columns"] if _key(x["context"], x["title"]) in held
        ]
        return {"/api/columns": {"[]": every}, "/api/column": held}

    def _cards(self, folder: Path | None) -> Answers:
        """What is said about each label, and why it is near others."""
        opened, embedding = self.opened, self.opened.embedding
        addresses = Addresses(opened)
        explains = embedding.contexts and len(embedding) <= MOST_EXPLAINED
        labels = embedding.labels[: self.n_cards]
        found: Answers = {"/api/label": {}, "/api/row": {}, "/api/explain": {}}
        self.room = self.most_letters
        for start in range(0, len(labels), AT_ONCE):
            made: Answers = {path: {} for path in found}
            chosen = labels[start : start + AT_ONCE]
            own = pages.rows_of_labels(opened, chosen)
            for label, row in zip(chosen, own, strict=True):
                page = pages.label_page(opened, label)
                made["/api/label"][_key(label)] = page
                links = addresses.of(label, lambda _, file: _beside(file, folder))
                made["/api/row"][_key(label)] = {**row, **links}
                for near in page["neighbours"][:N_EXPLAINED] if explains else ():
                    said = embedding.explain(label, near["label"], N_COLUMNS)
                    made["/api/explain"][_key(label, near["label"])] = _why(said)
            made = _rounded(made)
            if not self.takes(made):
                break
            for path, held in made.items():
                found[path] |= held
        n_left = len(embedding) - len(found["/api/label"])
        if n_left:
            self.left_out.append(f"cards of {n_left:,} labels")
        return {**found, "/api/node": {} if n_left else self._nodes()}

    def _nodes(self) -> dict[str, Any]:
        """Pages of the largest nodes."""
        _, tree = self.opened.taxonomy
        inner = [tree.nodes[i] for i in np.unique(tree.edges[:, 1]).tolist()]
        sizes = {node: len(self.opened.rows_below(node)) for node in inner}
        largest = sorted(sizes, key=lambda node: -sizes[node])[:MOST_NODES]
        return {_key(x): pages.node_page(self.opened, x) for x in largest}


def _why(said: Explanation) -> dict[str, Any]:
    """An explanation as the page draws it, with the closest common ancestors alone."""
    parts = [
        {"context": x.context, "part": x.part, "shared": x.shared[:MOST_SHARED]}
        for x in said.parts
    ]
    return {**said.to_dict(), "parts": as_json(parts)}


def _rounded(value: Any, key: str = "") -> Any:
    """Numbers with few digits, but for known and predicted values."""
    if isinstance(value, dict):
        return {name: _rounded(x, name) for name, x in value.items()}
    if isinstance(value, list):
        return [_rounded(x, key) for x in value]
    if isinstance(value, float) and key != "value":
        return float(f"{value:.{DIGITS}g}")
    return value


def _beside(picture: Path, folder: Path | None) -> str | None:
    """The address of a picture in the folder of the report, or below it."""
    if folder is None or not picture.is_relative_to(folder):
        return None
    return quote(picture.relative_to(folder).as_posix())
