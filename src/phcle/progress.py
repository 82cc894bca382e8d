"""Progress bars for fits and for work that can be counted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phcle.solver.problem import State

__all__ = ["counted_progress", "fit_progress", "share_done"]


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
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("learning"),
        BarColumn(),
        TextColumn("sweep {task.fields[sweep]}  objective {task.fields[objective]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("fit", total=1.0, sweep=0, objective="…")

        def show(state: State) -> None:
            progress.update(
                task,
                completed=share_done(state, max_iter, tol),
                sweep=state.iteration,
                objective=f"{state.history[-1]['objective']:,.1f}",
            )

        yield show


@contextmanager
def counted_progress(
    title: str, *, enabled: bool
) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar of work that can be counted.

    Parameters
    ----------
    title : str
        Text beside the bar.
    enabled : bool
        Whether to show anything.

    Yields
    ------
    callable
        Call it with the numbers of steps done and in total.
    """
    if not enabled:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


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
