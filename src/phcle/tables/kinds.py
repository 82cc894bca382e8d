"""What kind of context a table is, and which of its columns are which.

One finder serves files and data frames. What the user says comes first, then titles,
then the cells: a parent occurs as a child, the values of a lineage are nested, items of
annotations occur in no other file. A guess is made only where it is certain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise, repeat
from typing import Any

from phcle.contexts.labels import is_missing, normal
from phcle.errors import ContextError, OptionError, did_you_mean, some
from phcle.tables.cells import as_number
from phcle.tables.dates import is_date
from phcle.tables.file_kinds import LEVELS, ROLES
from phcle.tables.numbers import parse_number

NEEDED = {
    kind: ROLES[kind][:2]
    for kind in ("hierarchy", "edges", "annotations", "tags", "texts", "names")
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


def _listed(titles: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {role: tuple(own.split(", ")) for role, own in titles.items()}


TITLES = _listed(
    {
        "child": "child, children, narrower, subcategory, subclass, hyponym",
        "parent": "parent, parents, broader, supercategory, superclass, hypernym",
        "source": "source, from, src, node1, subject, head, start",
        "target": "target, to, dst, dest, destination, node2, object, tail",
        "relation": "relation, predicate, rel, edge type, relation type",
        "weight": "weight, weights, count, strength, n",
        "item": "item, items, image, photo, document, doc, basket, order, "
        "transaction, invoice, session",
        "label": "label, labels, name, id, title, category, class, term, concept, "
        "key, entity",
        "tag": "tag, tags, keyword, keywords",
        "text": "text, texts, description, descriptions, definition, gloss, abstract, "
        "summary",
        "name": "name, names, title, readable name, display name",
        "synonym": "synonym, synonyms",
    }
)
"""Titles of a column by its role. They are enough to take it for that."""

HINTS = _listed(
    {
        "parent": "super, sector, group, family, genus, order, branch, area, "
        "department, division, category, class, type, kind, genre, field",
        "source": "a, one, left",
        "target": "end, b, other, right",
        "item": "picture, file, user, customer, cart, playlist, recipe, patient, "
        "person, sample, page, receipt",
        "label": "names, ids, code, node, word, wnid, item, product, job, species, "
        "language, animal, object, thing",
        "tag": "feature, property, topic, skill, trait, ingredient, theme, attribute",
        "text": "comment, sentence, about, note, notes",
    }
)
"""Titles that point to a role, if the cells say the same."""

WORDS = {role: (*own, *HINTS.get(role, ())) for role, own in TITLES.items()}
"""Words in titles that point to a role; the cells must say the same. Those of labels
often stand above them also as in `job title`, `item_id` and `Product name`."""

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


def is_title_of(role: str, plain: str) -> bool:
    """Tell whether a title is one of a role, also with an ending such as `id`.

    Parameters
    ----------
    role : str
        A key of `TITLES`.
    plain : str
        What `plain_title` returns.

    Returns
    -------
    bool
        Whether the title is enough to take the column for it.

    Examples
    --------
    >>> is_title_of("parent", "parentid"), is_title_of("parent", "family")
    (True, False)
    """
    return plain in TITLES[role] or _ENDING.sub("", plain) in TITLES[role]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table, and what can be seen in it.

    Attributes
    ----------
    title : str
        Its title.
    cells : sequence
        Its cells, also missing ones.
    """

    title: str
    cells: Sequence[Any]

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

    @cached_property
    def is_text(self) -> bool:
        """Whether the cells are texts that are no numbers."""
        return self._share(lambda x: isinstance(x, str) and as_number(x) is None)

    @cached_property
    def is_number(self) -> bool:
        """Whether the cells are numbers or truth values."""
        return self._share(lambda x: as_number(x) is not None)

    @cached_property
    def is_value(self) -> bool:
        """Whether the cells are numbers in any notation, truth values or dates."""
        return self._share(
            lambda x: (
                as_number(x) is not None
                or isinstance(x, date)
                or (isinstance(x, str) and (parse_number(x) is not None or is_date(x)))
            )
        )

    @cached_property
    def is_whole(self) -> bool:
        """Whether the cells are whole numbers, which may be labels."""
        return self._share(lambda x: str(x).isdecimal())

    @cached_property
    def is_unique(self) -> bool:
        """Whether every cell is known and none occurs twice."""
        n = len(self.cells)
        return 0 < n == len(self.known) == len(self.distinct)

    @property
    def repeats(self) -> bool:
        """Whether most values occur more than once."""
        return len(self.known) >= 2 * len(self.distinct)

    @property
    def words_per_cell(self) -> float:
        """Mean number of words."""
        counts = [len(str(x).split()) for x in self.known]
        return sum(counts) / len(counts) if counts else 0.0

    def is_called(self, titles: Iterable[str]) -> bool:
        """Tell whether the title is one of some words, or ends or begins with one.

        Parameters
        ----------
        titles : iterable of str
            The words, in lower case.

        Returns
        -------
        bool
            Whether the title is, for example, `job` or `job title` for `job`.
        """
        plain = plain_title(self.title)
        words = plain.split()
        ends = {plain, words[0], words[-1]} if words else set()
        return not ends.isdisjoint(titles)

    def _share(self, test: Any) -> bool:
        n = sum(map(bool, map(test, self.known)))
        return bool(self.known) and n >= MOSTLY * len(self.known)


@dataclass(frozen=True)
class TableSample:
    """The beginning of a table.

    Attributes
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences
        Some rows; more rows make better guesses, and a few hundred are enough.
    has_header : bool
        Whether the titles stand in the table.
    first : sequence of str
        Its first line, if that is no header.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    has_header: bool = True
    first: Sequence[str] = ()

    @cached_property
    def columns(self) -> list[Column]:
        """The columns with their cells."""
        n = len(self.header)
        full = [[*row, *[None] * (n - len(row))] for row in self.rows]
        return [
            Column(str(title), [row[i] for row in full])
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


def _find_label(columns: Sequence[Column], where: str, file: str = "") -> str:
    """Title of the column of labels in a table of attributes.

    A column called `label` is taken first. Next comes the first column, if it holds
    different texts or has a title for labels, then any other column with such a title,
    and then the only column of different texts. At last the first column is taken, if
    it holds texts that repeat, or different whole numbers.
    """
    distinct = _without_repeated_rows(columns)
    unique = [c for c in distinct if c.is_unique]
    texts = [c for c in unique if c.is_text]
    numbers = [c for c in unique if c.is_whole and c.is_called(WORDS["label"])]
    exact = [c for c in distinct if plain_title(c.title) == "label"]
    able = [c for c in distinct if c in texts or c in numbers]
    first = [c for c in able if c is distinct[0]]
    titled = [c for c in able if c.is_called(WORDS["label"])]
    found = [*exact, *first, *titled, *(texts if len(texts) == 1 else [])]
    if found:
        return found[0].title
    own = distinct[0]
    if not texts and (own.is_text or (own.is_whole and own.is_unique)):
        return own.title  # several rows for a label, or numbers that name things
    why = "no column can be the labels, because all repeat or hold numbers"
    if texts:
        own, why = texts[0], f"the labels may be in {some(c.title for c in texts)}"
    way = f"--attributes {file}:label={own.title}" if file else f"labels={own.title!r}."
    raise ContextError(f"{where}: {why}; name the column: {way}")


def _without_repeated_rows(columns: Sequence[Column]) -> list[Column]:
    """The columns without rows that equal an earlier one in every cell."""
    rows = zip(*(c.cells for c in columns), strict=True)
    distinct = {tuple(map(_comparable, row)): row for row in rows}
    cells = zip(*distinct.values(), strict=True) if distinct else repeat(())
    return [Column(c.title, own) for c, own in zip(columns, cells, strict=False)]


def _comparable(cell: Any) -> Any:
    """A cell that equals others of the same value, also if it is missing."""
    return None if is_missing(cell) else str(cell).strip()


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
    >>> jobs = TableSample(["sector", "job"], [("food", "baker"), ("food", "cook")])
    >>> find_columns("hierarchy", jobs, "jobs").columns
    {'child': 'job', 'parent': 'sector'}
    """
    given = given or {}
    if kind == "attributes" and not given:
        title = _find_label(sample.columns, where, file)
        is_usual = plain_title(title) == "label" or (file and title == sample.header[0])
        why = "" if is_usual else f"labels are in column {title!r}"
        return Guess(kind, {"label": title}, why)
    levels = _find_levels(sample, where, given) if kind == "hierarchy" else None
    if levels is not None:
        why = "" if given else f"taken as a lineage: {' → '.join(levels)}"
        return Guess(kind, {f"level {n}": x for n, x in enumerate(levels)}, why)
    roles = ROLES[kind]
    needed = TRIPLE if "relation" in given else NEEDED.get(kind, roles)
    found = _given(kind, sample, where, given)
    plain = {plain_title(title): title for title in reversed(sample.header)}
    found.update((x, plain[x]) for x in roles if x in plain and x not in found)
    sure = set(found)
    for role in roles:
        free = [title for title in sample.header if title not in found.values()]
        alike = [title for title in free if is_title_of(role, plain_title(title))]
        if role not in found and len(alike) == 1:
            found[role] = alike[0]
    own = plain_title(found.get("parent", "")).removeprefix("parent").strip()
    if "child" not in found and own and plain.get(own) not in (None, *found.values()):
        found["child"] = plain[own]  # parent_id stands beside id
    if any(role not in found for role in needed):
        _by_cells(kind, sample, needed, found)
    missing = [role for role in needed if role not in found]
    if missing:
        raise ContextError(_not_found(kind, sample.header, missing, where, file))
    order = (*TRIPLE, "weight") if "relation" in found else roles
    found = {role: found[role] for role in order if role in found}
    named = ", ".join(f"{role} is {title!r}" for role, title in found.items())
    return Guess(kind, found, named if set(found) - sure else "")


def _given(
    kind: str, sample: TableSample, where: str, given: Mapping[str, str]
) -> dict[str, str]:
    """The columns that the user names."""
    for role in given:
        if role not in ROLES[kind]:
            raise OptionError(
                f"{where}: columns of --{kind} are {', '.join(ROLES[kind])}. "
                f"Got {role!r} instead.{did_you_mean(role, ROLES[kind])}"
            )
    return {x: _title_in(sample.header, title, where) for x, title in given.items()}


def _title_in(header: Sequence[str], title: str, where: str) -> str:
    """The title that a user means; others are refused."""
    plain = {plain_title(known): known for known in reversed(header)}
    found = title if title in header else plain.get(plain_title(title))
    if found is None:
        raise ContextError(
            f"{where}: has no column {title!r}. Its header has "
            f"{some(header)}.{did_you_mean(title, header)}"
        )
    return found


def _by_cells(
    kind: str, sample: TableSample, needed: Sequence[str], found: dict[str, str]
) -> None:
    """Fill in what the cells tell, or the number of columns, if that is certain."""
    missing = [role for role in needed if role not in found]
    free = [title for title in sample.header if title not in found.values()]
    if len(missing) == 1 and len(free) == 1:
        found[missing[0]] = free[0]
        return
    if any(role in found for role in needed):
        return
    guess = guess_kind(sample)
    if guess.kind == kind and "levels" not in guess.columns:
        found.update(guess.columns)
    elif kind == "hierarchy" and len(free) == 2:
        found.update(_child_and_parent(sample))
    elif len(free) == len(needed) and kind not in ("hierarchy", "annotations"):
        found.update(zip(needed, free, strict=True))
    elif kind == "edges" and len(free) == 3 and not sample.has_header:
        third = "relation" if sample.columns[2].is_text else "weight"
        roles = TRIPLE if third == "relation" else (*needed, third)
        found.update(zip(roles, free, strict=True))


def _child_and_parent(sample: TableSample) -> dict[str, str]:
    """Which of two columns holds children: the one whose values hardly repeat."""
    pairs = {tuple(map(str, cells)) for cells in sample.rows}
    shares = [len(set(own)) / len(pairs) for own in zip(*pairs, strict=True)]
    for child, parent in ((0, 1), (1, 0)):
        if pairs and shares[child] >= NEARLY_ALL and shares[parent] <= CLEARLY_FEWER:
            return {"child": sample.header[child], "parent": sample.header[parent]}
    return {}


def _not_found(
    kind: str, header: Sequence[str], missing: Sequence[str], where: str, file: str
) -> str:
    """What is missing, and what to type."""
    wanted = [role for role in ROLES[kind] if role not in ("weight", "relation")]
    titles = zip(wanted, chain(header, repeat("COLUMN")), strict=False)
    spelled = ",".join(f"{role}={title}" for role, title in titles)
    remedy = (
        f"say which column is which, such as --{kind} {file}:{spelled}"
        if file
        else "rename the columns."
    )
    return (
        f"{where}: needs the columns {some(ROLES[kind])}, but {some(missing)} "
        f"{'is' if len(missing) == 1 else 'are'} not in its header {some(header)}; "
        f"{remedy}"
    )


def _find_levels(
    sample: TableSample, where: str, given: Mapping[str, str]
) -> list[str] | None:
    """Titles of a lineage from the labels up; None if the table is none."""
    if LEVELS in given:
        titles = given[LEVELS].split("/")
        return [_title_in(sample.header, title.strip(), where) for title in titles]
    if given or "parent" in map(plain_title, sample.header):
        return None
    return _find_lineage(sample.columns)


def lacks_header(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
    """Tell whether the first line of a table is a row like the others.

    Parameters
    ----------
    header : sequence of str
        Its first line.
    rows : sequence of sequences
        The next lines.

    Returns
    -------
    bool
        Whether a number stands above numbers, or a text above the same text, and no
        title shows that the line is a header.

    Examples
    --------
    >>> lacks_header(["cat", "4"], [("dog", "9"), ("fox", "5")])
    True
    >>> lacks_header(["label", "2020"], [("dog", "9"), ("fox", "5")])
    False
    """
    if len(header) < 2 or len(rows) < 2:
        return False
    if any(is_title_of(role, plain_title(x)) for role in TITLES for x in header):
        return False
    signs = []
    numbers = []
    for column in TableSample(header, rows).columns:
        title = column.title.strip()
        is_number = as_number(title) is not None and bool(title)
        if column.is_number:
            if not is_number:
                return False
            numbers.append(title)
        elif title in column.known and not column.is_unique:
            signs.append(title)
    if not numbers:
        return bool(signs)
    return not _are_titles(numbers) or as_number(header[0]) is not None


def _are_titles(numbers: Sequence[str]) -> bool:
    """Whether numbers may stand in a header: years, or 1, 2, 3 and so on."""
    if not all(x.isdecimal() for x in numbers):
        return False
    found = list(map(int, numbers))
    if all(1800 <= x <= 2100 for x in found):
        return True
    return len(found) > 1 and {b - a for a, b in pairwise(found)} == {1}


def guess_kind(sample: TableSample, known: Set[str] = frozenset()) -> Guess:
    """Guess what kind of context a table is.

    Parameters
    ----------
    sample : TableSample
        The beginning of the table.
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
    >>> guess = guess_kind(TableSample(["job", "sector"], jobs))
    >>> guess.kind, guess.columns
    ('hierarchy', {'child': 'job', 'parent': 'sector'})
    """
    header, columns = sample.header, sample.columns
    if _is_vectors(sample.first or header):
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
    alone = {name: guess_kind(x) for name, x in tables.items()}
    labels = {name: _labels_of(tables[name], alone[name]) for name in tables}
    found = {}
    for name, table in tables.items():
        known = frozenset().union(*(x for other, x in labels.items() if other != name))
        found[name] = guess_kind(table, known)
    return found


def _labels_of(table: TableSample, guess: Guess) -> Set[str]:
    """The labels of a table whose kind is certain."""
    roles = (*NEEDED.get(guess.kind or "", ()), "label")
    if guess.kind in ("tags", "annotations", "texts", "names"):
        roles = ("label",)
    titles = {guess.columns[role] for role in roles if role in guess.columns}
    titles |= set(guess.columns.get(LEVELS, "").split("/")[:1])
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


def _by_exact_titles(columns: Sequence[Column]) -> Guess | None:
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


def _by_triple_titles(columns: Sequence[Column]) -> Guess | None:
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


def _by_lineage(columns: Sequence[Column]) -> Guess | None:
    """A wide table of nested texts, such as species, genus and family."""
    levels = _find_lineage(columns)
    if levels is None:
        return None
    why = f"it is nested: {' → '.join(levels)}"
    return Guess("hierarchy", {LEVELS: "/".join(levels)}, why)


def _find_lineage(columns: Sequence[Column]) -> list[str] | None:
    """Titles of nested columns, from the labels up; None if they are not nested."""
    if len(columns) < 3 or not all(c.is_text for c in columns):
        return None
    for order in (columns, columns[::-1]):
        pairs = list(pairwise(order))
        if all(_is_nested(a, b) for a, b in pairs) and all(
            _is_tested(a, b) for a, b in pairs[1:]
        ):
            return [c.title for c in order]
    return None


def _is_nested(one: Column, other: Column) -> bool:
    """Whether every value of a column has one value in the other, which has fewer."""
    return len(other.distinct) < len(one.distinct) and all(
        len(x) == 1 for x in _together(one, other).values()
    )


def _is_tested(one: Column, other: Column) -> bool:
    """Whether enough values occur in several rows to tell that columns are nested."""
    n_repeated = sum(n > 1 for n in Counter(one.known).values())
    return n_repeated >= FEWEST_NESTED and other.repeats


def _together(one: Column, other: Column) -> dict[object, set[object]]:
    """The values of the other column, by those of the first."""
    found: dict[object, set[object]] = {}
    for a, b in zip(one.cells, other.cells, strict=True):
        if a not in (None, "") and b not in (None, ""):
            found.setdefault(a, set()).add(b)
    return found


def _of_two(a: Column, b: Column, known: Set[str]) -> Guess:
    """A table of two columns."""
    if b.is_value and not (a.is_number and a.repeats):
        if a.repeats:
            why = f"the values of {a.title!r} repeat"
            return _open("attributes", "annotations", why=why)
        why = f"{a.title!r} are the labels and {b.title!r} holds values"
        return Guess("attributes", {"label": a.title}, why)
    if _overlap(a.distinct, b.distinct):
        return _related(a, b)
    if _is_nearly_unique(a):
        return _one_row_per_label(a, b)
    if _is_nearly_unique(b) and _is_nested(b, a):
        return _pair("hierarchy", b, a, "every {0} has one {1}")
    return _many_to_many(a, b, known)


def _one_row_per_label(a: Column, b: Column) -> Guess:
    """Two columns, with each value of the first once."""
    if b.is_called(WORDS["text"]) or (b.words_per_cell >= LONG_TEXT and not b.repeats):
        return _pair("texts", a, b, "{1} holds a text about each {0}")
    if b.is_called(WORDS["tag"]):
        return _pair("tags", a, b, "{1} holds a tag of each {0}")
    if b.is_called(WORDS["parent"]):
        return _pair("hierarchy", a, b, "every {0} has one {1}")
    if not b.repeats and b.is_unique:
        return _pair("names", a, b, "{1} has a name for each {0}")
    why = f"{a.title!r} are the labels and {b.title!r} is a category"
    return Guess("attributes", {"label": a.title}, why)


def _related(a: Column, b: Column) -> Guess:
    """Two columns with the same labels."""
    for child, parent in ((a, b), (b, a)):
        if _is_tree(child, parent):
            return _pair("hierarchy", child, parent, "values of {1} occur in {0} too")
    return _pair("edges", a, b, "{0} and {1} hold the same labels")


def _is_tree(child: Column, parent: Column) -> bool:
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


def _many_to_many(a: Column, b: Column, known: Set[str]) -> Guess:
    """Two columns of different things that both repeat."""
    tags = _pair("tags", a, b, "each {0} has several {1}")
    annotations = _pair("annotations", a, b, "each {0} holds several {1}")
    if a.is_called(WORDS["tag"]) and not b.is_called(WORDS["tag"]):
        return _pair("tags", b, a, "each {0} has several {1}")
    is_first, is_second = _overlap(a.distinct, known), _overlap(b.distinct, known)
    if is_first and is_second:
        return _pair("edges", a, b, "{0} and {1} hold labels of the other files")
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
        return _pair("hierarchy", a, b, "every {0} has one {1}")
    why = f"{a.title!r} and {b.title!r} both repeat, and no other file has their labels"
    return _open("tags", "annotations", why=why)


def _of_many(columns: Sequence[Column], known: Set[str]) -> Guess:
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
        label = _find_label(columns, "table")
    except ContextError:
        return _long_table(columns, known)
    (own,) = (c for c in columns if c.title == label)
    if not _is_nearly_unique(own):
        return _long_table(columns, known)
    why = f"{label!r} are the labels and {len(columns) - 1} columns describe them"
    return Guess("attributes", {"label": label}, why)


def _long_table(columns: Sequence[Column], known: Set[str]) -> Guess:
    """A table with several rows for each label, such as user, film, tag and time."""
    # Users and films may both have numbers: a column called user is no label.
    able = [c for c in columns if _overlap(c.distinct, known)]
    for label in sorted(able, key=lambda c: c.is_called(WORDS["item"])):
        others = [c for c in columns if c is not label]
        for c in others:
            if c.is_called(TITLES["tag"]):
                return _pair("tags", label, c, "each {0} has several {1}")
        for c in others:
            if c.is_called(WORDS["item"]) and c.repeats:
                return _pair("annotations", c, label, "each {0} holds several {1}")
    first = columns[0]
    is_titled = plain_title(first.title) in TITLES["label"]
    if is_titled and any(c.is_value for c in columns[1:]):
        why = f"{first.title!r} are the labels, some with several rows"
        return Guess("attributes", {"label": first.title}, why)
    why = "no column has a value of its own in every row, so labels have several rows"
    a, b = (c.title for c in columns[:2])
    ways = f"--tags FILE:label={a},tag={b} or --annotations FILE:item={a},label={b}"
    between = ("tags", "annotations")
    return Guess(None, {}, f"{why}; say what it is, such as {ways}.", between)


def _pair(kind: str, one: Column, other: Column, why: str) -> Guess:
    """A guess whose two columns stand in the order that the kind needs.

    `{0}` and `{1}` stand for their titles in the reason.
    """
    titles = (one.title, other.title)
    found = dict(zip(NEEDED[kind], titles, strict=True))
    return Guess(kind, found, why.format(*map(repr, titles)))


def _open(*kinds: str, why: str) -> Guess:
    """A table that may be of several kinds."""
    flags = " or ".join(f"--{kind} FILE" for kind in kinds)
    return Guess(None, {}, f"{why.rstrip('.')}; say what it is: {flags}.", kinds)


def _is_nearly_unique(column: Column) -> bool:
    """Whether labels occur once, but for a few rows that repeat."""
    return len(column.known) <= 1.1 * len(column.distinct)


def _overlap(values: Set[str], known: Set[str]) -> bool:
    """Whether the smaller set shares half of its values with the other."""
    fewest = min(len(values), len(known))
    if not fewest:
        return False
    lower = {x.lower() for x in known}
    return sum(x.lower() in lower for x in values) >= HALF * fewest


def _are_numbered(column: Column) -> bool:
    """Whether values are a running number with one beginning, such as `b17`.

    WordNet's ids have eight digits and are labels.
    """
    found = [re.fullmatch(r"(\D*)(\d{1,7})", str(x)) for x in column.known]
    return all(found) and len({x.group(1) for x in found if x is not None}) == 1


def _quoted(titles: Iterable[str]) -> str:
    return ", ".join(map(repr, titles))
