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

from phcle.optional_imports import import_optional
from phcle.uses.cell_index import (
    SPARE,
    CellIndex,
    digest_of,
    n_cells_for,
    read_cells,
    write_cells,
)

__all__ = ["FaissIndex"]

Floats = npt.NDArray[np.floating]


VISITED_SHARE = 32
"""A search visits one cell in this many."""

LEAST_VISITED = 16
"""A search visits at least this many cells, which matters for small indexes."""


@dataclass(frozen=True, eq=False)
class FaissIndex(CellIndex):
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
        n_cells = n_cells_for(n_vectors)
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
        """Find vectors that are likely to be nearest to each query."""
        wanted = min(k + SPARE, self.index.ntotal)
        _, rows = self.index.search(np.ascontiguousarray(queries, np.float32), wanted)
        for found in rows:
            yield np.sort(found[found >= 0]).astype(np.int64)

    def save(self, path: Path) -> None:
        """Write the cells to a file."""
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


def _faiss() -> Any:
    """Import FAISS."""
    with warnings.catch_warnings():
        # Newer Pythons warn about the types of its SWIG wrapper.
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_optional("faiss", extra="index", purpose="an approximate index")
