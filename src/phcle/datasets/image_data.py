"""Features and labels of images, with what is known about their classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from phcle.arrays import Ints
from phcle.contexts import DescriptiveContext
from phcle.errors import ContextError, did_you_mean, some

Features = npt.NDArray[np.float32]
Labels = npt.NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class ImageData:
    """Features of images with one label each.

    Parameters
    ----------
    name : str
        Name of the data set.
    features : array
        Finite numbers: (images, features).
    labels : array of str
        Class of each image.
    attributes : DescriptiveContext, optional
        Attributes of the classes.
    splits : dict of str to tuple of str
        Lists of classes. `seen` classes are trained on, `unseen` ones are tested on.
        `train` and `validation` are parts of the seen classes, to choose options on.
    locations : dict of str to array of int
        Rows of the features, counted from 0, under the names of the source.
    note : str
        A remark about the data.
    item_attributes : array, optional
        Attributes of each image: (images, columns of `attributes`).
    """

    name: str
    features: Features
    labels: Labels
    attributes: DescriptiveContext | None = None
    splits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    locations: dict[str, Ints] = field(default_factory=dict)
    note: str = ""
    item_attributes: Features | None = None

    def __post_init__(self) -> None:
        # Overflow and signalling NaNs become non-finite values, refused below.
        with np.errstate(over="ignore", invalid="ignore"):
            features = np.ascontiguousarray(self.features, dtype=np.float32)
        labels = np.asarray(self.labels, dtype=np.str_)
        if features.ndim != 2 or labels.shape != features.shape[:1] or not labels.size:
            raise ContextError(
                f"data set {self.name!r}: features must be (images, features) and "
                f"labels (images,), with at least one image. Got {features.shape} and "
                f"{labels.shape}."
            )
        if not np.isfinite(features).all():
            row = int(np.argmin(np.isfinite(features).all(axis=1)))
            raise ContextError(
                f"data set {self.name!r}: features must be finite, but those of image "
                f"{row} (counted from 0, label {str(labels[row])!r}) are not; leave it "
                "out."
            )
        both = set(self.splits.get("seen", ())) & set(self.splits.get("unseen", ()))
        if both:
            raise ContextError(
                f"data set {self.name!r}: a class must be seen or unseen, but "
                f"{some(sorted(both))} is in both lists; take it out of one."
            )
        for where, rows in self.locations.items():
            if rows.size and not 0 <= rows.min() <= rows.max() < len(labels):
                raise ContextError(
                    f"data set {self.name!r}: the locations {where!r} must be rows "
                    f"from 0 to {len(labels) - 1}. "
                    f"Got {rows.min()} to {rows.max()} instead."
                )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)

    def __repr__(self) -> str:
        return (
            f"ImageData({self.name!r}: {len(self.labels)} images × "
            f"{self.features.shape[1]} features, {len(self.classes)} classes)"
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes that have images, in order of first appearance."""
        return tuple(dict.fromkeys(self.labels.tolist()))

    @property
    def n_images(self) -> dict[str, int]:
        """Number of images of each class."""
        return dict(Counter(self.labels.tolist()))

    def rows_of(self, classes: Iterable[str]) -> Ints:
        """Find the images of some classes.

        Parameters
        ----------
        classes : iterable of str
            The classes.

        Returns
        -------
        array of int
            Rows of the images, in ascending order.
        """
        wanted = list(classes)
        known = self.classes
        for name in wanted:
            if name not in known:
                raise ContextError(
                    f"data set {self.name!r} has no picture of {name!r}."
                    f"{did_you_mean(name, known)}"
                )
        return np.flatnonzero(np.isin(self.labels, np.array(wanted, dtype=np.str_)))

    def select(self, classes: Iterable[str]) -> tuple[Features, Labels]:
        """Take the images of some classes.

        Parameters
        ----------
        classes : iterable of str
            The classes.

        Returns
        -------
        tuple of arrays
            Features and labels.
        """
        rows = self.rows_of(classes)
        return self.features[rows], self.labels[rows]
