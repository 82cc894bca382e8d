"""Look up labels, or nodes of a taxonomy, by id, readable name or other spelling.

What is not found exactly can be suggested. The order is: exact matches, names that
begin with the text, names with a word that begins with it, names that contain it, and
last names and words of similar spelling.

For suggestions all names stand in one long text, which is searched as it is: a million
names take 20 milliseconds and little more memory than their letters. For similar
spellings, RapidFuzz compares the query with every name and every word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

import numpy as np

from phcle.arrays import Ints
from phcle.contexts.labels import index_of, match_key, normal
from phcle.errors import UnknownLabelError, some

LONGEST = 100
"""Use only this many characters of a query, which bounds the work."""

MOST_HITS = 5_000
"""Names that one step looks at; of more, the first in the order of the labels."""

ALIKE = 0.7
"""Suggest spellings of at least this normalised similarity; below are false hits. A
word of three letters may have one slip."""

BEGINNING = 0.95
"""Weight of a name that only begins similarly."""

MOST_ALIKE = 50
"""Similar spellings that are kept."""

MANY = 500_000
"""Letters of all names above which similar spellings are looked for only if nothing
else is found."""

MOST_NEAR, MOST_CALLED = 3, 20
"""Labels that an error suggests, and of one name that it lists."""

ENDS = "\n -"
"""What stands before and after a word; a line break, before and after a name."""


class Labels:
    """Ids with readable names and other spellings, and the search for them.

    Parameters
    ----------
    ids : sequence of str
        Ids of labels, or of nodes of a taxonomy.
    names : mapping from str to str, optional
        Readable names of some of them.
    spellings : mapping from str to str, optional
        Ids by other spellings.
    noun : str, default "labels"
        What they are, for messages.
    missing : str, optional
        What an error says of a text that is none of them.

    Examples
    --------
    >>> pots = Labels(["n1", "n2"], {"n1": "coffeepot", "n2": "flower pot"})
    >>> pots.resolve("Coffeepot"), pots.spelled("N2"), pots.suggest("coffepot")
    ('n1', 'n2', [0])
    """

    def __init__(
        self,
        ids: Sequence[str],
        names: Mapping[str, str] | None = None,
        spellings: Mapping[str, str] | None = None,
        *,
        noun: str = "labels",
        missing: str = "no label {!r} in this embedding.",
    ) -> None:
        self.ids, self.names = ids, names or {}
        self.spellings = spellings or {}
        self._noun, self._missing = noun, missing

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each id."""
        return index_of(self.ids)

    def name_of(self, label: str) -> str:
        """Return the readable name of an id.

        Parameters
        ----------
        label : str
            The id.

        Returns
        -------
        str
            Its name, or `label` itself if it has none.
        """
        return self.names.get(label, label)

    def resolve(self, text: str) -> str:
        """Find the one id that a text means.

        Parameters
        ----------
        text : str
            An id, a readable name, or another spelling of either.

        Returns
        -------
        str
            The id.

        Raises
        ------
        UnknownLabelError
            If there is none, or if there are several. It suggests others.
        """
        text = normal(str(text))
        own = self._exactly(text)
        if own is not None:
            return own
        key = match_key(text)
        found = self._by_name.get(key) or self._by_id.get(key, [])
        called = [self.ids[i] for i in found[:MOST_CALLED]]
        if len(found) == 1:
            return called[0]
        if called:
            raise UnknownLabelError(
                f"{text!r} is the name of {len(found)} {self._noun}: {some(called)}; "
                "use the id.",
                text,
                tuple(called),
            )
        near = tuple(self.ids[i] for i in self.suggest(text, MOST_NEAR))
        alike = " or ".join(repr(self.name_of(label)) for label in near)
        hint = f" Did you mean {alike}?" if alike else ""
        raise UnknownLabelError(f"{self._missing.format(text)}{hint}", text, near)

    def spelled(self, text: str) -> str | None:
        """Find the id that another file may spell differently, not by its name.

        Parameters
        ----------
        text : str
            An id, or another spelling of it: one that is known, or one that differs
            only in case, spaces or Unicode form.

        Returns
        -------
        str or None
            The id; None if there is none, or more than one.
        """
        text = normal(text)
        own = self._exactly(text)
        found = self._by_id.get(match_key(text), []) if own is None else []
        return self.ids[found[0]] if len(found) == 1 else own

    def _exactly(self, text: str) -> str | None:
        """The id itself, or the one that has this other spelling."""
        own = text if text in self.index else self.spellings.get(text)
        return own if own in self.index else None

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        return _rows_by_key(map(self.name_of, self.ids))

    @cached_property
    def _by_id(self) -> dict[str, list[int]]:
        return _rows_by_key(self.ids) if self.names else self._by_name

    @cached_property
    def _name_lines(self) -> _Lines:
        return _Lines([self.name_of(x) for x in self.ids])

    @cached_property
    def _id_lines(self) -> _Lines:
        return _Lines(self.ids) if self.names else self._name_lines

    @cached_property
    def _spelling_keys(self) -> dict[str, str]:
        return {match_key(x): match_key(y) for x, y in self.spellings.items()}

    def suggest(self, typed: str, k: int = 10) -> list[int]:
        """Suggest ids for what was typed, despite typing errors.

        Parameters
        ----------
        typed : str
            What was typed; upper and lower case are the same.
        k : int, default=10
            Number of suggestions, at most.

        Returns
        -------
        list of int
            Positions of the ids, best first.
        """
        query = match_key(typed.strip()[:LONGEST])
        if not query or k < 1:
            return []
        found: dict[int, None] = {}
        for step in (self._exact, self._prefixed, self._inside, self._alike):
            if found and step == self._alike and len(self._name_lines.text) > MANY:
                break
            for position in step(query):
                found.setdefault(position)
                if len(found) == k:
                    return list(found)
        return list(found)

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
        query = match_key(text.strip()[:LONGEST])
        if not query:
            return np.arange(len(self.ids))
        lines = (self._name_lines, self._id_lines)
        return np.unique(
            np.concatenate([x.holding(query, most=len(self.ids) + 1) for x in lines])
        )

    def _exact(self, query: str) -> Iterator[int]:
        """Ids and names that equal the query, or that it is another spelling of."""
        for lines in (self._id_lines, self._name_lines):
            yield from lines.holding(query, "\n", "\n").tolist()
        if query in self._spelling_keys:
            label = self._spelling_keys[query]
            yield from self._id_lines.holding(label, "\n", "\n").tolist()

    def _prefixed(self, query: str) -> Iterator[int]:
        """Names and then words that begin with the query, the shortest names first."""
        yield from self._shortest(self._name_lines.holding(query, "\n"))
        yield from self._shortest(self._having(query))

    def _having(self, word: str, after: Iterable[str] = ("",)) -> Ints:
        """Rows with a word or a name that begins so, and that ends there if asked."""
        found = [self._name_lines.holding(word, x, y) for x in ENDS for y in after]
        return np.concatenate(found)

    def _inside(self, query: str) -> Iterator[int]:
        """Names, then ids, that contain the query."""
        if len(query) >= 2:
            yield from self._shortest(self._name_lines.holding(query))
            yield from self._id_lines.holding(query).tolist()

    def _shortest(self, rows: Ints) -> list[int]:
        """Rows in the order of the lengths of their names, then of the alphabet."""
        key = {i: self._name_lines[i] for i in np.unique(rows).tolist()}
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
                score_cutoff=min(ALIKE, 1 - 1 / len(query)) if is_whole else ALIKE,
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
        text = self._name_lines.text
        both = dict.fromkeys([*text.split("\n"), *re.split(f"[{ENDS}]", text)])
        return [x for x in both if x]


def _rows_by_key(texts: Iterable[str]) -> dict[str, list[int]]:
    """Positions of texts by what their spellings have in common."""
    found: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        found.setdefault(match_key(text), []).append(row)
    return found


class _Lines:
    """Texts in one long text, each in a line of its own and in one spelling."""

    def __init__(self, texts: Sequence[str]) -> None:
        lines = [match_key(text) for text in texts]
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
