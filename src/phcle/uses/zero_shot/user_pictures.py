"""Zero-shot tasks from a user's own image features and embedding."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phcle.datasets.feature_folder import load_feature_folder
from phcle.datasets.image_data import ImageData
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import (
    ContextWarning,
    FileError,
    UnknownLabelError,
    did_you_mean,
    some,
)
from phcle.uses.zero_shot.tasks import ZeroShotTask, resplits

__all__ = ["UserTask", "match_classes", "user_task"]

DEFAULT_SPLITS = 10
UNSEEN_SHARE = 0.2
FEWEST = 6
"""Classes that are needed: two unseen, two to validate on, two to learn from."""


@dataclass(frozen=True, eq=False)
class UserTask:
    """Tasks, where their class split comes from, and classes without a vector."""

    tasks: list[ZeroShotTask]
    source: str
    left_out: tuple[str, ...] = ()


def user_task(
    embedding: LabelEmbedding, features: str | Path, n_splits: int | None = None
) -> UserTask:
    """Tasks over the classes that the embedding knows, by id or by readable name.

    Classes it does not know are left out with a warning. The split is the one of
    `split.json`; without it, or with `n_splits`, classes are drawn by chance.
    """
    data = load_feature_folder(features)
    labels = match_classes(embedding, data)
    left_out = tuple(name for name in data.classes if name not in labels)
    if len(labels) < FEWEST:
        raise UnknownLabelError(
            f"{features}: {len(labels)} of its {len(data.classes)} classes have a "
            f"vector in the embedding, but {FEWEST} are needed. Without one: "
            f"{some(left_out) or 'none'}."
            + (did_you_mean(left_out[0], _names(embedding)) if left_out else "")
        )
    if left_out:
        warnings.warn(
            f"{len(left_out)} classes have no vector in the embedding and are left "
            f"out: {some(left_out)}.",
            ContextWarning,
            stacklevel=2,
        )
    X, y = data.select(labels)
    y = np.array([labels[name] for name in y.tolist()])
    lists = {
        key: tuple(labels[name] for name in names if name in labels)
        for key, names in data.splits.items()
    }
    if n_splits is None and lists.get("seen") and lists.get("unseen"):
        validation = lists.get("validation") or None
        task = ZeroShotTask(data.name, X, y, lists["seen"], lists["unseen"], validation)
        return UserTask([task], "the split of split.json", left_out)
    n_unseen = max(2, round(UNSEEN_SHARE * len(labels)))
    own = tuple(labels.values())
    base = ZeroShotTask(data.name, X, y, own[n_unseen:], own[:n_unseen])
    n = n_splits or DEFAULT_SPLITS
    return UserTask(
        resplits(base, n, n_unseen, 0), f"{n} random class splits", left_out
    )


def match_classes(embedding: LabelEmbedding, data: ImageData) -> dict[str, str]:
    """Label of the embedding for every class that has one."""
    found: dict[str, str] = {}
    for name in data.classes:
        try:
            label = embedding.resolve(name)
        except UnknownLabelError:
            continue
        if label in found.values():
            other = next(x for x in found if found[x] == label)
            raise FileError(
                f"the classes {other!r} and {name!r} of {data.name!r} are the same "
                f"label {label!r} of the embedding; give them one name."
            )
        found[name] = label
    return found


def _names(embedding: LabelEmbedding) -> list[str]:
    return [*embedding.labels, *embedding.names.values()]
