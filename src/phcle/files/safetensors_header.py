"""The header of a safetensors file, checked before anything of its size is allocated.

Eight bytes tell the length of a JSON header, which tells of each tensor its type, shape
and place. All of it must fit the bytes there are, without gap or overlap.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from phcle.errors import FileError
from phcle.files.json_toml import parse_json
from phcle.files.writing import check_is_file

__all__ = ["check_header", "read_header"]

LENGTH = 8
MOST_BYTES = 100_000_000
"""Of a header; the library of the format has the same bound."""

TYPES = {
    **{"BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "F16": 2},
    **{"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8},
}
"""Bytes of a number, of the types that NumPy has."""

METADATA = "__metadata__"
KEYS = {"dtype", "shape", "data_offsets"}
MOST_AXES = 32


def read_header(path: Path) -> dict[str, Any]:
    """The header as it is, with its metadata as text by text; not yet its tensors."""
    check_is_file(path)
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(LENGTH), "little")
            if size < LENGTH or not 2 <= length <= min(size - LENGTH, MOST_BYTES):
                raise _damaged(path, f"a header of {length} bytes in a file of {size}")
            raw = file.read(length)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
    try:
        header = parse_json(raw.decode("utf-8"), "its header")
    except (UnicodeDecodeError, FileError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(header, dict):
        raise _damaged(path, "its header is not an object")
    metadata = header.get(METADATA, {})
    if not isinstance(metadata, dict) or not all(
        isinstance(text, str) for text in metadata.values()
    ):
        raise _damaged(path, "its metadata are not texts")
    return header


def check_header(path: Path) -> dict[str, str]:
    """The metadata of a file in which every tensor fits its place."""
    header = read_header(path)
    with path.open("rb") as file:
        start = LENGTH + int.from_bytes(file.read(LENGTH), "little")
    places = sorted(
        _place(path, name, entry) for name, entry in header.items() if name != METADATA
    )
    end = 0
    for begin, stop, name in places:
        if begin != end:
            raise _damaged(path, f"the place of tensor {name[:40]!r} overlaps another")
        end = stop
    if start + end != path.stat().st_size:
        raise _damaged(path, "its tensors do not fill the file")
    metadata: dict[str, str] = header.get(METADATA, {})
    return metadata


def _place(path: Path, name: str, entry: Any) -> tuple[int, int, str]:
    """Where a tensor lies, if its type and shape need just that many bytes."""
    if not isinstance(entry, dict) or set(entry) != KEYS:
        raise _damaged(path, f"tensor {name[:40]!r} has not {', '.join(sorted(KEYS))}")
    dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise _damaged(path, f"tensor {name[:40]!r} has the type {str(dtype)[:40]!r}")
    if not (_are_sizes(shape) and _are_sizes(place) and len(place) == 2):
        raise _damaged(path, f"tensor {name[:40]!r} has no true shape and place")
    if len(shape) > MOST_AXES or place[1] - place[0] != math.prod(shape) * TYPES[dtype]:
        raise _damaged(path, f"tensor {name[:40]!r} does not fit its place")
    return place[0], place[1], name


def _are_sizes(values: Any) -> bool:
    """Whether this is a list of whole numbers that a file can have."""
    return isinstance(values, list) and all(
        type(x) is int and 0 <= x < 1 << 62 for x in values
    )


def _damaged(path: Path, why: str) -> FileError:
    return FileError(f"{path}: is damaged, cut short, or not a phcle file ({why}).")
