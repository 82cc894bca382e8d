"""Human similarity: whether vectors of nouns agree with people about words.

A word stands for its first few senses, the most frequent first, and two words are as
similar as their two most similar senses. PHCLE embeds the synsets from their place in
the hierarchy and from their glosses. Its rivals are the path between two synsets, the
words their glosses share (TF-IDF), and, where there are any, sentence vectors.

Options of PHCLE, and the power of its spectrum, are chosen among the given ones on a
half of the pairs; every method is scored on the other half.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.alignment import Context
from phcle.datasets import WordPair, load_men, load_wordnet_nouns
from phcle.datasets.wordnet import FOLDER, WordNetNouns
from phcle.errors import ContextError, ConvergenceWarning, OptionError
from phcle.experiments.cells import CellFile, digest_of
from phcle.experiments.completion_rivals import tree_distances
from phcle.experiments.noun_contexts import (
    gloss_texts,
    noun_hierarchy,
    noun_sentences,
    plain_numbers,
)
from phcle.experiments.workers import in_parallel
from phcle.model.estimator import PHCLE

if TYPE_CHECKING:
    from phcle.experiments.studies import Request

__all__ = ["NEEDS", "NounPairs", "Settings", "path_similarity", "run", "score_options"]

NEEDS = ("word-sim", FOLDER)
PAIRS = "EN-MEN-TR-3k.txt"
N_DRAWS = 1000
"""Of the bootstrap."""

Floats = npt.NDArray[np.float64]
Options = Mapping[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    n_senses: int
    seed: int
    powers: Sequence[float]
    shared: Options
    options: Sequence[Options]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: every method's correlation with people."""
    if not settings.options or not settings.powers:
        raise OptionError("options and powers must hold at least one choice each.")
    if request.quick:
        settings = replace(settings, options=settings.options[:1])
    nouns = load_wordnet_nouns()
    men = load_men(request.data / "word-sim" / PAIRS)
    pairs = NounPairs(men, nouns, settings.n_senses, settings.seed)
    hierarchy = noun_hierarchy(nouns, pairs.synsets)
    texts = gloss_texts(nouns, pairs.synsets)
    descriptions = [DescriptiveContext.from_texts(texts, name="gloss words")]
    sentences, note = noun_sentences(nouns, pairs.synsets, request.sentences)
    if sentences is not None:
        descriptions.append(sentences)
    rows = [pairs.row("path similarity", path_similarity(hierarchy))]
    for context in descriptions:
        vectors = _dense(context)
        rows.append(pairs.row(f"{context.name}, cosine", _cosines(vectors)))
        # PHCLE takes the means off; so may who has nothing but the vectors.
        centred = _cosines(vectors - vectors.mean(axis=0))
        rows.append(pairs.row(f"{context.name}, centred cosine", centred))
    rows += _by_phcle(pairs, hierarchy, descriptions, settings, request)
    return _table(pairs, len(men), rows, settings, note)


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


def path_similarity(context: RelationalContext) -> Floats:
    """One over one plus the steps between two labels over a shared ancestor."""
    if context.hierarchy is None:
        raise ContextError(f"context {context.name!r} is no hierarchy.")
    return 1 / (1 + tree_distances(context.hierarchy.hierarchy, context.labels))


def score_options(
    pairs: NounPairs, contexts: Sequence[Context], settings: Settings, chosen: Options
) -> list[Row]:
    """Rows of one fit, for every power of its spectrum."""
    options = {**settings.shared, **chosen}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        embedding = PHCLE(**options).fit(contexts).embedding_.select(pairs.synsets)
    title = f"PHCLE, {' + '.join(context.name for context in contexts)}"
    return [
        {
            **pairs.row(title, _cosines(embedding.with_spectrum(power).vectors)),
            "options": {**options, "spectrum": power},
            "choice": _words({**chosen, "spectrum": power}),
        }
        for power in settings.powers
    ]


def _by_phcle(
    pairs: NounPairs,
    hierarchy: RelationalContext,
    descriptions: Sequence[DescriptiveContext],
    settings: Settings,
    request: Request,
) -> Iterator[Row]:
    """For every set of contexts the row of the options that the one half chose."""
    variants: list[list[Context]] = [[hierarchy]]
    variants += [[hierarchy, context] for context in descriptions]
    if len(descriptions) > 1:
        variants.append([hierarchy, *descriptions])
    mark = digest_of([asdict(settings), [plain_numbers(c) for c in descriptions]])
    kept = CellFile(request.out / "similarity.cells.jsonl", mark)
    trials = {
        f"{v}/{o}": (pairs, contexts, settings, own)
        for v, contexts in enumerate(variants)
        for o, own in enumerate(settings.options)
    }
    left = [cell for cell in trials if cell not in kept.cells]
    calls = [trials[cell] for cell in left]
    for done, (i, rows) in enumerate(
        in_parallel(score_options, calls, request.jobs), 1
    ):
        kept.add(left[i], rows)
        request.tell(f"{done} of {len(left)} fits")
    for v in range(len(variants)):
        found = [
            row for o in range(len(settings.options)) for row in kept.cells[f"{v}/{o}"]
        ]
        yield max(found, key=lambda row: float(row["chosen_on"]))


def _table(
    pairs: NounPairs, n_given: int, rows: list[Row], settings: Settings, note: str
) -> dict[str, Any]:
    """The rows with titles, and whether PHCLE is ahead of what it is made from."""
    rivals = [row for row in rows if "PHCLE" not in row["method"]]
    ours = [row for row in rows if "PHCLE" in row["method"]]
    best = max(ours, key=lambda row: float(row["chosen_on"]))
    for row in rivals:
        row["lead"] = best["spearman"] - row["spearman"]
        row["lead_error"] = pairs.lead_error(best, row)
    return {
        "title": "Agreement with people about similar words",
        "dataset": "MEN",
        "lead": [
            f"{len(pairs.scores):,} of {n_given:,} pairs are nouns of WordNet "
            f"({len(pairs.synsets):,} synsets, {settings.n_senses} senses of a word "
            "at most). A half of them chooses options, the other half is judged: "
            "Spearman's correlation with people's scores, and the lead of "
            f"“{best['method']}”, which did best on the half that chooses, ± "
            "bootstrap standard error:"
        ],
        "columns": {
            "method": ("method",),
            "spearman": ("Spearman", ".3f"),
            "n_pairs": ("pairs",),
            "lead": ("lead over it", "+.3f", "lead_error"),
            "chosen_on": ("on the half that chooses", ".3f"),
            "choice": ("chosen",),
        },
        "rows": [
            {key: value for key, value in row.items() if key != "similarities"}
            for row in rows
        ],
        "findings": [_finding(best, row) for row in rivals],
        "caveats": [
            "MEN measures how related words are, about which a hierarchy says little",
            "senses are not disambiguated: the two nearest ones count",
            note,
        ],
    }


def _finding(best: Row, rival: Row) -> str:
    """Who is ahead, by how much, and whether that is clear of chance."""
    word = "ahead of" if rival["lead"] > 0 else "**behind**"
    text = f"{best['method']} is {word} {rival['method']} by {abs(rival['lead']):.3f}"
    if abs(rival["lead"]) < 2 * rival["lead_error"]:
        text += ", not clear of chance"
    return text


def _spearman(found: Floats, scores: Floats) -> float:
    """Spearman's rank correlation, 0 where all are alike."""
    from scipy.stats import rankdata  # slow to import

    one, other = rankdata(found), rankdata(scores)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _words(options: Options) -> str:
    """Options in a line."""
    return ", ".join(f"{name} {value:g}" for name, value in options.items())


def _dense(context: DescriptiveContext) -> Floats:
    values = context.values
    return values if isinstance(values, np.ndarray) else np.asarray(values.toarray())


def _cosines(vectors: npt.NDArray[np.floating]) -> Floats:
    """Cosine of all rows with all; a row of zeros is like nothing."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(length > 0, length, 1)
    return np.asarray(unit @ unit.T, dtype=np.float64)
