"""Suggestions for what a visitor types, despite typing errors.

The order is: exact matches, names that begin with the text, names with a word that
begins with it, names that contain it, and last names and words of similar spelling.

All names stand in one long text, which is searched as it is: a million names take 20
milliseconds and little more memory than their letters. For similar spellings, RapidFuzz
compares the query with every name and every word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

import numpy as np

from phcle.arrays import Ints
from phcle.errors import UnknownLabelError

LONGEST = 100
"""Use only this many characters of a query, which bounds the work."""

MOST_HITS = 5_000
"""Names that one step looks at; of more, the first in the order of the labels."""

ALIKE = 0.7
"""Suggest spellings of at least this normalised similarity; below are false hits."""

BEGINNING = 0.95
"""Weight of a name that only begins similarly."""

MOST_ALIKE = 50
"""Similar spellings that are kept."""

MANY = 500_000
"""Letters of all names above which similar spellings are looked for only if nothing
else is found."""

ENDS = "\n -"
"""What stands before and after a word; a line break, before and after a name."""


class LabelNotFound(UnknownLabelError):
    """A text that names no label, or several.

    Parameters
    ----------
    message : str
        What went wrong.
    text : str
        The text.
    near : tuple of str
        Labels that may be meant.
    """

    def __init__(self, message: str, text: str, near: tuple[str, ...]) -> None:
        super().__init__(message)
        self.text = text
        self.near = near


class Suggestions:
    """Find things by id or name.

    Parameters
    ----------
    ids, names : sequence of str
        Id and name of each thing.
    spellings : mapping from str to str, optional
        Ids by other spellings, which are found as ids are.

    Examples
    --------
    >>> pots = Suggestions(["n1", "n2"], ["coffeepot", "flower pot"])
    >>> pots.find("coffepot"), pots.find("pot", 1), pots.find("N2")
    ([0], [1], [1])
    """

    def __init__(
        self,
        ids: Sequence[str],
        names: Sequence[str],
        spellings: Mapping[str, str] | None = None,
    ) -> None:
        self._spellings = {_one_line(x): y for x, y in (spellings or {}).items()}
        self._names = _Lines(names)
        self._ids = self._names if ids == names else _Lines(ids)

    def find(self, typed: str, limit: int = 10) -> list[int]:
        """Find the best matches.

        Parameters
        ----------
        typed : str
            What was typed; upper and lower case are the same.
        limit : int, default=10
            Number of matches, at most.

        Returns
        -------
        list of int
            Positions of the matches, best first.
        """
        query = _one_line(typed.strip()[:LONGEST])
        if not query or limit < 1:
            return []
        found: dict[int, None] = {}
        for step in (self._exact, self._prefixed, self._inside, self._alike):
            if found and step == self._alike and len(self._names.text) > MANY:
                break
            for position in step(query):
                found.setdefault(position)
                if len(found) == limit:
                    return list(found)
        return list(found)

    def exactly(self, text: str) -> list[int]:
        """Find the things with an id or, if there is none, with a name.

        Parameters
        ----------
        text : str
            An id or a name; upper and lower case are the same.

        Returns
        -------
        list of int
            Positions of the matches.
        """
        return list(dict.fromkeys(self._exact(_one_line(text.strip()))))

    def containing(self, text: str) -> Ints:
        """Find everything with a text in its name or id.

        Parameters
        ----------
        text : str
            The text; upper and lower case are the same.

        Returns
        -------
        array of int
            Positions, in ascending order.
        """
        query = _one_line(text.strip()[:LONGEST])
        lines = [self._names] if self._ids is self._names else [self._names, self._ids]
        if not query:
            return np.arange(len(self._names.starts) - 1)
        return np.unique(
            np.concatenate([x.holding(query, most=len(x.starts)) for x in lines])
        )

    def _exact(self, query: str) -> Iterator[int]:
        """Ids and names that equal the query, or that it is another spelling of."""
        for lines in (self._ids, self._names):
            yield from lines.holding(query, "\n", "\n").tolist()
        if query in self._spellings:
            label = _one_line(self._spellings[query])
            yield from self._ids.holding(label, "\n", "\n").tolist()

    def _prefixed(self, query: str) -> Iterator[int]:
        """Names and then words that begin with the query, the shortest names first."""
        yield from self._shortest(self._names.holding(query, "\n"))
        yield from self._shortest(self._having(query))

    def _having(self, word: str, after: Iterable[str] = ("",)) -> Ints:
        """Rows with a word or a name that begins so, and that ends there if asked."""
        found = [self._names.holding(word, x, y) for x in ENDS for y in after]
        return np.concatenate(found)

    def _inside(self, query: str) -> Iterator[int]:
        """Names, then ids, that contain the query."""
        if len(query) >= 2:
            yield from self._shortest(self._names.holding(query))
            yield from self._ids.holding(query).tolist()

    def _shortest(self, rows: Ints) -> list[int]:
        """Rows in the order of the lengths of their names, then of the alphabet."""
        key = {i: self._names[i] for i in np.unique(rows).tolist()}
        return sorted(key, key=lambda i: (len(key[i]), key[i]))

    def _alike(self, query: str) -> Iterator[int]:
        """Names and words of similar spelling, or with a similar beginning."""
        if len(query) < 3:
            return
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        scores: dict[tuple[str, bool], float] = {}
        # A text as long as the query, or the beginning of a longer one.
        beginnings = (x[: len(query) + 1] for x in self._texts if len(x) > len(query))
        for texts, is_whole in (
            (self._texts, True),
            (list(dict.fromkeys(beginnings)), False),
        ):
            found = process.extract(
                query,
                texts,
                scorer=OSA.normalized_similarity,
                score_cutoff=ALIKE,
                limit=MOST_ALIKE,
            )
            for text, score, _ in found:
                scores[text, is_whole] = score if is_whole else BEGINNING * score
        ranked = sorted(scores, key=lambda x: -scores[x])
        for _, same in groupby(ranked, key=scores.__getitem__):
            rows = [
                self._having(x, ENDS if is_whole else ("",)) for x, is_whole in same
            ]
            yield from self._shortest(np.concatenate(rows))

    @cached_property
    def _texts(self) -> list[str]:
        """Every name and every word of a name, once."""
        text = self._names.text
        both = dict.fromkeys([*text.split("\n"), *re.split(f"[{ENDS}]", text)])
        return [x for x in both if x]


class _Lines:
    """Texts in one long text, each in a line of its own and in lower case."""

    def __init__(self, texts: Sequence[str]) -> None:
        lines = [_one_line(text) for text in texts]
        self.text = "\n" + "".join(f"{line}\n" for line in lines)
        lengths = np.fromiter(map(len, lines), np.int64, len(lines))
        self.starts = 1 + np.concatenate([[0], np.cumsum(lengths + 1)])
        self._last = ("", 0)  # the last text that was looked for, and its first place

    def __getitem__(self, row: int) -> str:
        return self.text[self.starts[row] : self.starts[row + 1] - 1]

    def holding(
        self, query: str, before: str = "", after: str = "", most: int = MOST_HITS
    ) -> Ints:
        """Rows that hold a text, between two letters; a line break is an end."""
        last = self._last
        if last[0] != query:
            self._last = last = (query, self.text.find(query))
        needle, found = before + query + after, list[int]()
        at = -1 if last[1] < 0 else self.text.find(needle, max(last[1] - 1, 0))
        while at >= 0 and len(found) < most:
            found.append(at)
            # A line is found once; the break at its end begins the next one.
            stop = self.text.find("\n", at + 1)
            at = self.text.find(needle, max(stop, at + 1)) if stop >= 0 else -1
        places = np.array(found, np.int64) + len(before)
        return np.searchsorted(self.starts, places, side="right") - 1


def _one_line(text: str) -> str:
    """Lower case, without line breaks."""
    return text.lower().replace("\n", " ")
