"""Reader for MAT files of version 5 to 7: arrays of numbers and cell arrays of text.

This is our own code because `scipy.io.loadmat` crashes the process (segmentation fault)
on a file with one wrong byte, and unpacks whatever a compressed element claims to hold;
`test_scipy_crashes_on_one_wrong_byte` shows it. A check of every type and size before
`loadmat` would be as long as this reader. Here each one is compared with the bytes of
the file before it is used. Objects and function handles are never read.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.files import most_unpacked

__all__ = ["Mat5Error", "Variable", "is_version_7_3", "read_variables"]

HEADER = 128
MATRIX, COMPRESSED = 14, 15
KINDS = {
    **{1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double"},
    **{7: "single", 8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32"},
    **{13: "uint32", 14: "int64", 15: "uint64", 16: "function", 17: "opaque"},
}
NUMBERS = {
    **{1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4"},
    **{7: "f4", 9: "f8", 12: "i8", 13: "u8"},
}
# How text is stored; plain bytes are an old form of UTF-8.
TEXTS = {1: "utf-8", 2: "utf-8", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
NAME_BYTES = 4096  # enough of a compressed variable to know what it is
COMPLEX = 0x0800


class Mat5Error(ValueError):
    """Bytes that are not what the format says."""


@dataclass(frozen=True)
class Variable:
    """Kind of a variable, and its content if it was asked for and is plain."""

    kind: str
    content: npt.NDArray[Any] | tuple[str, ...] | None = None


@dataclass(frozen=True)
class _Head:
    """The start of a matrix: what it is, and where its content begins."""

    kind: str
    is_complex: bool
    shape: tuple[int, ...]
    name: str
    content: int


def is_version_7_3(data: memoryview) -> bool:
    """Whether the file is HDF5, with or without MATLAB's header."""
    signature = b"\x89HDF\r\n\x1a\n"
    marks = bytes(data[124:128])
    return (
        bytes(data[:8]) == signature
        or bytes(data[512:520]) == signature
        or marks in (b"\x00\x02IM", b"\x02\x00MI")
    )


def read_variables(data: memoryview, wanted: Collection[str]) -> dict[str, Variable]:
    """All variables by name; only the wanted ones are read."""
    order = {b"IM": "<", b"MI": ">"}.get(bytes(data[126:128]))
    if order is None:
        raise Mat5Error("it does not start with the header of a MAT file")
    found: dict[str, Variable] = {}
    for kind, body in _elements(data[HEADER:], order):
        if kind == COMPRESSED:
            start = memoryview(zlib.decompressobj().decompress(body, NAME_BYTES))
            kind, size, begin, _ = _tag(start, order)
            head = _head(start[begin:], order)
            if head.name in wanted and _is_plain(head):
                body = _unpacked(body, begin, size, head.name)
        else:
            head = _head(body, order)
        if kind != MATRIX:
            raise Mat5Error(f"it has an element of type {kind} where a matrix must be")
        if head.name in wanted and _is_plain(head):
            found[head.name] = Variable(head.kind, _content(head, body, order))
        elif head.name:
            found[head.name] = Variable("complex" if head.is_complex else head.kind)
    return found


def _unpacked(packed: memoryview, begin: int, size: int, name: str) -> memoryview:
    """Unpack an element, which states its size at the start."""
    if size > most_unpacked(len(packed)):
        raise Mat5Error(
            f"{name!r} says that {len(packed)} packed bytes unpack to {size}; save it "
            "without compression if that is right"
        )
    data = zlib.decompressobj().decompress(packed, begin + size)
    if len(data) < begin + size:
        raise Mat5Error(f"{name!r} is cut short")
    return memoryview(data)[begin:]


def _is_plain(head: _Head) -> bool:
    kinds = ("cell", "double", "single")
    return (head.kind in kinds or "int" in head.kind) and not head.is_complex


def _tag(data: memoryview, order: str) -> tuple[int, int, int, int]:
    """Type and size of an element, where its bytes begin, and where the next starts."""
    if len(data) < 8:
        raise Mat5Error("it ends within an element")
    first, second = (int(x) for x in np.frombuffer(data[:8], dtype=f"{order}u4"))
    if first >> 16:  # a small element: type, size and up to four bytes in one
        return first & 0xFFFF, min(first >> 16, 4), 4, 8
    # Compressed elements are not filled up to a multiple of eight bytes.
    gap = 0 if first == COMPRESSED else -second % 8
    return first, second, 8, 8 + second + gap


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Types and bytes of the elements that follow each other."""
    while len(data):
        kind, body, end = _element(data, order)
        yield kind, body
        data = data[end:]


def _element(data: memoryview, order: str) -> tuple[int, memoryview, int]:
    """Type and bytes of the first element, and where the next one starts."""
    kind, size, begin, end = _tag(data, order)
    if begin + size > len(data):
        raise Mat5Error("an element is longer than the file")
    return kind, data[begin : begin + size], end


def _head(data: memoryview, order: str) -> _Head:
    """Flags, sizes and name of a matrix."""
    place = 0
    parts: list[npt.NDArray[Any]] = []
    for wanted in (6, 5, 1):  # unsigned flags, whole sizes, bytes of the name
        kind, raw, end = _element(data[place:], order)
        dtype = np.dtype(f"{order}{NUMBERS[wanted]}")
        if kind != wanted or len(raw) % dtype.itemsize:
            has_flags = len(parts) == 1 and parts[0].size
            if has_flags and parts[0][0] & 0xFF == 17:  # opaque has no sizes
                return _Head("opaque", False, (), "", 0)
            raise Mat5Error("the start of a matrix is damaged")
        parts.append(np.frombuffer(raw, dtype=dtype))
        place += end
    flags, shape, name = parts
    kind_number = int(flags[0]) & 0xFF if len(flags) else 0
    if kind_number not in KINDS or len(shape) < 2 or (shape < 0).any():
        raise Mat5Error("the start of a matrix is damaged")
    return _Head(
        KINDS[kind_number],
        bool(int(flags[0]) & COMPLEX),
        tuple(int(n) for n in shape),
        name.tobytes().decode("latin-1"),
        place,
    )


def _content(
    head: _Head, body: memoryview, order: str
) -> npt.NDArray[Any] | tuple[str, ...]:
    """Numbers as an array, a cell array as its texts."""
    n = math.prod(head.shape)
    if head.kind == "cell":
        cells = [
            _text(cell, order) for _, cell in _elements(body[head.content :], order)
        ]
        if len(cells) != n:
            raise Mat5Error(f"{head.name!r} must have {n} cells, but has {len(cells)}")
        return tuple(cells)
    kind, raw, _ = _element(body[head.content :], order)
    if kind not in NUMBERS or len(raw) != n * np.dtype(NUMBERS[kind]).itemsize:
        raise Mat5Error(f"{head.name!r} has not the numbers that its shape needs")
    array = np.frombuffer(raw, dtype=f"{order}{NUMBERS[kind]}")
    try:
        return array.reshape(head.shape, order="F").astype(NUMBERS[kind])
    except ValueError as error:  # more axes, or emptier ones, than NumPy has
        raise Mat5Error(f"{head.name!r} has a shape that cannot be") from error


def _text(cell: memoryview, order: str) -> str:
    """The text of a cell."""
    head = _head(cell, order)
    if head.kind != "char":
        raise Mat5Error(f"a cell must be text, but is {head.kind!r}")
    kind, raw, _ = _element(cell[head.content :], order)
    if kind not in TEXTS:
        raise Mat5Error("the text of a cell is damaged")
    codec = TEXTS[kind]
    if codec != "utf-8":
        codec += "-le" if order == "<" else "-be"
    try:
        return bytes(raw).decode(codec)
    except UnicodeDecodeError as error:
        raise Mat5Error("the text of a cell is damaged") from error
