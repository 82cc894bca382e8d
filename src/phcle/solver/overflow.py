"""Stop a fit whose numbers overflow, and name the context that caused it.

A sweep ends with a few numbers: the value of each context and the penalties. NaN or
infinity anywhere in the factors shows in one of them, so the check costs nothing. The
cause is searched for only if the check fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from phcle.backends.protocol import Array
from phcle.errors import NumericalError, some
from phcle.solver.device_problem import DeviceProblem
from phcle.solver.gradient import values_and_gradient
from phcle.solver.problem import State

__all__ = ["refuse_broken_algebra", "refuse_infinite"]


def refuse_infinite(
    device: DeviceProblem,
    before: State,
    factors: Sequence[Array],
    values: Sequence[float],
    penalties: Mapping[str, float],
    remedy: str,
) -> None:
    """Raise NumericalError if a sweep ended with NaN or infinity.

    Parameters
    ----------
    device : DeviceProblem
        The problem on its back end.
    before : State
        The state before the sweep.
    factors : sequence of arrays
        Factors of all contexts after the sweep.
    values : sequence of float
        Value of each context after the sweep.
    penalties : mapping
        Penalties after the sweep.
    remedy : str
        Advice for the message.
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
        The problem on its back end.
    before : State
        The state before the sweep.
    remedy : str
        Advice for the message.
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
