"""Suggestions for what a visitor types, despite typing errors.

The order is: exact matches, names that begin with the text, names with a word that
begins with it, names that contain it, and last names and words of similar spelling.

All names stand in one long text, which is searched as it is: a million names take 20
milliseconds and little more memory than their letters. For similar spellings, a set of
letters of every word leaves out most words before any is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Suggestions"]

LONGEST = 100
"""Use only this many characters of a query, which bounds the work."""

MOST_HITS = 5_000
"""Names that one step looks at; of more, the first in the order of the labels."""

ALIKE = 0.7
"""Suggest spellings of at least this normalised similarity; below are false hits."""

MOST_ALIKE = 50
"""Similar spellings that are kept, and labels of each of them."""

MOST_COMPARED = 5_000
"""Words that are compared with a misspelt one, which takes 2 milliseconds. Of more,
those that share most letters."""

MANY = 500_000
"""Letters of all names above which similar spellings are looked for only if nothing
else is found."""

AT_ONCE = 1 << 20
"""Letters whose sets are computed at once: 8 MB."""

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]
Lengths = npt.NDArray[np.int16]
Letters = npt.NDArray[np.uint64]


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
        words = [self._names.holding(query, before) for before in " -"]
        yield from self._shortest(np.concatenate(words))

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

        scores: dict[int, float] = {}
        # A text as long as the query, or the beginning of a longer one.
        for most, weight in ((None, 1.0), (len(query) + 1, 0.95)):
            texts, rows = self._names.similar(query, most)
            found = process.extract(
                query,
                list(dict.fromkeys(texts)),
                scorer=OSA.normalized_similarity,
                score_cutoff=ALIKE,
                limit=MOST_ALIKE,
            )
            left = dict.fromkeys((text for text, _, _ in found), MOST_ALIKE)
            score_of = {text: score * weight for text, score, _ in found}
            for text, i in zip(texts, rows, strict=True):
                if left.get(text):
                    left[text] -= 1
                    scores[i] = max(scores.get(i, 0.0), score_of[text])
        key = {i: (-score, len(self._names[i])) for i, score in scores.items()}
        yield from sorted(scores, key=lambda i: (*key[i], self._names[i]))


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

    def similar(self, query: str, most: int | None) -> tuple[list[str], list[int]]:
        """Lines and words that share most letters with a text, and the row of each.

        `most` cuts them; without it only those of a similar length are found.
        """
        begins, lengths, rows, letters = self._words
        own = _letters(query)
        lost = np.bitwise_count(own & ~letters)
        if most is None:
            longest = np.maximum(lengths, len(query))
            n_errors = (longest * (1 - ALIKE) + 1e-9).astype(np.uint8)
            lost = np.maximum(lost, np.abs(lengths - len(query)))
            # Every letter that only one of the two texts has is an error, too.
            lost = np.maximum(lost, np.bitwise_count(letters & ~own))
            at = np.flatnonzero(lost <= n_errors)
        else:
            most_lost = int(most * (1 - ALIKE) + 1e-9)
            at = np.flatnonzero((lost <= most_lost) & (lengths >= most))
        if len(at) > MOST_COMPARED:
            at = at[np.argpartition(lost[at], MOST_COMPARED)[:MOST_COMPARED]]
            at.sort()
        ends = begins[at] + (lengths[at] if most is None else most)
        places = zip(begins[at].tolist(), ends.tolist(), strict=True)
        return [self.text[begin:end] for begin, end in places], rows[at].tolist()

    @cached_property
    def _words(self) -> tuple[Ints, Lengths, Rows, Letters]:
        """Begin, length, row and letters of every line and every word of a line."""
        bits = [
            _bits(self.text[start : start + AT_ONCE])
            for start in range(0, len(self.text), AT_ONCE)
        ]
        bit = np.concatenate(bits)
        is_gap = bit == 0
        begins = 1 + np.flatnonzero(is_gap[:-1] & ~is_gap[1:])
        ends = 1 + np.flatnonzero(~is_gap[:-1] & is_gap[1:])
        rows = np.searchsorted(self.starts, begins, side="right") - 1
        n_words = np.bincount(rows, minlength=len(self.starts) - 1)
        if not len(begins):
            none = np.zeros(0, np.uint64)
            return none.astype(int), none.astype(np.int16), none.astype(np.int32), none
        letters = np.bitwise_or.reduceat(bit, begins)
        # Lines of several words stand for themselves, too.
        several = np.flatnonzero(n_words > 1)
        first = np.searchsorted(rows, np.flatnonzero(n_words))
        whole = np.bitwise_or.reduceat(letters, first)[n_words[n_words > 0] > 1]
        begins = np.concatenate([begins, self.starts[several]])
        ends = np.concatenate([ends, self.starts[several + 1] - 1])
        return (
            begins,
            np.minimum(ends - begins, 10_000).astype(np.int16),
            np.concatenate([rows, several]).astype(np.int32),
            np.concatenate([letters, whole]),
        )


def _one_line(text: str) -> str:
    """Lower case, without line breaks."""
    return text.lower().replace("\n", " ")


def _bits(text: str) -> Letters:
    """A bit for each letter; none for what separates words."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    bit = np.uint64(1) << (codes % 64).astype(np.uint64)
    bit[(codes == 10) | (codes == 32) | (codes == 45)] = 0
    return bit


def _letters(text: str) -> np.uint64:
    """The set of letters of a text."""
    return np.uint64(np.bitwise_or.reduce(_bits(text), initial=np.uint64(0)))
