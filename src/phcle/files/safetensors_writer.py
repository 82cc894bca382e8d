"""Write safetensors files: complete or not at all, and without a copy in memory.

The library's own writer does not do for us:

- `save_file` writes to a temporary file whose name it chooses, so what a killed process
  leaves can never be removed, and a full disk is not an `OSError`;
- `save` copies all tensors to memory.

`tests/unit/test_files.py` shows the first, and that both write the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.files.writing import write_whole

TYPES = [
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
]
"""Types of safetensors in the order of its library, which puts the last ones first."""


def write_tensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file, byte for byte as its library does.

    Parameters
    ----------
    path : Path
        The file.
    tensors : mapping of str to array
        The tensors by name; of truth values, integers or floats.
    metadata : mapping of str to str
        Texts to store in the header.
    """
    order = sorted(tensors, key=lambda name: (-TYPES.index(_type(tensors[name])), name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name in order:
        start, end = end, end + tensors[name].nbytes
        kind, shape = _type(tensors[name]), list(tensors[name].shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)  # tensors start at a multiple of eight bytes
    with write_whole(path) as temporary, temporary.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for name in order:
            value = np.ascontiguousarray(tensors[name])
            file.write(value.astype(value.dtype.newbyteorder("<"), copy=False).data)


def _type(tensor: npt.NDArray[Any]) -> str:
    """Name of a type in safetensors."""
    letter = {"b": "BOOL", "u": "U", "i": "I", "f": "F"}[tensor.dtype.kind]
    return letter if letter == "BOOL" else f"{letter}{8 * tensor.dtype.itemsize}"
