"""A linear map from features of pictures to vectors of an embedding.

The map is that of ESZSL. With features X at scale, Y holding 1 for a picture's class
and −1 elsewhere, and vectors S of the seen classes,

    V = (XᵀX + γI)⁻¹ XᵀY S (SᵀS + λI)⁻¹,

a picture x has the direction x V. ESZSL ranks classes by it, so its length means
nothing and the picture with mean features has no direction at all. Attributes are
values, and need a vector at the embedding's scale: the map answers m + a·x V, where m
is the mean vector of the training pictures' classes, and a is the number that brings
those pictures nearest to their classes' vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.embedding.describe import Attribute
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError, did_you_mean, some
from phcle.files.archive import checksum
from phcle.uses.pictures.picture_attributes import PictureAttributes
from phcle.uses.zero_shot.classifier import positive
from phcle.uses.zero_shot.eszsl import carry_over
from phcle.uses.zero_shot.image_features import Scaling, TrainingImages, as_features

__all__ = ["ImageMap", "Understanding", "fingerprint"]

Floats = npt.NDArray[np.floating]

FEATURE_RIDGE, CLASS_RIDGE = 100.0, 0.1
"""Near the best on validation classes of the aPY objects and of tiny-imagenet alike."""


@dataclass(frozen=True, eq=False)
class Understanding:
    """A picture's vector, the labels related to it, and its strongest attributes."""

    vector: Floats  # (d,)
    related: tuple[tuple[str, float], ...]
    """Labels that carry most of the similarity, with shares that sum to one."""
    attributes: tuple[Attribute, ...]
    """The largest predicted values of each description, in the user's units."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "related": [{"label": x, "share": share} for x, share in self.related],
            "attributes": [
                {"context": x.context, "name": x.name, "value": x.value}
                for x in self.attributes
            ],
        }


@dataclass(frozen=True, eq=False)
class ImageMap:
    """From features (images, features) to vectors (images, d) of one embedding.

    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[2, 0], [0, 2], [1, 1]]))
    >>> found = ImageMap.fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"], pets)
    >>> bool(np.allclose(found.vectors([[0.5, 0.5]]), pets["fox"]))
    True
    """

    shift: Floats  # (features,)
    factor: Floats  # (features,)
    weights: Floats  # V times a (features, d)
    offset: Floats  # m (d,)
    classes: tuple[str, ...]  # learned from
    fingerprint: str  # of the vectors of these classes
    penalties: Mapping[str, float] = field(default_factory=dict)
    n_images: int = 0
    network: Mapping[str, Any] | None = None
    """The network that made the features, as `FeatureNetwork.card` has it."""

    @classmethod
    def fit(
        cls,
        X: npt.ArrayLike | TrainingImages,
        y: npt.ArrayLike | None,
        embedding: LabelEmbedding,
        *,
        feature_ridge: float = FEATURE_RIDGE,
        class_ridge: float = CLASS_RIDGE,
        network: Mapping[str, Any] | None = None,
    ) -> ImageMap:
        """Learn from pictures whose classes have a vector.

        Parameters
        ----------
        X, y : (images, features) and (images,) labels
            Or `TrainingImages` and None, which keep what is slow for the next fit.
        feature_ridge, class_ridge : float
            γ and λ, in the units that `ESZSL` has.
        """
        images = X if isinstance(X, TrainingImages) else TrainingImages(X, y)
        positive("feature_ridge", feature_ridge)
        positive("class_ridge", class_ridge)
        classes = images.classes.tolist()
        S = _vectors_of(embedding, classes)  # (classes, d)
        scaling = images.scaling("standardize")
        # Standardised features have mean zero, so the −1 in Y adds nothing.
        ridge = images.spectrum("standardize").ridge_weights(feature_ridge)
        V = ridge @ carry_over(S, np.eye(embedding.dim), class_ridge)
        own = S[images.codes]  # (images, d)
        mean = own.mean(axis=0)
        directions = scaling.apply(images.X) @ V
        energy = float((directions**2).sum())
        scale = float(((own - mean) * directions).sum()) / energy if energy else 0.0
        return cls(
            shift=scaling.shift,
            factor=scaling.factor,
            weights=np.asarray(scale * V),
            offset=np.asarray(mean),
            classes=tuple(classes),
            fingerprint=fingerprint(embedding, classes),
            penalties={"feature_ridge": feature_ridge, "class_ridge": class_ridge},
            n_images=len(images.X),
            network=network,
        )

    def __repr__(self) -> str:
        features, dim = self.weights.shape
        return (
            f"ImageMap({features} features → {dim}, from {self.n_images} images of "
            f"{len(self.classes)} classes)"
        )

    def vectors(self, X: npt.ArrayLike) -> Floats:
        """Where pictures lie in the embedding's space: (images, d)."""
        features = as_features(X)
        if features.shape[1] != len(self.weights):
            raise OptionError(
                f"a picture must have {len(self.weights)} features, as those that the "
                f"map was learned from. Got {features.shape[1]}; make them with the "
                "same network."
            )
        scaling = Scaling("standardize", self.shift, self.factor)
        with np.errstate(over="ignore", invalid="ignore"):  # looked at below
            found = np.asarray(self.offset + scaling.apply(features) @ self.weights)
        if not np.isfinite(found).all():
            raise OptionError(
                "features must be of the size that the map was learned from; these "
                "are so large that their vectors are not finite."
            )
        return found

    def corrected(self, own: PictureAttributes, ridge: float = 10.0) -> ImageMap:
        """The map with what the pictures' own attributes add to it."""
        return replace(
            self,
            weights=self.weights + own.weights(ridge),
            offset=self.offset + own.mean,
            penalties={**self.penalties, "own_ridge": ridge},
        )

    def understand(
        self, X: npt.ArrayLike, embedding: LabelEmbedding, k: int = 6
    ) -> list[Understanding]:
        """Related labels and the k strongest attributes of every picture.

        As in the paper, related labels are those in the direction of the picture, and
        attributes are ranked by their predicted values. Columns of different units
        cannot be, so there the distance from the mean decides.
        """
        self.check_belongs_to(embedding)
        return [
            Understanding(
                vector,
                # Near the mean of all labels lie those that nothing is special about.
                embedding.describe(vector - self.offset, k=k).related,
                tuple(_strongest(embedding, vector, k)),
            )
            for vector in self.vectors(X)
        ]

    def check_belongs_to(self, embedding: LabelEmbedding) -> None:
        """Refuse an embedding in another space; labels added later do no harm."""
        strange = [label for label in self.classes if label not in embedding]
        if not strange and self.fingerprint == fingerprint(embedding, self.classes):
            return
        reason = (
            f"which lacks {some(strange)}" if strange else "whose vectors are others"
        )
        raise OptionError(
            f"the map was learned for another embedding than this one, {reason}; learn "
            "it again with `phcle map`."
        )

    def save(self, path: str | Path) -> None:
        """Write one pickle-free file; an existing one is replaced only when whole."""
        from phcle.uses.pictures.image_map_storage import save_map

        save_map(self, Path(path))


def fingerprint(embedding: LabelEmbedding, classes: Sequence[str]) -> str:
    """Digest of some labels and their vectors."""
    vectors = np.asarray(embedding.select(classes).vectors)
    return checksum("\n".join(classes), {"vectors": vectors})


def _strongest(
    embedding: LabelEmbedding, vector: Floats, k: int
) -> Iterator[Attribute]:
    """The k strongest attributes of each description that people can read."""
    for context in embedding.contexts:
        if not isinstance(context, FittedDescriptive) or not context.readable:
            continue
        if context.weight <= 0:  # found to predict nothing
            continue
        values = context.predict(vector[None, :])[0]
        strength = (values - context.offset) / context.scale
        has_one_unit = bool((context.scale == context.scale[0]).all())
        rank = values if has_one_unit else strength
        for i in np.argsort(-rank, kind="stable")[:k]:
            yield Attribute(
                context.name,
                context.columns[i],
                float(values[i]),
                float(strength[i]),
                observed=False,
            )


def _vectors_of(embedding: LabelEmbedding, classes: Sequence[str]) -> Floats:
    missing = [label for label in classes if label not in embedding]
    if missing:
        raise UnknownLabelError(
            f"the embedding has no vector for {some(missing)} of the pictures' classes."
            f"{did_you_mean(missing[0], embedding.labels)}"
        )
    return np.asarray(embedding.select(classes).vectors, dtype=np.float64)
