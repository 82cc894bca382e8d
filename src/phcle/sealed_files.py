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
from phcle.safetensors_header import check_header, read_header
from phcle.structured import parse_json

__all__ = [
    "Tensors",
    "checksum",
    "format_of",
    "read_sealed",
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

    `foreign` says what is wrong with a safetensors file of another format. Keys of the
    content that are not known are left alone: a release may add what older ones can do
    without, and whatever they cannot gets a new version.
    """
    header = _own_header(path, check_header(path))
    if header.get("format") != format:
        raise FileError(f"{path}: {foreign}")
    _refuse_other_version(path, header.get("version"), version)
    text = header.get("content")
    tensors = _read_tensors(path)
    try:
        fits = isinstance(text, str) and header.get("checksum") == checksum(
            text, tensors
        )
    except UnicodeEncodeError:  # half of a character, which no true content has
        fits = False
    if not fits:
        raise FileError(f"{path}: is damaged (its checksum does not fit).")
    return parse_json(str(text), f"{path}, its content"), tensors


def format_of(path: Path) -> str | None:
    """Which format of phcle a file says it has; None for one of somebody else."""
    found = _own_header(path, read_header(path).get("__metadata__", {})).get("format")
    return found if isinstance(found, str) else None


def _own_header(path: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    header = parse_json(metadata.get("phcle", "{}"), f"{path}, its header")
    if not isinstance(header, dict):
        raise FileError(f"{path}: is damaged (its header cannot be read).")
    return header


def _refuse_other_version(path: Path, found: Any, version: int) -> None:
    """Say which way the versions differ, and what to do."""
    if found == version and type(found) is int:
        return
    if type(found) is int and found > version:
        raise FileError(
            f"{path}: has format version {found}, this phcle reads version {version}; "
            "a newer phcle wrote it, so update: pip install --upgrade phcle."
        )
    if type(found) is int and found >= 1:
        raise FileError(
            f"{path}: has format version {found}, this phcle reads version {version}; "
            "make the file anew."
        )
    raise FileError(f"{path}: is damaged (it has no format version).")


def _read_tensors(path: Path) -> Tensors:
    """All tensors of a file whose header was checked."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError) as error:
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
