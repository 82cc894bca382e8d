"""Data sets prepared for experiments: images, and contexts of the same labels.

Labels are nodes of WordNet. The hierarchy covers all 1000 labels of ImageNet,
descriptions only the classes that have some: that is the partial setting of the paper.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.datasets import ImageNet1K, load_imagenet1k
from phcle.errors import FileError, some
from phcle.images import ZeroShotTask, load_feature_folder
from phcle_paper.datasets import (
    APY_PAPER,
    AWA_CORRECTED,
    AWA_PAPER,
    AnnotatedImages,
    load_awa_word_vectors,
    load_xlsa17,
)
from phcle_paper.tables.label_sentences import label_sentences
from phcle_paper.tables.saved_results import digest_of_context

__all__ = [
    "APY_NODES",
    "FOLDERS",
    "PAPER_SPLITS",
    "ImageBenchmark",
    "has_features",
    "load_benchmark",
    "renamed",
    "thinned",
]

FOLDERS = {
    "awa": "xlsa17/AWA1",
    "awa-corrected": "xlsa17/AWA1",
    "tiny-imagenet": "tiny-imagenet",
    "apy": "xlsa17/APY",
}
"""Folder of each data set, relative to --data."""
PAPER_SPLITS = {"awa": AWA_PAPER, "awa-corrected": AWA_CORRECTED, "apy": APY_PAPER}
BAG_OF_WORDS = "bow300.mat"

APY_NODES = {
    "aeroplane": "n02691156",
    "bicycle": "n02834778",
    "bird": "n01503061",
    "boat": "n02858304",
    "bottle": "n02876657",
    "bus": "n02924116",
    "car": "n02958343",
    "cat": "n02121808",  # domestic cat
    "chair": "n03001627",
    "dog": "n02084071",
    "wolf": "n02114100",
    "zebra": "n02391049",
    "mug": "n03797390",
    "building": "n02913152",
    "bag": "n02773037",
    "carriage": "n03538406",  # horse cart
    "diningtable": "n03201208",
    "tvmonitor": "n03782006",  # monitor
    "motorbike": "n03790512",  # motorcycle
    "cow": "n02402425",  # cattle
    "sheep": "n02411705",
    "horse": "n02374451",
}
"""WordNet nodes of aPY's classes; our choice, as the paper does not name them."""


@dataclass(frozen=True, eq=False)
class ImageBenchmark:
    """Images with the paper's class split, and what is known about the labels."""

    task: ZeroShotTask
    imagenet: ImageNet1K
    descriptions: Mapping[str, DescriptiveContext]  # "attributes", "words"
    notes: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels that have images."""
        return (*self.task.seen, *self.task.unseen)

    def hierarchy(self, kind: str = "ancestors") -> RelationalContext:
        """Hypernyms of the 1000 labels, and of classes that are nodes above them."""
        own = set(self.imagenet.labels)
        above = [label for label in self.classes if label not in own]
        return RelationalContext.from_hierarchy(
            self.imagenet.edges,
            name="hierarchy",
            kind=kind,
            labels=[*self.imagenet.labels, *above],
        )

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all data that an experiment uses."""
        found = hashlib.sha256()
        found.update(np.ascontiguousarray(self.task.X).tobytes())
        found.update("\n".join([*self.task.y.tolist(), *self.classes]).encode())
        for name, context in sorted(self.descriptions.items()):
            found.update(f"{name} {digest_of_context(context)}".encode())
        return found.hexdigest()


def has_features(dataset: str, folder: Path) -> bool:
    """Whether a data set is present, with features of images."""
    own = folder / FOLDERS[dataset]
    if dataset == "tiny-imagenet":
        return own.is_dir()
    files = [path.name for path in own.glob("*.mat")]
    return any(not name.startswith("att_splits") for name in files)


def load_benchmark(
    dataset: str,
    folder: Path,
    *,
    features: str | None = None,
) -> ImageBenchmark:
    """Images and contexts of a data set below the folder of all data."""
    own = folder / FOLDERS[dataset]
    if not own.is_dir():
        raise FileError(
            f"{own}: no such folder; --data must be the folder that holds "
            f"{FOLDERS[dataset]} for the data set {dataset!r}."
        )
    if dataset == "tiny-imagenet":
        return _tiny(own)
    return _classes_with_attributes(dataset, folder, features)


def thinned(task: ZeroShotTask, most: int, seed: int) -> ZeroShotTask:
    """The task with at most `most` random images per class; 0 keeps all."""
    if not most:
        return task
    random = np.random.default_rng(seed)
    rows = np.sort(
        np.concatenate(
            [
                random.permutation(np.flatnonzero(task.y == label))[:most]
                for label in sorted((*task.seen, *task.unseen))
            ]
        )
    )
    return replace(task, X=task.X[rows], y=task.y[rows])


def _classes_with_attributes(
    dataset: str, folder: Path, features: str | None
) -> ImageBenchmark:
    """AWA or aPY, from the release xlsa17."""
    data = load_xlsa17(folder / FOLDERS[dataset], features)
    split = PAPER_SPLITS[dataset]
    nodes = split.wnids or APY_NODES
    wnids = {name: nodes[name] for name in split.classes}
    descriptions = {"attributes": renamed(data.attributes, wnids)}
    notes = [_on_features(data)]
    words = folder / "awa" / "att_splits_with_wv.mat"
    if dataset == "apy":
        notes.append("there are no word vectors of aPY")
    elif words.is_file():
        descriptions["words"] = renamed(load_awa_word_vectors(words), wnids)
    else:
        notes.append("no word vectors: awa/att_splits_with_wv.mat is missing")
    X, y = data.select(split.classes)
    task = ZeroShotTask(
        split.name,
        X,
        np.array([wnids[name] for name in y.tolist()]),
        tuple(wnids[name] for name in split.seen),
        tuple(wnids[name] for name in split.unseen),
    )
    return ImageBenchmark(task, load_imagenet1k(), descriptions, tuple(notes))


def _tiny(folder: Path) -> ImageBenchmark:
    data = load_feature_folder(folder)
    missing = [key for key in ("seen", "unseen") if key not in data.splits]
    if missing:
        raise FileError(
            f"{folder / 'split.json'}: must list the classes {some(missing)}."
        )
    imagenet = load_imagenet1k()
    strange = sorted(set(data.classes) - set(imagenet.labels))
    if strange:
        raise FileError(
            f"{folder}: labels must be wnids of ImageNet-1K. Got {some(strange)}."
        )
    words, note = label_sentences(imagenet)
    task = ZeroShotTask(
        data.name,
        data.features,
        data.labels,
        data.splits["seen"],
        data.splits["unseen"],
        data.splits.get("validation"),
    )
    return ImageBenchmark(task, imagenet, {"words": words}, (note,))


def _on_features(data: AnnotatedImages) -> str:
    """A note on which features are used."""
    file = data.note.partition(",")[0]  # the note goes on with a split not used here
    if BAG_OF_WORDS not in file:
        return file
    return (
        f"{file}: these are the bags of words of 2009, far weaker than the "
        "paper's ResNet features: compare rows, not levels. Their PCA was fitted on "
        "the 20 seen classes of the paper's split, so random splits leak slightly"
    )


def renamed(
    context: DescriptiveContext, wnids: Mapping[str, str]
) -> DescriptiveContext:
    """The classes that have a wnid, under their wnids and in their order."""
    kept = context.rows_for(list(wnids))
    return replace(kept, labels=tuple(wnids.values()))
