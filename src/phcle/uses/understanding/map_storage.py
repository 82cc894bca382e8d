"""One file per map: safetensors with a JSON header, as embeddings have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from phcle.embedding.storage import checksum, read_tensors
from phcle.errors import FileError
from phcle.files import write_whole
from phcle.uses.understanding.image_map import ImageMap

__all__ = ["FORMAT", "VERSION", "load_map", "save_map"]

FORMAT = "phcle.image-map"
VERSION = 1
TENSORS = ("shift", "factor", "weights", "offset")
PLAIN = ("classes", "fingerprint", "penalties", "n_images", "network")


def save_map(image_map: ImageMap, path: Path) -> None:
    """Write a map; an existing file is replaced only by a whole one."""
    from safetensors.numpy import save_file

    tensors = {name: np.ascontiguousarray(getattr(image_map, name)) for name in TENSORS}
    text = json.dumps({name: getattr(image_map, name) for name in PLAIN})
    header = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": checksum(text, tensors),
        "content": text,
    }
    with write_whole(path) as temporary:
        save_file(tensors, temporary, {"phcle": json.dumps(header)})


def load_map(path: str | Path) -> ImageMap:
    """Read a map; a damaged, cut or foreign file is refused.

    >>> load_map("missing.map")
    Traceback (most recent call last):
    phcle.errors.FileError: missing.map: no such file.
    """
    path = Path(path)
    metadata, tensors = read_tensors(path)
    try:
        header = json.loads(metadata.get("phcle", "{}"))
        if header.get("format") != FORMAT:
            raise FileError(
                f"{path}: is not a map of pictures; make one with `phcle map`."
            )
        version, text = header["version"], str(header["content"])
    except (ValueError, KeyError, AttributeError) as error:
        raise FileError(f"{path}: is damaged (its header cannot be read).") from error
    if version != VERSION:
        raise FileError(
            f"{path}: has format version {version}, this phcle reads version "
            f"{VERSION}; update phcle."
        )
    if header.get("checksum") != checksum(text, tensors):
        raise FileError(f"{path}: is damaged (its checksum does not fit).")
    try:
        content = json.loads(text)
        parts: dict[str, Any] = {name: tensors[name] for name in TENSORS}
        parts |= {name: content[name] for name in PLAIN}
        found = ImageMap(**{**parts, "classes": tuple(map(str, parts["classes"]))})
        _check(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}: is not a whole map of pictures ({error}).") from error
    return found


def _check(found: ImageMap) -> None:
    """What a checksum cannot vouch for: that the parts fit each other."""
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
