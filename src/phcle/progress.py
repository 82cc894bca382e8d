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
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
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
    with staged_progress(enabled=enabled, first="learning") as show:

        def note(state: State) -> None:
            share = share_done(state, max_iter, tol)
            objective = f"{state.history[-1]['objective']:,.1f}"
            text = f"learning: sweep {state.iteration}, objective {objective}"
            show("learning", share, 1.0, text)

        yield note


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


class Show(Protocol):
    """Shows how far a stage is."""

    def __call__(self, stage: str, done: float, total: float, text: str = "") -> None:
        """Show the numbers of steps done and in total, or a text in their place.

        Parameters
        ----------
        stage : str
            Title of the stage.
        done, total : float
            Steps; a total of 0 is unknown.
        text : str
            What to write in place of the counts.
        """


@contextmanager
def staged_progress(
    *, enabled: bool, first: str = "", unit: str = ""
) -> Iterator[Show]:
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
        Call it with the stage and the numbers of steps done and in total.
    """
    if not enabled:
        yield lambda stage, done, total, text="": None
        return
    from rich import progress as bars
    from rich.console import Console

    bar = bars.Progress(
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TimeElapsedColumn(),
        bars.TextColumn("left"),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # Prints appear above the bar, but never leave a file or pipe that they go to.
        redirect_stdout=sys.stdout.isatty(),
    )
    current, task = first, bar.add_task(first, total=None)

    def show(stage: str, done: float, total: float, text: str = "") -> None:
        nonlocal current
        if stage != current:
            current = stage
            bar.reset(task, description=stage, total=None)
        if total:
            total = max(done, total)  # a total may be an estimate
            text = text or f"{stage}: {done:,} of {total:,} {unit}".rstrip()
            bar.update(task, description=text, completed=done, total=total)

    timer = threading.Timer(DELAY, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield show
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


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
