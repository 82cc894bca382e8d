"""Progress bars for fits and for other long work.

A bar is a line on standard error, which disappears when the work is done. It appears
only if the work takes longer than a moment.
"""

from __future__ import annotations

import itertools
import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

    from phcle.model.problem import State


DELAY = 0.3
"""Seconds after which a bar appears; one that ends sooner would only flicker."""


@contextmanager
def fit_progress(
    *, enabled: bool, max_iter: int, tol: float
) -> Iterator[Callable[[State], None]]:
    """Show a progress bar of a fit, with its objective.

    Parameters
    ----------
    enabled : bool
        Whether to show anything.
    max_iter : int
        Sweeps at most.
    tol : float
        Relative decrease at which the fit stops.

    Yields
    ------
    callable
        Call it with the state after each sweep.
    """
    if not enabled:
        yield lambda state: None
        return
    with _bar("learning") as (progress, task):

        def show(state: State) -> None:
            objective = f"{state.history[-1]['objective']:,.1f}"
            progress.update(
                task,
                total=1.0,
                completed=share_done(state, max_iter, tol),
                description=f"learning: sweep {state.iteration}, objective {objective}",
            )

        yield show


@contextmanager
def counted_progress(
    title: str, *, enabled: bool, unit: str = ""
) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar of work that can be counted.

    Parameters
    ----------
    title : str
        What is done, such as "folds".
    enabled : bool
        Whether to show anything.
    unit : str, default ""
        What is counted, such as "fits".

    Yields
    ------
    callable
        Call it with the numbers of steps done and in total. Until then the bar only
        shows that work goes on.
    """
    with staged_progress(enabled=enabled, first=title, unit=unit) as show:
        yield lambda done, total: show(title, done, total)


@contextmanager
def staged_progress(
    *, enabled: bool, first: str = "", unit: str = ""
) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar of work in several stages.

    Parameters
    ----------
    enabled : bool
        Whether to show anything.
    first : str, default ""
        The first stage.
    unit : str, default ""
        What is counted, such as "labels".

    Yields
    ------
    callable
        Call it with the stage and the numbers of steps done and in total. A total of 0
        is unknown.
    """
    if not enabled:
        yield lambda stage, done, total: None
        return
    with _bar(first) as (progress, task):
        current = first

        def show(stage: str, done: int, total: int) -> None:
            nonlocal current
            if stage != current:
                current = stage
                progress.reset(task, description=stage, total=None)
            if total:
                total = max(done, total)  # a total may be an estimate
                count = f"{stage}: {done:,} of {total:,} {unit}".rstrip()
                progress.update(task, description=count, completed=done, total=total)

        yield show


@contextmanager
def _bar(title: str) -> Iterator[tuple[Progress, Any]]:
    """A bar that appears after a moment, and its task."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # Prints appear above the bar, but never leave a file or pipe that they go to.
        redirect_stdout=sys.stdout.isatty(),
    )
    task = progress.add_task(title, total=None)
    timer = threading.Timer(DELAY, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield progress, task
    finally:
        timer.cancel()
        timer.join()
        if progress.live.is_started:
            progress.stop()


def share_done(state: State, max_iter: int, tol: float) -> float:
    """Estimate which share of a fit is done.

    The relative decrease falls roughly geometrically, so its logarithm is compared with
    that of the tolerance.

    Parameters
    ----------
    state : State
        State after a sweep.
    max_iter : int
        Sweeps at most.
    tol : float
        Relative decrease at which the fit stops.

    Returns
    -------
    float
        Between 0 and 1.
    """
    by_count = state.iteration / max_iter
    gaps = [record["gap"] for record in state.history]
    falls = [(a - b) / abs(b) if b else 0.0 for a, b in itertools.pairwise(gaps)]
    if len(falls) < 2 or tol <= 0 or falls[0] <= tol:
        return by_count
    now = max(falls[-1], tol)
    return max(by_count, math.log(falls[0] / now) / math.log(falls[0] / tol))
