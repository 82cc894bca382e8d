"""Rendered shapes: a small data set with pictures, drawn when it is loaded.

32 classes are combinations of a shape, a colour and a texture, such as "striped red
triangle". The taxonomy knows shapes only; colour and texture are known from attributes,
and those only for some of the classes. The unseen classes are new combinations of parts
that the seen classes have. As the truth is known, attributes that were filled in and
classes that were recognised can be scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.datasets.image_data import ImageData
from phcle.datasets.shape_drawing import COLOURS, TEXTURES, draw_shape
from phcle.datasets.simple_features import picture_features
from phcle.errors import OptionError

__all__ = ["RenderedShapes", "load_shapes"]

TREE = {  # shape families, child -> parent
    "triangle": "convex polygon",
    "square": "convex polygon",
    "hexagon": "convex polygon",
    "star": "notched polygon",
    "cross": "notched polygon",
    "circle": "full round",
    "ring": "hollow round",
    "crescent": "hollow round",
    "convex polygon": "polygon",
    "notched polygon": "polygon",
    "full round": "round shape",
    "hollow round": "round shape",
    "polygon": "shape",
    "round shape": "shape",
}

PARTS = {
    "triangle": ("has corners", "has straight sides", "has sharp points", "is convex"),
    "square": ("has corners", "has straight sides", "has right angles", "is convex"),
    "hexagon": ("has corners", "has straight sides", "has many sides", "is convex"),
    "star": (
        *("has corners", "has straight sides", "has sharp points"),
        *("has many sides", "has notches"),
    ),
    "cross": (
        *("has corners", "has straight sides", "has right angles"),
        *("has many sides", "has notches"),
    ),
    "circle": ("has curved sides", "is convex"),
    "ring": ("has curved sides", "has a hole"),
    "crescent": ("has curved sides", "has corners", "has sharp points", "has notches"),
}

# (texture, colour) of the seen classes, and below of the unseen ones. Every colour and
# every texture occurs in seen classes of several shapes. Unseen classes come in pairs
# of one shape, so that the taxonomy alone cannot tell them apart.
SEEN = {
    "triangle": (("striped", "red"), ("plain", "blue"), ("dotted", "green")),
    "square": (("checked", "blue"), ("plain", "red"), ("striped", "yellow")),
    "hexagon": (("dotted", "orange"), ("plain", "green"), ("checked", "purple")),
    "star": (("plain", "yellow"), ("striped", "purple"), ("dotted", "blue")),
    "cross": (("striped", "green"), ("checked", "red"), ("plain", "purple")),
    "circle": (("plain", "orange"), ("dotted", "red"), ("checked", "green")),
    "ring": (("striped", "blue"), ("checked", "orange"), ("dotted", "yellow")),
    "crescent": (("dotted", "purple"), ("striped", "orange"), ("checked", "yellow")),
}
UNSEEN = {
    "triangle": (("checked", "yellow"), ("dotted", "purple")),
    "star": (("plain", "orange"), ("checked", "green")),
    "circle": (("striped", "purple"), ("plain", "blue")),
    "ring": (("plain", "red"), ("striped", "green")),
}
# No attribute of these seen classes is known: the second of each shape.
UNDESCRIBED = 1


@dataclass(frozen=True, eq=False)
class RenderedShapes:
    """Pictures of shapes, and what is known about their classes.

    Attributes
    ----------
    images : array of uint8
        The pictures: (images, size, size, 3).
    labels : array of str
        Class of each picture.
    features : array
        Features of the pictures: (images, features).
    seen : tuple of str
        Classes to train on.
    unseen : tuple of str
        Classes to test on.
    edges : tuple of (str, str)
        Pairs (child, parent) of the taxonomy, which knows shapes but no colours.
    attributes : DescriptiveContext
        The known attributes; some classes and values are missing.
    all_attributes : DescriptiveContext
        All attributes, to score predictions with.
    """

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.str_]
    features: npt.NDArray[np.float32]
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    attributes: DescriptiveContext
    all_attributes: DescriptiveContext

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes, seen ones first."""
        return self.seen + self.unseen

    def hierarchy(self, kind: str = "ancestors") -> RelationalContext:
        """The taxonomy of shapes as a relational context.

        Parameters
        ----------
        kind : str
            How the taxonomy becomes counts; see `RelationalContext.from_hierarchy`.

        Returns
        -------
        RelationalContext
            The context "hierarchy".
        """
        return RelationalContext.from_hierarchy(
            self.edges, name="hierarchy", kind=kind, labels=self.classes
        )

    def contexts(self) -> list[RelationalContext | DescriptiveContext]:
        """The taxonomy and the known attributes.

        Returns
        -------
        list of contexts
            "hierarchy" and "attributes".
        """
        return [self.hierarchy(), self.attributes]

    def image_data(self) -> ImageData:
        """Features, labels and known attributes in the form of other data sets.

        Returns
        -------
        ImageData
            The same data.
        """
        return ImageData(
            name="rendered shapes",
            features=self.features,
            labels=self.labels,
            attributes=self.attributes,
            splits={"seen": self.seen, "unseen": self.unseen},
            note="drawn by phcle; unseen classes are new combinations of known parts",
        )


def load_shapes(n_images: int = 20, size: int = 32, seed: int = 0) -> RenderedShapes:
    """Draw pictures of 32 classes of shapes.

    A picture depends on the seed, its class and its number only: more pictures of a
    class leave the first ones unchanged.

    Parameters
    ----------
    n_images : int
        Pictures of each class.
    size : int
        Height and width of a picture in pixels, 16 or more.
    seed : int
        Seed of all random choices.

    Returns
    -------
    RenderedShapes
        Pictures, features and contexts.

    Examples
    --------
    >>> data = load_shapes(n_images=1)
    >>> data.images.shape, str(data.labels[0])
    ((32, 32, 32, 3), 'striped red triangle')
    """
    for option, value, least in (("n_images", n_images, 1), ("size", size, 16)):
        if value < least:
            raise OptionError(
                f"{option} must be {least} or more. Got {value!r} instead."
            )
    seen, unseen = _combinations(SEEN), _combinations(UNSEEN)
    parts = {**seen, **unseen}
    images = np.array(
        [
            draw_shape(
                *own, size=size, rng=np.random.default_rng([seed, number, repeat])
            )
            for number, own in enumerate(parts.values())
            for repeat in range(n_images)
        ]
    )
    truth = _all_attributes(parts)
    return RenderedShapes(
        images=images,
        labels=np.repeat(np.array(list(parts)), n_images),
        features=picture_features(images),
        seen=tuple(seen),
        unseen=tuple(unseen),
        edges=(*((name, own[0]) for name, own in parts.items()), *TREE.items()),
        attributes=_known_attributes(truth),
        all_attributes=truth,
    )


def _combinations(
    table: Mapping[str, Sequence[tuple[str, str]]],
) -> dict[str, tuple[str, str, str]]:
    """(shape, colour, texture) of each class by its name."""
    return {
        f"{texture} {colour} {shape}": (shape, colour, texture)
        for shape, own in table.items()
        for texture, colour in own
    }


def _all_attributes(parts: dict[str, tuple[str, str, str]]) -> DescriptiveContext:
    """Every attribute of every class."""
    of_shapes = dict.fromkeys(part for own in PARTS.values() for part in own)
    columns = (*of_shapes, *COLOURS, *TEXTURES)
    values = [
        [column in (*PARTS[shape], colour, texture) for column in columns]
        for shape, colour, texture in parts.values()
    ]
    return DescriptiveContext(
        "attributes", tuple(parts), columns, np.array(values, dtype=np.float64)
    )


def _known_attributes(truth: DescriptiveContext) -> DescriptiveContext:
    """The truth without some classes, and without one value of each other class."""
    hidden = _combinations({shape: [own[UNDESCRIBED]] for shape, own in SEEN.items()})
    known = truth.rows_for([x for x in truth.labels if x not in hidden])
    values = np.array(known.values)
    rows = np.arange(len(known.labels))
    # A step that shares no factor with the number of columns visits all of them.
    values[rows, 7 * rows % len(known.columns)] = np.nan
    return DescriptiveContext(known.name, known.labels, known.columns, values)
