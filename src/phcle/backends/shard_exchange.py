"""Factors in shards: every process owns some rows, and asks others for what it needs.

`Layout` says which process owns which rows. `ShardExchange` moves rows between
processes in three ways: rows at given positions (`take`), all rows in small pieces from
one process to the next (`around`), and a few rows to all (`gather`). No process ever
holds all rows. The processes work in step: each makes the same calls in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.distributed import (
    Processes,
    TorchProcesses,
    clear_errors,
    current_processes,
)

__all__ = ["KINDS", "Layout", "Plan", "ShardExchange"]

KINDS = ("rows", "pieces", "samples", "sums")
"""What is sent in a sweep: rows at given positions, pieces of all rows, rows of a
sample, and sums."""

Array = Any
Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Rows of one factor in parts, and the parts of each process.

    Parts are ranges of rows of nearly equal length. A fit makes the same sweeps with
    any number of processes, as long as the number of parts is the same.

    Attributes
    ----------
    n_rows : int
        Rows in all.
    n_parts : int
        Parts in all; at least one for each process.
    rank : int
        Number of this process.
    size : int
        Number of processes.

    Examples
    --------
    >>> layout = Layout(n_rows=10, n_parts=4, rank=1, size=2)
    >>> layout.start, layout.stop, layout.parts
    (5, 10, [(2, 5, 7), (3, 7, 10)])
    """

    n_rows: int
    n_parts: int
    rank: int
    size: int

    def edge(self, part: int) -> int:
        """First row of a part.

        Parameters
        ----------
        part : int
            Number of the part; `n_parts` gives the end of the last one.

        Returns
        -------
        int
            The row.
        """
        return self.n_rows * part // self.n_parts

    @property
    def bounds(self) -> Ints:
        """First row of each process, and the end of the last: (size + 1,)."""
        first = [self.n_parts * rank // self.size for rank in range(self.size + 1)]
        return np.array([self.edge(part) for part in first], dtype=np.int64)

    @property
    def parts(self) -> list[tuple[int, int, int]]:
        """Number, first row and end of each part of this process."""
        a, b = (self.n_parts * r // self.size for r in (self.rank, self.rank + 1))
        return [(part, self.edge(part), self.edge(part + 1)) for part in range(a, b)]

    @property
    def start(self) -> int:
        """First row of this process."""
        return int(self.bounds[self.rank])

    @property
    def stop(self) -> int:
        """End of the rows of this process."""
        return int(self.bounds[self.rank + 1])


@dataclass(frozen=True)
class Plan:
    """Which rows this process gets from each other one, and which it sends.

    Attributes
    ----------
    serve : array
        Positions among the own rows that are sent, one process after the other.
    sent : list of int
        How many rows each process gets from this one.
    received : list of int
        How many rows this process gets from each one.
    """

    serve: Ints
    sent: list[int]
    received: list[int]


class ShardExchange(Processes):
    """Processes that work in step, each with its own rows of all factors.

    Parameters
    ----------
    processes : Processes, optional
        The connected processes; by default those that `torchrun` started.

    Attributes
    ----------
    sent : Counter
        Bytes that this process has sent, by what was sent: one of `KINDS`, or "setup".
        Sums count as in a ring, 2 (p − 1) / p times their length.
    """

    in_step = True

    def __init__(self, processes: Processes | None = None) -> None:
        self.processes = current_processes() if processes is None else processes
        self.rank, self.size = self.processes.rank, self.processes.size
        self.sent: Counter[str] = Counter()
        if isinstance(self.processes, TorchProcesses):
            self.torch, self.dist = self.processes.torch, self.processes.dist

    def layout(self, n_rows: int, n_parts: int) -> Layout:
        """Say which rows of a factor each process owns.

        Parameters
        ----------
        n_rows : int
            Rows in all.
        n_parts : int
            Parts in all.

        Returns
        -------
        Layout
            The layout as this process sees it.
        """
        return Layout(n_rows, n_parts, self.rank, self.size)

    def own_blocks(self, n_blocks: int) -> range:
        """All blocks: they are made of rows that this process owns."""
        return range(n_blocks)

    def sum_over(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sum numbers over all processes."""
        numbers = np.asarray(numbers, np.float64)
        self.sent["sums"] += 2 * (self.size - 1) * numbers.nbytes // self.size
        return self.processes.sum_over(numbers)

    def any_of(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        return flag if self.size == 1 else bool(self.sum_over(np.array([flag])).any())

    def most(self, number: int) -> int:
        """Find the largest number of any process.

        Parameters
        ----------
        number : int
            That of this process.

        Returns
        -------
        int
            The largest.
        """
        numbers = np.zeros(self.size)
        numbers[self.rank] = number
        return int(self.sum_over(numbers).max())

    def plan(self, wanted: Ints, bounds: Ints) -> Plan:
        """Tell every process which of its rows this one will ask for.

        Parameters
        ----------
        wanted : array
            Positions among all rows, ascending.
        bounds : array
            First row of each process, from `Layout.bounds`.

        Returns
        -------
        Plan
            For `take`, as often as the rows change.
        """
        received = np.diff(np.searchsorted(wanted, bounds)).astype(np.int64)
        sent = self._to_each(received, [1] * self.size, [1] * self.size, "setup")
        serve = self._to_each(wanted, received.tolist(), sent.tolist(), "setup")
        return Plan(serve - bounds[self.rank], sent.tolist(), received.tolist())

    def take(self, own: Array, plan: Plan) -> Array:
        """Collect rows at given positions from the processes that own them.

        Parameters
        ----------
        own : array
            The own rows, (rows, width).
        plan : Plan
            Made for these positions.

        Returns
        -------
        array
            The wanted rows, in the order of the positions.
        """
        return self.start_take(own, plan)()

    def start_take(self, own: Array, plan: Plan) -> Callable[[], Array]:
        """Begin to collect rows, which come while this process does something else.

        Parameters
        ----------
        own : array
            The own rows, (rows, width).
        plan : Plan
            Made for these positions.

        Returns
        -------
        callable
            Waits for the wanted rows, and returns them in the order of the positions.
        """
        if not isinstance(own, np.ndarray):
            serve = self.torch.as_tensor(plan.serve, device=own.device)
        else:
            serve = plan.serve
        return self._start_to_each(own[serve], plan.sent, plan.received, "rows")

    def ask(self, numbers: Array, plan: Plan) -> Array:
        """Send a number for each wanted row to the process that owns the row.

        Parameters
        ----------
        numbers : array
            One for each position of the plan.
        plan : Plan
            Made for these positions.

        Returns
        -------
        array
            Those that this process got, one for each of `plan.serve`.
        """
        return self._to_each(numbers, plan.received, plan.sent, "rows")

    def answer(self, rows: Array, plan: Plan) -> Array:
        """Send a row or a number for each of `plan.serve` to the process that asked.

        Parameters
        ----------
        rows : array
            One for each of `plan.serve`.
        plan : Plan
            Made for these positions.

        Returns
        -------
        array
            Those that this process got, in the order of its positions.
        """
        return self._to_each(rows, plan.sent, plan.received, "rows")

    def swap(self, rows: Array) -> Array:
        """Send one row to each process.

        Parameters
        ----------
        rows : array
            Row i is for process i.

        Returns
        -------
        array
            The rows that this process got, in the order of the processes.
        """
        return self._to_each(rows, [1] * self.size, [1] * self.size, "rows")

    def around(self, own: Array, bounds: Ints, height: int) -> Iterator[Array]:
        """Pass the rows of all processes around, in pieces.

        While a piece is used, the next one is on its way.

        Parameters
        ----------
        own : array
            The own rows, (rows, width).
        bounds : array
            First row of each process, from `Layout.bounds`.
        height : int
            Most rows of a piece.

        Yields
        ------
        array
            Each piece once; two are in memory.
        """
        sizes = np.diff(bounds)
        for a in range(0, int(sizes.max(initial=0)), height):
            piece = own[a : a + height]
            for step in range(self.size):
                owner = (self.rank - step - 1) % self.size
                coming = None
                if step + 1 < self.size:
                    n_rows = int(np.clip(sizes[owner] - a, 0, height))
                    coming = self._pass_on(piece, n_rows)
                if len(piece):
                    yield piece
                if coming is not None:
                    piece = coming()

    def gather(self, own: Array) -> Array:
        """Collect a few rows of every process.

        Parameters
        ----------
        own : array
            The rows of this process, (rows, width).

        Returns
        -------
        array
            Those of all processes, in the order of the processes.
        """
        if self.size == 1:
            return own
        sizes = np.zeros(self.size)
        sizes[self.rank] = len(own)
        n_rows = self.sum_over(sizes).astype(np.int64)
        mine = self._tensor(own)
        padded = mine.new_zeros((int(n_rows.max()), *mine.shape[1:]))
        padded[: len(mine)] = mine
        parts = [self.torch.empty_like(padded) for _ in range(self.size)]
        with clear_errors():
            self.dist.all_gather(parts, padded)
        self.sent["samples"] += (self.size - 1) * padded.nbytes
        found = self.torch.cat([x[:n] for x, n in zip(parts, n_rows, strict=True)])
        return found.numpy() if isinstance(own, np.ndarray) else found

    def send_to_owners(self, owner: Ints, *columns: npt.NDArray[Any]) -> Sequence[Any]:
        """Send entries to the processes that own them.

        Parameters
        ----------
        owner : array
            The process of each entry.
        *columns : array
            What is sent of each entry.

        Returns
        -------
        sequence of arrays
            What this process has got, column by column.
        """
        order = np.argsort(owner, kind="stable")
        sent = np.bincount(owner, minlength=self.size).astype(np.int64)
        received = self._to_each(sent, [1] * self.size, [1] * self.size, "setup")
        sizes = sent.tolist(), received.tolist()
        return [self._to_each(x[order], *sizes, "setup") for x in columns]

    def _to_each(
        self, rows: Array, sent: list[int], received: list[int], kind: str
    ) -> Array:
        """Send some rows to every process, and get some from every one."""
        return self._start_to_each(rows, sent, received, kind)()

    def _start_to_each(
        self, rows: Array, sent: list[int], received: list[int], kind: str
    ) -> Callable[[], Array]:
        """Begin to send and to get rows; a function that waits for them."""
        if self.size == 1:
            return lambda: rows
        mine = self._tensor(rows)
        found = mine.new_empty((sum(received), *mine.shape[1:]))
        with clear_errors():
            request = self.dist.all_to_all_single(
                found, mine, received, sent, async_op=True
            )
        n_sent = sum(sent) - sent[self.rank]
        self.sent[kind] += n_sent * mine[:1].nbytes

        def wait() -> Array:
            with clear_errors():
                request.wait()
            return found.numpy() if isinstance(rows, np.ndarray) else found

        return wait

    def _pass_on(self, piece: Array, n_rows: int) -> Any:
        """Send a piece to the next process; a function that waits for the other one."""
        mine = self._tensor(piece)
        found = mine.new_empty((n_rows, *mine.shape[1:]))
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        operations = []
        if len(mine):
            operations.append(self.dist.P2POp(self.dist.isend, mine, after))
        if n_rows:
            operations.append(self.dist.P2POp(self.dist.irecv, found, before))
        with clear_errors():
            requests = self.dist.batch_isend_irecv(operations) if operations else []
        self.sent["pieces"] += mine.nbytes

        def wait() -> Array:
            with clear_errors():
                for request in requests:
                    request.wait()
            return found.numpy() if isinstance(piece, np.ndarray) else found

        return wait

    def _tensor(self, rows: Array) -> Any:
        is_numpy = isinstance(rows, np.ndarray)
        return self.torch.from_numpy(np.ascontiguousarray(rows)) if is_numpy else rows
