"""NumPy arrays on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, Self, TypeVar

import array_api_compat.numpy as array_api
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.pairs import rounding_noise
from phcle.backends.protocol import Backend

T = TypeVar("T")
Numbers = npt.NDArray[Any]

CLIPPED = 80
"""Largest exponent: above it, adding 1 to eˣ changes nothing."""


def _clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Clip numbers; the array API's own takes six times as long for eight numbers."""
    clipped = x if min is None else np.maximum(x, min)
    clipped = clipped if max is None else np.minimum(clipped, max)
    return clipped.astype(x.dtype, copy=False)


NAMESPACE = SimpleNamespace(**{**vars(array_api), "clip": _clip})
"""The array API on NumPy."""


class NumpyBackend(Backend):
    """NumPy arrays and SciPy's sparse matrices.

    Parameters
    ----------
    dtype : str
        "float32" or "float64".
    """

    name = "numpy"
    xp: Any = NAMESPACE
    tile = 500_000  # a few megabytes, which fit into the cache of one core
    gathered = 1_000_000
    most_rows = 512

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__()
        self.dtype = dtype
        self._float = np.dtype(dtype)
        self.noise = rounding_noise(dtype)

    def with_dtype(self, dtype: str) -> Self:
        """The same back end in another precision."""
        return type(self)(dtype)

    @contextmanager
    def session(self) -> Iterator[None]:
        """Limit BLAS to one thread as well, because blocks run in parallel.

        Many small products on BLAS threads that wait for each other took ten times as
        long on a busy machine.
        """
        with _ONE_BLAS_THREAD, super().session():
            yield

    def each(self, function: Callable[[int], T], blocks: Sequence[int]) -> Iterator[T]:
        """Call a function for every block, with one thread per core."""
        n_threads = min(_n_cores(), len(blocks))
        if n_threads < 2:
            return map(function, blocks)
        with ThreadPoolExecutor(n_threads) as pool:
            return pool.map(function, blocks)

    def asarray(self, values: npt.ArrayLike) -> Numbers:
        """Move numbers to the device, as floats of the chosen dtype."""
        return np.asarray(values, dtype=self._float)

    def indices(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Move positions to the device, as 64-bit integers."""
        return np.asarray(values, dtype=np.int64)

    def to_numpy(self, array: Numbers) -> Numbers:
        """The array itself."""
        return np.asarray(array)

    def sparse(self, matrix: sp.csr_array) -> sp.csr_array:
        """Move a sparse matrix to the device."""
        converted: sp.csr_array = matrix.astype(self._float, copy=False)
        return converted

    def stored(self, matrix: sp.csr_array) -> sp.csr_array:
        """The matrix itself."""
        return matrix

    def logistic(self, x: Numbers) -> tuple[Numbers, Numbers]:
        """Sigmoid and softplus of x from one exponential, safe for any x."""
        growth = np.exp(np.minimum(x, CLIPPED))
        total = growth + 1
        sigmoid = growth / total
        # In single precision log is vectorised and log1p is not. The error of
        # log(1 + tiny) is below the rounding error of the sums that use it.
        if x.dtype == np.float32:
            np.log(total, out=total)
        else:
            np.log1p(growth, out=total)
        # Where x was clipped, softplus(x) = x.
        return sigmoid, np.maximum(total, x, out=total)


@lru_cache
def _n_cores() -> int:
    """Cores that this process may use: less than all in a container, for example."""
    from joblib import cpu_count

    return int(cpu_count())


class _OneBlasThread:
    """Limits BLAS from the first of several fits that overlap to the last.

    If each restored the number that it found, a fit that began during another would
    restore the other's limit, for good.
    """

    def __init__(self) -> None:
        self.lock, self.n_users = threading.Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if self.n_users == 0:
                self._take_control()
                self.limiter = self.controller.limit(limits=1, user_api="blas")
                self._take_control()
            self.n_users += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.n_users -= 1
            if self.n_users == 0:
                self._take_control()
                self.limiter.restore_original_limits()
                self._take_control()

    @cached_property
    def controller(self) -> Any:
        """The BLAS libraries of NumPy and SciPy, looked for once: it takes 3 ms."""
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()

    def _take_control(self) -> None:
        """Let this thread set the limit, whichever thread has set it before.

        By itself, threadpoolctl 3.8 lets only the first thread that set a limit of
        OpenBLAS set another one, and ignores all others without a word.
        """
        for library in self.controller.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


_ONE_BLAS_THREAD = _OneBlasThread()
