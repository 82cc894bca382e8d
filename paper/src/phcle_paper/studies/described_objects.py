"""Pictures of things with attributes of their own, and ways to predict these.

Classes can be hidden: nobody then learns from their pictures, and nobody is told their
attributes. Of a hidden class PHCLE knows where it stands in the hierarchy.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from phcle import PHCLE
from phcle.contexts import Context, DescriptiveContext, RelationalContext
from phcle.datasets import load_imagenet1k
from phcle.embedding import LabelEmbedding
from phcle.errors import PhcleWarning
from phcle.images import ImageData, ImageMap, TrainingImages, ridge_path
from phcle_paper.datasets import load_apy, load_apy_objects
from phcle_paper.studies.picture_attributes import PictureAttributes
from phcle_paper.tables.image_benchmarks import APY_NODES

__all__ = ["DescribedObjects", "Penalties", "apy_objects", "predictions"]

Floats = npt.NDArray[np.floating]

OURS = "PHCLE"
OWN = "PHCLE, own attributes"
METHODS = (OWN, OURS, "mean attributes", "nearest seen class", "ridge to attributes")

APY_LABELS = {
    **APY_NODES,
    "person": "n00007846",
    "pottedplant": "n03991062",  # flowerpot
    "sofa": "n04256520",
    "train": "n04468005",
    "monkey": "n02484322",
    "goat": "n02416519",
}
"""Nodes of aPY's classes; centaur, donkey, jetski and statue have none in it."""


@dataclass(frozen=True)
class Penalties:
    """What every method may choose from on validation classes."""

    feature_ridge: Sequence[float]
    class_ridge: Sequence[float]
    own_ridge: Sequence[float]
    C: Sequence[float]


@dataclass(frozen=True, eq=False)
class DescribedObjects:
    """Objects in pictures, their attributes, and what is known about their classes."""

    name: str
    X: Floats  # (objects, features)
    y: npt.NDArray[np.str_]  # (objects,) labels
    attributes: Floats  # (objects, columns): 0 or 1
    classes: DescriptiveContext  # attributes of classes, with pictures or without
    hierarchy: RelationalContext
    names: Mapping[str, str]

    def embedding(
        self, hidden: Collection[str], options: Mapping[str, Any]
    ) -> LabelEmbedding:
        """PHCLE of the hierarchy and of the attributes of all but hidden classes."""
        told = [label for label in self.classes.labels if label not in hidden]
        contexts: list[Context] = [self.hierarchy, self.classes.rows_for(told)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PhcleWarning)
            model = PHCLE(**options).fit(contexts, names=self.names)
        return model.embedding_

    def training(self, hidden: Collection[str]) -> npt.NDArray[np.bool_]:
        """Objects that may be learned from."""
        return ~np.isin(self.y, list(hidden))

    def class_values(self, labels: Sequence[str]) -> Floats:
        """Attributes of some classes, unknown ones at the mean of these classes."""
        values = np.asarray(self.classes.rows_for(labels).values)
        return np.where(np.isnan(values), np.nanmean(values, axis=0), values)


def apy_objects(folder: Path) -> DescribedObjects:
    """Objects of aPascal with features; attributes of all 32 classes of aPY."""
    data, everything = load_apy_objects(folder), load_apy(folder)
    assert data.item_attributes is not None
    return placed_objects(
        "aPY objects", data, data.item_attributes, everything.class_means()
    )


def placed_objects(
    name: str, data: ImageData, attributes: Floats, classes: DescriptiveContext
) -> DescribedObjects:
    """Objects of aPY's classes, with hypernyms of these and of ImageNet's labels."""
    imagenet = load_imagenet1k()
    own = set(imagenet.labels)
    above = [x for x in APY_LABELS.values() if x not in own]
    labels = tuple(APY_LABELS.get(x, x) for x in classes.labels)
    return DescribedObjects(
        name=name,
        X=data.features,
        y=np.array([APY_LABELS.get(x, x) for x in data.labels.tolist()]),
        attributes=attributes,
        classes=replace(classes, labels=labels),
        hierarchy=RelationalContext.from_hierarchy(
            imagenet.edges, name="hierarchy", labels=[*imagenet.labels, *above]
        ),
        names={**imagenet.names, **dict(zip(labels, classes.labels, strict=True))},
    )


def predictions(
    objects: DescribedObjects,
    embedding: LabelEmbedding,
    hidden: Collection[str],
    tested: Collection[str],
    choices: Penalties,
) -> dict[str, dict[str, Floats]]:
    """Attributes (objects, columns) of tested classes: by method, then by choice."""
    rows = objects.training(hidden)
    X = objects.X[np.isin(objects.y, list(tested))]
    images = TrainingImages(objects.X[rows], objects.y[rows])
    told = [x for x in images.classes.tolist() if x in objects.classes.labels]
    # Where the attributes of a class are not told, nor are those of its objects.
    is_described = np.isin(objects.y[rows], told)
    own = objects.attributes[rows][is_described]
    mean = own.mean(axis=0)
    scaling = images.scaling
    test = scaling.transform(np.asarray(X, images.X.dtype))
    weights = ridge_path(scaling.transform(images.X[is_described]), own - mean)
    context: Any = next(x for x in embedding.contexts if getattr(x, "readable", False))
    of_class = objects.class_values(told)
    is_told = np.isin(images.classes, told)
    found: dict[str, dict[str, Floats]] = {method: {} for method in METHODS}
    described = objects.attributes[rows].copy()
    described[~is_described] = np.nan
    pull = PictureAttributes(images, embedding, context.name, described)
    found["mean attributes"]["–"] = np.tile(mean, (len(X), 1))
    for C in choices.C:
        scores = images.logistic(C).predict_proba(test)[:, is_told]
        found["nearest seen class"][f"C={C:g}"] = of_class[scores.argmax(axis=1)]
    for ridge in choices.feature_ridge:
        values = mean + test @ weights(ridge)
        found["ridge to attributes"][f"γ={ridge:g}"] = values
        for other in choices.class_ridge:
            image_map = ImageMap.fit(
                images, None, embedding, feature_ridge=ridge, class_ridge=other
            )
            choice = f"γ={ridge:g}, λ={other:g}"
            found[OURS][choice] = context.predict(image_map.vectors(X))
            for last in choices.own_ridge:
                values = context.predict(pull.improve(image_map, last).vectors(X))
                found[OWN][f"{choice}, own γ={last:g}"] = values
    return found


def attribute_auc(truth: Floats, predicted: Floats) -> tuple[Floats, Floats]:
    """Areas under the ROC curve: of every attribute over objects, and the reverse.

    A column, or an object, whose values are all the same has no area: NaN.
    """
    return _areas(truth.T, predicted.T), _areas(truth, predicted)


def _areas(truth: Floats, predicted: Floats) -> Floats:
    """The area of each row: the chance that a 1 is above a 0, ties counting half."""
    ones = truth.sum(axis=1)
    zeros = truth.shape[1] - ones
    ranks = rankdata(predicted, axis=1)
    above = (ranks * truth).sum(axis=1) - ones * (ones + 1) / 2
    pairs = ones * zeros
    return np.where(pairs > 0, above / np.where(pairs > 0, pairs, 1), np.nan)
