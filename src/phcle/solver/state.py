"""The state of a fit is a value: it can be inspected, tested, stored and resumed."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.backends.protocol import Array

__all__ = ["State"]


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
