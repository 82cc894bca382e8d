"""Zero-shot accuracy when many labels lack a context: PHCLE against filled-in rivals.

A share m of the described labels loses its description, and another share m its place
in the hierarchy. The two sets are disjoint, so every label keeps something. For every
class split other labels lose theirs; a larger m hides what a smaller one hides, and
more. Methods that need complete contexts fill the gaps in.

All methods choose their options, the spectrum of their vectors and the options of the
classifier on validation classes among the seen ones, from the grids of the settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from phcle import PHCLE
from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError, PhcleWarning, check_choice
from phcle.images import ZeroShotTask, resplits
from phcle_paper.baselines import (
    attribute_embedding,
    concatenated_embedding,
    hierarchy_embedding,
    pmi_svd_embedding,
    reduce_embedding,
    soft_impute_embedding,
)
from phcle_paper.baselines.reduction import with_spectrum
from phcle_paper.tables.image_benchmarks import ImageBenchmark, load_benchmark, thinned
from phcle_paper.tables.paired_splits import compare, evaluate_variants
from phcle_paper.tables.saved_results import SavedResults, digest_of
from phcle_paper.tables.settings import searches_of

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "PartialLabels", "Settings", "run"]

NEEDS = ("tiny-imagenet", "xlsa17/AWA1")

KEPT = (
    *("classifier", "split", "variant", "parameters", "validation_accuracy"),
    *("accuracy", "n_seen", "n_unseen"),
)
"""What is saved of a row of `evaluate`."""

HIERARCHY_DIM = 200
"""Dimensions of HLE before it is concatenated: beyond these, 1000 labels differ by less
than a percent of its energy, and rivals need a quarter of the time."""


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    missing: Sequence[float]  # shares m
    random: int  # class splits
    split_seed: int
    n_validation: int
    reference: str
    spectrum: Sequence[float]
    classifiers: Mapping[str, Mapping[str, Any]]  # grids
    datasets: Mapping[str, Mapping[str, Any]]  # described, n_unseen, images_per_class
    methods: Mapping[str, Mapping[str, Any]]  # method, options, variants by data set


@dataclass(frozen=True, eq=False)
class PartialLabels:
    """What is left of two contexts when both are hidden from some labels.

    Attributes
    ----------
    benchmark : ImageBenchmark
        Images and all contexts.
    described : DescriptiveContext
        The description of the labels that keep theirs.
    labels : tuple of str
        All labels that had a description.
    placed : tuple of str
        The labels whose place in the hierarchy is known.
    """

    benchmark: ImageBenchmark
    described: DescriptiveContext
    labels: tuple[str, ...]
    placed: tuple[str, ...]
    _fits: dict[str, PHCLE] = field(default_factory=dict)

    @classmethod
    def hide(
        cls,
        benchmark: ImageBenchmark,
        description: str,
        share: float,
        seed: Sequence[int],
    ) -> PartialLabels:
        """Hide the description from a share of the labels, the hierarchy from another.

        Parameters
        ----------
        benchmark : ImageBenchmark
            Images and contexts.
        description : str
            Which description, "words" or "attributes".
        share : float
            m, from 0 to a half; of the labels that have the description.
        seed : sequence of int
            Seed of the draw.
        """
        if not 0 <= share <= 0.5:
            raise OptionError(f"missing must be from 0 to 0.5. Got {share!r} instead.")
        check_choice("described", description, benchmark.descriptions)
        context = benchmark.descriptions[description]
        order = np.random.default_rng(list(seed)).permutation(sorted(context.labels))
        size = int(share * len(order))
        plain = set(order[:size].tolist())
        lost = set(order[len(order) - size :].tolist())
        everything = (*benchmark.imagenet.labels, *benchmark.classes)
        return cls(
            benchmark,
            context.rows_for([x for x in context.labels if x not in plain]),
            context.labels,
            tuple(x for x in dict.fromkeys(everything) if x not in lost),
        )

    @cached_property
    def hierarchy(self) -> RelationalContext:
        """The hierarchy of the labels whose place is known."""
        return RelationalContext.from_hierarchy(
            self.benchmark.imagenet.edges, name="hierarchy", labels=self.placed
        )

    @cached_property
    def description_part(self) -> LabelEmbedding:
        """The description as an embedding."""
        return attribute_embedding(self.described, normalize=True)

    @cached_property
    def hierarchy_parts(self) -> dict[str, LabelEmbedding]:
        """The hierarchy as embeddings: labels without a place are no columns either."""
        similar = hierarchy_embedding(self.hierarchy, self.placed, nodes=self.placed)
        return {
            "HLE": reduce_embedding(similar, HIERARCHY_DIM),
            "PMI+SVD": pmi_svd_embedding(self.hierarchy),
        }

    def embedding(self, method: str, options: Mapping[str, Any]) -> LabelEmbedding:
        """Vectors of all classes by one method.

        Parameters
        ----------
        method : {"CNC", "SoftImpute", "PHCLE"}
            The method.
        options : mapping of str to Any
            Its options. `hierarchy` of the first two is the part to concatenate, and
            `weight` that of the description, where the hierarchy has 1.
        """
        own = dict(options)
        check_choice("method", method, ("CNC", "SoftImpute", "PHCLE"))
        if method == "PHCLE":
            return self._model(own).embedding_
        fuse = concatenated_embedding if method == "CNC" else soft_impute_embedding
        return fuse(
            [self.description_part, self.hierarchy_parts[own.pop("hierarchy")]],
            labels=self.labels,
            weights=[own.pop("weight", 1.0), 1.0],
            **own,
        )

    def _model(self, options: Mapping[str, Any]) -> PHCLE:
        """PHCLE with some options, fitted once."""
        key = repr(sorted(options.items()))
        if key not in self._fits:
            model = PHCLE().set_params(**options, completion="none")
            self._fits[key] = model.fit([self.hierarchy, self.described])
        return self._fits[key]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: accuracy of every method by data set, share and classifier."""
    check_choice("reference", settings.reference, settings.methods)
    if request.quick:
        settings = replace(settings, random=2, missing=settings.missing[-1:])
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for dataset, plan in settings.datasets.items():
        benchmark = load_benchmark(dataset, request.data)
        frame = _accuracies(settings, dataset, benchmark, request)
        rows += _rows(settings, dataset, frame)
        notes += [
            f"{dataset}: {plan['described']} are hidden from a share m of "
            f"{len(benchmark.descriptions[plan['described']].labels)} labels, the "
            "hierarchy from another share m",
            *(f"{dataset}: {note}" for note in benchmark.notes),
        ]
    return _table(settings, rows, notes)


def _accuracies(
    settings: Settings, dataset: str, benchmark: ImageBenchmark, request: Request
) -> pd.DataFrame:
    """Accuracy by split, share, method and classifier; finished splits are read."""
    plan = settings.datasets[dataset]
    # More splits, or other data sets, leave finished splits as they are.
    same = replace(settings, random=0, datasets={dataset: plan})
    mark = digest_of([asdict(same), benchmark.digest])
    kept = SavedResults(request.out / f"partial-{dataset}.cells.jsonl", mark)
    task = thinned(benchmark.task, plan["images_per_class"], settings.split_seed)
    tasks = resplits(task, settings.random, plan["n_unseen"], settings.split_seed)
    calls = {str(task.split): (settings, dataset, benchmark, task) for task in tasks}
    left = kept.unfinished(calls, request.tell)
    kept.compute(_scores, left, request.jobs, request.tell)
    return pd.DataFrame([row for x in tasks for row in kept.cells[str(x.split)]])


def _scores(
    settings: Settings, dataset: str, benchmark: ImageBenchmark, task: ZeroShotTask
) -> list[dict[str, Any]]:
    """Accuracies of one split; all methods and shares share the image side."""
    embeddings: dict[str, dict[str, LabelEmbedding]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhcleWarning)
        # A logistic regression that stops early ranks options just as well.
        warnings.filterwarnings("ignore", module="sklearn")
        for share in settings.missing:
            partial = PartialLabels.hide(
                benchmark,
                settings.datasets[dataset]["described"],
                share,
                [settings.split_seed, task.split],
            )
            for name, plan in settings.methods.items():
                variants = dict(_variants(settings, dataset, plan, partial))
                embeddings[f"{share}/{name}"] = variants
        searches = searches_of(settings.classifiers)
        frame = evaluate_variants(
            embeddings, searches, task, n_validation=settings.n_validation
        )
    found = []
    for row in frame.to_dict("records"):
        share, _, method = row["embedding"].partition("/")
        own = {str(key): row[key] for key in KEPT}
        found.append({"missing": float(share), "method": method, **own})
    return found


def _variants(
    settings: Settings,
    dataset: str,
    plan: Mapping[str, Any],
    partial: PartialLabels,
) -> Iterator[tuple[str, LabelEmbedding]]:
    """The choices of a method: sets of options, and powers of the spectrum."""
    for variant in plan["variants"][dataset]:
        made = partial.embedding(plan["method"], {**plan.get("options", {}), **variant})
        text = ", ".join(f"{key}={value}" for key, value in variant.items())
        for power in settings.spectrum:
            name = ", ".join(x for x in (text, f"spectrum={power:g}") if x)
            own = with_spectrum(made, power)
            yield name, own.select(partial.benchmark.classes)


def _rows(
    settings: Settings, dataset: str, frame: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    """Means over splits in percent, and paired differences from the reference."""
    named = frame.assign(embedding=frame["method"], task=dataset)
    for share in settings.missing:
        cell = compare(named[named["missing"] == share], settings.reference)
        for name in settings.methods:
            row: dict[str, Any] = {"dataset": dataset, "missing": share, "method": name}
            for classifier in settings.classifiers:
                chosen = (cell["embedding"] == name) & (
                    cell["classifier"] == classifier
                )
                (found,) = cell[chosen].to_dict("records")
                row[classifier] = 100 * found["accuracy"]
                is_other = name != settings.reference
                for key in ("difference", "standard_error"):
                    value = 100 * float(found[key])
                    usable = is_other and not np.isnan(value)
                    row[f"{classifier}_{key}"] = value if usable else None
            yield row


def _table(
    settings: Settings,
    rows: list[dict[str, Any]],
    notes: Sequence[str],
) -> dict[str, Any]:
    columns: dict[str, tuple[str, ...]] = {
        "dataset": ("data",),
        "missing": ("m", "g"),
        "method": ("method",),
    }
    for name in settings.classifiers:
        columns[name] = (name, ".1f")
        columns[f"{name}_difference"] = (
            f"{name}: difference",
            "+.1f",
            f"{name}_standard_error",
        )
    return {
        "title": "Zero-shot accuracy when labels lack a context",
        "dataset": ", ".join(settings.datasets),
        "lead": [
            "Mean per-class accuracy (%) of unseen classes over "
            f"{settings.random} random class splits when a share m of the labels lacks "
            "its description and another share m its place in the hierarchy, and the "
            f"difference from {settings.reference} ± corrected standard error:"
        ],
        "columns": columns,
        "rows": rows,
        "caveats": [
            "options are chosen on validation classes among the seen ones",
            "the network that made the features of tiny-imagenet has seen all classes",
            *notes,
        ],
    }
