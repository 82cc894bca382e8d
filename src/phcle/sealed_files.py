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

__all__ = [
    "Tensors",
    "checksum",
    "read_sealed",
    "read_tensors",
    "write_sealed",
    "write_tensors",
]

Tensors = dict[str, npt.NDArray[Any]]

TYPES = (
    "BOOL",
    "U8",
    "I8",
    "I16",
    "U16",
    "F16",
    "I32",
    "U32",
    "F32",
    "F64",
    "I64",
    "U64",
)
"""Types of safetensors in the order of its library, which puts the last ones first."""


def write_sealed(
    path: Path, format: str, version: int, content: Any, tensors: Tensors
) -> None:
    """Write one file; an existing one is replaced only by a whole one."""
    text = json.dumps(content)
    header = {
        "format": format,
        "version": version,
        "checksum": checksum(text, tensors),
        "content": text,
    }
    write_tensors(path, tensors, {"phcle": json.dumps(header)})


def write_tensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file, byte for byte what its library writes.

    The library would first write to a file of its own beside, which a killed process
    leaves behind for ever, and has no error of the system for a full disk.
    """
    order = sorted(tensors, key=lambda name: (-TYPES.index(_type(tensors[name])), name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name in order:
        start, end = end, end + tensors[name].nbytes
        kind, shape = _type(tensors[name]), list(tensors[name].shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)  # so that numbers begin at a multiple of eight
    with write_whole(path) as temporary, temporary.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for name in order:
            value = np.ascontiguousarray(tensors[name])
            file.write(value.astype(value.dtype.newbyteorder("<"), copy=False).data)


def _type(tensor: npt.NDArray[Any]) -> str:
    """What safetensors calls a type."""
    letter = {"b": "BOOL", "u": "U", "i": "I", "f": "F"}[tensor.dtype.kind]
    return letter if letter == "BOOL" else f"{letter}{8 * tensor.dtype.itemsize}"


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
