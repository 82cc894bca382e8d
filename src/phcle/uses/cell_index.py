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
from phcle.sealed_files import checksum, read_sealed, write_sealed

__all__ = ["CellIndex", "has_faiss"]

Floats = npt.NDArray[np.floating]

FORMAT = "phcle.label-index"
VERSION = 1

CELLS_PER_ROOT = 4
"""Cells for each square root of the number of vectors."""

VISITED_SHARE = 32
"""One cell in so many is visited."""

LEAST_VISITED = 16
"""But as many as this, where there are few cells."""

SPARE = 10
"""Answers beyond k, so that rounding in FAISS does not decide who is the last."""


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Vectors of length one, sorted into cells."""

    index: Any  # of FAISS
    digest: str  # of the vectors

    @classmethod
    def of(cls, units: Floats) -> CellIndex:
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
        index.add(vectors)
        index.nprobe = max(LEAST_VISITED, n_cells // VISITED_SHARE)
        return cls(index, _digest(units))

    def fits(self, units: Floats) -> bool:
        """Whether the index was made of these vectors."""
        return self.digest == _digest(units)

    def candidates(self, queries: Floats, k: int) -> Iterator[npt.NDArray[np.int64]]:
        """For each query the rows of k vectors, or a few more, in ascending order."""
        wanted = min(k + SPARE, self.index.ntotal)
        _, rows = self.index.search(np.ascontiguousarray(queries, np.float32), wanted)
        for found in rows:
            yield np.sort(found[found >= 0]).astype(np.int64)

    def save(self, path: Path) -> None:
        """Write the index; an existing file is replaced only by a whole one."""
        tensors = {"index": _faiss().serialize_index(self.index)}
        write_sealed(path, FORMAT, VERSION, {"vectors": self.digest}, tensors)

    @classmethod
    def load(cls, path: Path) -> CellIndex:
        """Read an index; FAISS sees nothing that is damaged."""
        foreign = "is not an index of phcle."
        content, tensors = read_sealed(path, FORMAT, VERSION, foreign)
        try:
            digest, index = str(content["vectors"]), tensors["index"]
        except (KeyError, TypeError) as error:
            raise FileError(f"{path}: is not a whole index; make it anew.") from error
        return cls(_faiss().deserialize_index(index), digest)


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
