"""Zero-shot data sets in the layout of the release "xlsa17" of Xian et al.

A folder holds `att_splits.mat` (class names, attributes, proposed split) and a file of
features, `res101.mat` in the release. Any other feature file with the same keys serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.errors import FileError, OptionError, some
from phcle_paper.datasets.classes import (
    AnnotatedImages,
    ClassAttributes,
    read_class_list,
    readable_name,
)
from phcle_paper.datasets.mat_files import MatFile
from phcle_paper.datasets.releases import XLSA17

__all__ = ["load_class_attributes", "load_xlsa17"]

SPLITS_FILE = "att_splits.mat"
# Class lists as text, where the release has them.
CLASS_LISTS = {"seen": "trainvalclasses.txt", "unseen": "testclasses.txt"}
# The same lists are the labels of the pictures at a location.
LOCATIONS = {"seen": "trainval", "unseen": "test_unseen"}


def load_xlsa17(
    folder: str | Path,
    features: str | None = None,
    *,
    attributes: str = "att",
    attribute_names: Sequence[str] | None = None,
) -> AnnotatedImages:
    """Features, labels, attributes and the proposed split of one data set.

    `features` names the feature file without `.mat` (`"res101"`); left out, the one
    feature file in the folder is taken. `attributes` is `"att"` (every class at unit
    length, as the benchmark uses them) or `"original_att"`. The release does not say
    what its attributes are called, so `attribute_names` may.
    """
    folder = Path(folder)
    file, context = _read_classes(folder, attributes, attribute_names)
    classes = context.labels
    path = _feature_file(folder, features)
    pictures = MatFile(path, ("features", "labels"), XLSA17)
    codes = pictures.positions("labels", len(classes), "one class number per image")
    matrix = pictures.numbers(
        "features", (None, len(codes)), f"features × {len(codes)} images"
    )
    form = "one image number per row"
    locations = {
        name: file.positions(f"{name}_loc", len(codes), form)
        for name in LOCATIONS.values()
    }
    splits = {
        split: tuple(classes[i] for i in np.unique(codes[locations[where]]))
        for split, where in LOCATIONS.items()
    }
    shared = set(splits["seen"]) & set(splits["unseen"])
    if shared:
        raise FileError(
            f"{folder / SPLITS_FILE}: 'trainval_loc' and 'test_unseen_loc' must be "
            f"images of different classes, but both have {some(sorted(shared))}; the "
            f"splits may not belong to {path.name}."
        )
    return AnnotatedImages(
        name=folder.resolve().name,
        features=matrix.T,
        labels=np.array(classes)[codes],
        attributes=context,
        splits=splits,
        locations=locations,
        note=f"features {path.name}, attributes {attributes!r}, proposed split",
    )


def load_class_attributes(
    folder: str | Path,
    *,
    attributes: str = "att",
    attribute_names: Sequence[str] | None = None,
) -> ClassAttributes:
    """Attributes and class lists of a folder that may have no features.

    The class lists come from the text files of the release that are in the folder.
    """
    folder = Path(folder)
    _, context = _read_classes(folder, attributes, attribute_names)
    splits = {
        split: read_class_list(folder / name, context.labels)
        for split, name in CLASS_LISTS.items()
        if (folder / name).is_file()
    }
    return ClassAttributes(context, splits)


def _read_classes(
    folder: Path, key: str, attribute_names: Sequence[str] | None
) -> tuple[MatFile, DescriptiveContext]:
    """The split file, and the attributes of its classes."""
    if key not in ("att", "original_att"):
        raise OptionError(
            f"attributes must be 'att' or 'original_att'. Got {key!r} instead."
        )
    path = XLSA17.file(folder, SPLITS_FILE)
    locations = [f"{name}_loc" for name in LOCATIONS.values()]
    file = MatFile(
        path, ("allclasses_names", "att", "original_att", *locations), XLSA17
    )
    names = file.names("allclasses_names", "one name per class")
    classes = tuple(map(readable_name, names))
    form = f"attributes × {len(classes)} classes"
    values = file.numbers(key, (None, len(classes)), form).T.astype(np.float64)
    if "original_att" in file:
        original = file.numbers("original_att", values.shape[::-1], form).T
        values = np.where(_is_unknown(original), np.nan, values)
    if attribute_names is None:
        columns = tuple(f"attribute {i}" for i in range(1, values.shape[1] + 1))
    else:
        columns = tuple(attribute_names)
        if len(columns) != values.shape[1]:
            raise OptionError(
                f"attribute_names must be {values.shape[1]} names, one per attribute "
                f"of {path}. Got {len(columns)} instead."
            )
    context = DescriptiveContext(
        "attributes", classes, columns, values, readable=attribute_names is not None
    )
    return file, context


def _is_unknown(original: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Where −1 means unknown: among strengths, none of which is negative.

    Some releases put sentence vectors here, in which −1 is a number like any other.
    """
    missing = original == -1.0
    if (original[~missing] < 0).any():
        return np.zeros_like(missing)
    return np.asarray(missing)


def _feature_file(folder: Path, features: str | None) -> Path:
    """The feature file asked for, or the only one there."""
    if features is not None:
        return XLSA17.file(folder, f"{features.removesuffix('.mat')}.mat")
    found = [
        path
        for path in sorted(folder.glob("*.mat"))
        if not path.name.startswith("att_splits")
    ]
    if not found:
        raise FileError(
            f"{folder}: has no file of features such as res101.mat. {XLSA17.remedy} "
            "Without features, load_class_attributes reads the rest."
        )
    if len(found) > 1:
        raise FileError(
            f"{folder}: has {len(found)} files that may hold features, "
            f"{some(path.name for path in found)}; choose one with features=."
        )
    return found[0]
