"""MEN: pairs of words, and how similar people find them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from phcle.contexts.readers.delimited import read_lines
from phcle.errors import FileError
from phcle_paper.datasets.releases import MEN

__all__ = ["WordPair", "load_men"]


class WordPair(NamedTuple):
    """Two words and the score people gave them, from 0 to 50."""

    one: str
    other: str
    score: float


def load_men(path: str | Path) -> list[WordPair]:
    """The pairs of a file of `word word score` lines, in its order."""
    path = Path(path)
    pairs: list[WordPair] = []
    for line, text in enumerate(read_lines(path), 1):
        words = text.split()
        if not words:
            continue
        try:
            score = float(words[2]) if len(words) == 3 else math.nan
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise FileError(
                f"{path}, line {line}: must be two words and a score. "
                f"Got {text[:60]!r} instead. {MEN.remedy}"
            )
        pairs.append(WordPair(words[0], words[1], score))
    if not pairs:
        raise FileError(f"{path}: is empty. {MEN.remedy}")
    return pairs
