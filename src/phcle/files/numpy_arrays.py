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
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError
from phcle.files.decompression import refuse_bomb
from phcle.files.writing import check_is_file

Array = npt.NDArray[Any]

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression that NumPy uses."""

LAST_CHARACTER = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)
"""Codes that are half of a character, and never one of their own."""


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
    check_is_file(path)
    try:
        with path.open("rb") as file:
            return _read_array(file, path.stat().st_size, str(path))
    except FileError:
        raise
    # A damaged header makes NumPy raise whatever Python's tokenizer does.
    except Exception as error:
        raise _damaged(path, error) from error


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
    check_is_file(path)
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            members = _members(archive, path)
            read = {key: members[key] for key in members if key in wanted}
            refuse_bomb(
                str(path), path.stat().st_size, sum(x.file_size for x in read.values())
            )
            arrays = {}
            for key, member in read.items():
                where = f"{path}, array {key!r}"
                with archive.open(member) as packed:
                    arrays[key] = _read_array(packed, member.file_size, where)  # type: ignore[arg-type]
            return [*members], arrays
    except FileError:
        raise
    # A damaged archive makes zipfile and zlib raise errors of their own.
    except Exception as error:
        raise _damaged(path, error) from error


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


def _read_array(file: BinaryIO, size: int, where: str) -> Array:
    """Read an array if its header fits the number of bytes."""
    formats = np.lib.format
    with warnings.catch_warnings():
        # Python's parser warns about invalid text in a damaged header.
        warnings.simplefilter("ignore")
        version = formats.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise FileError(
                f"{where}: is damaged, or has NumPy's format {version[0]}."
                f"{version[1]}, which is not read here; save plain numbers or texts."
            )
        read = (
            formats.read_array_header_1_0
            if version == (1, 0)
            else formats.read_array_header_2_0
        )
        shape, by_columns, dtype = read(file)
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
    if len(data) != expected:
        raise FileError(f"{where}: is cut short; get it again.")
    flat = np.frombuffer(data, dtype=dtype)
    array = flat.reshape(shape, order="F" if by_columns else "C")
    _check_characters(array, where)
    return array


def _check_characters(array: Array, where: str) -> None:
    """Refuse texts with invalid characters, which Python could not decode."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return
    codes = np.frombuffer(array.tobytes(), dtype=f"{array.dtype.byteorder}u4")
    is_surrogate = (codes >= SURROGATES[0]) & (codes <= SURROGATES[1])
    if codes.max() > LAST_CHARACTER or is_surrogate.any():
        raise FileError(f"{where}: holds a text that is damaged; get the file again.")


def _damaged(path: Path, error: Exception) -> FileError:
    reason = str(error).strip() or type(error).__name__
    return FileError(f"{path}: is not a NumPy file, or it is damaged ({reason[:200]}).")
