"""Numbers and settings in one file: safetensors with a JSON header, without pickle.

Tensors hold all numbers. The header's metadata has one key, "phcle": JSON with
"format", "version", "checksum" and "content" (structure and settings). The checksum
covers the content and every tensor, so damage anywhere is seen. One key only, because
safetensors writes several in any order: the same content shall give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError
from phcle.files import write_whole

__all__ = ["Tensors", "checksum", "read_sealed", "read_tensors", "write_sealed"]

Tensors = dict[str, npt.NDArray[Any]]


def write_sealed(
    path: Path, format: str, version: int, content: Any, tensors: Tensors
) -> None:
    """Write one file; an existing one is replaced only by a whole one."""
    from safetensors.numpy import save_file

    text = json.dumps(content)
    tensors = {name: np.ascontiguousarray(value) for name, value in tensors.items()}
    header = {
        "format": format,
        "version": version,
        "checksum": checksum(text, tensors),
        "content": text,
    }
    with write_whole(path) as temporary:
        save_file(tensors, temporary, {"phcle": json.dumps(header)})


def read_sealed(
    path: Path, format: str, version: int, foreign: str
) -> tuple[Any, Tensors]:
    """Content and tensors; a damaged, cut or foreign file is refused.

    `foreign` says what is wrong with a safetensors file of another format.
    """
    metadata, tensors = read_tensors(path)
    try:
        header = json.loads(metadata.get("phcle", "{}"))
        if header.get("format") != format:
            raise FileError(f"{path}: {foreign}")
        found, text = header["version"], str(header["content"])
    except (ValueError, KeyError, AttributeError) as error:
        raise FileError(f"{path}: is damaged (its header cannot be read).") from error
    if found != version:
        raise FileError(
            f"{path}: has format version {found}, this phcle reads version {version}; "
            "update phcle."
        )
    if header.get("checksum") != checksum(text, tensors):
        raise FileError(f"{path}: is damaged (its checksum does not fit).")
    try:
        return json.loads(text), tensors
    except ValueError as error:
        raise FileError(f"{path}: is damaged (its content cannot be read).") from error


def read_tensors(path: Path) -> tuple[dict[str, str], Tensors]:
    """Metadata and tensors of any safetensors file."""
    from safetensors import SafetensorError, safe_open

    if path.is_dir():
        raise FileError(f"{path}: is a folder; give the name of a file.")
    if not path.exists():
        raise FileError(f"{path}: no such file.")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return metadata, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise FileError(
            f"{path}: is damaged, cut short, or not a phcle file ({error})."
        ) from error


def checksum(text: str, tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    """Digest of the content and of every tensor's name, type, shape and bytes."""
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name}|{tensor.dtype}|{tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()
