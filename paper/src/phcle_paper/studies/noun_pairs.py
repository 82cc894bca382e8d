"""Pairs of words that people scored, and how well similarities of synsets agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.datasets import WordNetNouns
from phcle.errors import ContextError, OptionError
from phcle_paper.datasets import WordPair

__all__ = ["NounPairs", "Row"]

N_DRAWS = 1000
"""Number of bootstrap draws."""

Floats = npt.NDArray[np.float64]
Row = dict[str, Any]


class NounPairs:
    """Pairs of nouns in two halves, the senses of each, and the score of a method."""

    def __init__(
        self, pairs: Iterable[WordPair], nouns: WordNetNouns, n_senses: int, seed: int
    ) -> None:
        if n_senses < 1:
            raise OptionError(f"n_senses must be 1 or more. Got {n_senses!r} instead.")
        kept = [
            (nouns.senses_of(p.one)[:n_senses], nouns.senses_of(p.other)[:n_senses], p)
            for p in pairs
        ]
        kept = [row for row in kept if row[0] and row[1]]
        if len(kept) < 4:
            raise ContextError(
                f"{len(kept)} pairs are two nouns of WordNet; at least 4 are needed."
            )
        self.senses = [(one, other) for one, other, _ in kept]
        self.scores = np.array([pair.score for _, _, pair in kept])
        self.synsets = tuple(
            dict.fromkeys(x for both in self.senses for word in both for x in word)
        )
        order = np.random.default_rng(seed).permutation(len(kept))
        self.chooses = np.isin(np.arange(len(kept)), order[: len(kept) // 2])

    def row(self, method: str, similarity: Floats) -> Row:
        """Correlation on both halves; the senses nearest to each other decide.

        `similarity` is that of all synsets with all: (synsets, synsets).
        """
        at = {synset: i for i, synset in enumerate(self.synsets)}
        found = np.array(
            [
                similarity[np.ix_([at[x] for x in one], [at[x] for x in other])].max()
                for one, other in self.senses
            ]
        )
        judged = ~self.chooses
        return {
            "method": method,
            "spearman": _spearman(found[judged], self.scores[judged]),
            "chosen_on": _spearman(found[self.chooses], self.scores[self.chooses]),
            "n_pairs": int(judged.sum()),
            "similarities": found[judged].tolist(),
        }

    def lead_error(self, ours: Row, theirs: Row) -> float:
        """Standard error of the lead of one row over another, pairs drawn anew."""
        rng = np.random.default_rng(0)
        scores = self.scores[~self.chooses]
        one, other = (np.array(row["similarities"]) for row in (ours, theirs))
        leads = []
        for _ in range(N_DRAWS):
            drawn = rng.integers(len(scores), size=len(scores))
            leads.append(
                _spearman(one[drawn], scores[drawn])
                - _spearman(other[drawn], scores[drawn])
            )
        return float(np.std(leads, ddof=1))


def _spearman(found: Floats, scores: Floats) -> float:
    """Spearman's rank correlation, 0 where all are alike."""
    from scipy.stats import rankdata  # slow to import

    one, other = rankdata(found), rankdata(scores)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
