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
from phcle.files.json_toml import parse_json
from phcle.files.safetensors_header import check_header, read_header
from phcle.files.safetensors_writer import write_tensors

__all__ = ["Tensors", "checksum", "format_of", "read_sealed", "write_sealed"]

Tensors = dict[str, npt.NDArray[Any]]


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


def read_sealed(
    path: Path, format: str, version: int, foreign: str, *, oldest: int | None = None
) -> tuple[Any, Tensors]:
    """Content and tensors; a damaged, cut or foreign file is refused.

    `foreign` says what is wrong with a safetensors file of another format. Keys of the
    content that are not known are left alone: a release may add what older ones can do
    without, and whatever they cannot gets a new version.
    """
    header = _own_header(path, check_header(path))
    if header.get("format") != format:
        raise FileError(f"{path}: {foreign}")
    _refuse_other_version(path, header.get("version"), version, oldest or version)
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


def _refuse_other_version(path: Path, found: Any, version: int, oldest: int) -> None:
    """Say which way the versions differ, and what to do."""
    if type(found) is int and oldest <= found <= version:
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
