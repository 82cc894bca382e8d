"""Measure in a process of its own, so that the peak memory is that of one method."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any


class Stopwatch:
    """Seconds by the clock and by the processor; it can be halted for judging."""

    def __init__(self) -> None:
        self.started = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Seconds since the start, without the halts."""
        clock, processor = (
            a - b for a, b in zip(self._now(), self.started, strict=True)
        )
        return {"seconds": clock, "cpu_seconds": processor}

    def without(self, action: Callable[[], Any]) -> Any:
        """What the action gives; its seconds do not count."""
        before = self._now()
        given = action()
        lost = [a - b for a, b in zip(self._now(), before, strict=True)]
        self.started = (self.started[0] + lost[0], self.started[1] + lost[1])
        return given


def peak_mb() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a module gives in a fresh process."""
    pool = multiprocessing.get_context("spawn").Pool(1)
    try:
        return pool.apply(function, arguments)
    finally:
        pool.close()
        pool.join()
