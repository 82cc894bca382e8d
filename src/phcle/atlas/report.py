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
from collections.abc import Callable, Iterator, Sequence
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from phcle.answers import Explanation, WrittenReport, as_json
from phcle.atlas import pages
from phcle.atlas.addresses import Addresses
from phcle.atlas.columns import column_of, columns_of, hierarchy_lists, tags_of
from phcle.atlas.map import BRANCH, CLUSTER, map_values
from phcle.atlas.opened import Opened
from phcle.atlas.shared import shared_by
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, some
from phcle.files.atomic import make_folder, write_whole

ENDINGS = (".html", ".js", ".css", ".svg")
"""Files of the page; licences stand beside them."""

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

Progress = Callable[[str, int, int], None]
Answers = dict[str, dict[str, Any]]


def static_files() -> dict[str, str]:
    """Read the page, its scripts and its styles.

    Returns
    -------
    dict
        Contents by the name below `static/`.
    """

    def read(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
        for item in folder.iterdir():
            if item.is_dir():
                yield from read(item, f"{prefix}{item.name}/")
            elif item.name.endswith(ENDINGS):
                yield prefix + item.name, item.read_text("utf-8")

    return dict(read(files("phcle.atlas").joinpath("static"), ""))


def write_report(
    embedding: LabelEmbedding,
    path: Path,
    *,
    title: str = "Label embedding",
    file: Path | None = None,
    most_letters: int = MOST_LETTERS,
    progress: Progress = lambda stage, done, total: None,
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
    progress : callable, optional
        Called with each stage, and the numbers of its steps done and in total; a total
        of 0 is unknown.

    Returns
    -------
    WrittenReport
        The file written, and what it left out.
    """
    opened = _opened(embedding, title, file)
    made = _Report(opened, len(embedding), most_letters, progress)
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
        opened = _opened(embedding, title, None)
        n = len(embedding)
        made = _Report(opened, n, MOST_LETTERS, lambda stage, done, total: None)
        self.page = filled_page(made.answers(), title)
        self.title = title

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.page)}" '
            f'width="100%" height="{HEIGHT}" style="border:0" '
            'sandbox="allow-scripts allow-downloads"></iframe>'
        )


def _opened(embedding: LabelEmbedding, title: str, file: Path | None) -> Opened:
    """Open the labels of a report: a sample if there are too many for a map."""
    if len(embedding) < 2:
        raise ContextError("a report needs two labels or more. Got one.")
    opened = Opened(embedding, title, file, stores=False)
    if opened.rows is None:
        return opened
    return Opened(opened.shown, title, file, stores=False)


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
    parts = static_files()
    digests: dict[str, list[str]] = {"script": [], "style": []}

    def inside(kind: str) -> Callable[[re.Match[str]], str]:
        def filled(found: re.Match[str]) -> str:
            digests[kind].append(_digest_of(parts[found[1]]))
            return f"<{kind}>{parts[found[1]]}</{kind}>"

        return filled

    page = parts["index.html"]
    link = r'<link rel="stylesheet" href="static/([^"]+)">'
    page = re.sub(link, inside("style"), page)
    page = re.sub(r'<script src="static/([^"]+)"></script>', inside("script"), page)
    icon = base64.b64encode(parts["icon.svg"].encode()).decode()
    page = page.replace("static/icon.svg", f"data:image/svg+xml;base64,{icon}")
    policy = (
        f"default-src 'none'; script-src {' '.join(digests['script'])}; "
        f"style-src {' '.join(digests['style'])}; img-src 'self' file: data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    head, tag, rest = page.partition("<head>")
    body, body_tag, scripts = rest.partition("<body")
    before, script_tag, after = scripts.partition("<script")
    body = re.sub(
        "<title>.*?</title>", lambda _: f"<title>{escape(title)}</title>", body
    )
    data = f'<script id="answers" type="text/plain">{compressed(answers)}</script>\n'
    opening = f"{head}{tag}\n{meta}"
    return f"{opening}{body}{body_tag}{before}{data}{script_tag}{after}"


def _digest_of(part: str) -> str:
    """The source expression of a style or script inside a page."""
    digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
    return f"'sha256-{digest}'"


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


class _Room:
    """Letters that are left in the file."""

    def __init__(self, letters: int) -> None:
        self.letters = letters

    def takes(self, part: Any) -> bool:
        """Whether a part still fits; if so, it takes its room."""
        size = len(compressed(part))
        if size > self.letters:
            return False
        self.letters -= size
        return True


class _Report:
    """Collects the answers that a report holds."""

    def __init__(
        self, opened: Opened, n_whole: int, most_letters: int, progress: Progress
    ) -> None:
        self.opened, self.progress, self.most_letters = opened, progress, most_letters
        self.left_out: list[str] = []
        if n_whole > len(opened.embedding):
            self.left_out.append(f"{n_whole - len(opened.embedding):,} labels")
        # Reasons of predictions name any labels, so a sample has no cards.
        self.n_cards = MOST_CARDS if n_whole == len(opened.embedding) else 0

    def answers(self, folder: Path | None = None) -> Answers:
        """All answers; pictures are shown if they lie in the folder of the report."""
        opened = self.opened
        self.progress("placing labels on the map", 0, 0)
        found = opened.map.wait()
        label_map = map_values(opened)
        self.progress("collecting what is known", 0, 0)
        answers: Answers = {
            "/api/map": {"[]": label_map},
            "/api/hierarchy": {"[]": hierarchy_lists(opened)},
            "/api/suspicious": {"[]": pages.suspicions(opened)} if self.n_cards else {},
            **self._columns(),
            "/api/shared": {},
        }
        codes = {CLUSTER: (found.cluster_names, found.clusters)}
        if opened.branches is not None:
            names = map(opened.embedding.name_of, opened.branches.nodes)
            codes[BRANCH] = (tuple(names), opened.branches.codes.astype(np.uint8))
        for kind, (groups, own) in codes.items():
            for code, name in enumerate(groups):
                rows = np.flatnonzero(own == code)
                answers["/api/shared"][_key(kind, name)] = shared_by(opened, rows)
        answers |= self._cards(folder)
        more = {"is_report": True, "left_out": self.left_out, "compared_with": None}
        more |= {"takes_features": False, "takes_pictures": False}
        answers["/api/info"] = {"[]": {**pages.about(opened), **more}}
        return answers

    def _columns(self) -> Answers:
        """Columns and tags, those with most known cells first, while there is room."""
        embedding, room = self.opened.embedding, _Room(self.most_letters)
        every = columns_of(self.opened)
        tags, columns = {}, {}
        kept_tags = []
        for each in every["tags"]:
            made = tags_of(embedding, each["context"])
            if room.takes(made):
                tags[_key(each["context"])] = made
                kept_tags.append(each)
            else:
                self.left_out.append(each["context"])
        for each in sorted(every["columns"], key=lambda x: -x["known"]):
            key = each["context"], each["title"]
            made = column_of(embedding, *key, is_short=True)
            if room.takes(made):
                columns[_key(*key)] = made
            else:
                self.left_out.append(": ".join(key))
        every["tags"] = kept_tags
        every["columns"] = [
            x for x in every["columns"] if _key(x["context"], x["title"]) in columns
        ]
        return {
            "/api/columns": {"[]": every},
            "/api/column": columns,
            "/api/tags": tags,
        }

    def _cards(self, folder: Path | None) -> Answers:
        """What is said about each label, and why it is near others."""
        opened, room = self.opened, _Room(self.most_letters)
        embedding = opened.embedding
        addresses = Addresses(opened)
        labels = embedding.labels[: self.n_cards]
        cards: dict[str, Any] = {}
        reasons: dict[str, Any] = {}
        for start in range(0, len(labels), AT_ONCE):
            self.progress("writing cards of labels", start, len(labels))
            chosen = labels[start : start + AT_ONCE]
            made: dict[str, Any] = {}
            why: dict[str, Any] = {}
            rows = pages.rows_of_labels(opened, chosen)
            for label, cells in zip(chosen, rows, strict=True):
                made[_key(label)] = page = pages.label_page(opened, label, cells)
                page["links"] = addresses.links_of(label)
                page["pictures"] = [
                    {"context": context, "column": title, "src": src}
                    for context, title, picture in addresses.pictures_of(label)
                    if (src := _beside(picture, folder)) is not None
                ]
                if embedding.contexts and len(embedding) <= MOST_EXPLAINED:
                    for near in page["neighbours"][:N_EXPLAINED]:
                        said = embedding.explain(label, near["label"], N_COLUMNS)
                        why[_key(label, near["label"])] = _why(said)
            made, why = _rounded(made), _rounded(why)
            if not room.takes([made, why]):
                break
            cards |= made
            reasons |= why
        if len(cards) < len(embedding):
            self.left_out.append(f"cards of {len(embedding) - len(cards):,} labels")
        return {
            "/api/label": cards,
            "/api/explain": reasons,
            "/api/node": self._nodes() if len(cards) == len(embedding) else {},
        }

    def _nodes(self) -> dict[str, Any]:
        """Pages of the largest nodes."""
        if self.opened.taxonomy is None:
            return {}
        tree = self.opened.taxonomy[1]
        inner = [tree.nodes[i] for i in np.unique(tree.edges[:, 1]).tolist()]
        sizes = {node: len(self.opened.rows_below(node)) for node in inner}
        largest = sorted(sizes, key=lambda node: -sizes[node])[:MOST_NODES]
        return {_key(x): pages.node_page(self.opened, x) for x in largest}


def _why(said: Explanation) -> dict[str, Any]:
    """An explanation as the page draws it."""
    parts = [
        {"context": x.context, "part": x.part, "shared": x.shared[:MOST_SHARED]}
        for x in said.parts
    ]
    whole = said.to_dict()
    return {**whole, "parts": [as_json(x) for x in parts]}


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
