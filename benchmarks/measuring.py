"""Time, memory and the speed of the machine, for all benchmarks."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

NEAR = 1.05
"""A fit is "near" its end once objective − floor is at most this times the last."""


class Stopwatch:
    """Seconds by the clock and by the processor."""

    def __init__(self) -> None:
        self.started = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Seconds since the start."""
        clock, processor = (
            a - b for a, b in zip(self._now(), self.started, strict=True)
        )
        return {"seconds": clock, "cpu_seconds": processor}


def peak_mb() -> float:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def run_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a module gives in a fresh process."""
    pool = multiprocessing.get_context("spawn").Pool(1)
    try:
        return pool.apply(function, arguments)
    finally:
        pool.close()
        pool.join()


def yardstick(size: int = 2000, repeats: int = 3) -> float:
    """GFLOP/s of a float32 matrix product, to compare machines by; the best counts."""
    a = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        _ = a @ a
        seconds.append(time.perf_counter() - began)
    return 2 * size**3 / min(seconds) / 1e9


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """A parser that shows the docstring of a script as it stands."""
    return argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def print_head(*titles: str, texts: int = 1) -> None:
    """The head of a table, whose first columns hold texts and the others numbers."""
    print_row(*titles)
    print_row(*["---"] * texts, *["--:"] * (len(titles) - texts))


def print_row(*cells: Any) -> None:
    """A line of a table."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)
