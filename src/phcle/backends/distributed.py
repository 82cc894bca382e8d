"""Several processes that share the rows of one fit, started by `torchrun`.

Every process holds all factors and the known entries of its own blocks of rows. It
improves those blocks; then the new rows go to all. Each row comes from one process and
the others add zeros to it, so nothing depends on the order of the sums: the result is
that of a single process, up to how the rows are cut into blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.torchrun import is_shared_run
from phcle.errors import BackendError

__all__ = ["Processes", "TorchProcesses", "current_processes"]


class Processes:
    """One process on its own: all blocks are its own, and there is nobody to tell."""

    rank, size = 0, 1

    def own_blocks(self, n_blocks: int) -> range:
        """Numbers of the blocks that this process improves."""
        return range(self.rank, n_blocks, self.size)

    def exchange_rows(self, factor: Any, own_rows: Any) -> Any:
        """The factor with every process's rows; `own_rows` are those made here."""
        return factor

    def sum_over(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sums over all processes."""
        return numbers


class TorchProcesses(Processes):
    """A process among others, over gloo or NCCL."""

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist

        self.torch, self.dist = torch, dist
        n_gpus = torch.cuda.device_count()
        if n_gpus:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % n_gpus)
        # NCCL wants a GPU for every process; gloo lets several share one.
        is_roomy = n_gpus >= int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        if not dist.is_initialized():
            with _clear_errors():
                dist.init_process_group("nccl" if n_gpus and is_roomy else "gloo")
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def exchange_rows(self, factor: Any, own_rows: Any) -> Any:
        """The factor with every process's rows; `own_rows` are those made here."""
        is_numpy = isinstance(factor, np.ndarray)
        whole = self.torch.from_numpy(factor) if is_numpy else factor
        rows = self.torch.as_tensor(own_rows, device=whole.device)
        sent = self.torch.zeros_like(whole)
        sent[rows] = whole[rows]
        with _clear_errors():
            self.dist.all_reduce(sent)
        return sent.numpy() if is_numpy else sent

    def sum_over(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sums over all processes."""
        device = "cuda" if self.dist.get_backend() == "nccl" else "cpu"
        sent = self.torch.tensor(numbers, device=device)
        with _clear_errors():
            self.dist.all_reduce(sent)
        return np.asarray(sent.cpu().numpy())


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Say what a broken connection means."""
    try:
        yield
    except RuntimeError as error:
        raise BackendError(
            "a process of this run has ended, or cannot be reached "
            f"({str(error).splitlines()[0][:120]}). Start the run again; with "
            "--checkpoint and --resume it goes on from the last checkpoint, with any "
            "number of processes."
        ) from error


@lru_cache
def _joined() -> Processes:
    return TorchProcesses()


def current_processes() -> Processes:
    """The processes that `torchrun` started, or this one alone."""
    return _joined() if is_shared_run() else Processes()
