"""Save and load maps of pictures: safetensors with a JSON header, like embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from phcle.errors import FileError
from phcle.files.archive import read_sealed, write_sealed
from phcle.uses.pictures.image_map import ImageMap

__all__ = ["FORMAT", "VERSION", "load_map", "save_map"]

FORMAT = "phcle.image-map"
VERSION = 1
TENSORS = ("shift", "factor", "weights", "offset")
PLAIN = ("classes", "fingerprint", "penalties", "n_images", "network")


def save_map(image_map: ImageMap, path: Path) -> None:
    """Write a map to a file, which replaces an old one only when complete.

    Parameters
    ----------
    image_map : ImageMap
        The map.
    path : Path
        The file to write.
    """
    tensors = {name: getattr(image_map, name) for name in TENSORS}
    content = {name: getattr(image_map, name) for name in PLAIN}
    write_sealed(path, FORMAT, VERSION, content, tensors)


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
    foreign = "is not a map of pictures; make one with `phcle map`."
    content, tensors = read_sealed(path, FORMAT, VERSION, foreign)
    try:
        parts: dict[str, Any] = {name: tensors[name] for name in TENSORS}
        parts |= {name: content[name] for name in PLAIN}
        found = ImageMap(**{**parts, "classes": tuple(map(str, parts["classes"]))})
        _check(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(
            f"{path}: is not a complete map of pictures ({error})."
        ) from error
    return found


def _check(found: ImageMap) -> None:
    """Check that the parts fit each other, which a checksum cannot tell."""
    if found.weights.ndim != 2:
        raise ValueError(f"weights of shape {found.weights.shape}")
    features, dim = found.weights.shape
    shapes = {"shift": (features,), "factor": (features,), "offset": (dim,)}
    for name in TENSORS:
        tensor = getattr(found, name)
        if name in shapes and tensor.shape != shapes[name]:
            raise ValueError(f"{name} of shape {tensor.shape}, not {shapes[name]}")
        if tensor.dtype.kind != "f" or not np.isfinite(tensor).all():
            raise ValueError(f"{name} that is not finite numbers")
    if not found.classes or not isinstance(found.fingerprint, str):
        raise ValueError("no classes, or no fingerprint")
    card: Any = found.network
    if card is not None and not {"name", "probe"} <= set(card):
        raise ValueError("a network without name or probe")
