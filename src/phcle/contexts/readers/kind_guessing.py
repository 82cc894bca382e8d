"""What kind of context a table is, guessed from its header and a sample of its rows.

Titles are asked first, then the cells: a parent occurs as a child, the values of a
lineage are nested, items of annotations occur in no other file. Nothing is read here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from phcle.contexts.column_evidence import ColumnEvidence, find_labels
from phcle.contexts.column_titles import HINTS, TITLES, is_title_of, plain_title
from phcle.contexts.readers.file_arguments import ROLES
from phcle.errors import ContextError

NEEDED = {
    kind: ROLES[kind][:2]
    for kind in ("hierarchy", "edges", "annotations", "tags", "texts", "names")
}
"""The two columns that each kind of table needs."""

TRIPLE = ("source", "relation", "target")
"""The columns of the triples of a knowledge graph."""

SAMPLED_ROWS = 2_000
"""Rows of a table that a guess looks at: more would hardly change it."""

WORDS = {role: (*own, *HINTS.get(role, ())) for role, own in TITLES.items()}
"""Words in titles that point to a role; the cells must say the same."""

HALF = 0.5
"""Share of the values of a column that must be known elsewhere for the column to hold
the same labels. Files of one data set overlap partly; different things hardly ever."""

LONG_TEXT = 4.0
"""Mean words per cell from which cells are texts, not names."""

FEWEST_NESTED = 3
"""A column is nested in the next one if at least this many of its values occur in
several rows, always with the same next value. Fewer may agree by chance."""

FEWER_PARENTS, MOST_PARENTS = 0.7, 2.0
"""A taxonomy has at most this many parents per child in its columns, and this many
edges per child. Edges of a graph have as many labels on both sides."""

FEWEST_DIMENSIONS = 10
"""Vectors of another model have at least this many numbers. Shorter rows are tables."""


@dataclass(frozen=True)
class TableSample:
    """The beginning of a table.

    Attributes
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences
        Some rows; more rows make better guesses, and a few hundred are enough.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[object]]

    @property
    def columns(self) -> list[ColumnEvidence]:
        """The columns with their cells."""
        n = len(self.header)
        full = [[*row, *[None] * (n - len(row))] for row in self.rows]
        return [
            ColumnEvidence(str(title), [row[i] for row in full])
            for i, title in enumerate(self.header)
        ]


@dataclass(frozen=True)
class Guess:
    """What a table is taken to be.

    Attributes
    ----------
    kind : str or None
        A key of `FILE_KINDS`, "names", "synonyms", or "labels" for a list of labels.
        None if the table leaves it open.
    columns : mapping from str to str
        Title of each column that the reader needs, such as `{"child": "job"}`. The
        columns of a lineage are joined by slashes: `{"levels": "species/genus"}`.
    why : str
        The reason in words; if `kind` is None, also what to do.
    between : tuple of str
        The kinds that are possible if `kind` is None.
    """

    kind: str | None
    columns: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    between: tuple[str, ...] = ()

    @property
    def is_guess(self) -> bool:
        """Whether other titles than those of the documentation stand in the table."""
        return any(plain_title(x) != role for role, x in self.columns.items())


def guess_kind(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    known: Set[str] = frozenset(),
) -> Guess:
    """Guess what kind of context a table is.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences
        Some of the rows.
    known : set of str, default frozenset()
        Labels of other files. They tell tags (labels come first) from annotations
        (labels come second) and edges (labels on both sides).

    Returns
    -------
    Guess
        The kind and its columns, or the kinds that are possible.

    Examples
    --------
    >>> jobs = [("nurse", "health"), ("surgeon", "health"), ("baker", "food")]
    >>> guess = guess_kind(["job", "sector"], jobs)
    >>> guess.kind, guess.columns
    ('hierarchy', {'child': 'job', 'parent': 'sector'})
    """
    columns = TableSample(header, rows).columns
    if _is_vectors(header):
        return Guess("vectors", {}, "every row is a word with numbers")
    if len(columns) == 1:
        return Guess("labels", {"label": header[0]}, "it has one column")
    for guess in (
        _by_triple_titles(columns),
        _by_exact_titles(columns),
        _by_lineage(columns),
    ):
        if guess is not None:
            return guess
    if len(columns) == 2:
        return _of_two(columns[0], columns[1], known)
    return _of_many(columns, known)


def guess_kinds(tables: Mapping[str, TableSample]) -> dict[str, Guess]:
    """Guess the kinds of several tables about the same labels.

    Parameters
    ----------
    tables : mapping from str to TableSample
        The tables by name.

    Returns
    -------
    dict
        A guess for each table. Tables that leave their kind open are compared with the
        labels of the others.

    Examples
    --------
    >>> pets = TableSample(["label", "kg"], [("cat", 4), ("dog", 9), ("fox", 5)])
    >>> seen = [("x", "cat"), ("x", "dog"), ("y", "cat"), ("y", "dog")]
    >>> guess_kinds({"pets": pets, "seen": TableSample(["a1", "a2"], seen)})[
    ...     "seen"
    ... ].kind
    'annotations'
    """
    alone = {name: guess_kind(x.header, x.rows) for name, x in tables.items()}
    labels = {name: _labels_of(tables[name], alone[name]) for name in tables}
    found = {}
    for name, table in tables.items():
        known = frozenset().union(*(x for other, x in labels.items() if other != name))
        found[name] = guess_kind(table.header, table.rows, known)
    return found


def columns_for(kind: str, table: TableSample, where: str) -> Guess:
    """Find the columns that a kind of table needs.

    They are found by name, or else by what the cells look like, or else by position.

    Parameters
    ----------
    kind : str
        A key of `NEEDED`.
    table : TableSample
        The table.
    where : str
        What the table is, for messages.

    Returns
    -------
    Guess
        The columns; `why` is empty if they were found by name.

    Examples
    --------
    >>> jobs = TableSample(["sector", "job"], [("food", "baker"), ("food", "cook")])
    >>> columns_for("hierarchy", jobs, "jobs").columns
    {'child': 'job', 'parent': 'sector'}
    """
    roles = NEEDED[kind]
    by_title = {plain_title(title): title for title in table.header}
    if all(role in by_title for role in roles):
        found = {role: by_title[role] for role in roles}
        if kind == "edges" and "relation" in by_title:
            found = {role: by_title[role] for role in TRIPLE}
        elif kind == "edges" and "weight" in by_title:
            found["weight"] = by_title["weight"]
        return Guess(kind, found)
    if len(table.header) < len(roles):
        raise ContextError(
            f"{where}: the columns {_quoted(roles)} are needed. Got "
            f"{_quoted(table.header)} instead."
        )
    guess = guess_kind(table.header, table.rows)
    if guess.kind == kind:
        return guess
    if kind == "edges":
        has_text = len(table.header) > 2 and table.columns[2].is_text
        roles = TRIPLE if has_text else (*roles, "weight")
    found = dict(zip(roles, table.header, strict=False))
    return Guess(kind, found, "they come first")


def _labels_of(table: TableSample, guess: Guess) -> Set[str]:
    """The labels of a table whose kind is certain."""
    roles = {
        "hierarchy": ("child", "parent"),
        "edges": ("source", "target"),
        "annotations": ("label",),
    }.get(guess.kind or "", ("label",))
    titles = {guess.columns[role] for role in roles if role in guess.columns}
    titles |= set(guess.columns.get("levels", "").split("/")[:1])
    columns = [c for c in table.columns if c.title in titles]
    return frozenset().union(*(c.distinct for c in columns))


def _is_vectors(header: Sequence[str]) -> bool:
    """Whether the first line is a word with numbers, or a count of words and numbers.

    Such files have no header.
    """
    cells = str(header[0]).split() if len(header) == 1 else list(header)
    numbers = [bool(re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", str(x))) for x in cells]
    counts = len(cells) == 2 and all(str(x).isdecimal() for x in cells)
    return counts or (len(cells) > FEWEST_DIMENSIONS and all(numbers[1:]))


def _by_exact_titles(columns: Sequence[ColumnEvidence]) -> Guess | None:
    """A table whose titles are those of the documentation."""
    titles = {plain_title(c.title): c for c in columns}
    if titles.keys() == {"label", "synonym"}:
        found = {role: c.title for role, c in titles.items()}
        return Guess("synonyms", found, "it has the columns 'label', 'synonym'")
    for kind, (one, other) in NEEDED.items():
        if one not in titles or other not in titles:
            continue
        # A table of attributes may well have columns for a name and a text.
        may_be_more = kind in ("texts", "names", "tags") and len(columns) > 2
        if may_be_more and not titles[one].repeats:
            continue
        found = {role: titles[role].title for role in (one, other)}
        if kind == "edges" and "weight" in titles:
            found["weight"] = titles["weight"].title
        return Guess(kind, found, f"it has the columns {_quoted(found.values())}")
    return None


def _by_triple_titles(columns: Sequence[ColumnEvidence]) -> Guess | None:
    """The triples of a knowledge graph."""
    found = {
        role: column.title
        for role in TRIPLE
        for column in columns
        if is_title_of(role, plain_title(column.title))
    }
    if len(found) < 3 or len(columns) > 3:
        return None
    return Guess("edges", found, f"it has the columns {_quoted(found.values())}")


def _by_lineage(columns: Sequence[ColumnEvidence]) -> Guess | None:
    """A wide table of nested texts, such as species, genus and family."""
    levels = find_lineage(columns)
    if levels is None:
        return None
    why = f"it is nested: {' → '.join(levels)}"
    return Guess("hierarchy", {"levels": "/".join(levels)}, why)


def find_lineage(columns: Sequence[ColumnEvidence]) -> list[str] | None:
    """Find out whether the columns of a table are nested.

    Parameters
    ----------
    columns : sequence of ColumnEvidence
        All columns of the table.

    Returns
    -------
    list of str or None
        Titles of the columns, from the labels up; None if they are not nested.
    """
    if len(columns) < 3 or not all(c.is_text for c in columns):
        return None
    for order in (columns, columns[::-1]):
        pairs = list(pairwise(order))
        if all(_is_nested(a, b) for a, b in pairs) and all(
            _is_tested(a, b) for a, b in pairs[1:]
        ):
            return [c.title for c in order]
    return None


def _is_nested(one: ColumnEvidence, other: ColumnEvidence) -> bool:
    """Whether every value of a column has one value in the other, which has fewer."""
    return len(other.distinct) < len(one.distinct) and all(
        len(x) == 1 for x in _together(one, other).values()
    )


def _is_tested(one: ColumnEvidence, other: ColumnEvidence) -> bool:
    """Whether enough values occur in several rows to tell that columns are nested."""
    n_repeated = sum(n > 1 for n in Counter(one.known).values())
    return n_repeated >= FEWEST_NESTED and other.repeats


def _together(one: ColumnEvidence, other: ColumnEvidence) -> dict[object, set[object]]:
    """The values of the other column, by those of the first."""
    found: dict[object, set[object]] = {}
    for a, b in zip(one.cells, other.cells, strict=True):
        if a not in (None, "") and b not in (None, ""):
            found.setdefault(a, set()).add(b)
    return found


def _of_two(a: ColumnEvidence, b: ColumnEvidence, known: Set[str]) -> Guess:
    """A table of two columns."""
    if b.is_number and not (a.is_number and a.repeats):
        if a.repeats:
            why = f"the values of {a.title!r} repeat"
            return _open("attributes", "annotations", why=why)
        why = f"{a.title!r} are the labels and {b.title!r} is a number"
        return Guess("attributes", {"label": a.title}, why)
    if _overlap(a.distinct, b.distinct):
        return _related(a, b)
    if _is_nearly_unique(a):
        return _one_row_per_label(a, b)
    if _is_nearly_unique(b) and _is_nested(b, a):
        return _pair("hierarchy", b, a, f"every {b.title!r} has one {a.title!r}")
    return _many_to_many(a, b, known)


def _one_row_per_label(a: ColumnEvidence, b: ColumnEvidence) -> Guess:
    """Two columns, with each value of the first once."""
    if b.is_called(WORDS["text"]) or (b.words_per_cell >= LONG_TEXT and not b.repeats):
        why = f"{b.title!r} holds a text about each {a.title!r}"
        return _pair("texts", a, b, why)
    if b.is_called(WORDS["tag"]):
        why = f"{b.title!r} holds a tag of each {a.title!r}"
        return _pair("tags", a, b, why)
    if b.is_called(WORDS["parent"]):
        return _pair("hierarchy", a, b, f"every {a.title!r} has one {b.title!r}")
    if not b.repeats and b.is_unique:
        why = f"{b.title!r} has a name for each {a.title!r}"
        return _pair("names", a, b, why)
    why = f"{a.title!r} are the labels and {b.title!r} is a category"
    return Guess("attributes", {"label": a.title}, why)


def _related(a: ColumnEvidence, b: ColumnEvidence) -> Guess:
    """Two columns with the same labels."""
    for child, parent in ((a, b), (b, a)):
        if _is_tree(child, parent):
            why = f"values of {parent.title!r} occur in {child.title!r} too"
            return _pair("hierarchy", child, parent, why)
    why = f"{a.title!r} and {b.title!r} hold the same labels"
    return _pair("edges", a, b, why)


def _is_tree(child: ColumnEvidence, parent: ColumnEvidence) -> bool:
    """Whether many children have few parents each, and no node is its own ancestor."""
    # A child that is its own parent is a fault of the file, which its reader names.
    parents = {x: own - {x} for x, own in _together(child, parent).items()}
    n_edges = sum(map(len, parents.values()))
    if len(parent.distinct) > FEWER_PARENTS * len(
        child.distinct
    ) or n_edges > MOST_PARENTS * len(child.distinct):
        return False
    try:
        TopologicalSorter(parents).prepare()
    except CycleError:
        return False
    return True


def _many_to_many(a: ColumnEvidence, b: ColumnEvidence, known: Set[str]) -> Guess:
    """Two columns of different things that both repeat."""
    tags = _pair("tags", a, b, f"each {a.title!r} has several {b.title!r}")
    why = f"each {a.title!r} holds several {b.title!r}"
    annotations = _pair("annotations", a, b, why)
    if a.is_called(WORDS["tag"]) and not b.is_called(WORDS["tag"]):
        why = f"each {b.title!r} has several {a.title!r}"
        return _pair("tags", b, a, why)
    is_first, is_second = _overlap(a.distinct, known), _overlap(b.distinct, known)
    if is_first and is_second:
        why = f"{a.title!r} and {b.title!r} hold labels of the other files"
        return _pair("edges", a, b, why)
    if is_first:
        return tags
    if is_second:
        return annotations
    if b.is_called(WORDS["tag"]):
        return tags
    if a.is_called(x for x in WORDS["item"] if x != "item") or (
        _are_numbered(a) and not _are_numbered(b)
    ):
        return annotations
    if _is_nested(a, b) and b.is_called(WORDS["parent"]):
        return _pair("hierarchy", a, b, f"every {a.title!r} has one {b.title!r}")
    why = f"{a.title!r} and {b.title!r} both repeat, and no other file has their labels"
    return _open("tags", "annotations", why=why)


def _of_many(columns: Sequence[ColumnEvidence], known: Set[str]) -> Guess:
    """A table of three columns or more."""
    a, b, c = columns[:3]
    is_pair = a.is_text and b.is_text and len(columns) == 3 and c.is_number
    if is_pair and not a.is_unique:
        is_same = _overlap(a.distinct, b.distinct) or (
            _overlap(a.distinct, known) and _overlap(b.distinct, known)
        )
        titled = a.is_called(WORDS["source"]) and b.is_called(WORDS["target"])
        if is_same or titled:
            found = {"source": a.title, "target": b.title, "weight": c.title}
            why = f"{a.title!r} and {b.title!r} hold the same labels"
            return Guess("edges", found, why)
    try:
        label = find_labels(columns, "table")
    except ContextError:
        if not _is_nearly_unique(a):  # readers drop rows that repeat
            return _long_table(columns, known)
        label = a.title
    why = f"{label!r} are the labels and {len(columns) - 1} columns describe them"
    return Guess("attributes", {"label": label}, why)


def _long_table(columns: Sequence[ColumnEvidence], known: Set[str]) -> Guess:
    """A table with several rows for each label, such as user, film, tag and time."""
    # Users and films may both have numbers: a column called user is no label.
    able = [c for c in columns if _overlap(c.distinct, known)]
    for label in sorted(able, key=lambda c: c.is_called(WORDS["item"])):
        others = [c for c in columns if c is not label]
        for c in others:
            if c.is_called(TITLES["tag"]):
                why = f"each {label.title!r} has several {c.title!r}"
                return _pair("tags", label, c, why)
        for c in others:
            if c.is_called(WORDS["item"]) and c.repeats:
                why = f"each {c.title!r} holds several {label.title!r}"
                return _pair("annotations", c, label, why)
    why = "no column has a value of its own in every row, so labels have several rows"
    a, b = (c.title for c in columns[:2])
    ways = f"--tags FILE:label={a},tag={b} or --annotations FILE:item={a},label={b}"
    between = ("tags", "annotations")
    return Guess(None, {}, f"{why}; say what it is, such as {ways}.", between)


def _pair(kind: str, one: ColumnEvidence, other: ColumnEvidence, why: str) -> Guess:
    """A guess whose two columns stand in the order that the kind needs."""
    titles = (one.title, other.title)
    return Guess(kind, dict(zip(NEEDED[kind], titles, strict=True)), why)


def _open(*kinds: str, why: str) -> Guess:
    """A table that may be of several kinds."""
    flags = " or ".join(f"--{kind} FILE" for kind in kinds)
    return Guess(None, {}, f"{why.rstrip('.')}; say what it is: {flags}.", kinds)


def _is_nearly_unique(column: ColumnEvidence) -> bool:
    """Whether labels occur once, but for a few rows that repeat."""
    return len(column.known) <= 1.1 * len(column.distinct)


def _overlap(values: Set[str], known: Set[str]) -> bool:
    """Whether the smaller set shares half of its values with the other."""
    fewest = min(len(values), len(known))
    if not fewest:
        return False
    lower = {x.lower() for x in known}
    return sum(x.lower() in lower for x in values) >= HALF * fewest


def _are_numbered(column: ColumnEvidence) -> bool:
    """Whether values are a running number with one beginning, such as `b17`.

    WordNet's ids have eight digits and are labels.
    """
    found = [re.fullmatch(r"(\D*)(\d{1,7})", str(x)) for x in column.known]
    return all(found) and len({x.group(1) for x in found if x is not None}) == 1


def _quoted(titles: Iterable[str]) -> str:
    return ", ".join(map(repr, titles))
