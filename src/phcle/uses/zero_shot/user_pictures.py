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

DEFAULT_SPLITS = 10
UNSEEN_SHARE = 0.2
FEWEST = 6
"""Fewest classes of a task: two unseen, two to validate on, two to learn from."""


@dataclass(frozen=True, eq=False)
class UserTask:
    """Tasks from a user's image features.

    Attributes
    ----------
    tasks : list of ZeroShotTask
        One task, or one for each random split.
    source : str
        Where the class split comes from, for readers.
    left_out : tuple of str
        Classes of the features that have no vector in the embedding.
    """

    tasks: list[ZeroShotTask]
    source: str
    left_out: tuple[str, ...] = ()


def user_task(
    embedding: LabelEmbedding, features: str | Path, n_splits: int | None = None
) -> UserTask:
    """Make zero-shot tasks from a folder of image features and an embedding.

    Classes are matched with labels by id or readable name. Classes without a label are
    left out with a warning.

    Parameters
    ----------
    embedding : LabelEmbedding
        The class vectors.
    features : str or Path
        A folder of features; see `phcle.datasets.feature_folder`.
    n_splits : int, optional
        Number of random class splits. If left out, the split of `split.json` in the
        folder is used, or 10 random ones if there is none.

    Returns
    -------
    UserTask
        The tasks, and what was left out.

    Raises
    ------
    UnknownLabelError
        If fewer than 6 classes have a vector in the embedding.
    FileError
        If the folder cannot be read, or two of its classes are the same label.
    """
    data = load_feature_folder(features)
    labels, left_out = match_classes(embedding, data, str(features), fewest=FEWEST)
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


def match_classes(
    embedding: LabelEmbedding, data: ImageData, source: str, *, fewest: int
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Find the label of every class, by id or readable name.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    data : ImageData
        Image features with their classes.
    source : str
        Where the features come from, for messages.
    fewest : int
        Number of classes that must have a label.

    Returns
    -------
    labels : dict of str to str
        Labels by class.
    left_out : tuple of str
        Classes without a label.

    Raises
    ------
    UnknownLabelError
        If too few classes have a label.
    FileError
        If two classes are the same label.
    """
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
    left_out = tuple(name for name in data.classes if name not in found)
    if len(found) < fewest:
        known = [*embedding.labels, *embedding.names.values()]
        hint = did_you_mean(left_out[0], known) if left_out else ""
        raise UnknownLabelError(
            f"{source}: {len(found)} of its {len(data.classes)} classes have a "
            f"vector in the embedding, but {fewest} are needed. Without one: "
            f"{some(left_out) or 'none'}.{hint}"
        )
    return found, left_out
