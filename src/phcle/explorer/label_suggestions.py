"""Suggestions for what a visitor types, despite typing errors.

The order is: exact matches, names that begin with the text, names with a word that
begins with it, names that contain it, and last names and words of similar spelling.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

__all__ = ["Suggestions"]

LONGEST = 100
"""Use only this many characters of a query, which bounds the work."""

ALIKE = 0.7
"""Suggest spellings of at least this normalised similarity; below are false hits."""


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
        self._spellings = {x.lower(): y.lower() for x, y in (spellings or {}).items()}
        self._ids = [x.lower() for x in ids]
        self._names = [x.lower() for x in names]

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
        query = typed.strip().lower()[:LONGEST]
        if not query or limit < 1:
            return []
        found: dict[int, None] = {}
        for step in (self._exact, self._prefixed, self._inside, self._alike):
            for position in step(query):
                found.setdefault(position)
                if len(found) == limit:
                    return list(found)
        return list(found)

    def _exact(self, query: str) -> list[int]:
        """Ids and names that equal the query, or that it is another spelling of."""
        spelled = self._spellings.get(query, query)
        return self._by_text.get(query) or self._by_text.get(spelled, [])

    def _prefixed(self, query: str) -> Iterator[int]:
        """Names and then words that begin with the query, the shortest names first."""
        for keys in (self._sorted_names, self._sorted_words):
            start = bisect_left(keys, (query, -1))
            stop = bisect_left(keys, (query + "\U0010ffff", -1))
            hits = {position for _, position in keys[start:stop]}
            yield from sorted(hits, key=lambda i: (len(self._names[i]), self._names[i]))

    def _inside(self, query: str) -> Iterator[int]:
        """Names, then ids, that contain the query."""
        if len(query) < 2:
            return
        hits = [i for i, name in enumerate(self._names) if query in name]
        yield from sorted(hits, key=lambda i: (len(self._names[i]), self._names[i]))
        yield from (i for i, text in enumerate(self._ids) if query in text)

    def _alike(self, query: str) -> Iterator[int]:
        """Names and words of similar spelling, or with a similar beginning."""
        if len(query) < 3:
            return
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        texts, owners = self._texts
        scores: dict[int, float] = {}
        begun = [text[: len(query) + 1] for text in texts]
        for words, weight in ((texts, 1.0), (begun, 0.95)):
            found = process.extract(
                query,
                words,
                scorer=OSA.normalized_similarity,
                score_cutoff=ALIKE,
                limit=50,
            )
            for _, score, at in found:
                for i in owners[at][:50]:
                    scores[i] = max(scores.get(i, 0.0), score * weight)
        yield from sorted(
            scores, key=lambda i: (-scores[i], len(self._names[i]), self._names[i])
        )

    @cached_property
    def _by_text(self) -> dict[str, list[int]]:
        """Positions by id and by name."""
        found: dict[str, list[int]] = {}
        for texts in (self._ids, self._names):
            for i, text in enumerate(texts):
                found.setdefault(text, []).append(i)
        return found

    @cached_property
    def _sorted_names(self) -> list[tuple[str, int]]:
        """Names in alphabetical order, with positions."""
        return sorted((name, i) for i, name in enumerate(self._names))

    @cached_property
    def _sorted_words(self) -> list[tuple[str, int]]:
        """Words of names other than the first, in alphabetical order."""
        return sorted(
            (word, i)
            for i, name in enumerate(self._names)
            for word in name.replace("-", " ").split()[1:]
        )

    @cached_property
    def _texts(self) -> tuple[list[str], list[list[int]]]:
        """Every name and every word of a name, with the positions that have it."""
        owners: dict[str, list[int]] = {}
        for i, name in enumerate(self._names):
            words = name.replace("-", " ").split()
            for text in {name, *(words if len(words) > 1 else ())}:
                owners.setdefault(text, []).append(i)
        return list(owners), list(owners.values())
