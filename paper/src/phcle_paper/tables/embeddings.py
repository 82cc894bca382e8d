"""The rows of a table: every embedding with its variants, made from one data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from phcle import PHCLE
from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError, check_choice, some
from phcle_paper.baselines import (
    attribute_embedding,
    cca_embedding,
    concatenated_embedding,
    hierarchy_embedding,
    pmi_svd_embedding,
    tadw_embedding,
    word_vector_embedding,
)
from phcle_paper.baselines.reduction import with_spectrum
from phcle_paper.tables.image_benchmarks import ImageBenchmark
from phcle_paper.tables.settings import EmbeddingPlan, Experiment

__all__ = ["available", "make_embedding", "make_embeddings", "variant_name"]

NEEDS = {"ALE": "attributes", "WLE": "words"}
"""The description that a method cannot do without."""

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "PHCLE": {},
    "PHCLE_NoSp": {"sparsity": 0.0},
    "PHCLE_FC": {"complete_only": True},
}
"""What is fixed in PHCLE and in the variants that the paper compares with."""


def available(
    experiment: Experiment, benchmark: ImageBenchmark
) -> tuple[Experiment, list[str]]:
    """The experiment without rows that the data cannot provide, and notes about them.

    PHCLE learns from the contexts that are there; a baseline that needs a missing one
    loses the variant.
    """
    kept, notes = [], []
    for plan in experiment.embeddings:
        cut = [_cut(plan.method, variant, benchmark) for variant in plan.variants]
        found = tuple(variant for variant in cut if variant is not None)
        if not found:
            notes.append(f"{plan.name} is left out: the data lacks its context")
            continue
        kept.append(replace(plan, variants=found))
    names = [plan.name for plan in kept]
    check_choice("reference", experiment.reference, names, experiment.name)
    return replace(experiment, embeddings=tuple(kept)), notes


def make_embeddings(
    experiment: Experiment,
    benchmark: ImageBenchmark,
    tell: Callable[[str], None] = lambda message: None,
) -> dict[str, dict[str, LabelEmbedding]]:
    """All embeddings of the experiment, by name and variant."""
    found: dict[str, dict[str, LabelEmbedding]] = {}
    for plan in experiment.embeddings:
        tell(f"making {plan.name} ({len(plan.variants)} variants)")
        made: dict[str, LabelEmbedding] = {}  # variants may differ in spectrum alone
        found[plan.name] = {}
        for i, variant in enumerate(plan.variants):
            own = {key: value for key, value in variant.items() if key != "spectrum"}
            key = repr(sorted(own.items()))
            if key not in made:
                made[key] = make_embedding(plan.method, own, benchmark)
            found[plan.name][variant_name(plan, i)] = _at_power(
                made[key], variant.get("spectrum", 1.0), benchmark.classes
            )
    return found


def variant_name(plan: EmbeddingPlan, position: int) -> str:
    """The options in which a variant differs from the others, as text.

    >>> plan = EmbeddingPlan("A", "HLE", ({"similarity": "lin"}, {"dim": 3}))
    >>> variant_name(plan, 1)
    'dim=3'
    """
    variant = plan.variants[position]
    own = {
        key: value
        for key, value in variant.items()
        if any(other.get(key) != value for other in plan.variants)
    }
    return ", ".join(f"{key}={_shown(own[key])}" for key in own)


def make_embedding(
    method: str, options: Mapping[str, Any], benchmark: ImageBenchmark
) -> LabelEmbedding:
    """One embedding of the classes of the data set, or of more labels."""
    own = dict(options)
    classes = benchmark.classes
    if method == "ALE":
        return attribute_embedding(_described(benchmark, method), labels=classes, **own)
    if method == "WLE":
        return word_vector_embedding(
            _described(benchmark, method), labels=classes, **own
        )
    if method == "HLE":
        # Akata et al. compare with all 1000 labels, so it has 1000 dimensions.
        nodes = benchmark.imagenet.labels
        return hierarchy_embedding(benchmark.hierarchy(), classes, nodes=nodes, **own)
    if method == "PMI+SVD":
        return pmi_svd_embedding(benchmark.hierarchy(own.pop("kind", "path")), **own)
    if method in ("CNC", "CCA"):
        parts = [_part(part, benchmark) for part in own.pop("parts")]
        fuse = concatenated_embedding if method == "CNC" else cca_embedding
        return fuse(parts, labels=classes, **own)
    contexts = [_context(name, benchmark) for name in own.pop("contexts")]
    if method == "TADW":
        relational, descriptive = contexts
        if not isinstance(relational, RelationalContext) or not isinstance(
            descriptive, DescriptiveContext
        ):
            raise OptionError(
                "contexts of TADW must be 'hierarchy' and one description."
            )
        return tadw_embedding(relational, descriptive, **own)
    own["completion"] = "none"  # nobody asks for gaps here
    model = PHCLE().set_params(**own, **VARIANTS[method])
    return model.fit(contexts).embedding_


def _at_power(
    embedding: LabelEmbedding, power: float, classes: Sequence[str]
) -> LabelEmbedding:
    """Vectors of the classes with images, after changing the spectrum of all labels."""
    if power != 1.0:
        embedding = with_spectrum(embedding, power)
    return embedding.select(classes)


def _cut(
    method: str, options: Mapping[str, Any], benchmark: ImageBenchmark
) -> dict[str, Any] | None:
    """The options that the data allows; None if it allows none."""
    there = {"hierarchy", *benchmark.descriptions}
    own = dict(options)
    parts = [part.partition(":")[0] for part in own.get("parts", [method])]
    needed = {NEEDS.get(part, "hierarchy") for part in parts}
    if "contexts" in own:
        wanted = own["contexts"]
        own["contexts"] = [name for name in wanted if name in there]
        needed = set(wanted) if method == "TADW" else set(own["contexts"])
    return own if needed and needed <= there else None


def _part(part: str, benchmark: ImageBenchmark) -> LabelEmbedding:
    """One of several embeddings to join; "HLE:lin" names the similarity too."""
    method, _, similarity = part.partition(":")
    check_choice("a part", method, ("ALE", "WLE", "HLE", "PMI+SVD"))
    options = {"similarity": similarity} if similarity else {}
    return make_embedding(method, options, benchmark)


def _described(benchmark: ImageBenchmark, method: str) -> DescriptiveContext:
    return benchmark.descriptions[NEEDS[method]]


def _context(
    name: str, benchmark: ImageBenchmark
) -> RelationalContext | DescriptiveContext:
    if name == "hierarchy":
        return benchmark.hierarchy()
    if name not in benchmark.descriptions:
        raise OptionError(
            f"contexts must be among 'hierarchy', {some(benchmark.descriptions)}. "
            f"Got {name!r} instead."
        )
    return benchmark.descriptions[name]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "+".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
