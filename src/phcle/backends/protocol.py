"""What a back end offers, and how one is chosen.

Dense work goes through `xp`, the array-API namespace, so the solver is written once.
Only what that standard lacks is a method here. Dtype and device are chosen once, when
the back end is made; nothing moves between host and device inside a solver step but
scalars.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.dense import Columns, DensePart
from phcle.backends.distributed import Processes
from phcle.backends.known_entries import KnownEntries
from phcle.errors import BackendError

__all__ = ["Array", "Backend", "choose_backend"]

Array = Any
"""A NumPy array or a torch tensor."""

T = TypeVar("T")

WORTH_COMPILING = 5_000_000
"""From so many pairs on, numba saves more than the seconds it takes to load."""


class Backend(Protocol):
    """Arrays of one kind, dtype and device."""

    name: str
    xp: Any
    dtype: str
    precision: str  # "full", or "mixed": large products of halves
    noise: float  # relative error of a row's value
    tile: int  # numbers in one block's dense products (rows × columns)
    gathered: int  # numbers in one block's gathered rows (rows × width × dim)
    most_rows: int  # rows in a block
    is_accelerated: bool  # on a device that makes light of all pairs
    processes: Processes  # the processes that share the rows

    def limited_threads(self) -> AbstractContextManager[Any]:
        """Hold this around a fit: it settles how many threads compute."""

    def map_blocks(self, function: Callable[[int], T], count: int) -> list[T]:
        """Results of function(0) … function(count − 1), perhaps side by side."""

    def with_dtype(self, dtype: str) -> Backend:
        """The same device with numbers and products of this dtype throughout."""

    def in_half_precision(self) -> Backend:
        """The same device with large products of halves, if that is faster there."""

    def columns_in_memory(self, n_columns: int, dim: int) -> int:
        """For how many of the columns a block's dense part keeps numbers."""

    def asarray(self, values: npt.ArrayLike) -> Array:
        """Move numbers to the device, as floats of the chosen dtype."""

    def indices(self, values: npt.ArrayLike) -> Array:
        """Move positions to the device, as 64-bit integers."""

    def to_numpy(self, array: Array) -> npt.NDArray[Any]:
        """Bring an array back to the host."""

    def sparse(self, matrix: sp.csr_array) -> Any:
        """Move a sparse matrix to the device."""

    def sparse_product(self, matrix: Any, dense: Array) -> Array:
        """Multiply a sparse matrix from `sparse` by a dense one."""

    def columns(self, other: Array, mass: Array) -> Columns:
        """Prepare the other factor and its masses for dense parts."""

    def dense_part(self, y: Array, columns: Columns) -> DensePart:
        """The dense part of a logistic term at a block of rows."""

    def known_entries(self, columns: Array, other: Array) -> KnownEntries:
        """Rows of the other factor at every row's known columns (rows, width)."""

    def logistic(self, x: Array) -> tuple[Array, Array]:
        """Sigmoid and softplus of x from one exponential, safe for any x."""

    def softplus(self, x: Array) -> Array:
        """log(1 + eˣ), safe for any x."""


def choose_backend(
    backend: str = "auto",
    device: str = "auto",
    dtype: str = "float32",
    *,
    precision: str = "full",
    n_pairs: int = 0,
) -> Backend:
    """Make the back end that the options ask for.

    "auto" is torch on the GPU where there is one. On the CPU it is NumPy, or numba if
    it is installed and a sweep has many pairs (labels × columns) to go over.
    precision="mixed" takes the large products in half precision, and needs torch.
    """
    if precision == "mixed":
        if backend in ("numpy", "numba") or dtype != "float32":
            raise BackendError(
                "precision='mixed' needs the torch back end and dtype='float32'; "
                f"got backend={backend!r}, dtype={dtype!r}."
            )
        backend = "torch"
    if backend in ("numpy", "numba") and device == "cuda":
        raise BackendError(
            "device='cuda' needs the torch back end; say backend='torch' or 'auto'."
        )
    has_torch = importlib.util.find_spec("torch") is not None
    wants_torch = backend == "torch" or device == "cuda"
    if wants_torch and not has_torch:
        raise BackendError(
            f"backend={backend!r}, device={device!r} needs PyTorch: "
            "pip install 'phcle[torch]'"
        )
    if wants_torch or (backend == "auto" and device == "auto" and _has_cuda(has_torch)):
        from phcle.backends.torch_backend import TorchBackend

        return TorchBackend(device, dtype, precision)
    has_numba = importlib.util.find_spec("numba") is not None
    if backend == "numba" and not has_numba:
        raise BackendError("backend='numba' needs: pip install 'phcle[numba]'")
    if backend == "numba" or (
        backend == "auto" and has_numba and n_pairs >= WORTH_COMPILING
    ):
        from phcle.backends.numba_backend import NumbaBackend

        return NumbaBackend(dtype)
    from phcle.backends.numpy_backend import NumpyBackend

    return NumpyBackend(dtype)


def _has_cuda(has_torch: bool) -> bool:
    """Whether a GPU can be used; torch is imported only where a driver is present."""
    if not has_torch or not _nvidia_driver():
        return False
    import torch

    return bool(torch.cuda.is_available())


def _nvidia_driver() -> bool:
    """Whether there is a driver; much faster to ask than torch, which loads seconds."""
    if sys.platform == "win32":
        return ctypes.util.find_library("nvcuda") is not None
    return Path("/dev/nvidiactl").exists() or Path("/dev/dxg").exists()
