"""The loop of a fit: sweeps over all factors until the objective settles.

    align → choose → pose → start → learn (sweep, sweep, …) → finish → embedding

`PHCLE.fit` makes these steps. `Solver` is the default solver, majorise-minimise: every
sweep balances the factors, updates that of each context, then W, and none of these
steps raises the objective. A state is a value: all factors, the weights and the
history. Processes that share a fit make the same sweeps, each on rows of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from phcle.backends.protocol import Array
from phcle.contexts.protocol import ColumnUpdate, FactorUpdate
from phcle.errors import NumericalError, some
from phcle.model.problem import (
    EVERYTHING,
    ColumnSamples,
    DeviceProblem,
    Drawn,
    State,
    Weights,
)
from phcle.model.rows import slopes

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


REGULAR = 1e-8
"""Eigenvalues of a Gram matrix below this share of the largest are raised to it. Their
inverses would be made of rounding errors."""

WORTH = 1e-4
"""A change must lower the penalties by this share. Less is not worth the rounding
errors that it adds."""


@dataclass
class Solver:
    """Makes sweeps that never raise the objective.

    With `samples`, the dense parts use a new sample of the columns in every sweep. The
    objective is then an estimate. A sweep that raises it on its own sample is repeated
    with more columns. If it still rises, the fit ends before this sweep.

    Attributes
    ----------
    device : DeviceProblem
        The problem on its back end.
    tol : float
        Relative decrease of the gap at which the fit has converged.
    reweigh : callable or None
        Changes the weights after each sweep.
    samples : ColumnSamples or None
        Draws samples of columns. By default all columns are used.
    remedy : str
        Advice for the error message if numbers overflow.
    floors : list of float
        Lower bound of the loss of each context.
    """

    device: DeviceProblem
    tol: float
    reweigh: Reweigh | None = None
    samples: ColumnSamples | None = None
    remedy: ClassVar[str] = "Use dtype='float64', or smaller weights and penalties."

    def __post_init__(self) -> None:
        problem, backend = self.device.problem, self.device.backend
        self.floors = [x.floor(problem.penalties, backend) for x in problem.contexts]

    def learn(
        self,
        state: State,
        *,
        max_iter: int,
        on_step: Callable[[State], None] = lambda state: None,
    ) -> State:
        """Make sweeps until the gap has settled, or `max_iter` sweeps are made.

        Parameters
        ----------
        state : State
            Where to begin, on any device.
        max_iter : int
            Most sweeps, including those that the state has made.
        on_step : callable, optional
            Called with the state after each sweep.

        Returns
        -------
        State
            The state after the last sweep.
        """
        move = self.device.backend.asarray
        factors = tuple(map(move, state.factors))
        state = replace(state, W=move(state.W), factors=factors)
        while state.iteration < max_iter and not self.converged(state):
            with self.naming_overflow(state):
                state = self._sampled(state) if self.samples else self.sweep(state)
            if state.risen is not None:
                break
            on_step(state)
        return state

    def sweep(self, state: State, drawn: Drawn = EVERYTHING) -> State:
        """Update all factors, then W: it comes last, so values sum to the objective.

        Parameters
        ----------
        state : State
            The state before the sweep.
        drawn : Drawn, optional
            Samples of labels and columns. By default all are used.

        Returns
        -------
        State
            The state after it, with a record.
        """
        device, began, factors = self.device, time.perf_counter(), []
        updates, sizes = device.updates, device.problem.term_weights(state.weights)
        state = balance(device, state)
        for i, (update, factor) in enumerate(zip(updates, state.factors, strict=True)):
            if isinstance(update, ColumnUpdate):
                sample = drawn.labels[i] if drawn.labels else None
                columns = device.columns(update, state.W, sizes[i], sample)
                factors.append(columns.updated(factor)[0])
            else:
                factors.append(update.improve(state.W, factor, sizes[i]))
        rows = device.rows(factors, state.weights, drawn.columns)
        W, values = rows.updated(state.W)
        return self.recorded(state, W, tuple(factors), values, began)

    def _sampled(self, state: State) -> State:
        """A sweep on samples; one that raises the gap is repeated with larger ones."""
        assert self.samples is not None
        least = int(state.history[-1].get("columns", 0)) if state.history else 0
        for _ in range(2):
            drawn = self.samples.draw(state.iteration, least)
            after = self.sweep(state, drawn)
            record = {**after.history[-1], "columns": float(drawn.n)}
            risen = self._risen(state, drawn, record)
            if risen is None:
                return replace(after, history=(*state.history, record))
            del after  # memory of the device, for the repeated sweep
            least = MORE * drawn.n
        return replace(state, risen=risen)

    def recorded(
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
        problem, weights = self.device.problem, state.weights
        penalties = problem.penalty_terms(self.device.backend.xp, W, factors)
        # NaN or infinity in any factor shows here, so the check costs nothing.
        if not np.isfinite([*values, *penalties.values()]).all():
            broken = np.flatnonzero(~np.isfinite(values))
            raise self._overflow(state, [problem.names[i] for i in broken])
        record = {
            "iteration": float(state.iteration + 1),
            "seconds": time.perf_counter() - began,
            **self.terms(values, weights, penalties),
            **{f"weight:{name}": weight for name, weight in weights.items()},
        }
        if self.reweigh is not None:
            weights = self.reweigh(self._above_floor(values, weights), weights)
        return State(W, factors, weights, (*state.history, record))

    def _above_floor(self, values: Any, weights: Weights) -> dict[str, float]:
        """The value of each context above its floor."""
        problem = self.device.problem
        sizes = problem.term_weights(weights)
        above = np.asarray(values, np.float64) - np.multiply(sizes, self.floors)
        return dict(zip(problem.names, map(float, above), strict=True))

    def terms(
        self, values: Any, weights: Weights, penalties: Mapping[str, float]
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
        named = dict(zip(self.device.problem.terms, map(float, values), strict=True))
        penalty = sum(penalties.values())
        above = sum(self._above_floor(values, weights).values())
        return {
            "objective": sum(named.values()) + penalty,
            "gap": above + penalty,
            **named,
            **penalties,
        }

    def converged(self, state: State) -> bool:
        """Whether the last sweep lowered the gap by less than `tol`, and raised it not.

        With samples, the mean gaps of several sweeps are compared.

        Parameters
        ----------
        state : State
            The state after a sweep.

        Returns
        -------
        bool
            Whether to stop.
        """
        n = 1 if self.samples is None else NOISY
        gaps = [record["gap"] for record in state.history[-2 * n :]]
        if len(gaps) < 2 * n:
            return False
        before, after = sum(gaps[:n]), sum(gaps[n:])
        most = RISES * n * abs(after)
        if self.samples is None:
            share = max(ROUNDING, self.device.backend.noise)
            most = share * abs(state.history[-1]["objective"])
        return -most <= before - after <= self.tol * n * abs(after)

    def _risen(
        self, before: State, drawn: Drawn, now: Mapping[str, float]
    ) -> str | None:
        """Name the context that rose most, if the sweep has raised the gap.

        The gap before it is computed from the same sample, so that the noise of both
        cancels. That is a pass over all rows, which most sweeps do not need: they fall
        below the gap that the sweep before them noted.
        """
        # Gaps of different weights cannot be compared.
        if not before.history or self.reweigh is not None:
            return None
        if now["gap"] <= before.history[-1]["gap"]:
            return None
        problem, xp = self.device.problem, self.device.backend.xp
        rows = self.device.rows(before.factors, before.weights, drawn.columns)
        _, values = rows.updated(before.W, slopes)
        penalties = problem.penalty_terms(xp, before.W, before.factors)
        then = self.terms(values, before.weights, penalties)
        if now["gap"] <= then["gap"] + RISES * abs(then["gap"]):
            return None
        most = max(problem.terms, key=lambda term: now[term] - then[term])
        return problem.names[problem.terms.index(most)]

    @contextmanager
    def naming_overflow(self, before: State) -> Iterator[None]:
        """Turn a failed matrix factorisation into an error that names the context.

        Parameters
        ----------
        before : State
            The last good state.

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
            raise self._overflow(before, []) from error

    def _overflow(self, before: State, broken: Sequence[str]) -> NumericalError:
        """An error that names the contexts, or those that are steepest."""
        names, xp = self.device.problem.names, self.device.backend.xp
        if not broken or len(broken) == len(names):  # W overflowed, so all did
            rows, pulls = self.device.rows(before.factors, before.weights), {}
            for name, term in zip(names, rows.terms, strict=True):
                alone = replace(rows, terms=[term], ridge=0.0)
                gradient, value = alone.updated(before.W, slopes)
                largest = float(xp.max(xp.abs(gradient)))
                pulls[name] = largest if np.isfinite(value).all() else np.inf
            broken = [name for name, pull in pulls.items() if not np.isfinite(pull)]
            broken = broken or [max(pulls, key=lambda name: pulls[name])]
        sweep = before.iteration
        last = f"sweep {sweep} was the last good one" if sweep else "it was the first"
        return NumericalError(
            f"the numbers of context {some(broken)} are no longer finite in "
            f"{self.device.backend.dtype} after sweep {sweep + 1}; {last}. "
            f"{self.remedy}"
        )


def balance(device: DeviceProblem, state: State) -> State:
    """Lower the penalties without changing any product of factors.

    W R and F R⁻ᵀ have the same product for any invertible R, where F is the factor of
    any context. Sweeps are slow along these directions, so each begins with the best R:
    without λ2, the geometric mean of two Gram matrices. It is used if it lowers the
    penalties.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    state : State
        Factors to balance.

    Returns
    -------
    State
        The same state, or one with lower penalties.
    """
    xp, problem = device.backend.xp, device.problem
    lam, contexts = problem.penalties, problem.contexts
    sizes = problem.term_weights(state.weights)

    def turning(W: Array, factors: Sequence[Array]) -> list[tuple[Array, Array]]:
        """Gram matrices of the factors that lie in the space of W."""
        found = (
            cast(FactorUpdate, update).label_grams(W, factor, size)
            for context, update, factor, size in zip(
                contexts, device.updates, factors, sizes, strict=True
            )
            if context.turns_with_labels
        )
        return [grams for grams in found if grams is not None]

    def cost(W: Array, factors: Sequence[Array]) -> float:
        """All that a change of balance may lower."""
        terms = sum(float(xp.linalg.trace(term)) for term, _ in turning(W, factors))
        return sum(problem.penalty_terms(xp, W, factors).values()) + 0.5 * terms

    own = lam.ridge * _gram(xp, state.W)
    for term, penalty in turning(state.W, state.factors):
        own = own + term + penalty
    others = sum(
        context.factor_ridge(lam) * _gram(xp, factor)
        for context, factor in zip(contexts, state.factors, strict=True)
        if not context.turns_with_labels
    )
    # R = P^½ with P own P = others.
    root, inverse = _roots(xp, own)
    middle, _ = _roots(xp, root @ others @ root)
    move, back = (
        xp.astype(part, state.W.dtype)
        for part in _roots(xp, inverse @ middle @ inverse)
    )
    W = xp.matmul(state.W, move)
    factors = tuple(
        xp.matmul(factor, move if context.turns_with_labels else back)
        for context, factor in zip(contexts, state.factors, strict=True)
    )
    is_worth = cost(W, factors) < (1 - WORTH) * cost(state.W, state.factors)
    return replace(state, W=W, factors=factors) if is_worth else state


def _gram(xp: Any, factor: Array) -> Array:
    """Compute factorᵀ factor in double precision."""
    precise = xp.astype(factor, xp.float64)
    return xp.matmul(precise.T, precise)


def _roots(xp: Any, matrix: Array) -> tuple[Array, Array]:
    """Symmetric square root of a positive matrix, and its inverse."""
    values, vectors = xp.linalg.eigh(matrix)
    least = REGULAR * float(values[-1]) + 1e-30
    root = xp.sqrt(xp.clip(values, min=least))
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T
