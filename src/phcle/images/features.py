"""Features of a user's own images: from NumPy files, or from photos by a network.

Files are never unpickled, so opening one cannot run code. A network is a folder that
the transformers library saved (safetensors weights, configuration, image processor), or
a name that the library downloads once and keeps.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import ContextError, FileError, OptionError, some
from phcle.files.numpy_arrays import read_npy, read_npz
from phcle.files.reading import is_folder, opened, parse_json
from phcle.files.text import read_text
from phcle.optional_imports import import_optional

Features = npt.NDArray[np.float32]
Names = npt.NDArray[np.str_]

SPLIT_NAMES = {"val": "validation", "valid": "validation", "test": "unseen"}
"""Other names for the lists of `ImageData.splits`."""


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
    splits : dict of str to tuple of str
        Lists of classes. `seen` classes are trained on, `unseen` ones are tested on.
        `train` and `validation` are parts of the seen classes, to choose options on.
    """

    name: str
    features: Features
    labels: Names
    splits: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where, features = f"data set {self.name!r}:", np.asarray(self.features)
        if features.dtype.kind not in "fiub":
            got = features.dtype
            raise ContextError(f"{where} features must be numbers. Got {got}.")
        # Overflow and signalling NaNs become non-finite values, refused below.
        with np.errstate(over="ignore", invalid="ignore"):
            features = np.ascontiguousarray(features, dtype=np.float32)
        labels = np.asarray(self.labels, dtype=np.str_)
        if features.ndim != 2 or labels.shape != features.shape[:1] or not labels.size:
            raise ContextError(
                f"{where} features must be (images, features) and labels (images,), "
                f"one image or more. Got {features.shape} and {labels.shape}."
            )
        is_finite = np.isfinite(features).all(axis=1)
        if not is_finite.all():
            row = int(is_finite.argmin())
            raise ContextError(
                f"{where} features must be finite, but those of image {row} (counted "
                f"from 0, label {str(labels[row])!r}) are not; leave it out."
            )
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)

    def __repr__(self) -> str:
        images, width = self.features.shape
        size = f"{images} images × {width} features, {len(self.classes)} classes"
        return f"{type(self).__name__}({self.name!r}: {size})"

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes that have images, in order of first appearance."""
        return tuple(dict.fromkeys(self.labels.tolist()))

    def select(self, classes: Iterable[str]) -> tuple[Features, Names]:
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
        is_wanted = np.isin(self.labels, list(classes))
        return self.features[is_wanted], self.labels[is_wanted]


def load_feature_folder(path: str | Path, *, name: str | None = None) -> ImageData:
    """Read features and labels of images from a folder or a file.

    The file `features.npz` has the arrays `features` (images × features) and `labels`:
    texts, or numbers from 0 that index its array `wnids` or `classes`. An optional
    `split.json` beside it maps names of splits to lists of classes. The classes of
    `test` become `unseen`, and those of `train` and `validation` together become
    `seen`.

    Parameters
    ----------
    path : str or Path
        The folder of `features.npz`, or an `.npz` file of another name.
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
    source = Path(path)
    if is_folder(source):
        source = source / "features.npz"
    features, labels = _read_npz(source)
    split = source.parent / "split.json"
    splits = _read_splits(split, set(labels.tolist())) if split.is_file() else {}
    try:
        return ImageData(name or source.parent.resolve().name, features, labels, splits)
    except ContextError as error:
        raise FileError(f"{source}: {error}") from error


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
    rows = np.atleast_2d(read_npy(path))
    is_matrix = rows.ndim == 2 and rows.size and rows.dtype.kind in "fiub"
    if not is_matrix or not np.isfinite(rows).all():
        raise FileError(
            f"{path}: features must be finite numbers, one row per image. "
            f"Got {rows.dtype} of shape {rows.shape}."
        )
    return rows


def _read_npz(path: Path) -> tuple[npt.NDArray[Any], Names]:
    """The arrays `features` and `labels`, as texts."""
    keys, arrays = read_npz(path, ("features", "labels", "wnids", "classes"))
    if not {"features", "labels"} <= arrays.keys():
        raise FileError(
            f"{path}: needs the arrays 'features' and 'labels', but has "
            f"{some(keys) or 'none'}; save it with np.savez."
        )
    labels, classes = arrays["labels"], arrays.get("wnids", arrays.get("classes"))
    if classes is not None and labels.dtype.kind in "iu":
        n = len(np.atleast_1d(classes))
        if labels.size and not 0 <= labels.min() <= labels.max() < n:
            raise FileError(
                f"{path}: numbered labels must count into the {n} classes, from 0 to "
                f"{n - 1}. Got {labels.min()} to {labels.max()}."
            )
        labels = np.atleast_1d(classes)[labels]
    if labels.ndim != 1 or labels.dtype.kind not in "Uiu":
        raise FileError(
            f"{path}: labels must be one row of texts or whole numbers. "
            f"Got {labels.dtype} of shape {labels.shape}."
        )
    return arrays["features"], labels.astype(np.str_)


def _read_splits(path: Path, known: set[str]) -> dict[str, tuple[str, ...]]:
    """Lists of classes by name, under the names that ImageData uses."""
    lists = parse_json(read_text(path), str(path))
    if not isinstance(lists, dict) or not all(
        isinstance(own, list) and all(isinstance(x, str) for x in own)
        for own in lists.values()
    ):
        raise FileError(f"{path}: must be an object of lists of classes, by split.")
    splits = {str(SPLIT_NAMES.get(key, key)): tuple(x) for key, x in lists.items()}
    if "seen" not in splits and "train" in splits:
        splits["seen"] = splits["train"] + splits.get("validation", ())
    unknown = {x for own in splits.values() for x in own} - known
    if unknown:
        raise FileError(
            f"{path}: names {len(unknown)} classes that have no images: "
            f"{some(sorted(unknown))}; correct them, or leave them out."
        )
    return splits


BATCH = 16


@dataclass(frozen=True, eq=False)
class FeatureNetwork:
    """A network without its head: features are means over its last layer.

    Make one with `FeatureNetwork.open`.

    Attributes
    ----------
    name : str
        The folder or name it was opened by.
    model : transformers.PreTrainedModel
        The network.
    processor : transformers.BaseImageProcessor
        Prepares pictures for the network.

    Examples
    --------
    >>> network = FeatureNetwork.open("microsoft/resnet-50")  # doctest: +SKIP
    >>> network.features([read_photo("cat.jpg")]).shape  # doctest: +SKIP
    (1, 2048)
    """

    name: str
    model: Any
    processor: Any

    @classmethod
    def open(cls, name: str) -> FeatureNetwork:
        """Read a network from a folder, or by a name that the library downloads.

        Parameters
        ----------
        name : str
            A folder with the files that `save_pretrained` of a network and of its image
            processor wrote, or a name on the model hub.

        Returns
        -------
        FeatureNetwork
            The network.

        Raises
        ------
        FileError
            If the folder or the name holds no such network.
        BackendError
            If the extra `phcle[vision]` is not installed.
        """
        is_local = Path(name).exists()
        purpose = "features of pictures"
        library = import_optional("transformers", extra="vision", purpose=purpose)
        options = {"local_files_only": is_local}
        try:
            processor = library.AutoImageProcessor.from_pretrained(name, **options)
            options["use_safetensors"] = True  # never pickled weights
            model = library.AutoModel.from_pretrained(name, **options)
        # The library raises many kinds of errors about missing or invalid files.
        except Exception as error:
            first = (str(error).strip() or repr(error)).splitlines()[0]
            raise FileError(
                f"{name}: is not a network that can be read, or downloaded by this "
                f"name ({first}); give a folder that save_pretrained of a network and "
                "of its image processor wrote."
            ) from error
        model = getattr(model, "vision_model", model)  # without the half for text
        return cls(name, model.eval().requires_grad_(False), processor)

    def features(self, pictures: Iterable[Any]) -> Features:
        """Compute the features of pictures.

        Parameters
        ----------
        pictures : iterable of PIL.Image.Image
            Pictures in RGB, read 16 at a time.

        Returns
        -------
        ndarray of float32, shape (pictures, features)
            The features.

        Raises
        ------
        OptionError
            If there are no pictures.
        """
        left, means = iter(pictures), []
        while batch := list(islice(left, BATCH)):  # pictures may come from a disk
            pixels = self.processor(images=batch, return_tensors="pt")["pixel_values"]
            last = np.asarray(self.model(pixel_values=pixels).last_hidden_state)
            # (pictures, features, rows, columns) of a convolution, or (pictures,
            # patches, features) of a transformer
            means.append(last.mean(axis=(2, 3) if last.ndim == 4 else 1))
        if not means:
            raise OptionError("features need one picture or more. Got none.")
        return np.vstack(means).astype(np.float32)


PHOTO_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
"""The only formats Pillow may try; it hands some others to programs of the system."""

MOST_PIXELS = 80_000_000
"""Most pixels of a picture: more than cameras make, and few enough for memory. A small
hostile file could otherwise decode to more memory than there is."""


def load_photo_folder(
    folder: Path,
    network: FeatureNetwork,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ImageData:
    """Compute features of all photos in the sub-folders of a folder.

    Parameters
    ----------
    folder : Path
        Has a sub-folder for each label, called like the label.
    network : FeatureNetwork
        Makes the features.
    progress : callable, optional
        Called with the numbers of photos read and in total.

    Returns
    -------
    ImageData
        Features and labels.

    Raises
    ------
    FileError
        If there are no photos.
    """
    paths = sorted(folder.glob("*/*"))
    files = [path for path in paths if path.suffix.lower() in PHOTO_ENDINGS]
    if not files:
        raise FileError(
            f"{folder}: has no photos in sub-folders; put them into one sub-folder for "
            "each label, called like the label."
        )

    def photos() -> Iterator[Any]:
        for n_done, path in enumerate(files):
            progress(n_done, len(files))
            yield read_photo(path)

    labels = np.array([path.parent.name for path in files])
    return ImageData(folder.name, network.features(photos()), labels)


def read_photo(path: str | Path) -> Any:
    """Read a picture from a file, in RGB and the right way up.

    Parameters
    ----------
    path : str or Path
        A JPEG, PNG, WebP, BMP, GIF or TIFF file.

    Returns
    -------
    PIL.Image.Image
        The picture.

    Raises
    ------
    FileError
        If the file is missing, damaged, not a picture, or has over 80 million pixels.
    BackendError
        If the extra `phcle[vision]` is not installed.
    """
    import_optional("PIL", extra="vision", purpose="reading pictures")
    from PIL import Image, ImageOps

    path = Path(path)
    # Decoders raise errors of many kinds about damaged files.
    with opened(path, "is not a picture that can be read", Exception) as file:
        with warnings.catch_warnings():
            # Our own limit is checked below.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(file, formats=FORMATS)
        if picture.width * picture.height > MOST_PIXELS:
            most = MOST_PIXELS // 1_000_000
            raise FileError(f"{path}: must have at most {most} million pixels.")
        return ImageOps.exif_transpose(picture).convert("RGB")
