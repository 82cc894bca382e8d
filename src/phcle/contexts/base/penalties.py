"""Penalties of the objective, and the scale of contexts that they were chosen for."""

from __future__ import annotations

from dataclasses import dataclass

UNITS = 100.0
"""Contexts are scaled to this sum of counts, or of squared deviations, per label. The
value is a convention: the default penalties were chosen for it."""


@dataclass(frozen=True)
class Penalties:
    """The penalties λ of the objective, and k.

    Attributes
    ----------
    negatives : float
        k, the negatives per count of relational contexts.
    descriptive : float
        λ1, the weight of descriptive contexts against relational ones.
    sparsity : float
        λ2, the penalty on absolute values of U.
    ridge : float
        λ3, the penalty on squares of W and U.
    context_ridge : float
        λ4, the penalty on squares of C.
    stiffness : float
        γ, how strongly the nodes of a family hold together, relative to λ3.
    """

    negatives: float
    descriptive: float
    sparsity: float
    ridge: float
    context_ridge: float
    stiffness: float = 1.0
