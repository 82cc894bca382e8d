"""Several processes that share the rows of one fit, started by `torchrun`.

Every process holds all factors, and the known entries of its own blocks of rows. It
updates those blocks and sends the new rows to all. Each row comes from one process, and
the others add zeros to it, so the order of the sums does not matter: the result is that
of a single process, except for how the rows are cut into blocks.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.backends.torchrun import is_shared_run
from phcle.errors import BackendError

if TYPE_CHECKING:
    from phcle.backends.row_blocks import Block


class Processes:
    """A single process: all blocks are its own, and there is nothing to exchange.

    Attributes
    ----------
    rank : int
        Number of this process.
    size : int
        Number of processes.
    """

    rank, size = 0, 1

    def own_blocks(self, n_blocks: int) -> range:
        """Numbers of the blocks that this process updates.

        Parameters
        ----------
        n_blocks : int
            Blocks in all.

        Returns
        -------
        range
            Numbers from 0 on.
        """
        return range(self.rank, n_blocks, self.size)

    def exchange_rows(self, factor: Any, blocks: Sequence[Block]) -> Any:
        """Collect the rows that every process has updated.

        Parameters
        ----------
        factor : array
            All rows, of which this process has updated those of its own blocks.
        blocks : sequence of Block
            All blocks.

        Returns
        -------
        array
            All rows, each from the process that has updated it.
        """
        return factor

    def sum_over(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sum numbers over all processes.

        Parameters
        ----------
        numbers : array
            Those of this process.

        Returns
        -------
        array
            The sums, of the same shape.
        """
        return numbers

    def gather(self, own: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Collect an array of every process.

        Parameters
        ----------
        own : array of shape (any,)
            That of this process; all have the same type.

        Returns
        -------
        list of array
            One for each process, in their order.
        """
        return [own]


class TorchProcesses(Processes):
    """One of several processes, connected by gloo or NCCL."""

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist

        self.torch, self.dist = torch, dist
        n_gpus = torch.cuda.device_count()
        if n_gpus:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % n_gpus)
        # NCCL needs a GPU for every process; with gloo several can share one.
        has_gpu_each = n_gpus >= int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        if not dist.is_initialized():
            with clear_errors():
                dist.init_process_group("nccl" if n_gpus and has_gpu_each else "gloo")
            # gloo aborts now and then at the end of a process that is still connected.
            atexit.register(_disconnect, dist)
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.device = "cuda" if dist.get_backend() == "nccl" else "cpu"

    def exchange_rows(self, factor: Any, blocks: Sequence[Block]) -> Any:
        """Collect the rows that every process has updated."""
        whole = self.torch.as_tensor(factor)
        sent = self.torch.zeros_like(whole)
        for number in self.own_blocks(len(blocks)):
            rows = self.torch.as_tensor(blocks[number].at, device=whole.device)
            sent[rows] = whole[rows]
        with clear_errors():
            self.dist.all_reduce(sent)
        return sent.numpy() if isinstance(factor, np.ndarray) else sent

    def sum_over(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sum numbers over all processes."""
        sent = self.torch.tensor(numbers, device=self.device)
        with clear_errors():
            self.dist.all_reduce(sent)
        return np.asarray(sent.cpu().numpy())

    def gather(self, own: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Collect an array of every process."""
        found: list[Any] = [None] * self.size
        with clear_errors():
            self.dist.all_gather_object(found, own)
        return found


@contextmanager
def clear_errors() -> Iterator[None]:
    """Explain what a broken connection means, and what to do.

    Yields
    ------
    None
        Hold it around calls that need the other processes.
    """
    try:
        yield
    except RuntimeError as error:
        raise BackendError(
            "a process of this run has ended, or cannot be reached "
            f"({str(error).splitlines()[0][:120]}). Start the run again; with "
            "--checkpoint and --resume it goes on from the last checkpoint, with any "
            "number of processes."
        ) from error


def _disconnect(dist: Any) -> None:
    """Close the connections before Python ends."""
    with suppress(RuntimeError):  # the others may be gone
        if dist.is_initialized():
            dist.destroy_process_group()


@lru_cache
def _joined() -> Processes:
    return TorchProcesses()


def current_processes() -> Processes:
    """The processes that `torchrun` started, or this one alone.

    Returns
    -------
    Processes
        Connected once for the whole run.
    """
    return _joined() if is_shared_run() else Processes()
