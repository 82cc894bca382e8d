"""A linear map from features of pictures to vectors of an embedding.

The map is that of ESZSL. With scaled features X, Y holding 1 for a picture's class and
−1 elsewhere, and vectors S of the seen classes,

    V = (XᵀX + γI)⁻¹ XᵀY S (SᵀS + λI)⁻¹,

and x V is the direction of a picture x. ESZSL only ranks classes by it, so its length
has no meaning, and a picture with mean features has no direction. To predict attribute
values, a vector at the scale of the embedding is needed: the map returns m + a·x V,
where m is the mean vector of the training pictures' classes, and a is the least-squares
factor that brings the training pictures to their classes' vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.answers import Attribute, UnderstoodPicture
from phcle.arrays import AnyFloats
from phcle.contexts.matrices import check_array
from phcle.embedding import LabelEmbedding
from phcle.embedding.columns import Reading
from phcle.embedding.describe import strengths, strongest
from phcle.errors import OptionError, some
from phcle.files.container import checksum, read_sealed, write_sealed
from phcle.files.reading import naming
from phcle.images.features import FeatureNetwork
from phcle.images.zero_shot import (
    TrainingImages,
    as_features,
    carry_over,
    check_has_vectors,
    positive,
)

FORMAT = "phcle.image-map"
VERSION = 1
TENSORS = ("shift", "factor", "weights", "offset")
PLAIN = ("classes", "fingerprint", "penalties", "n_images", "network")

FEATURE_RIDGE, CLASS_RIDGE = 100.0, 0.1
"""Default penalties: near the best on validation classes of aPY and tiny-imagenet."""


@dataclass(frozen=True, eq=False)
class ImageMap:
    """A linear map from features of pictures to vectors of an embedding.

    Make one with `ImageMap.fit` or `load_map`.

    Attributes
    ----------
    shift, factor : ndarray of shape (features,)
        Features are standardized by (x − shift) · factor.
    weights : ndarray of shape (features, dim)
        a V, the map of standardized features.
    offset : ndarray of shape (dim,)
        m, the mean vector of the training pictures' classes.
    classes : tuple of str
        The classes that the map was learned from.
    fingerprint : str
        Checksum of the vectors of these classes.
    penalties : mapping of str to float
        The penalties it was learned with.
    n_images : int
        Number of training pictures.
    network : mapping of str to Any, or None
        The network that made the features: its `name`.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[2, 0], [0, 2], [1, 1]]))
    >>> found = ImageMap.fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"], pets)
    >>> bool(np.allclose(found.vectors([[0.5, 0.5]]), pets["fox"]))
    True
    """

    shift: AnyFloats
    factor: AnyFloats
    weights: AnyFloats
    offset: AnyFloats
    classes: tuple[str, ...]
    fingerprint: str
    penalties: Mapping[str, float] = field(default_factory=dict)
    n_images: int = 0
    network: Mapping[str, Any] | None = None

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
        """Learn a map from pictures whose classes have a vector.

        Parameters
        ----------
        X : array of shape (images, features), or TrainingImages
            Features of the pictures. `TrainingImages` keep slow intermediate results
            for the next fit.
        y : array of shape (images,), or None
            Classes of the pictures; None with `TrainingImages`.
        embedding : LabelEmbedding
            One vector for every class.
        feature_ridge : float, default 100.0
            γ, in the units of `ESZSL`.
        class_ridge : float, default 0.1
            λ, in the units of `ESZSL`.
        network : mapping of str to Any, optional
            The network that made the features: its `name`.

        Returns
        -------
        ImageMap
            The map.

        Raises
        ------
        UnknownLabelError
            If a class has no vector.
        """
        images = X if isinstance(X, TrainingImages) else TrainingImages(X, y)
        positive("feature_ridge", feature_ridge)
        positive("class_ridge", class_ridge)
        classes = images.classes.tolist()
        check_has_vectors(embedding, classes, "the pictures' classes")
        S = np.asarray(embedding.select(classes).vectors, np.float64)  # (classes, dim)
        scaling = images.scaling
        # Standardized features have mean zero, so the −1 in Y makes no difference.
        ridge = images.ridge_weights(feature_ridge)
        V = ridge @ carry_over(S, np.eye(embedding.dim), class_ridge)
        own = S[images.codes]  # (images, dim)
        mean = own.mean(axis=0)
        directions = scaling.transform(images.X) @ V
        energy = float((directions**2).sum())
        scale = float(((own - mean) * directions).sum()) / energy if energy else 0.0
        return cls(
            shift=scaling.mean_,
            factor=1 / scaling.scale_,
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
        learned = f"{self.n_images} images of {len(self.classes)} classes"
        return f"ImageMap({features} features → {dim}, from {learned})"

    def open_network(self, name: str | None = None) -> FeatureNetwork:
        """Open the network that made the features.

        Parameters
        ----------
        name : str, optional
            Where the network is now; by default where it was.

        Returns
        -------
        FeatureNetwork
            The network.
        """
        if self.network is None:
            raise OptionError(
                "this map was learned from features, not from photos: give features "
                "(.npy) here too, or learn it again with --learn, --photos and "
                "--network."
            )
        return FeatureNetwork.open(name or self.network["name"])

    def vectors(self, X: npt.ArrayLike) -> AnyFloats:
        """Map features of pictures to vectors.

        Parameters
        ----------
        X : array of shape (images, features)
            Features, made by the same network as the training features.

        Returns
        -------
        ndarray of shape (images, dim)
            Vectors in the space of the embedding.

        Raises
        ------
        OptionError
            If the number of features differs, or vectors would not be finite.
        """
        features = as_features(X, len(self.weights), self)
        scaled = ((features - self.shift) * self.factor).astype(features.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            found = np.asarray(self.offset + scaled @ self.weights)
        if not np.isfinite(found).all():
            raise OptionError("the features are too large: their vectors overflow.")
        return found

    def understand(
        self, X: npt.ArrayLike, embedding: LabelEmbedding, k: int = 6
    ) -> list[UnderstoodPicture]:
        """Return the related labels and strongest attributes of each picture.

        As in the paper, labels are related by direction, and attributes are ranked by
        predicted value. Where columns have different units, they are ranked by distance
        from the mean instead.

        Parameters
        ----------
        X : array of shape (images, features)
            Features of the pictures.
        embedding : LabelEmbedding
            The embedding that the map was learned for; labels may have been added
            since.
        k : int, default 6
            Number of labels, and of attributes of each context.

        Returns
        -------
        list of UnderstoodPicture
            One for each picture: related labels with shares of the similarity that sum
            to one, and the largest predicted values of each descriptive context.

        Raises
        ------
        OptionError
            If the map was learned for another embedding.
        """
        self.check_belongs_to(embedding)
        return [
            UnderstoodPicture(
                f"row {i}",
                # Without the offset, labels near the mean of all would come first.
                embedding.describe(vector - self.offset, k=k).related,
                tuple(_attributes(embedding, vector, k)),
            )
            for i, vector in enumerate(self.vectors(X))
        ]

    def check_belongs_to(self, embedding: LabelEmbedding) -> None:
        """Refuse another embedding than the one the map was learned for.

        Labels added since then make no difference.

        Parameters
        ----------
        embedding : LabelEmbedding
            The embedding to check.

        Raises
        ------
        OptionError
            If classes are missing or their vectors differ.
        """
        strange = [label for label in self.classes if label not in embedding]
        if not strange and self.fingerprint == fingerprint(embedding, self.classes):
            return
        reason = f"lacks {some(strange)}" if strange else "has other vectors"
        raise OptionError(
            f"the map is of another embedding: this one {reason}; learn it again."
        )

    def save(self, path: str | Path) -> None:
        """Write the map to one file without pickles.

        An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or Path
            The file to write.
        """
        tensors = {name: getattr(self, name) for name in TENSORS}
        content = {name: getattr(self, name) for name in PLAIN}
        write_sealed(Path(path), FORMAT, VERSION, content, tensors)


def load_map(path: str | Path) -> ImageMap:
    """Read a map of pictures from a file.

    Parameters
    ----------
    path : str or Path
        A file that `ImageMap.save` wrote.

    Returns
    -------
    ImageMap
        The map.

    Raises
    ------
    FileError
        If the file is missing, damaged, incomplete or something else.

    Examples
    --------
    >>> load_map("missing.map")
    Traceback (most recent call last):
    phcle.errors.FileError: missing.map: no such file.
    """
    path = Path(path)
    foreign = "is not a map of pictures; `phcle understand --learn` makes one."
    content, tensors = read_sealed(path, FORMAT, VERSION, foreign)
    with naming(path, "is not a complete map of pictures", Exception):
        parts: dict[str, Any] = {name: tensors[name] for name in TENSORS}
        parts |= {name: content[name] for name in PLAIN}
        found = ImageMap(**{**parts, "classes": tuple(map(str, parts["classes"]))})
        _check(found)
    return found


def fingerprint(embedding: LabelEmbedding, classes: Sequence[str]) -> str:
    """Return a checksum of some labels and their vectors.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    classes : sequence of str
        The labels.

    Returns
    -------
    str
        The checksum.
    """
    vectors = np.asarray(embedding.select(classes).vectors)
    return checksum("\n".join(classes), {"vectors": vectors})


def _attributes(
    embedding: LabelEmbedding, vector: AnyFloats, k: int
) -> Iterator[Attribute]:
    """The k strongest attributes of each readable descriptive context."""
    for context in embedding.predicting:
        if context.weight > 0:  # otherwise the fit found that it predicts nothing
            read = Reading.of_vectors(context, vector[None, :])
            has_one_unit = bool((context.scale == context.scale[0]).all())
            rank = read.values[0] if has_one_unit else strengths(read)
            yield from strongest(read, rank, k)


def _check(found: ImageMap) -> None:
    """Check that the parts fit each other, which a checksum cannot tell."""
    features, dim = found.weights.shape
    shapes = {"shift": (features,), "factor": (features,), "offset": (dim,)}
    for name, shape in {"weights": (features, dim), **shapes}.items():
        check_array(getattr(found, name), shape, f"its {name}")
    if not found.classes or not isinstance(found.fingerprint, str):
        raise ValueError("no classes, or no fingerprint")
    card: Any = found.network
    if card is not None and "name" not in card:
        raise ValueError("a network without name")
