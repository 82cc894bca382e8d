"""Read `.npy` and `.npz` files without pickle, and check sizes before reading.

NumPy's own reader allocates whatever the header asks for, so a header of a hundred
bytes could take all memory. Here the bytes that it states must be in the file.
"""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError
from phcle.files.reading import opened, refuse_bomb

Array = npt.NDArray[Any]

DAMAGED = "is not a NumPy file, or it is damaged"

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression that NumPy uses."""

HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""How to read the header of each of NumPy's formats."""


def read_npy(path: Path) -> Array:
    """Read the array of an `.npy` file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    array
        Numbers or texts.
    """
    with opened(path, DAMAGED, Exception) as file:
        return _read_array(file, path.stat().st_size, str(path))


def read_npz(path: Path, wanted: Collection[str]) -> tuple[list[str], dict[str, Array]]:
    """Read some arrays of an `.npz` file.

    Parameters
    ----------
    path : Path
        The file.
    wanted : collection of str
        Names of the arrays to read; those that the file lacks are left out.

    Returns
    -------
    tuple of list and dict
        The names of all arrays in the file, and the wanted arrays by name.
    """
    with opened(path, DAMAGED, Exception) as file, zipfile.ZipFile(file) as archive:
        members = _members(archive, path)
        read = {key: member for key, member in members.items() if key in wanted}
        refuse_bomb(path, sum(member.file_size for member in read.values()))
        arrays = {}
        for key, member in read.items():
            with archive.open(member) as packed:
                where = f"{path}, array {key!r}"
                arrays[key] = _read_array(packed, member.file_size, where)
        return [*members], arrays


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """Entries of the archive by the names of the arrays."""
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name in found:
            raise FileError(f"{path}: holds two arrays called {name!r}; save it again.")
        if member.compress_type not in METHODS:
            raise FileError(
                f"{path}: the array {name!r} is packed in a way that NumPy does not "
                "use; save it again with np.savez."
            )
        found[name] = member
    return found


def _read_array(file: IO[bytes], size: int, where: str) -> Array:
    """Read an array if its header fits the number of bytes."""
    with warnings.catch_warnings():
        # Python's parser warns about invalid text in a damaged header.
        warnings.simplefilter("ignore")
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise FileError(
                f"{where}: is damaged, or has NumPy's format {version[0]}."
                f"{version[1]}, which is not read here; save plain numbers or texts."
            )
        shape, by_columns, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise FileError(
            f"{where}: holds Python objects, which are not loaded because that can run "
            "code; save numbers, and labels as text (labels.astype(str))."
        )
    expected = math.prod(shape) * dtype.itemsize
    if any(n < 0 for n in shape) or expected != size - file.tell():
        raise FileError(
            f"{where}: says that it is {dtype} of shape {shape}, which does not fit "
            f"its {size:,} bytes; it is cut short or damaged, so get it again."
        )
    data = file.read(expected)
    if dtype.kind == "U":
        _check_characters(data, dtype, where)
    flat = np.frombuffer(data, dtype=dtype)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _check_characters(data: bytes, dtype: np.dtype[Any], where: str) -> None:
    """Refuse texts that Python could not decode."""
    try:
        data.decode("utf-32-be" if dtype.str[0] == ">" else "utf-32-le")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{where}: holds a text that is damaged; get the file again."
        ) from error
