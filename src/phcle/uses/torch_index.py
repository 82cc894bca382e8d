"""The index of `faiss_index` in PyTorch, for vectors that a GPU holds.

FAISS's wheels have no GPU. Ten million vectors take minutes to sort into cells on a few
cores, and seconds on a GPU. Files are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from phcle.uses.cell_index import (
    SPARE,
    CellIndex,
    digest_of,
    n_cells_for,
    read_cells,
    write_cells,
)

__all__ = ["TorchIndex"]

Floats = npt.NDArray[np.floating]

ROUNDS = 8
"""Rounds of k-means. More move few vectors to other cells."""

TRAINED = 64
"""Vectors per cell from which the centres are learned."""

AT_ONCE = 1 << 28
"""Most numbers in a product of vectors and centres: 1 GB in single precision."""

VISITED = 64
"""Cells that a search visits: half a percent of those of ten million vectors."""


@dataclass(frozen=True, eq=False)
class TorchIndex(CellIndex):
    """Vectors of length one on a device, sorted by cell.

    Attributes
    ----------
    units : ndarray of shape (vectors, dim)
        The vectors on the host, for the checksum of a file.
    vectors : Tensor of shape (vectors, dim)
        The vectors of the first cell, then those of the second, and so on.
    rows : Tensor of shape (vectors,)
        Where each of them stands in the embedding.
    first : Tensor of shape (cells + 1,)
        Where each cell begins.
    centers : Tensor of shape (cells, dim)
        The centre of each cell, of length one.
    visited : int
        Cells that a search visits.
    """

    units: Floats
    vectors: torch.Tensor
    rows: torch.Tensor
    first: torch.Tensor
    centers: torch.Tensor
    visited: int = VISITED

    @classmethod
    def of(cls, units: Floats, device: str) -> TorchIndex:
        """Sort vectors into new cells.

        Parameters
        ----------
        units : ndarray of shape (vectors, dim)
            Vectors of length one.
        device : str
            "cuda" or "cpu".

        Returns
        -------
        TorchIndex
            The index of these vectors.
        """
        vectors = torch.from_numpy(np.ascontiguousarray(units, np.float32)).to(device)
        n = len(vectors)
        n_cells = n_cells_for(n)
        rng = np.random.default_rng(0)
        some = np.sort(rng.choice(n, min(n, TRAINED * n_cells), replace=False))
        known = vectors[torch.from_numpy(some).to(device)]
        centers = known[:: max(1, len(known) // n_cells)][:n_cells].clone()
        for _ in range(ROUNDS):
            centers = _moved(known, _nearest_cells(known, centers), centers)
        return cls._sorted(units, vectors, _nearest_cells(vectors, centers), centers)

    @classmethod
    def load(cls, path: Path, units: Floats, device: str) -> TorchIndex:
        """Read the index of some vectors from a file.

        Parameters
        ----------
        path : Path
            A file that `save` or `FaissIndex.save` wrote.
        units : ndarray of shape (vectors, dim)
            The vectors that the index was made for.
        device : str
            "cuda" or "cpu".

        Returns
        -------
        TorchIndex
            The index.
        """
        centers, cells = read_cells(path, units)
        vectors = torch.from_numpy(np.ascontiguousarray(units, np.float32)).to(device)
        return cls._sorted(
            units,
            vectors,
            torch.from_numpy(cells.astype(np.int64)).to(device),
            torch.from_numpy(np.array(centers)).to(device),
        )

    @classmethod
    def _sorted(
        cls,
        units: Floats,
        vectors: torch.Tensor,
        cells: torch.Tensor,
        centers: torch.Tensor,
    ) -> TorchIndex:
        rows = torch.sort(cells, stable=True).indices
        sizes = torch.bincount(cells, minlength=len(centers))
        first = torch.nn.functional.pad(torch.cumsum(sizes, dim=0), (1, 0))
        return cls(units, vectors[rows], rows, first, centers)

    def save(self, path: Path) -> None:
        """Write the cells to a file."""
        sizes = self.first[1:] - self.first[:-1]
        cells = torch.empty_like(self.rows)
        numbers = torch.arange(len(sizes), device=cells.device)
        cells[self.rows] = torch.repeat_interleave(numbers, sizes)
        write_cells(
            path,
            self.centers.cpu().numpy(),
            cells.cpu().numpy().astype(np.int32),
            digest_of(self.units),
        )

    def candidates(self, queries: Floats, k: int) -> Iterator[npt.NDArray[np.int64]]:
        """Find vectors that are likely to be nearest to each query."""
        asked = torch.from_numpy(np.ascontiguousarray(queries, np.float32))
        asked = asked.to(self.centers.device)
        height = max(1, AT_ONCE // len(self.centers))
        n_visited = min(self.visited, len(self.centers))
        for block in asked.split(height):
            near = torch.topk(block @ self.centers.T, n_visited).indices
            for query, cells in zip(block, near, strict=True):
                yield self._best(query, cells, k + SPARE)

    def _best(
        self, query: torch.Tensor, cells: torch.Tensor, wanted: int
    ) -> npt.NDArray[np.int64]:
        """Rows of the best vectors in some cells, in ascending order."""
        begin = self.first[cells]
        sizes = self.first[cells + 1] - begin
        ends = torch.cumsum(sizes, dim=0)
        places = torch.arange(int(ends[-1]), device=ends.device)
        places += torch.repeat_interleave(begin - ends + sizes, sizes)
        cosine = self.vectors[places] @ query
        best = torch.topk(cosine, min(wanted, len(places))).indices
        return np.sort(self.rows[places[best]].cpu().numpy())


def _nearest_cells(vectors: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """The cell of each vector: that with the nearest centre."""
    height = max(1, AT_ONCE // len(centers))
    # Half precision is enough to choose a cell, and many times faster on a GPU.
    is_half = vectors.is_cuda
    turned = (centers.half() if is_half else centers).T.contiguous()
    return torch.cat(
        [
            ((part.half() if is_half else part) @ turned).argmax(dim=1)
            for part in vectors.split(height)
        ]
    )


def _moved(
    vectors: torch.Tensor, cells: torch.Tensor, centers: torch.Tensor
) -> torch.Tensor:
    """Centres at the mean direction of their vectors; an empty cell keeps its own.

    Sums of sorted vectors, because adding by index would differ from run to run.
    """
    order = torch.sort(cells, stable=True).indices
    sizes = torch.bincount(cells, minlength=len(centers))
    ends = torch.cumsum(sizes, dim=0)
    sums = torch.cumsum(vectors[order].double(), dim=0)
    sums = torch.nn.functional.pad(sums, (0, 0, 1, 0))
    total = (sums[ends] - sums[ends - sizes]).to(centers.dtype)
    length = torch.linalg.vector_norm(total, dim=1, keepdim=True)
    return torch.where(length > 0, total / length.clamp(min=1e-30), centers)
