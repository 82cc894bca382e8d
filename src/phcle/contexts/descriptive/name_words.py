"""Words and character pieces of label names: "wine glass" and "glass" share a word.

A piece is three to five characters of a word, with … where the word may go on: `glas…`
begins a word, `…lass` ends one, and `…las…` stands anywhere in one. Pieces compare what
words cannot, such as singular and plural, or "engineer" and "engineering".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats
from phcle.contexts.descriptive.sources import Words, weigh_known_words
from phcle.contexts.labels import normal
from phcle.errors import ContextError

CUT = "…"
"""Marks the side on which a word may go on beyond a piece."""

WORD = re.compile(r"[^\W_]+[+#]*")
"""A word of a name. Plus and number signs belong to it: C, C++ and C# differ."""

PIECES = (3, 4, 5)
"""Numbers of characters in a piece, counting the ends of the word, as in scikit-learn's
`char_wb`. Shorter pieces are in every other word; longer ones are nearly words."""

WORD_WEIGHT = 3.0
"""How much more a word counts than a piece of the same rarity. A word of eight letters
has 27 pieces, which would drown it."""

FEWEST_NAMES = 2
"""Words and pieces of fewer names are left out: they relate the name to no other."""

MOST_PIECES = 2_000
"""Most pieces that become columns, the most common first."""


def split_name(name: str) -> list[str]:
    """Split a name into words and pieces of words.

    Parameters
    ----------
    name : str
        A label or its readable name. Letters of any case are the same; a capital
        within a word begins a new one.

    Returns
    -------
    list of str
        The words, then their pieces.

    Examples
    --------
    >>> split_name("Tea_4")
    ['tea', '4', 'te…', '…tea…', '…ea', 'tea…', '…tea']
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", normal(name).replace(CUT, " "))
    words = WORD.findall(spaced.casefold())
    return [*words, *(piece for word in words for piece in _pieces(word))]


def _pieces(word: str) -> list[str]:
    """The pieces of a word; the ends of the word count as a character."""
    padded, found = f" {word} ", []
    for n in PIECES:
        for start in range(len(padded) - n + 1):
            piece = padded[start : start + n]
            if piece == padded:
                continue
            begins = "" if piece[0] == " " else CUT
            ends = "" if piece[-1] == " " else CUT
            found.append(f"{begins}{piece.strip()}{ends}")
    return found


def is_piece(column: str) -> bool:
    """Tell whether a column is a piece of a word, and no whole word.

    Parameters
    ----------
    column : str
        What `split_name` returned.

    Returns
    -------
    bool
        Whether the word may go on at either end.
    """
    return column.startswith(CUT) or column.endswith(CUT)


def are_within(columns: Sequence[str]) -> list[bool]:
    """Tell which pieces are part of a longer piece or word.

    Parameters
    ----------
    columns : sequence of str
        Words and pieces.

    Returns
    -------
    list of bool
        For each, whether another one contains it.

    Examples
    --------
    >>> are_within(["glass", "gla…", "…ass", "win…"])
    [False, True, True, False]
    """
    texts = [x.strip(CUT) for x in columns]
    longest: list[str] = []
    found = [False] * len(texts)
    for i in sorted(
        range(len(texts)), key=lambda i: (-len(texts[i]), is_piece(columns[i]))
    ):
        found[i] = any(texts[i] in other for other in longest)
        if not found[i]:
            longest.append(texts[i])
    return found


def weigh_names(
    names: Sequence[str], context: str
) -> tuple[tuple[str, ...], Floats, sp.csr_array]:
    """Compute TF-IDF weights of the words and pieces of names.

    Parameters
    ----------
    names : sequence of str
        The names.
    context : str
        Name of the context, for messages.

    Returns
    -------
    columns : tuple of str
        Words and pieces that several names have.
    rarity : array of shape (columns,)
        Weight of each word and piece before rows are scaled.
    weights : csr_array of shape (names, columns)
        Weights; rows have unit length, or are empty if a name shares nothing.
    """
    counts = Counter(x for name in names for x in set(split_name(name)))
    shared = {x: n for x, n in counts.items() if n >= FEWEST_NAMES}
    if not shared:
        raise ContextError(
            f"context {context!r}: no two names share a word or a piece of one; leave "
            "it out."
        )
    pieces = sorted((x for x in shared if is_piece(x)), key=lambda x: (-shared[x], x))
    words = sorted(x for x in shared if not is_piece(x))
    columns = (*words, *sorted(pieces[:MOST_PIECES]))
    frequency = np.array([shared[x] for x in columns])
    rarity = np.log((1 + len(names)) / (1 + frequency)) + 1
    rarity[: len(words)] *= WORD_WEIGHT
    return columns, rarity, weigh_known_words(names, columns, rarity, split_name)


@dataclass(frozen=True, eq=False)
class NameWords(Words):
    """Names as documents, and the weight of each word and piece."""

    stored_as = "name words"
    split = staticmethod(split_name)
