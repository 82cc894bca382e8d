"""Safetensors files, written by way of a temporary file of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.files.writing import write_whole

__all__ = ["write_tensors"]

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
