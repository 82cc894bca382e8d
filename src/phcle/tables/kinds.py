"""What kind of context a table is, and which of its columns are which.

One finder serves files and data frames. What the user says comes first, then titles,
then the cells. `guess_kind` is this list; the first line that holds decides:

1. A word with many numbers, or two whole numbers, are word vectors.
2. One column is a list of labels.
3. Titles of the documentation say what a table is.
4. Three or more columns of texts, each nested in the next one, are a lineage.
5. Of two columns, values beside different labels are an attribute.
6. Two columns with the same labels are a taxonomy if no node is above itself and
   parents are few, and else a graph.
7. Of two columns, a text, tag, group or name of each label is what its title or its
   length says, and else a category; groups before their members are a taxonomy.
8. Two columns that both repeat are told by labels of other files, then by titles: tags
   if labels come first, annotations if they come second.
9. Two columns of the same labels with a number beside them are a weighted graph.
10. A column of different labels has attributes beside it; several rows for a label are
    tags or annotations if other files or titles say so.

What none of them decides is left open, and the user is asked.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, islice, pairwise, permutations, zip_longest
from pathlib import Path
from typing import Any

from phcle.contexts.labels import is_missing, normal
from phcle.errors import ContextError, check_choice, did_you_mean, some
from phcle.tables.cells import as_number
from phcle.tables.dates import is_date
from phcle.tables.file_kinds import LEVELS, ROLES
from phcle.tables.numbers import parse_number

NEEDED = {
    kind: roles[:2]
    for kind, roles in ROLES.items()
    if kind not in ("attributes", "sentences")
}
"""The two columns that each kind of table needs."""

TRIPLE = ("source", "relation", "target")
"""The columns of the triples of a knowledge graph."""

SAMPLED_ROWS = 5_000
"""Rows of a table that are looked at: enough to see which column repeats, and a
fraction of a second."""

MOSTLY = 0.9
"""Share of the known cells from which a column counts as texts, or as numbers: real
columns have a few cells of another kind, such as markers of the unknown."""

NEARLY_ALL, CLEARLY_FEWER = 0.95, 0.8
"""In a taxonomy nearly every row has a child of its own, and parents repeat: one column
has at least the first share of different values, the other at most the second."""

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

TITLES = {
    "child": "child, children, narrower, subcategory, subclass, hyponym",
    "parent": "parent, parents, broader, supercategory, superclass, hypernym | super, "
    "sector, group, family, genus, order, branch, area, department, division, "
    "category, class, type, kind, genre, field",
    "source": "source, from, src, node1, subject, head, start | a, one, left",
    "target": "target, to, dst, dest, destination, node2, object, tail | end, b, "
    "other, right",
    "relation": "relation, predicate, rel, edge type, relation type",
    "weight": "weight, weights, count, strength, n",
    "item": "item, items, image, photo, document, doc, basket, order, transaction, "
    "invoice, session | picture, file, user, customer, cart, playlist, recipe, "
    "patient, person, sample, page, receipt",
    "label": "label, labels, name, id, title, category, class, term, concept, key, "
    "entity | names, ids, code, node, word, wnid, item, product, job, species, "
    "language, animal, object, thing",
    "tag": "tag, tags, keyword, keywords | feature, property, topic, skill, trait, "
    "ingredient, theme, attribute",
    "text": "text, texts, description, descriptions, definition, gloss, abstract, "
    "summary | comment, sentence, about, note, notes",
    "name": "name, names, title, readable name, display name",
    "synonym": "synonym, synonyms",
}
"""Titles of a column by its role. Those before the bar are enough to take it for that.
The others point to it, if the cells say the same; they may also begin or end a title,
as in `job title`, `item_id` and `Product name`."""

SURE = {x: frozenset(own.split(" | ")[0].split(", ")) for x, own in TITLES.items()}
HINTED = {x: frozenset(re.split(", | \\| ", own)) for x, own in TITLES.items()}

WHY = {
    "hierarchy": "every {0} has one {1}",
    "edges": "{0} and {1} hold the same labels",
    "annotations": "each {0} holds several {1}",
    "tags": "each {0} has several {1}",
    "texts": "{1} holds a text about each {0}",
    "names": "{1} has a name for each {0}",
}
"""Reasons to take two columns for what a kind needs."""

_ENDING = re.compile(r"(?<=\w) ?(id|name|label|category|class|term)$")


def plain_title(title: str) -> str:
    """Return a title in lower case with single spaces for punctuation.

    Parameters
    ----------
    title : str
        A title of a column.

    Returns
    -------
    str
        The plain title.

    Examples
    --------
    >>> plain_title("Parent_ID "), plain_title("parentId")
    ('parent id', 'parent id')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", normal(str(title)))
    return re.sub(r"[\W_]+", " ", spaced).strip().lower()


def is_title_of(role: str, title: str) -> bool:
    """Tell whether a title is enough to take a column for a role.

    Examples
    --------
    >>> is_title_of("parent", "ParentID"), is_title_of("parent", "family")
    (True, False)
    """
    plain = plain_title(title)
    return not SURE[role].isdisjoint((plain, _ENDING.sub("", plain)))


def are_unusual(columns: Mapping[str, str]) -> bool:
    """Whether columns have other titles than their roles."""
    return any(plain_title(title) != role for role, title in columns.items())


def _is_value(cell: Any) -> bool:
    """Whether a cell is a number in any notation, a truth value or a date."""
    if as_number(cell) is not None or isinstance(cell, date):
        return True
    return isinstance(cell, str) and (parse_number(cell) is not None or is_date(cell))


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table, with missing cells, and what can be seen in it."""

    title: str
    cells: Sequence[Any]

    @cached_property
    def plain(self) -> str:
        """Its plain title."""
        return plain_title(self.title)

    @cached_property
    def known(self) -> list[Any]:
        """Cells that are not missing; texts without spaces around them."""
        return [
            normal(x).strip() if isinstance(x, str) else x
            for x in self.cells
            if not is_missing(x)
        ]

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The different cells, as texts."""
        return frozenset(map(str, self.known))

    def mostly(self, test: Callable[[Any], bool]) -> bool:
        """Whether nearly all known cells pass a test."""
        n = sum(map(test, self.known))
        return bool(self.known) and n >= MOSTLY * len(self.known)

    @cached_property
    def is_text(self) -> bool:
        """Whether the cells are texts that are no numbers."""
        return self.mostly(lambda x: isinstance(x, str) and as_number(x) is None)

    @cached_property
    def is_number(self) -> bool:
        """Whether the cells are numbers or truth values."""
        return self.mostly(lambda x: as_number(x) is not None)

    @property
    def is_numbers(self) -> bool:
        """Whether the cells are different whole numbers, which may be labels."""
        return self.is_unique and self.mostly(lambda x: str(x).isdecimal())

    @property
    def is_unique(self) -> bool:
        """Whether every cell is known and none occurs twice."""
        return 0 < len(self.cells) == len(self.known) == len(self.distinct)

    @property
    def is_nearly_unique(self) -> bool:
        """Whether values occur once, but for a few rows that repeat."""
        return len(self.known) <= 1.1 * len(self.distinct)

    @property
    def repeats(self) -> bool:
        """Whether most values occur more than once."""
        return len(self.known) >= 2 * len(self.distinct)

    def is_called(self, role: str) -> bool:
        """Whether the title is one of a role, or begins or ends with one."""
        words = self.plain.split()
        return not HINTED[role].isdisjoint((self.plain, *words[:1], *words[-1:]))

    def holds(self, labels: Set[str]) -> bool:
        """Whether the smaller of two sets of labels shares half with the other."""
        fewest = min(len(self.distinct), len(labels))
        lower = {x.lower() for x in labels}
        n_shared = sum(x.lower() in lower for x in self.distinct)
        return fewest > 0 and n_shared >= HALF * fewest

    def beside(self, other: Column) -> dict[Any, set[Any]]:
        """The values of another column, by those of this one."""
        found: dict[Any, set[Any]] = defaultdict(set)
        for a, b in zip(self.cells, other.cells, strict=True):
            if a not in (None, "") and b not in (None, ""):
                found[a].add(b)
        return found

    def is_nested_in(self, other: Column) -> bool:
        """Whether every value has one value in the other column, which has fewer."""
        is_smaller = len(other.distinct) < len(self.distinct)
        return is_smaller and all(len(x) == 1 for x in self.beside(other).values())


def columns_of(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Column]:
    """Columns of rows, some of which may be shorter than the header."""
    columns = islice(zip_longest(header, *rows), len(header))
    return [Column(str(title), cells) for title, *cells in columns]


@dataclass(frozen=True, eq=False)
class TableSample:
    """The beginning of a table.

    Attributes
    ----------
    columns : sequence of Column
        Its columns; a few hundred rows are enough.
    first : sequence of str
        The first line of a table of text.
    has_header : bool
        Whether the titles stand in the table.
    """

    columns: Sequence[Column]
    first: Sequence[str] = ()
    has_header: bool = True

    @property
    def header(self) -> list[str]:
        """Titles of the columns."""
        return [c.title for c in self.columns]

    @cached_property
    def plain_cells(self) -> frozenset[str]:
        """All that stands in it, as plain titles."""
        cells = chain(self.first or self.header, *(c.cells for c in self.columns))
        return frozenset(plain_title(str(x)) for x in cells if x)


@dataclass(frozen=True)
class Guess:
    """What a table is taken to be.

    Attributes
    ----------
    kind : str or None
        A key of `FILE_KINDS`, or one of `LISTS`. None if the table leaves it open.
    columns : mapping from str to str
        Title of each column that the reader needs, such as `{"child": "job"}`. The
        columns of a lineage are joined by slashes: `{"levels": "species/genus"}`.
    why : str
        The reason in words.
    between : tuple of str
        The kinds that are possible if `kind` is None, some with columns.
    """

    kind: str | None
    columns: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    between: tuple[str, ...] = ()

    def unusual(self, first: str) -> Mapping[str, str]:
        """The columns that a reader does not find by their titles."""
        if self.kind == "attributes" and self.columns["label"] == first:
            return {}
        roles = (LEVELS, *ROLES.get(self.kind or "", ()))
        found = {role: x for role, x in self.columns.items() if role in roles}
        return found if are_unusual(found) else {}

    def way_out(self, *, is_file: bool) -> str:
        """Say why the kind is open, and how the user says it."""
        if not is_file:
            ways = " or ".join(f"from_{x.split()[0]}" for x in self.between)
            return f"{self.why}; make the context yourself with {ways}."
        ways = " or ".join(f"--{x}" for x in self.between)
        return f"{self.why}; say what it is: {ways}."


def find_columns(
    kind: str,
    sample: TableSample,
    where: str,
    *,
    given: Mapping[str, str] | None = None,
    file: str = "",
) -> Guess:
    """Find the columns that a kind of table needs.

    Parameters
    ----------
    kind : str
        A key of `ROLES`.
    sample : TableSample
        The beginning of the table.
    where : str
        What the table is, for messages.
    given : mapping from str to str, optional
        Titles by role, as the user names them.
    file : str, default ""
        Name of the file, for the remedy; a data frame has none.

    Returns
    -------
    Guess
        The columns; `why` is empty if they were given or found by their usual names.
        Of a lineage, such as species, genus and family, those of its levels, from the
        labels up.

    Examples
    --------
    >>> jobs = columns_of(["sector", "job"], [("food", "baker"), ("food", "cook")])
    >>> find_columns("hierarchy", TableSample(jobs), "jobs").columns
    {'child': 'job', 'parent': 'sector'}
    """
    header, given, roles = sample.header, given or {}, ROLES[kind]
    plain = {plain_title(title): title for title in reversed(header)}

    def title_of(given_title: str) -> str:
        title = given_title.strip()
        found = title if title in header else plain.get(plain_title(title))
        if found is None:
            raise ContextError(
                f"{where}: has no column {title!r}. Its header has "
                f"{some(header)}.{did_you_mean(title, header)}"
            )
        return found

    if kind == "attributes" and not given:
        title = _find_label(sample.columns, where, file)
        is_usual = plain_title(title) == "label" or (file and title == header[0])
        why = "" if is_usual else f"labels are in column {title!r}"
        return Guess(kind, {"label": title}, why)
    levels = list(map(title_of, given[LEVELS].split("/"))) if LEVELS in given else []
    if kind == "hierarchy" and not given and "parent" not in plain:
        levels = _find_lineage(sample.columns)
    if levels:
        why = "" if given else f"taken as a lineage: {' → '.join(levels)}"
        return Guess(kind, {f"level {n}": x for n, x in enumerate(levels)}, why)
    for role in given:
        check_choice(f"columns of --{kind}", role, roles, where)
    found = {x: plain[x] for x in roles if x in plain}
    found |= {role: title_of(title) for role, title in given.items()}
    n_sure = len(found)
    for role in roles:
        free = [title for title in header if title not in found.values()]
        alike = [title for title in free if is_title_of(role, title)]
        if role not in found and len(alike) == 1:
            found[role] = alike[0]
    own = plain_title(found.get("parent", "")).removeprefix("parent").strip()
    if own and plain.get(own) not in (None, *found.values()):
        found.setdefault("child", plain[own])  # parent_id stands beside id
    needed = TRIPLE if "relation" in given else NEEDED.get(kind, roles)
    if not found.keys() >= {*needed}:
        found = _by_cells(kind, sample, needed, found)
    missing = [role for role in needed if role not in found]
    if missing:
        spelled = ",".join(map("{}={}".format, needed, [*header, "COLUMN"]))
        remedy = f"say which column is which, such as --{kind} {file}:{spelled}"
        raise ContextError(
            f"{where}: needs the columns {some(roles)}, but {some(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not in its header {some(header)}; "
            f"{remedy if file else 'rename the columns.'}"
        )
    order = (*TRIPLE, "weight") if "relation" in found else roles
    found = {role: found[role] for role in order if role in found}
    named = ", ".join(f"{role} is {title!r}" for role, title in found.items())
    return Guess(kind, found, named if len(found) > n_sure else "")


def _by_cells(
    kind: str, sample: TableSample, needed: Sequence[str], found: Mapping[str, str]
) -> dict[str, str]:
    """Fill in what the cells tell, or the number of columns, if that is certain."""
    missing = [role for role in needed if role not in found]
    free = [title for title in sample.header if title not in found.values()]
    if len(missing) == len(free) == 1:
        return {**found, missing[0]: free[0]}
    if len(missing) < len(needed):
        return dict(found)
    guess = guess_kind(sample)
    if guess.kind == kind and LEVELS not in guess.columns:
        return {**found, **guess.columns}
    if kind == "hierarchy" and len(free) == 2:
        for child, parent in permutations(sample.columns):
            n_edges = sum(map(len, child.beside(parent).values()))
            is_child = len(child.distinct) >= NEARLY_ALL * n_edges
            if is_child and len(parent.distinct) <= CLEARLY_FEWER * n_edges:
                return {"child": child.title, "parent": parent.title}
    if len(free) == len(needed) and kind in ("edges", "tags", "texts", "names"):
        return {**found, **dict(zip(needed, free, strict=True))}
    if kind == "edges" and len(free) == 3 and not sample.has_header:
        is_triple = sample.columns[2].is_text
        return dict(
            zip(TRIPLE if is_triple else (*needed, "weight"), free, strict=True)
        )
    return dict(found)


def _find_label(columns: Sequence[Column], where: str, file: str = "") -> str:
    """Title of the column of labels in a table of attributes.

    A column called `label` is taken first. Next comes the first column, if it holds
    different texts or has a title for labels, then any other column with such a title,
    and then the only column of different texts. At last the first column is taken, if
    it holds texts that repeat, or different whole numbers.
    """
    rows = zip(*(c.cells for c in columns), strict=True)
    # Rows that equal an earlier one in every cell are no second row of a label.
    distinct = {
        tuple(None if is_missing(x) else str(x).strip() for x in row): row
        for row in rows
    }
    kept = columns_of([c.title for c in columns], list(distinct.values()))
    first, texts = kept[0], [c for c in kept if c.is_unique and c.is_text]
    able = [c for c in kept if c in texts or (c.is_numbers and c.is_called("label"))]
    found = [c for c in kept if c.plain == "label"] + [c for c in able if c is first]
    found += [c for c in able if c.is_called("label")]
    found += texts if len(texts) == 1 else []
    if not texts and (first.is_text or first.is_numbers):
        found.append(first)  # several rows for a label, or numbers that name things
    if found:
        return found[0].title
    own, why = first, "no column can be the labels, because all repeat or hold numbers"
    if texts:
        own, why = texts[0], f"the labels may be in {some(c.title for c in texts)}"
    way = f"--attributes {file}:label={own.title}" if file else f"labels={own.title!r}."
    raise ContextError(f"{where}: {why}; name the column: {way}")


def _find_lineage(columns: Sequence[Column]) -> list[str]:
    """Titles of nested columns, from the labels up; none if they are not nested."""
    if len(columns) < 3 or not all(c.is_text for c in columns):
        return []
    for order in (columns, columns[::-1]):
        pairs = list(pairwise(order))
        if all(a.is_nested_in(b) for a, b in pairs) and all(
            b.repeats and sum(n > 1 for n in Counter(a.known).values()) >= FEWEST_NESTED
            for a, b in pairs[1:]
        ):
            return [c.title for c in order]
    return []


def lacks_header(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
    """Tell whether the first line of a table is a row like the others.

    A number stands above numbers, or a text above the same text, and no title shows
    that the line is a header.

    Examples
    --------
    >>> lacks_header(["cat", "4"], [("dog", "9"), ("fox", "5")])
    True
    >>> lacks_header(["label", "2020"], [("dog", "9"), ("fox", "5")])
    False
    """
    if len(header) < 2 or len(rows) < 2:
        return False
    if any(is_title_of(role, title) for role in TITLES for title in header):
        return False
    columns = columns_of(header, rows)
    numbers = [c.title.strip() for c in columns if c.is_number]
    if not all(x and as_number(x) is not None for x in numbers):
        return False
    if not numbers:
        return any(c.title.strip() in c.known and not c.is_unique for c in columns)
    return not _are_titles(numbers) or as_number(header[0]) is not None


def _are_titles(numbers: Sequence[str]) -> bool:
    """Whether numbers may stand in a header: years, or 1, 2, 3 and so on."""
    if not all(x.isdecimal() for x in numbers):
        return False
    found = list(map(int, numbers))
    are_years = all(1800 <= x <= 2100 for x in found)
    return are_years or {b - a for a, b in pairwise(found)} == {1}


def guess_kind(sample: TableSample, known: Set[str] = frozenset()) -> Guess:
    """Guess what kind of context a table is.

    Parameters
    ----------
    sample : TableSample
        The beginning of the table.
    known : set of str, default frozenset()
        Labels of other files.

    Returns
    -------
    Guess
        The kind and its columns, or the kinds that are possible.

    Examples
    --------
    >>> jobs = [("nurse", "health"), ("surgeon", "health"), ("baker", "food")]
    >>> guess = guess_kind(TableSample(columns_of(["job", "sector"], jobs)))
    >>> guess.kind, guess.columns
    ('hierarchy', {'child': 'job', 'parent': 'sector'})
    """
    columns = sample.columns
    if _is_vectors(sample.first):
        return Guess("vectors", {}, "every row is a word with numbers")
    if len(columns) == 1:
        return Guess("labels", {"label": columns[0].title}, "it has one column")
    if found := _by_titles(columns):
        return found
    if levels := _find_lineage(columns):
        why = f"it is nested: {' → '.join(levels)}"
        return Guess("hierarchy", {LEVELS: "/".join(levels)}, why)
    if len(columns) == 2:
        return _of_two(columns[0], columns[1], known)
    return _of_many(columns, known)


def guess_kinds(tables: Mapping[Path, TableSample]) -> dict[Path, Guess]:
    """Guess the kinds of several tables about the same labels.

    Parameters
    ----------
    tables : mapping from Path to TableSample
        The tables by the names of their files.

    Returns
    -------
    dict
        A guess for each table. Tables that leave their kind open are compared with the
        labels of the others.

    Examples
    --------
    >>> pets = columns_of(["label", "kg"], [("cat", 4), ("dog", 9), ("fox", 5)])
    >>> seen = [("x", "cat"), ("x", "dog"), ("y", "cat"), ("y", "dog")]
    >>> tables = {"pets": pets, "seen": columns_of(["a1", "a2"], seen)}
    >>> guess_kinds({Path(x): TableSample(y) for x, y in tables.items()})[
    ...     Path("seen")
    ... ].kind
    'annotations'
    """
    labels = {name: _labels_of(x) for name, x in tables.items()}
    found = {}
    for name, table in tables.items():
        known = frozenset().union(*(x for other, x in labels.items() if other != name))
        found[name] = guess_kind(table, known)
    return found


def _labels_of(table: TableSample) -> Set[str]:
    """The labels of a table whose kind is certain."""
    columns = guess_kind(table).columns
    roles = ("label", "child", "parent", "source", "target")
    titles = {columns.get(role) for role in roles}
    titles.add(columns.get(LEVELS, "").split("/")[0])
    return frozenset().union(*(c.distinct for c in table.columns if c.title in titles))


def _is_vectors(first: Sequence[str]) -> bool:
    """Whether the first line is a word with numbers, or a count of words and numbers.

    Such files have no header.
    """
    cells = first[0].split() if len(first) == 1 else first
    if len(cells) == 2:
        return all(x.isdecimal() for x in cells)
    number = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    return len(cells) > FEWEST_DIMENSIONS and all(map(number.fullmatch, cells[1:]))


def _by_titles(columns: Sequence[Column]) -> Guess | None:
    """The guess for a table whose titles are those of the documentation."""
    found = {x: c for x in TRIPLE for c in columns if is_title_of(x, c.title)}
    if len(found) == len(columns) == 3:
        return _named("edges", found)
    titles = {c.plain: c for c in columns}
    for kind, roles in NEEDED.items():
        if titles.keys() >= {*roles}:
            # A table of attributes may well have columns for a name and a text.
            may_be_more = kind in ("texts", "names", "tags", "synonyms")
            is_long = titles[roles[0]].repeats and kind != "synonyms"
            if len(columns) == 2 or is_long or not may_be_more:
                return _named(kind, {role: titles[role] for role in roles})
    return None


def _named(kind: str, columns: Mapping[str, Column]) -> Guess:
    titles = {role: c.title for role, c in columns.items()}
    why = f"it has the columns {', '.join(map(repr, titles.values()))}"
    return Guess(kind, titles, why)


def _pair(kind: str, one: Column, other: Column, why: str = "") -> Guess:
    """A guess whose two columns stand in the order that the kind needs."""
    titles = (one.title, other.title)
    found = dict(zip(NEEDED[kind], titles, strict=True))
    return Guess(kind, found, (why or WHY[kind]).format(*map(repr, titles)))


def _attributes(label: Column, others: str) -> Guess:
    why = f"{label.title!r} are the labels and {others}"
    return Guess("attributes", {"label": label.title}, why)


def _of_two(a: Column, b: Column, known: Set[str]) -> Guess:
    """A table of two columns."""
    if b.mostly(_is_value) and not (a.is_number and a.repeats):
        if not a.repeats:
            return _attributes(a, f"{b.title!r} holds values")
        ways = ("attributes FILE", "annotations FILE")
        return Guess(None, {}, f"the values of {a.title!r} repeat", ways)
    if a.holds(b.distinct):
        for child, parent in ((a, b), (b, a)):
            if _is_tree(child, parent):
                why = "values of {1} occur in {0} too"
                return _pair("hierarchy", child, parent, why)
        return _pair("edges", a, b)
    if a.is_nearly_unique:
        return _one_row_per_label(a, b)
    if b.is_nearly_unique and b.is_nested_in(a):
        return _pair("hierarchy", b, a)
    return _many_to_many(a, b, known)


def _is_tree(child: Column, parent: Column) -> bool:
    """Whether many children have few parents each, and no node is its own ancestor."""
    # A child that is its own parent is a fault of the file, which its reader names.
    parents = {x: own - {x} for x, own in child.beside(parent).items()}
    n, n_edges = len(child.distinct), sum(map(len, parents.values()))
    if len(parent.distinct) > FEWER_PARENTS * n or n_edges > MOST_PARENTS * n:
        return False
    try:
        TopologicalSorter(parents).prepare()
    except CycleError:
        return False
    return True


def _one_row_per_label(a: Column, b: Column) -> Guess:
    """Two columns, with each value of the first once."""
    n_words = sum(len(str(x).split()) for x in b.known)
    is_long = bool(b.known) and n_words >= LONG_TEXT * len(b.known)
    if b.is_called("text") or (is_long and not b.repeats):
        return _pair("texts", a, b)
    if b.is_called("tag"):
        return _pair("tags", a, b, "{1} holds a tag of each {0}")
    if b.is_called("parent"):
        return _pair("hierarchy", a, b)
    if not b.repeats and b.is_unique:
        return _pair("names", a, b)
    return _attributes(a, f"{b.title!r} is a category")


def _many_to_many(a: Column, b: Column, known: Set[str]) -> Guess:
    """Two columns of different things that both repeat."""
    if a.is_called("tag") and not b.is_called("tag"):
        return _pair("tags", b, a)
    is_first, is_second = a.holds(known), b.holds(known)
    if is_first and is_second:
        return _pair("edges", a, b, "{0} and {1} hold labels of the other files")
    if is_first or (b.is_called("tag") and not is_second):
        return _pair("tags", a, b)
    is_item = a.is_called("item") and "item" not in a.plain.split()
    if is_second or is_item or (_is_numbered(a) and not _is_numbered(b)):
        return _pair("annotations", a, b)
    if a.is_nested_in(b) and b.is_called("parent"):
        return _pair("hierarchy", a, b)
    why = f"{a.title!r} and {b.title!r} both repeat, and no other file has their labels"
    return Guess(None, {}, why, ("tags FILE", "annotations FILE"))


def _is_numbered(column: Column) -> bool:
    """Whether values are a running number with one beginning, such as `b17`.

    WordNet's ids have eight digits and are labels.
    """
    found = (re.fullmatch(r"(\D*)\d{1,7}", str(x)) for x in column.known)
    starts = {x and x[1] for x in found}
    return len(starts) == 1 and None not in starts


def _of_many(columns: Sequence[Column], known: Set[str]) -> Guess:
    """A table of three columns or more."""
    a, b, c = columns[:3]
    is_pair = a.is_text and b.is_text and len(columns) == 3 and c.is_number
    if is_pair and not a.is_unique:
        is_same = a.holds(b.distinct) or (a.holds(known) and b.holds(known))
        if is_same or (a.is_called("source") and b.is_called("target")):
            guess = _pair("edges", a, b)
            return Guess("edges", {**guess.columns, "weight": c.title}, guess.why)
    try:
        title = _find_label(columns, "table")
    except ContextError:
        return _long_table(columns, known)
    label = next(c for c in columns if c.title == title)
    if not label.is_nearly_unique:
        return _long_table(columns, known)
    return _attributes(label, f"{len(columns) - 1} columns describe them")


def _long_table(columns: Sequence[Column], known: Set[str]) -> Guess:
    """A table with several rows for each label, such as user, film, tag and time."""
    # Users and films may both have numbers: a column called user is no label.
    able = [c for c in columns if c.holds(known)]
    for label in sorted(able, key=lambda c: c.is_called("item")):
        others = [c for c in columns if c is not label]
        for c in others:
            if not SURE["tag"].isdisjoint((c.plain, *c.plain.split())):
                return _pair("tags", label, c)
        for c in others:
            if c.is_called("item") and c.repeats:
                return _pair("annotations", c, label)
    first = columns[0]
    if first.plain in SURE["label"] and any(c.mostly(_is_value) for c in columns[1:]):
        return _attributes(first, "some have several rows")
    a, b = (c.title for c in columns[:2])
    ways = f"tags FILE:label={a},tag={b}", f"annotations FILE:item={a},label={b}"
    why = "no column has a value of its own in every row, so labels have several rows"
    return Guess(None, {}, why, ways)
