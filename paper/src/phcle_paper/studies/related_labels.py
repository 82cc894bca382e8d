"""Labels said to be related to pictures of unseen classes of tiny-imagenet."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phcle import PHCLE
from phcle.embedding import LabelEmbedding
from phcle.errors import PhcleWarning
from phcle.uses.pictures import ImageMap
from phcle.uses.zero_shot import TrainingImages, ZeroShotTask, validation_splits
from phcle_paper.studies.described_objects import OURS, Penalties
from phcle_paper.tables.image_benchmarks import ImageBenchmark, load_benchmark

__all__ = ["related_rows"]

RIVAL = "likeliest seen classes"

Related = list[list[str]]


def related_rows(
    data: Path,
    sentences: Path | None,
    penalties: Penalties,
    options: Mapping[str, Any],
    k: int,
) -> list[dict[str, Any]]:
    """A row for PHCLE, and one for the seen classes that a picture looks most like."""
    benchmark = load_benchmark("tiny-imagenet", data, sentences=sentences)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhcleWarning)
        model = PHCLE(**options).fit(
            [benchmark.hierarchy(), benchmark.descriptions["words"]]
        )
    embedding = model.embedding_
    (check,) = validation_splits(benchmark.task)[:1]
    validated = {
        choice: _share(found, check, benchmark)
        for choice, found in _answers(check, embedding, penalties, k).items()
    }
    rows = []
    tested = _answers(benchmark.task, embedding, penalties, k)
    for method in (OURS, RIVAL):
        own = [choice for choice in validated if choice[0] == method]
        best = max(own, key=lambda choice: sum(validated[choice].values()))
        rows.append(
            {
                "data": "tiny-imagenet",
                "held_out": f"{len(benchmark.task.unseen)} classes",
                "method": method,
                "n_objects": len(tested[best]),
                "options": best[1],
                **_share(tested[best], benchmark.task, benchmark),
            }
        )
    return rows


def _answers(
    task: ZeroShotTask, embedding: LabelEmbedding, penalties: Penalties, k: int
) -> dict[tuple[str, str], Related]:
    """Related labels of every unseen picture, by method and choice."""
    images = TrainingImages(*task.images(task.seen))
    X = task.images(task.unseen)[0].astype(images.X.dtype)
    scaled = images.scaling("standardize").apply(X)
    found: dict[tuple[str, str], Related] = {}
    for ridge in penalties.feature_ridge:
        weights = images.spectrum("standardize").ridge_weights(ridge)
        order = np.argsort(-(scaled @ weights), axis=1)[:, :k]
        found[RIVAL, f"γ={ridge:g}"] = [images.classes[x].tolist() for x in order]
        for other in penalties.class_ridge:
            image_map = ImageMap.fit(
                images, None, embedding, feature_ridge=ridge, class_ridge=other
            )
            found[OURS, f"γ={ridge:g}, λ={other:g}"] = [
                [label for label, _ in each.related]
                for each in image_map.understand(X, embedding, k=k)
            ]
    return found


def _share(
    found: Related, task: ZeroShotTask, benchmark: ImageBenchmark
) -> dict[str, float]:
    """How often the class, or a label with the same parent, is among the related."""
    parents: dict[str, set[str]] = {}
    for child, parent in benchmark.imagenet.edges:
        parents.setdefault(child, set()).add(parent)
    truth: Sequence[str] = task.images(task.unseen)[1].tolist()
    has_class = [label in own for label, own in zip(truth, found, strict=True)]
    has_relative = [
        any(parents[label] & parents[x] for x in own)
        for label, own in zip(truth, found, strict=True)
    ]
    return {
        "has_class": float(np.mean(has_class)),
        "has_relative": float(np.mean(has_relative)),
    }
