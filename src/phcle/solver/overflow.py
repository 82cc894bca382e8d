"""Numbers that outgrow their precision are noticed before they reach a result.

A sweep already ends with a handful of scalars: each context's value and the penalties.
NaN or infinity anywhere in the factors shows in one of them, so looking costs nothing.
Only then is the context looked for that caused it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from phcle.backends.protocol import Array
from phcle.errors import NumericalError, some
from phcle.solver.gradient import values_and_gradient
from phcle.solver.layout import Layout
from phcle.solver.state import State

__all__ = ["refuse_broken_algebra", "refuse_infinite"]


def refuse_infinite(
    layout: Layout,
    before: State,
    factors: Sequence[Array],
    values: Sequence[float],
    penalties: Mapping[str, float],
    remedy: str,
) -> None:
    """Stop where a sweep left the finite numbers; `factors` are all C, then all U."""
    if np.isfinite([*values, *penalties.values()]).all():
        return
    names = layout.problem.names
    broken = [
        name
        for name, factor, value in zip(names, factors, values, strict=True)
        if not (np.isfinite(value) and _is_finite(layout, factor))
    ]
    if not broken or len(broken) == len(names):  # W is broken, and with it all values
        broken = _steepest(layout, before)
    raise _outgrown(layout, before, broken, remedy)


@contextmanager
def refuse_broken_algebra(layout: Layout, before: State, remedy: str) -> Iterator[None]:
    """Say what it means that a matrix cannot be factorised: it is not finite."""
    try:
        yield
    except Exception as error:
        # NumPy and torch have one each, with no ancestor of that meaning in common.
        if not type(error).__name__.endswith("LinAlgError"):
            raise
        raise _outgrown(layout, before, _steepest(layout, before), remedy) from error


def _outgrown(
    layout: Layout, before: State, broken: Sequence[str], remedy: str
) -> NumericalError:
    sweep = before.iteration
    last = f"sweep {sweep} was the last good one" if sweep else "it was the first"
    return NumericalError(
        f"the numbers of context {some(broken)} are no longer finite in "
        f"{layout.backend.dtype} after sweep {sweep + 1}; {last}. {remedy}"
    )


def _steepest(layout: Layout, state: State) -> list[str]:
    """The contexts that pull at W beyond measure, or else the one that pulls most."""
    views = layout.labels.views(state.C, state.U, state.weights)
    blocks = layout.labels.blocks
    pulls = {}
    for name, view in zip(layout.problem.names, views, strict=True):
        value, gradient = values_and_gradient(layout.backend, state.W, [view], blocks)
        largest = float(layout.backend.xp.max(layout.backend.xp.abs(gradient)))
        pulls[name] = largest if np.isfinite(value).all() else np.inf
    endless = [name for name, pull in pulls.items() if not np.isfinite(pull)]
    return endless or [max(pulls, key=lambda name: pulls[name])]


def _is_finite(layout: Layout, factor: Array) -> bool:
    xp = layout.backend.xp
    return bool(xp.all(xp.isfinite(factor)))
