"""PyTorch tensors on the CPU or a GPU."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import array_api_compat.torch as array_api
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from phcle.backends.pairs import Columns, DensePart, n_sampled_columns, rounding_noise
from phcle.backends.protocol import Backend
from phcle.backends.stored_rows import SparseRows, StoredRows
from phcle.backends.torch_dense import WIDEST, FusedColumns, FusedPart, can_fuse
from phcle.errors import BackendError

MIXED_NOISE = 3e-5
"""Relative error of a row's value in mixed precision; 1.3e-5 was measured."""


class TorchBackend(Backend):
    """PyTorch tensors on one device.

    Parameters
    ----------
    device : str
        "auto", "cpu" or "cuda".
    dtype : str
        "float32" or "float64".
    precision : str
        "full", or "mixed" for large products in half precision.
    """

    name = "torch"
    xp: Any = array_api
    tile = 2_000_000
    gathered = 3_000_000
    most_rows = 4096

    def __init__(
        self, device: str = "auto", dtype: str = "float32", precision: str = "full"
    ) -> None:
        super().__init__()
        has_cuda = torch.cuda.is_available()
        if device == "cuda" and not has_cuda:
            raise BackendError(
                "device='cuda' was asked for, but PyTorch sees no GPU here; "
                "use device='cpu', or install a CUDA build of PyTorch."
            )
        self.device = ("cuda" if has_cuda else "cpu") if device == "auto" else device
        self.is_accelerated = self.device != "cpu"
        self.dtype = dtype
        self.precision = precision
        self._float = getattr(torch, dtype)
        self.noise = MIXED_NOISE if precision == "mixed" else rounding_noise(dtype)
        self.has_kernels = can_fuse(self.device)
        self.is_fused = dtype == "float32" and self.has_kernels
        self.dense_part = self._part
        if self.has_kernels:
            from phcle.backends.kernels.fused_entries import FusedEntries

            self.known_entries = partial(FusedEntries, self.xp)
        if self.is_accelerated:  # few large launches, as far as the memory allows
            memory = torch.cuda.get_device_properties(self.device).total_memory
            self.tile, self.gathered = memory // 512, memory // 128
            self.most_rows = 1_000_000

    def with_dtype(self, dtype: str) -> TorchBackend:
        """The same device with another dtype, in full precision."""
        return TorchBackend(self.device, dtype)

    def in_half_precision(self) -> TorchBackend:
        """The same device in mixed precision, if the fused kernel runs there."""
        if not self.is_fused:
            return self
        return TorchBackend(self.device, self.dtype, "mixed")

    def columns_in_memory(self, n_columns: int, dim: int) -> int:
        """A sample of the columns if the fused kernel runs, else all."""
        return n_sampled_columns(n_columns) if self._fuses(dim) else n_columns

    def _fuses(self, dim: int) -> bool:
        """Whether the fused kernel serves rows of this width."""
        return self.is_fused and dim <= WIDEST[self.precision]

    def asarray(self, values: npt.ArrayLike) -> torch.Tensor:
        """Move numbers to the device, as floats of the chosen dtype."""
        if isinstance(values, torch.Tensor):
            return values.to(self.device, self._float)
        return torch.tensor(_writable(values), dtype=self._float, device=self.device)

    def indices(self, values: npt.ArrayLike) -> torch.Tensor:
        """Move positions to the device, as 64-bit integers."""
        moved = torch.tensor(_writable(values), device=self.device)
        return moved.to(torch.int64)  # after the copy, which is half as long in 32 bits

    def to_numpy(self, array: torch.Tensor) -> npt.NDArray[Any]:
        """Copy an array back to the host."""
        return np.asarray(array.detach().cpu().numpy())

    def normal(self, shape: tuple[int, int], seed: int) -> torch.Tensor:
        """Draw normal numbers on the device."""
        source = torch.Generator(self.device).manual_seed(seed)
        kind = {"dtype": self._float, "device": self.device}
        return torch.randn(shape, generator=source, **kind)

    def stored(self, matrix: sp.csr_array) -> StoredRows:
        """Move known entries to the device."""
        return StoredRows.of(self, matrix)

    def turned(self, matrix: sp.csr_array | StoredRows) -> StoredRows:
        """Transpose known entries on the device."""
        here = matrix if isinstance(matrix, StoredRows) else self.stored(matrix)
        return here.turned()

    def sparse(self, matrix: sp.csr_array | StoredRows) -> SparseRows:
        """Move a sparse matrix to the device."""
        return SparseRows(self, matrix)

    def columns(self, other: torch.Tensor, mass: torch.Tensor) -> Columns:
        """Prepare the other factor and its masses for dense parts."""
        columns = super().columns(other, mass)
        if not self._fuses(other.shape[1]):
            return columns
        fused = FusedColumns.of(columns, precise=self.precision == "full")
        return replace(columns, fused=fused)

    def _part(self, y: torch.Tensor, columns: Columns) -> DensePart:
        """From the fused kernel if it serves these columns."""
        return (DensePart if columns.fused is None else FusedPart)(self, y, columns)

    def logistic(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Sigmoid and softplus of x, safe for any x."""
        return torch.sigmoid(x), self.softplus(x)

    def softplus(self, x: torch.Tensor) -> torch.Tensor:
        """log(1 + eˣ), safe for any x."""
        # Twice as fast as logaddexp on a CPU. Linear above the threshold, where the
        # difference is below the rounding error.
        return torch.nn.functional.softplus(x, threshold=40)


def _writable(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """A writable array: torch warns about others."""
    array = np.asarray(values)
    return array if array.flags.writeable else array.copy()
