"""What indexes of FAISS and PyTorch share: k-means cells, and files with them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError
from phcle.files.archive import checksum, read_sealed, write_sealed

__all__ = [
    "SPARE",
    "CellIndex",
    "digest_of",
    "n_cells_for",
    "read_cells",
    "write_cells",
]

Floats = npt.NDArray[np.floating]

FORMAT = "phcle.label-index"
VERSION = 2

CELLS_PER_ROOT = 4
"""There are this many cells times the square root of the number of vectors."""

SPARE = 10
"""Candidates beyond k, so that rounding does not decide which is the last."""


class CellIndex(ABC):
    """Vectors of length one, sorted into cells, of which a search visits a few."""

    @abstractmethod
    def candidates(self, queries: Floats, k: int) -> Iterator[npt.NDArray[np.int64]]:
        """Find vectors that are likely to be nearest to each query.

        Parameters
        ----------
        queries : ndarray of shape (queries, dim)
            Vectors of length one.
        k : int
            How many vectors are needed for each query.

        Yields
        ------
        ndarray of int64
            For each query, the rows of k vectors or a few more, in ascending order.
        """

    @abstractmethod
    def save(self, path: Path) -> None:
        """Write the cells to a file, which replaces an old one only when complete.

        Parameters
        ----------
        path : Path
            The file to write.
        """


def n_cells_for(n_vectors: int) -> int:
    """Choose the number of cells.

    Parameters
    ----------
    n_vectors : int
        Number of vectors.

    Returns
    -------
    int
        `CELLS_PER_ROOT` times its square root, but at most one for each vector.
    """
    return max(1, min(n_vectors, round(CELLS_PER_ROOT * math.sqrt(n_vectors))))


def write_cells(
    path: Path, centers: Floats, cells: npt.NDArray[np.int32], digest: str
) -> None:
    """Write the cells of an index to a file.

    Parameters
    ----------
    path : Path
        The file to write.
    centers : ndarray of shape (cells, dim)
        The centre of each cell.
    cells : ndarray of int32, shape (vectors,)
        The cell of each vector.
    digest : str
        What `digest_of` returned for the vectors.
    """
    tensors = {"centers": centers, "cells": cells}
    write_sealed(path, FORMAT, VERSION, {"vectors": digest}, tensors)


def read_cells(path: Path, units: Floats) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Read the cells of an index from a file.

    Parameters
    ----------
    path : Path
        A file that `write_cells` wrote.
    units : ndarray of shape (vectors, dim)
        The vectors that the index was made for.

    Returns
    -------
    centers : ndarray of shape (cells, dim)
        The centre of each cell.
    cells : ndarray of int32, shape (vectors,)
        The cell of each vector.
    """
    foreign = "is not an index of phcle."
    content, tensors = read_sealed(path, FORMAT, VERSION, foreign)
    try:
        digest = content["vectors"]
        centers, cells = tensors["centers"], tensors["cells"]
    except (KeyError, TypeError) as error:
        raise FileError(f"{path}: is not a complete index; make it again.") from error
    if digest != digest_of(units):
        raise FileError(
            f"{path}: is the index of another embedding; make it again or remove it."
        )
    if not _are_sound(centers, cells, units):
        raise FileError(
            f"{path}: is not a complete index (its cells do not fit the vectors); "
            "make it again."
        )
    return centers, cells


def _are_sound(centers: Any, cells: Any, units: Floats) -> bool:
    """Whether every vector has a cell and every cell a finite centre."""
    return bool(
        centers.ndim == 2
        and centers.shape[1] == units.shape[1]
        and centers.dtype == np.float32
        and np.isfinite(centers).all()
        and cells.shape == (len(units),)
        and cells.dtype == np.int32
        and len(centers) >= 1
        and cells.min(initial=0) >= 0
        and cells.max(initial=0) < len(centers)
    )


def digest_of(units: Floats) -> str:
    """Compute the checksum by which a file knows its vectors.

    Parameters
    ----------
    units : ndarray of shape (vectors, dim)
        The vectors.

    Returns
    -------
    str
        The checksum.
    """
    return checksum(FORMAT, {"vectors": units})
