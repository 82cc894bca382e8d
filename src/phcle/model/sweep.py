"""Solvers make one sweep at a time; `run` repeats it.

A state is a value: all factors, the weights and the history. A solver has `init`,
`step` and `converged`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from phcle.backends.protocol import Array
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import Sample, View
from phcle.errors import NumericalError, some
from phcle.model.balance import balance
from phcle.model.column_samples import ColumnSamples
from phcle.model.problem import DeviceProblem, State, values_and_gradient
from phcle.model.rows import row_values, update_rows
from phcle.model.start import Factors

Reweigh = Callable[[Mapping[str, float], Mapping[str, float]], dict[str, float]]
"""Computes new weights from weighted losses above the floor and present weights."""

NOISY = 3
"""Number of sweeps whose estimated gaps are averaged before they are compared. Single
estimates from samples vary too much."""

RISES = 2e-3
"""A sampled sweep that raises the gap by more than this share is repeated. Smaller
rises come from the sample of labels that updates the factors."""

MORE = 4
"""A sweep that raises the gap is repeated with so many times more labels and columns,
which halves the noise. The sweeps that follow use as many."""

ROUNDING = 1e-6
"""Share of the objective by which rounding and inexact steps may raise the gap of all
columns, in full precision."""


class SweepSolver(ABC):
    """What all solvers share: the first state, records of sweeps, and convergence.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    tol : float
        Relative decrease of the gap at which the solver has converged.
    reweigh : callable, optional
        Changes the weights after each sweep.

    Attributes
    ----------
    remedy : str
        Advice for the error message if numbers overflow.
    """

    remedy = "Use dtype='float64', or smaller weights and penalties."

    def __init__(
        self, device: DeviceProblem, *, tol: float, reweigh: Reweigh | None = None
    ) -> None:
        self.device = device
        self.tol = tol
        self.reweigh = reweigh
        lam = device.problem.penalties
        self.floors = {
            context.name: context.floor(lam, device.backend)
            for context in device.problem.contexts
        }

    def init(self, start: Factors, weights: Mapping[str, float]) -> State:
        """Move a start to the device.

        Parameters
        ----------
        start : Factors
            The start.
        weights : mapping
            α and β by context.

        Returns
        -------
        State
            The state before the first sweep.
        """
        move = self.device.backend.asarray
        return State(move(start.W), tuple(map(move, start.of_contexts)), dict(weights))

    @abstractmethod
    def step(self, state: State) -> State:
        """Make one sweep over all factors.

        Parameters
        ----------
        state : State
            The state before the sweep.

        Returns
        -------
        State
            The state after it.
        """

    def advance(
        self,
        state: State,
        W: Array,
        factors: tuple[Array, ...],
        values: Any,
        began: float,
    ) -> State:
        """Make the next state, with a record and perhaps with new weights.

        Parameters
        ----------
        state : State
            The state before the sweep.
        W : array of shape (labels, dim)
            Label vectors after the sweep.
        factors : tuple of arrays
            Factors after the sweep.
        values : sequence of float
            Value of each context after the sweep.
        began : float
            When the sweep began, by `time.perf_counter`.

        Returns
        -------
        State
            The state after the sweep.
        """
        penalties = self.device.penalties(W, factors)
        _refuse_infinite(self.device, state, factors, values, penalties, self.remedy)
        weights = state.weights
        above = self.above_floor(values, weights)
        record = {
            "iteration": float(state.iteration + 1),
            "seconds": time.perf_counter() - began,
            **self.terms(values, weights, penalties),
            **{f"weight:{name}": weight for name, weight in weights.items()},
        }
        if self.reweigh is not None:
            weights = self.reweigh(above, weights)
        return State(W, factors, weights, (*state.history, record))

    def above_floor(
        self, values: Any, weights: Mapping[str, float]
    ) -> dict[str, float]:
        """Compute the value of each context above its floor.

        Parameters
        ----------
        values : sequence of float
            Value of each context.
        weights : mapping
            α and β by context.

        Returns
        -------
        dict
            A number for each context.
        """
        problem = self.device.problem
        return {
            context.name: float(value)
            - context.term_weight(weights[context.name], problem.penalties)
            * self.floors[context.name]
            for context, value in zip(problem.contexts, values, strict=True)
        }

    def terms(
        self, values: Any, weights: Mapping[str, float], penalties: Mapping[str, float]
    ) -> dict[str, float]:
        """Collect the objective, the gap and every term.

        Parameters
        ----------
        values : sequence of float
            Value of each context.
        weights : mapping
            α and β by context.
        penalties : mapping
            A number for each penalty.

        Returns
        -------
        dict
            Numbers by name, as in the history.
        """
        contexts = self.device.problem.contexts
        named = {
            f"{context.kind}:{context.name}": float(value)
            for context, value in zip(contexts, values, strict=True)
        }
        above = self.above_floor(values, weights)
        return {
            "objective": sum(named.values()) + sum(penalties.values()),
            "gap": sum(above.values()) + sum(penalties.values()),
            **named,
            **penalties,
        }

    def converged(self, state: State) -> bool:
        """Whether the last sweep lowered the gap by less than `tol`, and raised it not.

        Parameters
        ----------
        state : State
            The state after a sweep.

        Returns
        -------
        bool
            Whether to stop.
        """
        if len(state.history) < 2:
            return False
        before, after = state.history[-2]["gap"], state.history[-1]["gap"]
        share = max(ROUNDING, self.device.backend.noise)
        most = share * abs(state.history[-1]["objective"])
        return -most <= before - after <= self.tol * abs(after)


class MajoriseSolver(SweepSolver):
    """Majorise-minimise: sweeps of all factors, then W, that never raise the objective.

    With `samples`, the dense parts use a new sample of the columns in every sweep. The
    objective is then an estimate. A sweep that raises it on its own sample is repeated
    with more columns. If it still rises, the fit ends before this sweep.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    tol : float
        Relative decrease of the gap at which the solver has converged.
    reweigh : callable, optional
        Changes the weights after each sweep.
    samples : ColumnSamples, optional
        Draws samples of columns. By default all columns are used.
    """

    def __init__(
        self,
        device: DeviceProblem,
        *,
        tol: float,
        reweigh: Reweigh | None = None,
        samples: ColumnSamples | None = None,
    ) -> None:
        super().__init__(device, tol=tol, reweigh=reweigh)
        self.samples = samples

    def step(self, state: State) -> State:
        """Make one sweep, or with samples perhaps two."""
        if self.samples is None:
            return self._sweep(state)
        least = int(state.history[-1].get("columns", 0)) if state.history else 0
        for _ in range(2):
            drawn = self.samples.draw(state.iteration, least)
            after = self._sweep(state, drawn.labels, drawn.columns)
            record = {**after.history[-1], "columns": float(drawn.n)}
            risen = self._risen(state, drawn.columns, record)
            if risen is None:
                return replace(after, history=(*state.history, record))
            del after  # memory of the device, for the repeated sweep
            least = MORE * drawn.n
        return replace(state, risen=risen)

    def _sweep(
        self,
        state: State,
        labels: Sequence[Sample | None] | None = None,
        columns: Sequence[Sample | None] | None = None,
    ) -> State:
        """All factors, then W: it comes last, so its values sum to the objective."""
        began = time.perf_counter()
        device, weights = self.device, state.weights
        state = balance(device, state)
        factors = device.update_factors(
            state.W, state.factors, weights, self.update, samples=labels
        )
        views = device.labels.views(factors, weights, samples=columns)
        ridge, blocks = device.problem.penalties.ridge, device.labels.blocks
        updated = update_rows(device.backend, state.W, views, ridge, blocks)
        return self.advance(state, updated.factor, factors, updated.values, began)

    def _risen(
        self,
        before: State,
        columns: Sequence[Sample | None],
        now: Mapping[str, float],
    ) -> str | None:
        """Name the context that rose most, if the sweep has raised the gap.

        The gap before it is computed from the same sample, so that the noise of both
        cancels. That is a pass over all rows, which most sweeps do not need: they fall
        below the gap that the sweep before them noted.
        """
        is_first = not before.history
        if (
            is_first
            or self.reweigh is not None
            or now["gap"] <= before.history[-1]["gap"]
        ):
            return None  # gaps of different weights cannot be compared
        device, weights = self.device, before.weights
        views = device.labels.views(before.factors, weights, samples=columns)
        values = row_values(device.backend, before.W, views, device.labels.blocks)
        penalties = device.penalties(before.W, before.factors)
        then = self.terms(values, weights, penalties)
        if now["gap"] <= then["gap"] + RISES * abs(then["gap"]):
            return None
        rises = {
            context.name: now[key] - then[key]
            for context in device.problem.contexts
            for key in [f"{context.kind}:{context.name}"]
        }
        return max(rises, key=lambda name: rises[name])

    def update(
        self,
        factor: Array,
        views: Sequence[View],
        ridge: float,
        blocks: Sequence[Block],
    ) -> Array:
        """Improve every row of a context's factor once.

        Parameters
        ----------
        factor : array of shape (rows, dim)
            The factor.
        views : sequence of View
            The terms.
        ridge : float
            λ of the squared penalty on the rows.
        blocks : sequence of Block
            Blocks of rows.

        Returns
        -------
        array of shape (rows, dim)
            The new factor.
        """
        return update_rows(self.device.backend, factor, views, ridge, blocks).factor

    def converged(self, state: State) -> bool:
        """Whether the gap has settled; with samples, the mean gap of several sweeps."""
        if self.samples is None:
            return super().converged(state)
        gaps = [record["gap"] for record in state.history]
        if len(gaps) < 2 * NOISY:
            return False
        before = float(np.mean(gaps[-2 * NOISY : -NOISY]))
        after = float(np.mean(gaps[-NOISY:]))
        size = NOISY * abs(after)
        return -RISES * size <= before - after <= self.tol * size


def run(
    solver: SweepSolver,
    state: State,
    *,
    max_iter: int,
    on_step: Callable[[State], None] | None = None,
) -> State:
    """Make sweeps until the solver has converged or made `max_iter` sweeps.

    Parameters
    ----------
    solver : SweepSolver
        Makes the sweeps.
    state : State
        Where to begin.
    max_iter : int
        Most sweeps, including those that the state has made.
    on_step : callable, optional
        Called with the state after each sweep.

    Returns
    -------
    State
        The state after the last sweep.
    """
    while (
        state.iteration < max_iter
        and state.risen is None
        and not solver.converged(state)
    ):
        with refuse_broken_algebra(solver.device, state, solver.remedy):
            state = solver.step(state)
        if on_step is not None and state.risen is None:
            on_step(state)
    return state


def _refuse_infinite(
    device: DeviceProblem,
    before: State,
    factors: Sequence[Array],
    values: Sequence[float],
    penalties: Mapping[str, float],
    remedy: str,
) -> None:
    """Raise NumericalError if a sweep ended with NaN or infinity.

    NaN or infinity anywhere in the factors shows in the values or the penalties, so the
    check costs nothing. Only if it fails is the cause searched for.
    """
    if np.isfinite([*values, *penalties.values()]).all():
        return
    names = device.problem.names
    broken = [
        name
        for name, factor, value in zip(names, factors, values, strict=True)
        if not (np.isfinite(value) and _is_finite(device, factor))
    ]
    if not broken or len(broken) == len(names):  # W overflowed, so all did
        broken = _steepest(device, before)
    raise _overflow(device, before, broken, remedy)


@contextmanager
def refuse_broken_algebra(
    device: DeviceProblem, before: State, remedy: str
) -> Iterator[None]:
    """Turn a failed matrix factorisation into an error that names the context.

    Parameters
    ----------
    device : DeviceProblem
        The problem.
    before : State
        The last good state.
    remedy : str
        What the user can do.

    Yields
    ------
    None
        The body runs as usual.
    """
    try:
        yield
    except Exception as error:
        # NumPy and torch each have a class of this name, with no common base.
        if not type(error).__name__.endswith("LinAlgError"):
            raise
        raise _overflow(device, before, _steepest(device, before), remedy) from error


def _overflow(
    device: DeviceProblem, before: State, broken: Sequence[str], remedy: str
) -> NumericalError:
    sweep = before.iteration
    last = f"sweep {sweep} was the last good one" if sweep else "it was the first"
    return NumericalError(
        f"the numbers of context {some(broken)} are no longer finite in "
        f"{device.backend.dtype} after sweep {sweep + 1}; {last}. {remedy}"
    )


def _steepest(device: DeviceProblem, state: State) -> list[str]:
    """Contexts with an infinite gradient in W, or else the one with the largest."""
    views = device.labels.views(state.factors, state.weights)
    blocks = device.labels.blocks
    pulls = {}
    for name, view in zip(device.problem.names, views, strict=True):
        value, gradient = values_and_gradient(device.backend, state.W, [view], blocks)
        largest = float(device.backend.xp.max(device.backend.xp.abs(gradient)))
        pulls[name] = largest if np.isfinite(value).all() else np.inf
    infinite = [name for name, pull in pulls.items() if not np.isfinite(pull)]
    return infinite or [max(pulls, key=lambda name: pulls[name])]


def _is_finite(device: DeviceProblem, factor: Array) -> bool:
    xp = device.backend.xp
    return bool(xp.all(xp.isfinite(factor)))
