"""Read `.npy` and `.npz` files without pickle, and no more than memory can hold."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.files.reading import opened, refuse_bomb

Array = npt.NDArray[Any]

DAMAGED = "is damaged, or not a NumPy file of plain numbers and texts"


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
    with _opened(path) as file:
        array = _checked(np.load(file, allow_pickle=False))
        if file.read(1):
            raise ValueError("it is longer than its header says")
        return array


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
    with _opened(path) as file:
        refuse_bomb(path, sum(x.file_size for x in zipfile.ZipFile(file).infolist()))
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            names = list(arrays)
            if len(set(names)) < len(names):
                raise ValueError("it has two arrays of one name")
            return names, {x: _checked(arrays[x]) for x in names if x in wanted}


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file; whatever NumPy raises becomes an error that names it."""
    with opened(path, DAMAGED, Exception) as file, warnings.catch_warnings():
        # Python's parser warns about invalid text in a damaged header.
        warnings.simplefilter("ignore")
        try:
            yield file
        except MemoryError as error:  # before anything was read
            raise ValueError(str(error)) from error


def _checked(array: Any) -> Array:
    """Refuse what is no array, and texts that Python cannot decode."""
    if not isinstance(array, np.ndarray):
        raise ValueError("it holds no array where one must be")
    if array.dtype.kind == "U":
        little = array.astype(array.dtype.newbyteorder("<"))
        little.tobytes().decode("utf-32-le")
    return array
