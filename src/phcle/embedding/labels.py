"""Look up labels, or nodes of a taxonomy, by id, readable name or other spelling.

What is not found exactly can be suggested. The order is: exact matches, names that
begin with the text, names with a word that begins with it, names that contain it, and
last names and words of similar spelling, which RapidFuzz finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from phcle.arrays import Ints
from phcle.contexts.labels import index_of, normal
from phcle.errors import UnknownLabelError, some
from phcle.tables.matching import match_key

LONGEST = 100
"""Use only this many characters of a query, which bounds the work."""

MOST_HITS = 50_000
"""Names that contain a text of which the best are sought; of more, the first ones."""

ALIKE = 0.7
"""Suggest spellings of at least this normalised similarity; below are false hits. A
word of three letters may have one slip."""

BEGINNING = 0.95
"""Weight of a name that only begins similarly."""

MOST_ALIKE = 50
"""Similar spellings that are kept."""

MANY = 50_000
"""Names above which similar spellings are looked for only if nothing else is found."""

MOST_NEAR, MOST_CALLED = 3, 20
"""Labels that an error suggests, and of one name that it lists."""


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
    noun : {"label", "node"}, default "label"
        What each of them is, for messages.

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
        noun: str = "label",
    ) -> None:
        self.ids, self.noun = ids, noun
        self.names, self.spellings = names or {}, spellings or {}

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
                f"{text!r} is the name of {len(found)} {self.noun}s: {some(called)}; "
                "use the id.",
                text,
                tuple(called),
            )
        near = tuple(self.ids[i] for i in self.suggest(text, MOST_NEAR))
        alike = " or ".join(repr(self.name_of(label)) for label in near)
        hint = f" Did you mean {alike}?" if alike else ""
        missing = f"no {self.noun} {text!r} in this embedding.{hint}"
        raise UnknownLabelError(missing, text, near)

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
    def _keys(self) -> list[str]:
        """What spellings of each name have in common."""
        return [match_key(self.name_of(x)) for x in self.ids]

    @cached_property
    def _id_keys(self) -> list[str]:
        return list(map(match_key, self.ids)) if self.names else self._keys

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        return _rows_by(enumerate(self._keys))

    @cached_property
    def _by_id(self) -> dict[str, list[int]]:
        return _rows_by(enumerate(self._id_keys)) if self.names else self._by_name

    @cached_property
    def _by_text(self) -> dict[str, list[int]]:
        """Rows by every name and every word of a name."""
        parts = (dict.fromkeys([x, *re.split("[ -]", x)]) for x in self._keys)
        pairs = ((i, text) for i, own in enumerate(parts) for text in own if text)
        return _rows_by(pairs)

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
        found = dict.fromkeys([*self._exact(query), *self._holding(query)])
        if len(found) < k and (not found or len(self.ids) <= MANY):
            found |= dict.fromkeys(self._alike(query))
        return list(found)[:k]

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
        keys = zip(self._keys, self._id_keys, strict=True)
        rows = [i for i, own in enumerate(keys) if query in own[0] or query in own[1]]
        return np.array(rows, dtype=np.int64)

    def _exact(self, query: str) -> list[int]:
        """Ids and names that equal the query, or that it is another spelling of."""
        found = self._by_id.get(query, []) + self._by_name.get(query, [])
        for spelling, label in self.spellings.items():
            if match_key(spelling) == query:
                found = found + self._by_id.get(match_key(label), [])
        return found

    def _holding(self, query: str) -> list[int]:
        """Names, then ids, that contain the query; of names, the best first."""
        rows = self.containing(query)[:MOST_HITS].tolist()
        rows.sort(key=lambda i: self._rank(i, query))
        return [i for i in rows if len(query) > 1 or self._rank(i, query)[0] < 2]

    def _rank(self, row: int, query: str) -> tuple[int, int, str]:
        """Whether a name or a word begins with the query; short names come first."""
        key = self._keys[row]
        if query not in key:
            return 3, 0, ""
        is_word = f" {query}" in key or f"-{query}" in key
        return 0 if key.startswith(query) else 2 - is_word, len(key), key

    def _alike(self, query: str) -> list[int]:
        """Names and words of similar spelling, or with a similar beginning."""
        if len(query) < 3:
            return []
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        # A text as long as the query, or the beginning of a longer one.
        longer = (x for x in self._by_text if len(x) > len(query))
        begun: dict[str, list[int]] = {}
        for text in longer:
            begun.setdefault(text[: len(query) + 1], []).extend(self._by_text[text])
        slip = min(ALIKE, 1 - 1.01 / len(query))
        scores: dict[int, float] = {}
        tries = ((self._by_text, 1.0, slip), (begun, BEGINNING, ALIKE))
        for texts, weight, least in tries:
            for text, score, _ in process.extract(
                query,
                list(texts),
                scorer=OSA.normalized_similarity,
                score_cutoff=least,
                limit=MOST_ALIKE,
            ):
                for i in texts[text]:
                    scores[i] = max(scores.get(i, 0.0), weight * score)
        return sorted(scores, key=lambda i: (-scores[i], len(self._keys[i])))


def _rows_by(pairs: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    """Rows by their texts."""
    found: dict[str, list[int]] = {}
    for row, text in pairs:
        found.setdefault(text, []).append(row)
    return found
