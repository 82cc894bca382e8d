"""Related labels by several embeddings, side by side: the paper's Table 4.

The 1000 labels of ImageNet are embedded. PHCLE learns from the hierarchy, which knows
all of them, and from the attributes of AWA and aPY, which know a few; WLE has vectors
of the labels' names and glosses, HLE the hierarchy alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle import PHCLE
from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.datasets import ImageNet1K, load_imagenet1k
from phcle.embedding import LabelEmbedding
from phcle.errors import ConvergenceWarning, check_choice
from phcle_paper.baselines import hierarchy_embedding, word_vector_embedding
from phcle_paper.datasets import AWA_CORRECTED, load_awa, load_class_attributes
from phcle_paper.tables.image_benchmarks import APY_NODES, FOLDERS, renamed
from phcle_paper.tables.label_sentences import label_sentences

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "run"]

NEEDS = ("awa", FOLDERS["apy"])

METHODS = ("PHCLE", "WLE", "HLE")

Answers = dict[str, list[tuple[str, float]]]
"""Names and cosines by query."""


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    queries: Sequence[str]  # ids or names of ImageNet labels
    listed: int  # neighbours in the table
    counted: int  # neighbours among which the paper's are looked for
    embeddings: Mapping[str, Mapping[str, Any]]  # method and options by name
    paper: Mapping[str, Mapping[str, Sequence[str]]]  # query, method, labels
    caveats: Sequence[str]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: the nearest labels of every query, the paper's beside them."""
    for name, plan in settings.embeddings.items():
        check_choice(f"the method of {name!r}", plan.get("method", ""), METHODS)
    imagenet = load_imagenet1k()
    words, note = label_sentences(imagenet)
    described = _attributes(request.data)
    found: dict[str, Answers] = {}
    for name, plan in settings.embeddings.items():
        request.tell(f"making {name}")
        embedding = _embedding(plan, imagenet, described, words)
        found[name] = _answers(embedding, settings, imagenet)
    return {
        "title": "Related labels by several embeddings",
        "dataset": "ImageNet-1K",
        "lead": [
            f"The {settings.listed} nearest labels by cosine, out of "
            f"{len(imagenet.labels)}:"
        ],
        "columns": _columns(settings),
        "rows": [
            _row(query, rank, found, settings)
            for query in settings.queries
            for rank in range(settings.listed)
        ],
        "findings": _findings(settings, found),
        "caveats": [
            *settings.caveats,
            *(f"{x.name}: known of {len(x.labels)} labels" for x in described),
            f"WLE: {note}",
        ],
    }


def _attributes(data: Path) -> list[DescriptiveContext]:
    """Attributes of AWA and aPY under wnids."""
    animals = load_awa(data / "awa")
    things = load_class_attributes(data / FOLDERS["apy"]).attributes
    found = []
    for name, context, wnids in (
        ("AWA attributes", animals, AWA_CORRECTED.wnids),
        ("aPY attributes", things, APY_NODES),
    ):
        own = {x: wnids[x] for x in context.labels if x in wnids}
        found.append(replace(renamed(context, own), name=name))
    return found


def _embedding(
    plan: Mapping[str, Any],
    imagenet: ImageNet1K,
    described: Sequence[DescriptiveContext],
    words: DescriptiveContext,
) -> LabelEmbedding:
    """One embedding of the labels, and of whatever else is described."""
    options = {key: value for key, value in plan.items() if key != "method"}
    names, labels = imagenet.names, imagenet.labels
    if plan["method"] == "WLE":
        return word_vector_embedding(words, labels=labels, names=names, **options)
    if plan["method"] == "HLE":
        return hierarchy_embedding(
            imagenet.hierarchy(), labels, nodes=labels, names=names, **options
        )
    above = [x for context in described for x in context.labels if x not in labels]
    hierarchy = RelationalContext.from_hierarchy(
        imagenet.edges,
        name="hierarchy",
        kind=options.pop("kind", "ancestors"),
        labels=[*labels, *above],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PHCLE().set_params(**options).fit([hierarchy, *described], names=names)
    return model.embedding_


def _answers(
    embedding: LabelEmbedding, settings: Settings, imagenet: ImageNet1K
) -> Answers:
    """Names and cosines of the nearest labels of every query."""
    near = embedding.neighbours(
        settings.queries,
        max(settings.listed, settings.counted),
        among=imagenet.labels,  # not the nodes above them that aPY describes
    )
    return {
        query: [(imagenet.names[x.label], x.similarity) for x in own.neighbours]
        for query, own in zip(settings.queries, near, strict=True)
    }


def _columns(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Every embedding, with what the paper has for it beside it."""
    columns: dict[str, tuple[str, ...]] = {"query": ("query",), "rank": ("",)}
    printed = {name for own in settings.paper.values() for name in own}
    for name in settings.embeddings:
        columns[name] = (name,)
        if name in printed:
            columns[f"{name} in the paper"] = (f"{name} in the paper",)
    return columns


def _row(
    query: str, rank: int, found: Mapping[str, Answers], settings: Settings
) -> dict[str, Any]:
    """The labels at one rank."""
    row: dict[str, Any] = {"query": query, "rank": rank + 1}
    for name, answers in found.items():
        row[name], row[f"{name} similarity"] = answers[query][rank]
    for name, labels in settings.paper.get(query, {}).items():
        if rank < len(labels):
            row[f"{name} in the paper"] = labels[rank]
    return row


def _findings(settings: Settings, found: Mapping[str, Answers]) -> list[str]:
    """How many of the labels that the paper finds by PHCLE each embedding finds."""
    sentences = []
    for query, printed in settings.paper.items():
        relevant = list(printed.get("PHCLE", ()))
        for name, answers in found.items() if query in settings.queries else ():
            near = [label for label, _ in answers[query][: settings.counted]]
            there = [label for label in relevant if label in near]
            sentences.append(
                f"{query}: {len(there)} of the paper's {len(relevant)} highly relevant "
                f"labels are among the {settings.counted} nearest by {name}"
                + (f" ({', '.join(there)})" if there else "")
            )
    return sentences
