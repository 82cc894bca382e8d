"""Human similarity: whether vectors of nouns agree with people about words.

A word stands for its first few senses, the most frequent first, and two words are as
similar as their two most similar senses. PHCLE embeds the synsets from their place in
the hierarchy and from their glosses. Its rivals are the path between two synsets, the
words their glosses share (TF-IDF), and, where an encoder is given, sentence vectors.

Options of PHCLE are chosen among the given ones on a half of the pairs; every method is
scored on the other half.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.alignment import Context
from phcle.contexts.taxonomy import Hierarchy
from phcle.datasets.men import WordPair
from phcle.datasets.wordnet import WordNetNouns
from phcle.errors import ContextError, ConvergenceWarning, OptionError
from phcle.model.estimator import PHCLE
from phcle.uses.zero_shot.frames import pandas_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OPTIONS", "compare_word_similarity", "gloss_texts"]

Floats = npt.NDArray[np.float64]
Options = Mapping[str, Any]
# Similarity of two synsets.
Similarity = Callable[[str, str], float]

# Spelled out, so that the table stays when defaults move. At this tolerance a fit of
# WordNet's synsets ends within ten sweeps.
OPTIONS: tuple[Options, ...] = tuple(
    {
        "dim": 100,
        "ridge": 10.0,
        "context_ridge": 10.0,
        "descriptive_weight": descriptive_weight,
        "max_iter": 30,
        "tol": 1e-2,
    }
    for descriptive_weight in (1.0, 10.0, 100.0)
)


def compare_word_similarity(
    pairs: Iterable[WordPair],
    nouns: WordNetNouns,
    *,
    encoder: Callable[[list[str]], Any] | Any | None = None,
    n_senses: int = 3,
    options: Options | Sequence[Options] = OPTIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """Spearman's correlation with people's scores, a row for every method.

    Parameters
    ----------
    pairs
        Words and scores; a pair with a word that is no noun of WordNet is left out.
    encoder
        A sentence encoder, as for `DescriptiveContext.from_texts`. With it come
        sentence vectors of the glosses, alone and within PHCLE.
    n_senses
        How many senses of a word count.
    options
        Options of PHCLE, or several to choose from on a half of the pairs.

    Returns
    -------
    DataFrame
        Columns method, spearman (on the pairs that chose nothing), chosen_on (the same
        on the other half), n_pairs, n_synsets, and options (those chosen for PHCLE).
    """
    pandas = pandas_for("compare_word_similarity")
    if n_senses < 1:
        raise OptionError(f"n_senses must be 1 or more. Got {n_senses!r} instead.")
    candidates = [options] if isinstance(options, Mapping) else list(options)
    if not candidates:
        raise OptionError("options must hold at least one choice. Got none.")
    words = _Words(pairs, nouns, n_senses, seed)
    hierarchy = RelationalContext.from_hierarchy(
        nouns.edges(words.synsets), labels=words.synsets
    )
    texts = gloss_texts(nouns, words.synsets)
    descriptions = [DescriptiveContext.from_texts(texts, name="gloss words")]
    if encoder is not None:
        descriptions.append(
            DescriptiveContext.from_texts(texts, name="sentences", encoder=encoder)
        )
    rows = [
        words.row("path similarity", _by_path(hierarchy)),
        *(words.row(f"{c.name}, cosine", _by_cosine(c)) for c in descriptions),
    ]
    variants: list[list[Context]] = [[hierarchy]]
    variants += [[hierarchy, context] for context in descriptions]
    if len(descriptions) > 1:
        variants.append([hierarchy, *descriptions])
    for contexts in variants:
        title = f"PHCLE, {' + '.join(context.name for context in contexts)}"
        trials = [
            {**words.row(title, _by_phcle(contexts, choice)), "options": dict(choice)}
            for choice in candidates
        ]
        rows.append(max(trials, key=lambda row: float(row["chosen_on"])))
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def gloss_texts(nouns: WordNetNouns, synsets: Iterable[str]) -> dict[str, str]:
    """`name: definition` of every synset, without examples."""
    return {x: f"{nouns.name_of(x)}: {nouns.definition_of(x)}" for x in synsets}


class _Words:
    """Pairs of nouns in two halves, the senses of each, and the score of a method."""

    def __init__(
        self, pairs: Iterable[WordPair], nouns: WordNetNouns, n_senses: int, seed: int
    ) -> None:
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

    def row(self, method: str, similarity: Similarity) -> dict[str, Any]:
        """Correlation on both halves; the senses nearest to each other decide."""
        found = np.array(
            [
                max(similarity(a, b) for a in one for b in other)
                for one, other in self.senses
            ]
        )
        judged = ~self.chooses
        return {
            "method": method,
            "spearman": _spearman(found[judged], self.scores[judged]),
            "chosen_on": _spearman(found[self.chooses], self.scores[self.chooses]),
            "n_pairs": int(judged.sum()),
            "n_synsets": len(self.synsets),
            "options": {},
        }


def _spearman(found: Floats, scores: Floats) -> float:
    """Spearman's rank correlation, 0 where all are alike."""
    from scipy.stats import rankdata  # slow to import

    one, other = rankdata(found), rankdata(scores)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _by_path(context: RelationalContext) -> Similarity:
    """One over one plus the steps between two synsets over a shared ancestor."""
    if context.hierarchy is None:
        raise ContextError(f"context {context.name!r} is no hierarchy.")
    above = _steps_up(context.hierarchy.hierarchy, context.labels)

    def similarity(one: str, other: str) -> float:
        a, b = above[one], above[other]
        steps = [a[node] + b[node] for node in a.keys() & b.keys()]
        return 1 / (1 + min(steps)) if steps else 0.0

    return similarity


def _steps_up(hierarchy: Hierarchy, labels: Sequence[str]) -> dict[str, dict[int, int]]:
    """For every label the nodes at or above it, and how far."""
    found: dict[str, dict[int, int]] = {label: {} for label in labels}
    for row, node, steps in zip(
        *(part.tolist() for part in hierarchy.ancestor_distances(labels)), strict=True
    ):
        found[labels[row]][node] = steps
    return found


def _by_cosine(context: DescriptiveContext) -> Similarity:
    """Cosine of two descriptions."""
    values = context.values
    return _cosine(
        context.labels, values if isinstance(values, np.ndarray) else values.toarray()
    )


def _by_phcle(contexts: Sequence[Context], options: Options) -> Similarity:
    """Cosine of two vectors that PHCLE learned from the contexts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        embedding = PHCLE(**options).fit(contexts).embedding_
    return _cosine(embedding.labels, np.asarray(embedding.vectors, np.float64))


def _cosine(labels: Sequence[str], vectors: Floats) -> Similarity:
    """Cosine of two rows; a row of zeros is like nothing."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(length > 0, length, 1)
    index = {label: i for i, label in enumerate(labels)}

    def similarity(one: str, other: str) -> float:
        return float(unit[index[one]] @ unit[index[other]])

    return similarity
