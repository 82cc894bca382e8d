"""What a back end offers, and how one is chosen.

Dense operations use `xp`, the array-API namespace, so the solver is written once. Only
what that standard lacks is a method here. Dtype and device are chosen once, when the
back end is made. Inside a solver step only scalars move between host and device.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.distributed import Processes, current_processes
from phcle.backends.pairs import Columns, DensePart, KnownEntries
from phcle.errors import BackendError

Array = Any
"""A NumPy array or a torch tensor."""

T = TypeVar("T")

WORTH_COMPILING = 5_000_000
"""Use numba from this many pairs on; below, loading it takes longer than it saves."""


class Backend(ABC):
    """Arrays of one library, dtype and device, and the operations on them.

    Attributes
    ----------
    name : str
        "numpy", "numba" or "torch".
    xp : module
        The array-API namespace.
    dtype : str
        "float32" or "float64".
    precision : str
        "full", or "mixed" for large products in half precision.
    noise : float
        Relative rounding error of a row's value.
    tile : int
        Most numbers in the dense products of one block (rows × columns).
    gathered : int
        Most numbers in the gathered rows of one block (rows × width × dim).
    most_rows : int
        Most rows in a block.
    is_accelerated : bool
        Whether this is a device on which all pairs are cheap.
    processes : Processes
        The processes that share the rows.
    dense_part : callable
        The dense part of a logistic term at rows (r, d), with what `columns` returned.
    known_entries : callable
        Sums over known columns, from their positions (rows, width) and the other
        factor (columns, d).
    """

    name: str
    xp: Any
    dtype: str
    precision: str = "full"
    noise: float
    tile: int
    gathered: int
    most_rows: int
    is_accelerated: bool = False
    processes: Processes

    def __init__(self) -> None:
        self.dense_part: Callable[[Array, Columns], DensePart]
        self.dense_part = partial(DensePart, self)
        self.known_entries: Callable[[Array, Array], KnownEntries]
        self.known_entries = partial(KnownEntries, self.xp)
        self.processes = current_processes()

    def session(self) -> AbstractContextManager[Any]:
        """Prepare libraries for a fit: overflow is looked for after every sweep.

        Returns
        -------
        context manager
            Hold it around the fit.
        """
        return np.errstate(over="ignore", invalid="ignore")

    def each(self, function: Callable[[int], T], blocks: Sequence[int]) -> Iterator[T]:
        """Call a function for every block, in parallel if that is faster.

        Parameters
        ----------
        function : callable
            Takes the number of a block.
        blocks : sequence of int
            The numbers.

        Returns
        -------
        iterator
            What it returns, in the order of the blocks.
        """
        return map(function, blocks)

    @abstractmethod
    def with_dtype(self, dtype: str) -> Backend:
        """Make a back end of the same device with another dtype, in full precision.

        Parameters
        ----------
        dtype : str
            "float32" or "float64".

        Returns
        -------
        Backend
            The new back end.
        """

    def in_half_precision(self) -> Backend:
        """Make one with large products in half precision, if that is faster here.

        Returns
        -------
        Backend
            The new back end, or this one.
        """
        return self

    def columns_in_memory(self, n_columns: int, dim: int) -> int:
        """Count the columns for which the dense part of a block stores numbers.

        Parameters
        ----------
        n_columns : int
            Columns of the context.
        dim : int
            Length of a vector.

        Returns
        -------
        int
            All columns, or fewer if a fused kernel needs no storage.
        """
        return n_columns

    @abstractmethod
    def asarray(self, values: npt.ArrayLike) -> Array:
        """Move numbers to the device, as floats of the chosen dtype.

        Parameters
        ----------
        values : array-like
            Numbers.

        Returns
        -------
        array
            On the device.
        """

    @abstractmethod
    def indices(self, values: npt.ArrayLike) -> Array:
        """Move positions to the device, as 64-bit integers.

        Parameters
        ----------
        values : array-like
            Whole numbers.

        Returns
        -------
        array
            On the device.
        """

    @abstractmethod
    def to_numpy(self, array: Array) -> npt.NDArray[Any]:
        """Copy an array back to the host.

        Parameters
        ----------
        array : array
            On the device.

        Returns
        -------
        ndarray
            The same numbers.
        """

    def normal(self, shape: tuple[int, int], seed: int) -> Array:
        """Draw normal numbers.

        Parameters
        ----------
        shape : tuple of int
            Rows and columns.
        seed : int
            The same seed gives the same numbers on the same device.

        Returns
        -------
        array
            On the device.
        """
        return self.asarray(np.random.default_rng(seed).standard_normal(shape))

    @abstractmethod
    def sparse(self, matrix: sp.csr_array) -> Any:
        """Move a sparse matrix to the device.

        Parameters
        ----------
        matrix : csr_array
            On the host.

        Returns
        -------
        object
            `@` multiplies it by a dense array.
        """

    @abstractmethod
    def stored(self, matrix: sp.csr_array) -> Any:
        """Store known entries where blocks of their rows will be padded.

        Parameters
        ----------
        matrix : csr_array
            On the host.

        Returns
        -------
        csr_array or StoredRows
            For `pad_rows` and `turned`.
        """

    def turned(self, matrix: Any) -> Any:
        """Transpose known entries.

        Parameters
        ----------
        matrix : csr_array or StoredRows
            Known entries.

        Returns
        -------
        csr_array or StoredRows
            Columns as rows, for `pad_rows`.
        """
        turned = sp.csr_array(matrix.T)
        turned.sort_indices()
        return turned

    def columns(self, other: Array, mass: Array) -> Columns:
        """Prepare the other factor and its masses for dense parts.

        Parameters
        ----------
        other : array
            Z, (columns, d).
        mass : array
            Mass of every column, (columns,).

        Returns
        -------
        Columns
            For `dense_part`; made once for all blocks.
        """
        return Columns.of(self.xp, other, mass)

    @abstractmethod
    def logistic(self, x: Array) -> tuple[Array, Array]:
        """Sigmoid and softplus, without overflow.

        Parameters
        ----------
        x : array
            Any numbers.

        Returns
        -------
        tuple of array
            1 / (1 + e⁻ˣ) and log(1 + eˣ).
        """

    def softplus(self, x: Array) -> Array:
        """log(1 + eˣ), without overflow.

        Parameters
        ----------
        x : array
            Any numbers.

        Returns
        -------
        array
            Of the same shape.
        """
        return self.logistic(x)[1]


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
    that is installed and a sweep has many pairs (labels × columns).

    Parameters
    ----------
    backend : str
        "auto", "numpy", "numba" or "torch".
    device : str
        "auto", "cpu" or "cuda".
    dtype : str
        "float32" or "float64".
    precision : str
        "full", or "mixed" for large products in half precision, which needs torch.
    n_pairs : int
        Labels times columns, summed over the contexts.

    Returns
    -------
    Backend
        The back end.

    Examples
    --------
    >>> choose_backend("numpy").name
    'numpy'
    """
    is_mixed = precision == "mixed"
    if is_mixed and (backend in ("numpy", "numba") or dtype != "float32"):
        raise BackendError(
            "precision='mixed' needs the torch back end and dtype='float32'; "
            f"got backend={backend!r}, dtype={dtype!r}."
        )
    if backend in ("numpy", "numba") and device == "cuda":
        raise BackendError(
            "device='cuda' needs the torch back end; say backend='torch' or 'auto'."
        )
    wants_torch = backend == "torch" or device == "cuda" or is_mixed
    wanted = "torch" if wants_torch else backend
    if wanted in ("torch", "numba") and not _is_installed(wanted):
        raise BackendError(
            f"backend={backend!r}, device={device!r} needs: "
            f"pip install 'phcle[{wanted}]'"
        )
    if wants_torch or (backend == device == "auto" and _has_cuda()):
        from phcle.backends.torch_backend import TorchBackend

        made = TorchBackend(device, dtype, precision)
        if is_mixed and not made.has_kernels:
            raise BackendError(
                "precision='mixed' needs a GPU like an H100, and Triton: "
                "pip install 'phcle[triton]'; elsewhere use precision='full'."
            )
        return made
    is_large = n_pairs >= WORTH_COMPILING and backend == "auto"
    if backend == "numba" or (is_large and _is_installed("numba")):
        from phcle.backends.numba_backend import NumbaBackend

        return NumbaBackend(dtype)
    from phcle.backends.numpy_backend import NumpyBackend

    return NumpyBackend(dtype)


def _is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _has_cuda() -> bool:
    """Whether a GPU can be used; torch is imported only where a driver is present."""
    if not _is_installed("torch") or not _nvidia_driver():
        return False
    import torch

    return bool(torch.cuda.is_available())


def _nvidia_driver() -> bool:
    """Whether there is a driver; asking torch instead would take seconds to load."""
    if sys.platform == "win32":
        return ctypes.util.find_library("nvcuda") is not None
    return Path("/dev/nvidiactl").exists() or Path("/dev/dxg").exists()
