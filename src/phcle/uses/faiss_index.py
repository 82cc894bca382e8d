"""An index of many vectors: k-means cells, of which a search visits the nearest few.

FAISS's inverted file index was the best in our measurements (benchmarks/README.md).
Graph indexes (HNSW) miss neighbours where many vectors are equal, which is common for
siblings in a hierarchy.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError
from phcle.files.archive import checksum, read_sealed, write_sealed
from phcle.optional_imports import import_optional

__all__ = [
    "CELLS_PER_ROOT",
    "SPARE",
    "FaissIndex",
    "digest_of",
    "read_cells",
    "write_cells",
]

Floats = npt.NDArray[np.floating]

FORMAT = "phcle.label-index"
VERSION = 2

CELLS_PER_ROOT = 4
"""There are this many cells times the square root of the number of vectors."""

VISITED_SHARE = 32
"""A search visits one cell in this many."""

LEAST_VISITED = 16
"""A search visits at least this many cells, which matters for small indexes."""

SPARE = 10
"""Candidates beyond k, so that FAISS's rounding does not decide which is the last."""


@dataclass(frozen=True, eq=False)
class FaissIndex:
    """Vectors of length one, sorted into cells.

    Attributes
    ----------
    index : faiss.IndexIVFFlat
        The index of FAISS.
    cells : ndarray of int32, shape (vectors,)
        The cell of each vector.
    digest : str
        Checksum of the vectors, to recognise them when the index is loaded.
    """

    index: Any
    cells: npt.NDArray[np.int32]
    digest: str

    @classmethod
    def of(cls, units: Floats) -> FaissIndex:
        """Sort vectors into new cells.

        Parameters
        ----------
        units : ndarray of shape (vectors, dim)
            Vectors of length one.

        Returns
        -------
        FaissIndex
            The index of these vectors.

        Raises
        ------
        BackendError
            If FAISS is not installed.
        """
        faiss = _faiss()
        n_vectors, dim = units.shape
        n_cells = max(1, min(n_vectors, round(CELLS_PER_ROOT * n_vectors**0.5)))
        # Without this, FAISS warns on standard error about cells with few vectors.
        centers = faiss.IndexFlatIP(dim)
        index = faiss.IndexIVFFlat(centers, dim, n_cells, faiss.METRIC_INNER_PRODUCT)
        index.cp.min_points_per_centroid = 1
        vectors = np.ascontiguousarray(units, np.float32)
        index.train(vectors)
        _, nearest = centers.search(vectors, 1)
        return cls.with_cells(
            units, centers.reconstruct_n(0, n_cells), nearest.ravel().astype(np.int32)
        )

    @classmethod
    def with_cells(
        cls, units: Floats, centers: Floats, cells: npt.NDArray[np.int32]
    ) -> FaissIndex:
        """Put vectors into known cells.

        Parameters
        ----------
        units : ndarray of shape (vectors, dim)
            Vectors of length one.
        centers : ndarray of shape (cells, dim)
            The centre of each cell.
        cells : ndarray of int32, shape (vectors,)
            The cell of each vector.

        Returns
        -------
        FaissIndex
            The index of these vectors.
        """
        faiss = _faiss()
        n_cells, dim = centers.shape
        around = faiss.IndexFlatIP(dim)
        around.add(np.ascontiguousarray(centers, np.float32))
        index = faiss.IndexIVFFlat(around, dim, n_cells, faiss.METRIC_INNER_PRODUCT)
        index.is_trained = True
        vectors = np.ascontiguousarray(units, np.float32)
        where = np.ascontiguousarray(cells, np.int64)
        index.add_core(
            len(vectors), faiss.swig_ptr(vectors), None, faiss.swig_ptr(where)
        )
        index.nprobe = max(LEAST_VISITED, n_cells // VISITED_SHARE)
        return cls(index, cells, digest_of(units))

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
        wanted = min(k + SPARE, self.index.ntotal)
        _, rows = self.index.search(np.ascontiguousarray(queries, np.float32), wanted)
        for found in rows:
            yield np.sort(found[found >= 0]).astype(np.int64)

    def save(self, path: Path) -> None:
        """Write the cells to a file, which replaces an old one only when complete.

        Parameters
        ----------
        path : Path
            The file to write.
        """
        centers = self.index.quantizer.reconstruct_n(0, self.index.nlist)
        write_cells(path, centers, self.cells, self.digest)

    @classmethod
    def load(cls, path: Path, units: Floats) -> FaissIndex:
        """Read the index of some vectors from a file.

        The file is in a format of our own: FAISS does not check the files it reads, so
        a hostile file could do harm.

        Parameters
        ----------
        path : Path
            A file that `save` wrote.
        units : ndarray of shape (vectors, dim)
            The vectors that the index was made for.

        Returns
        -------
        FaissIndex
            The index.

        Raises
        ------
        FileError
            If the file is damaged, or the index of other vectors.
        """
        return cls.with_cells(units, *read_cells(path, units))


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


def _faiss() -> Any:
    """Import FAISS."""
    with warnings.catch_warnings():
        # Newer Pythons warn about the types of its SWIG wrapper.
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_optional("faiss", extra="index", purpose="an approximate index")
