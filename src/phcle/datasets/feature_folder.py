"""Read features of a user's own images: NumPy files with one label per row.

Files are never unpickled, so opening one cannot run code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.datasets.image_data import ImageData
from phcle.errors import ContextError, FileError, some
from phcle.files.json_toml import parse_json
from phcle.files.numpy_arrays import read_npy, read_npz
from phcle.files.reading import check_is_file, is_folder
from phcle.files.text import read_lines, read_text
from phcle.tables.reader import open_table

MATRICES = ("X.npy", "features.npy")
LABEL_FILES = ("labels.csv", "labels.tsv", "labels.txt", "labels.npy")
CLASS_KEYS = ("wnids", "classes")
SPLIT_NAMES = {"val": "validation", "valid": "validation", "test": "unseen"}
"""Other names for the lists of `ImageData.splits`."""


def load_feature_folder(path: str | Path, *, name: str | None = None) -> ImageData:
    """Read features and labels of images from a folder or a file.

    An `.npz` file has the arrays `features` (images × features) and `labels`: texts, or
    numbers from 0 that index its array `wnids` or `classes`. A matrix `X.npy` or
    `features.npy` needs its labels beside it, in `labels.csv` (column `label`),
    `labels.txt` (one per line) or `labels.npy`. An optional `split.json` maps names of
    splits to lists of classes. The classes of `test` become `unseen`, and those of
    `train` and `validation` together become `seen`.

    Parameters
    ----------
    path : str or Path
        The folder, or one file in it.
    name : str, optional
        Name of the data set; by default that of the folder.

    Returns
    -------
    ImageData
        Features, labels and splits.

    Raises
    ------
    FileError
        If a file is missing, damaged or not what it should be.
    """
    path = Path(path)
    source = _find(path) if is_folder(path) else path
    check_is_file(source)
    if source.suffix == ".npz":
        features, labels = _read_npz(source)
    elif source.suffix == ".npy":
        features, labels = read_array(source, 2), _read_labels(source.parent)
    else:
        raise FileError(f"{source}: must be an .npz or .npy file of features.")
    if len(features) != len(labels):
        raise FileError(
            f"{source}: has features of {len(features)} images, but there are "
            f"{len(labels)} labels; give one label per row."
        )
    if features.dtype.kind not in "fiub":
        raise FileError(
            f"{source}: features must be numbers. Got {features.dtype} instead."
        )
    split = source.parent / "split.json"
    splits = _read_splits(split, set(labels.tolist())) if split.is_file() else {}
    try:
        return ImageData(
            name=name or source.parent.resolve().name,
            features=features,
            labels=labels,
            splits=splits,
            note=f"features of {source.name}",
        )
    except ContextError as error:
        raise ContextError(f"{source}: {error}") from error


def read_feature_rows(path: Path) -> npt.NDArray[Any]:
    """Read features from an `.npy` file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    array
        Finite numbers (images, features); a single vector is one row.
    """
    rows = np.atleast_2d(read_array(path, 2, 1))
    if rows.dtype.kind not in "fiub" or not np.isfinite(rows).all() or not rows.size:
        raise FileError(
            f"{path}: features must be finite numbers, one row per image. "
            f"Got {rows.dtype} of shape {rows.shape}."
        )
    return rows


def read_array(path: Path, *ndim: int) -> npt.NDArray[Any]:
    """Read an array from an `.npy` file, without unpickling.

    Parameters
    ----------
    path : Path
        The file.
    *ndim : int
        Numbers of dimensions that the array may have.

    Returns
    -------
    array
        The array.
    """
    array = read_npy(path)
    if array.ndim not in ndim:
        form = "a matrix, images × features" if 2 in ndim else "one row of labels"
        raise FileError(f"{path}: must be {form}. Got shape {array.shape}.")
    return array


def _find(folder: Path) -> Path:
    """The feature file of a folder, or which ones it could be."""
    packed = sorted(folder.glob("*.npz"))
    plain = [folder / name for name in MATRICES if (folder / name).is_file()]
    found = [x for x in packed if x.name == "features.npz"] or [*packed, *plain]
    if not found:
        raise FileError(
            f"{folder}: has no features; features.npz, or X.npy with labels.csv, was "
            "expected."
        )
    if len(found) > 1:
        raise FileError(
            f"{folder}: has {len(found)} files of features, "
            f"{some(path.name for path in found)}; name the one to load."
        )
    return found[0]


def _read_npz(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[np.str_]]:
    """The arrays `features` and `labels`."""
    keys, arrays = read_npz(path, ("features", "labels", *CLASS_KEYS))
    if not {"features", "labels"} <= set(keys):
        raise FileError(
            f"{path}: needs the arrays 'features' and 'labels', but has "
            f"{some(keys) or 'none'}; save it with "
            "np.savez(path, features=..., labels=...)."
        )
    features, labels = arrays["features"], arrays["labels"]
    classes = next((arrays[key] for key in CLASS_KEYS if key in arrays), None)
    if features.ndim != 2:
        raise FileError(
            f"{path}: 'features' must be images × features. Got shape {features.shape}."
        )
    return features, _as_names(labels, classes, path)


def _as_names(
    labels: npt.NDArray[Any], classes: npt.NDArray[Any] | None, path: Path
) -> npt.NDArray[np.str_]:
    """Labels as texts: as they are, or numbers counted into the classes."""
    if labels.ndim != 1 or labels.dtype.kind not in "USiu":
        raise FileError(
            f"{path}: labels must be one row of texts or whole numbers. "
            f"Got {labels.dtype} of shape {labels.shape}."
        )
    if labels.dtype.kind == "S":
        try:
            return np.asarray(np.char.decode(labels, "utf-8"), dtype=np.str_)
        except UnicodeDecodeError as error:
            raise FileError(
                f"{path}: labels must be UTF-8 text ({error.reason}); save them as "
                "text (labels.astype(str))."
            ) from error
    if labels.dtype.kind == "U":
        return np.asarray(labels, dtype=np.str_)
    if classes is None:
        return labels.astype(np.str_)
    names = _as_names(classes, None, path)
    if labels.size and not 0 <= labels.min() <= labels.max() < len(names):
        raise FileError(
            f"{path}: numbered labels must count into the {len(names)} classes, from 0 "
            f"to {len(names) - 1}. Got {labels.min()} to {labels.max()}."
        )
    return np.asarray(names[labels])


def _read_labels(folder: Path) -> npt.NDArray[np.str_]:
    """Labels from the one label file beside a matrix."""
    found = [folder / name for name in LABEL_FILES if (folder / name).is_file()]
    if len(found) != 1:
        raise FileError(
            f"{folder}: needs one file of labels, {some(LABEL_FILES)}. "
            f"Got {some(path.name for path in found) or 'none'}."
        )
    path = found[0]
    if path.suffix == ".npy":
        return _as_names(read_array(path, 1), None, path)
    if path.suffix == ".txt":
        lines = [line.strip() for line in read_lines(path)]
        if not all(lines):
            raise FileError(
                f"{path}, line {lines.index('') + 1}: is empty; give one label per "
                "row of the features."
            )
        return np.array(lines)
    table = open_table(path)
    titles = [title.lower() for title in table.header]
    if "label" not in titles:
        raise FileError(
            f"{path}: needs a column 'label'. Its header has {some(table.header)}."
        )
    column, labels = titles.index("label"), []
    for line, cells in table.rows():
        if not cells[column]:
            table.fault(line, "the label is empty; fill it in.")
        labels.append(cells[column])
    table.raise_faults()
    return np.array(labels)


def _read_splits(path: Path, known: set[str]) -> dict[str, tuple[str, ...]]:
    """Lists of classes by name, under the names that ImageData uses."""
    lists = parse_json(read_text(path), str(path))
    if not isinstance(lists, dict) or not all(
        isinstance(own, list) and all(isinstance(x, str) for x in own)
        for own in lists.values()
    ):
        raise FileError(f"{path}: must be an object of lists of classes, by split.")
    splits = {str(SPLIT_NAMES.get(key, key)): tuple(own) for key, own in lists.items()}
    if "seen" not in splits and "train" in splits:
        splits["seen"] = splits["train"] + splits.get("validation", ())
    unknown = [x for own in splits.values() for x in own if x not in known]
    if unknown:
        raise FileError(
            f"{path}: names {len(set(unknown))} classes that have no images: "
            f"{some(dict.fromkeys(unknown))}; correct them, or leave them out."
        )
    return splits
