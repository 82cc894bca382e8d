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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle import PHCLE
from phcle.contexts import Context, DescriptiveContext, RelationalContext
from phcle.datasets import WORDNET_FOLDER, load_wordnet_nouns
from phcle.errors import ContextError, ConvergenceWarning, OptionError
from phcle.tuning.completion import column_means, dense_values
from phcle_paper.datasets import load_men
from phcle_paper.parallel import in_parallel
from phcle_paper.studies.completion_rivals import tree_distances
from phcle_paper.studies.noun_contexts import (
    gloss_texts,
    noun_hierarchy,
    noun_sentences,
)
from phcle_paper.studies.noun_pairs import NounPairs, Row
from phcle_paper.tables.saved_results import SavedResults, digest_of, digest_of_context

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "path_similarity", "run", "score_options"]

NEEDS = ("word-sim", WORDNET_FOLDER)
PAIRS = "EN-MEN-TR-3k.txt"

Floats = npt.NDArray[np.float64]
Options = Mapping[str, Any]


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
        vectors = dense_values(context, pairs.synsets)
        rows.append(pairs.row(f"{context.name}, cosine", _cosines(vectors)))
        # PHCLE takes the means off; so may who has nothing but the vectors.
        centred = _cosines(vectors - column_means(vectors))
        rows.append(pairs.row(f"{context.name}, centred cosine", centred))
    rows += _by_phcle(pairs, hierarchy, descriptions, settings, request)
    return _table(pairs, len(men), rows, settings, note)


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
    numbers = [pairs.scores.tolist(), *map(digest_of_context, descriptions)]
    mark = digest_of([asdict(settings), numbers])
    kept = SavedResults(request.out / "similarity.cells.jsonl", mark)
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


def _words(options: Options) -> str:
    """Options in a line."""
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in options.items()
    )


def _cosines(vectors: npt.NDArray[np.floating]) -> Floats:
    """Cosine of all rows with all; a row of zeros, or unknown, is like nothing."""
    vectors = np.nan_to_num(vectors, nan=0.0)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(length > 0, length, 1)
    return np.asarray(unit @ unit.T, dtype=np.float64)
