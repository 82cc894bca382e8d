"""What the title and the cells of a column say about its part in a table.

Files and data frames use the same evidence: which column holds the labels
(`find_labels`), and whether cells are texts, numbers or names that repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from phcle.contexts.column_titles import LABEL_TITLES, plain_title
from phcle.contexts.descriptive.column_reading import as_number
from phcle.contexts.labels import is_missing, normal
from phcle.errors import ContextError, some

MOSTLY = 0.9
"""Share of the known cells from which a column counts as texts, or as numbers: real
columns have a few cells of another kind, such as markers of the unknown."""

CHECKED = 100_000
"""Most cells of a column that are looked at, so that large tables are fast."""


@dataclass(frozen=True, eq=False)
class ColumnEvidence:
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
            for x in self.cells[:CHECKED]
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
    def is_whole(self) -> bool:
        """Whether the cells are whole numbers, which may be labels."""
        return self._share(lambda x: str(x).isdecimal())

    @cached_property
    def is_unique(self) -> bool:
        """Whether every cell is known and none occurs twice."""
        n = min(len(self.cells), CHECKED)
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


def find_labels(columns: Sequence[ColumnEvidence], where: str) -> str:
    """Find the column of labels in a table with one row per label.

    A column called `label` is taken first. Next comes the first column, if it holds
    different texts or has a title for labels, then any other column with such a title,
    and at last the only column of different texts.

    Parameters
    ----------
    columns : sequence of ColumnEvidence
        All columns of the table.
    where : str
        What the table is, for messages.

    Returns
    -------
    str
        Title of the column. A table that leaves it open is refused.

    Examples
    --------
    >>> price = ColumnEvidence("price", [3.5, 3.5, 1.0])
    >>> find_labels([price, ColumnEvidence("what", ["tea", "cocoa", "milk"])], "frame")
    'what'
    """
    able = [
        c
        for c in columns
        if c.is_unique and (c.is_text or (c.is_whole and c.is_called(LABEL_TITLES)))
    ]
    titled = [c for c in able if c.is_called(LABEL_TITLES)]
    texts = [c for c in able if c.is_text]
    exact = [c for c in columns if plain_title(c.title) == "label"]
    for found in (exact, [c for c in able if c is columns[0]], titled[:1]):
        if found:
            return found[0].title
    if len(texts) == 1:
        return texts[0].title
    if texts:
        raise ContextError(
            f"{where}: the labels may be in {some(c.title for c in texts)}; name the "
            f"column: labels={texts[0].title!r}."
        )
    raise ContextError(f"{where}: {_no_labels(columns)}")


def _no_labels(columns: Sequence[ColumnEvidence]) -> str:
    """Why no column can hold the labels, and what to do."""
    named = [c for c in columns if c.is_called(LABEL_TITLES) and not c.is_number]
    near = [*named, *(c for c in columns if c.is_text)]
    if not near:
        return (
            "no column can be the labels, because all hold numbers; name the column: "
            "labels='…', or make the labels the index of the frame."
        )
    column = near[0]
    counts = Counter(map(str, column.known))
    twice = [label for label, n in counts.items() if n > 1]
    if not twice:
        return (
            f"column {column.title!r} seems to hold the labels, but some are empty; "
            "fill them in, or remove the rows."
        )
    return (
        f"no column has a different text in every row. {column.title!r} repeats "
        f"{some(twice, 3)}; merge these rows, or name the column of the labels: "
        "labels='…'."
    )
