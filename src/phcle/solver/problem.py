"""A problem (contexts over common labels, scaled alike) and the state of its solution.

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
    """All that the objective needs, except factors and weights.

    Attributes
    ----------
    labels : tuple of str
        Labels of all rows of W.
    contexts : tuple of FittedContext
        The contexts over these labels.
    penalties : Penalties
        The λ's and k.
    dim : int
        Length of a vector.
    """

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
        """Contexts by kind. The weights of each group sum to one."""
        found: dict[str, list[FittedContext]] = {}
        for context in self.contexts:
            found.setdefault(context.kind, []).append(context)
        return list(found.values())

    @property
    def n_pairs(self) -> int:
        """Number of pairs of labels and columns that an exact sweep computes."""
        n_columns = sum(context.n_dense_columns for context in self.contexts)
        return len(self.labels) * n_columns

    def over(self, labels: Sequence[str], contexts: Sequence[FittedContext]) -> Problem:
        """Return the same model over other labels or values.

        Parameters
        ----------
        labels : sequence of str
            The labels.
        contexts : sequence of FittedContext
            The contexts over these labels.

        Returns
        -------
        Problem
            The new problem.
        """
        return replace(self, labels=tuple(labels), contexts=tuple(contexts))


@dataclass(frozen=True)
class State:
    """Factors and weights after some sweeps, and the history.

    Attributes
    ----------
    W : array of shape (labels, dim)
        Label vectors.
    factors : tuple of arrays
        The factor of each context, in the order of the problem.
    weights : dict
        α and β by context.
    history : tuple of dict
        A record for each sweep.
    """

    W: Array
    factors: tuple[Array, ...]
    weights: dict[str, float]
    history: tuple[dict[str, float], ...] = ()

    @property
    def iteration(self) -> int:
        """Sweeps made so far."""
        return len(self.history)


def pose(aligned: Aligned, penalties: Penalties, dim: int) -> Problem:
    """Scale aligned contexts and arrange them by the common labels.

    Parameters
    ----------
    aligned : Aligned
        Contexts and their vocabulary.
    penalties : Penalties
        The λ's and k.
    dim : int
        Length of a vector.

    Returns
    -------
    Problem
        The problem to solve.
    """
    contexts = tuple(context.in_fit(aligned.labels) for context in aligned.contexts)
    return Problem(aligned.labels, contexts, penalties, dim)
