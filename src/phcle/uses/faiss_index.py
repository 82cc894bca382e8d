"""An index of many vectors: k-means cells, of which a search visits the nearest few.

FAISS's inverted file was chosen by measurement (benchmarks/README.md). Graph indexes
(HNSW) lose neighbours where many vectors are the same, as a hierarchy gives them to
siblings; cells keep them together.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import BackendError, FileError
from phcle.files.archive import checksum, read_sealed, write_sealed

__all__ = ["FaissIndex", "has_faiss"]

Floats = npt.NDArray[np.floating]

FORMAT = "phcle.label-index"
VERSION = 2

CELLS_PER_ROOT = 4
"""Cells for each square root of the number of vectors."""

VISITED_SHARE = 32
"""One cell in so many is visited."""

LEAST_VISITED = 16
"""But as many as this, where there are few cells."""

SPARE = 10
"""Answers beyond k, so that rounding in FAISS does not decide who is the last."""


@dataclass(frozen=True, eq=False)
class FaissIndex:
    """Vectors of length one, sorted into cells."""

    index: Any  # of FAISS
    cells: npt.NDArray[np.int32]  # (vectors,): the cell that each is in
    digest: str  # of the vectors

    @classmethod
    def of(cls, units: Floats) -> FaissIndex:
        """Sort vectors of length one into cells."""
        faiss = _faiss()
        n_vectors, dim = units.shape
        n_cells = max(1, min(n_vectors, round(CELLS_PER_ROOT * n_vectors**0.5)))
        # FAISS says on standard error that few vectors make poor cells; a vector in
        # every cell is all that must hold.
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
        """Put vectors into cells that were found before."""
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
        return cls(index, cells, _digest(units))

    def candidates(self, queries: Floats, k: int) -> Iterator[npt.NDArray[np.int64]]:
        """For each query the rows of k vectors, or a few more, in ascending order."""
        wanted = min(k + SPARE, self.index.ntotal)
        _, rows = self.index.search(np.ascontiguousarray(queries, np.float32), wanted)
        for found in rows:
            yield np.sort(found[found >= 0]).astype(np.int64)

    def save(self, path: Path) -> None:
        """Write the cells; an existing file is replaced only by a whole one."""
        tensors = {
            "centers": self.index.quantizer.reconstruct_n(0, self.index.nlist),
            "cells": self.cells,
        }
        write_sealed(path, FORMAT, VERSION, {"vectors": self.digest}, tensors)

    @classmethod
    def load(cls, path: Path, units: Floats) -> FaissIndex:
        """The index of these vectors, from the cells that `save` has written.

        FAISS has a format of its own, but reads it as it comes; a stranger's file must
        not be able to lead it astray.
        """
        foreign = "is not an index of phcle."
        content, tensors = read_sealed(path, FORMAT, VERSION, foreign)
        try:
            digest, centers, cells = (
                content["vectors"],
                tensors["centers"],
                tensors["cells"],
            )
        except (KeyError, TypeError) as error:
            raise FileError(f"{path}: is not a whole index; make it anew.") from error
        if digest != _digest(units):
            raise FileError(
                f"{path}: is the index of another embedding; make it anew or remove it."
            )
        if not _are_sound(centers, cells, units):
            raise FileError(
                f"{path}: is not a whole index (its cells do not fit the vectors); "
                "make it anew."
            )
        return cls.with_cells(units, centers, cells)


def _are_sound(centers: Any, cells: Any, units: Floats) -> bool:
    """Whether every vector has a cell, and every cell a centre."""
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


def has_faiss() -> bool:
    """Whether the library of the index is installed."""
    from importlib.util import find_spec

    return find_spec("faiss") is not None


def _digest(units: Floats) -> str:
    return checksum(FORMAT, {"vectors": units})


def _faiss() -> Any:
    """FAISS, or the way to get it."""
    try:
        with warnings.catch_warnings():
            # Its wrapper's types are old-fashioned, which newer Pythons tell.
            warnings.simplefilter("ignore", DeprecationWarning)
            import faiss
    except ImportError as error:
        raise BackendError(
            "an approximate index needs FAISS: pip install 'phcle[index]'."
        ) from error
    return faiss
