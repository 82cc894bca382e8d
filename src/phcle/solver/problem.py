"""A problem, contexts over common labels scaled alike, and the state of its solution.

Both are values: they can be inspected, tested, stored and resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from phcle.backends.protocol import Array
from phcle.contexts.alignment import Aligned
from phcle.contexts.base import FittedContext, Penalties

__all__ = ["Problem", "State", "pose"]


@dataclass(frozen=True)
class Problem:
    """Everything the objective needs but the factors and the weights."""

    labels: tuple[str, ...]
    contexts: tuple[FittedContext, ...]
    penalties: Penalties
    dim: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all contexts."""
        return tuple(context.name for context in self.contexts)

    @property
    def groups(self) -> list[list[FittedContext]]:
        """Contexts by kind: the weights of each group sum to one."""
        found: dict[str, list[FittedContext]] = {}
        for context in self.contexts:
            found.setdefault(context.kind, []).append(context)
        return list(found.values())

    @property
    def n_pairs(self) -> int:
        """Pairs of labels and columns that an exact sweep goes over."""
        n_columns = sum(context.n_dense_columns for context in self.contexts)
        return len(self.labels) * n_columns

    def over(self, labels: Sequence[str], contexts: Sequence[FittedContext]) -> Problem:
        """The same model over other labels or values."""
        return replace(self, labels=tuple(labels), contexts=tuple(contexts))


@dataclass(frozen=True)
class State:
    """Factors after some sweeps, and what happened on the way."""

    W: Array  # (labels, d)
    factors: tuple[Array, ...]  # each context's own, in the order of the problem
    weights: dict[str, float]
    history: tuple[dict[str, float], ...] = ()

    @property
    def iteration(self) -> int:
        """Sweeps made so far."""
        return len(self.history)


def pose(aligned: Aligned, penalties: Penalties, dim: int) -> Problem:
    """Scale aligned contexts and lay them out over the common labels.

    Parameters
    ----------
    aligned : Aligned
        Contexts and their vocabulary.
    penalties : Penalties
        The λ's and k.
    dim : int
        Length of a label's vector.

    Returns
    -------
    Problem
    """
    contexts = tuple(context.in_fit(aligned.labels) for context in aligned.contexts)
    return Problem(aligned.labels, contexts, penalties, dim)
