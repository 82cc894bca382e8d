"""The objective in plain NumPy, double precision: the yardstick for every solver.

Glossary (labels are rows): W (labels × d) label vectors, C_i (columns × d) vectors of
what labels occur with, U_j (descriptions × d); D counts, B = k · (row mass)(column
mass)/total, Q = B + D; A values, I observed; α, β weights of the contexts.

    Σ_i α_i Σ_wc [ Q softplus(x) − D x ],  x = W C_iᵀ                     relational
  + Σ_j β_j λ1/2 ‖ I_j ⊙ (A_j − W U_jᵀ) ‖²                              descriptive
  + λ2 Σ_j ‖U_j‖₁ + λ3/2 (‖W‖² + Σ_j ‖U_j‖²) + λ4/2 Σ_i ‖C_i‖²            penalties

One relational and one descriptive context is Eq. 4 of the paper, any number is Eq. 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

from phcle.solver.problem import DescriptiveData, Problem, RelationalData

__all__ = [
    "descriptive_loss",
    "objective_terms",
    "penalty_terms",
    "relational_loss",
    "saturated_floor",
]

Floats = npt.NDArray[np.floating[Any]]

TILE = 4_000_000


def softplus(x: Floats) -> Floats:
    """log(1 + eˣ), without overflow."""
    return np.logaddexp(x, 0.0)


def relational_loss(
    data: RelationalData, W: Floats, C: Floats, negatives: float
) -> float:
    """Σ_wc [ Q softplus(x) − D x ], tile by tile."""
    W, C = np.asarray(W, np.float64), np.asarray(C, np.float64)
    rate = negatives * data.row_mass / data.total
    height = max(1, TILE // max(1, len(C)))
    total = 0.0
    for start in range(0, len(W), height):
        rows = slice(start, start + height)
        total += float(rate[rows] @ (softplus(W[rows] @ C.T) @ data.column_mass))
    D = sp.coo_array(data.counts)
    for start in range(0, D.nnz, 100_000):
        part = slice(start, start + 100_000)
        x = np.einsum("ij,ij->i", W[D.coords[0][part]], C[D.coords[1][part]])
        total += float(D.data[part] @ (softplus(x) - x))
    return total


def saturated_floor(data: RelationalData, negatives: float) -> float:
    """The loss where every x fits its own count, x = logit(D/Q): no model is below."""
    D = sp.coo_array(data.counts)
    B = (
        negatives
        * data.row_mass[D.coords[0]]
        * data.column_mass[D.coords[1]]
        / data.total
    )
    Q = B + D.data
    # Entropy form of the loss at the optimum; pairs without a count tend to zero, and
    # so does B where counts are so small that it rounds to zero.
    return float(np.sum(xlogy(Q, Q) - xlogy(D.data, D.data) - xlogy(B, B)))


def descriptive_loss(data: DescriptiveData, W: Floats, U: Floats) -> float:
    """½ ‖ I ⊙ (A − W Uᵀ) ‖²."""
    W, U = np.asarray(W, np.float64), np.asarray(U, np.float64)
    known = W[data.full_rows]
    if isinstance(data.full, np.ndarray):
        total = float(((data.full - known @ U.T) ** 2).sum())
    else:
        # Without ever making A dense: ‖A‖² − 2⟨A, WUᵀ⟩ + ⟨WᵀW, UᵀU⟩.
        AU = data.full @ U - data.shift @ U
        total = float(
            data.full_energy.sum()
            - 2 * (AU * known).sum()
            + ((known.T @ known) * (U.T @ U)).sum()
        )
    entries = sp.coo_array(data.entries)
    fitted = np.einsum("ij,ij->i", W[entries.coords[0]], U[entries.coords[1]])
    return 0.5 * (total + float(((entries.data - fitted) ** 2).sum()))


def objective_terms(
    problem: Problem,
    W: Floats,
    C: Sequence[Floats],
    U: Sequence[Floats],
    weights: Mapping[str, float],
) -> dict[str, float]:
    """Every term by name, their sum as "objective", and "gap": above the floor."""
    lam = problem.penalties
    terms = {}
    floor = 0.0
    for data, factor in zip(problem.relational, C, strict=True):
        weight = weights[data.name]
        loss = relational_loss(data, W, factor, lam.negatives)
        terms[f"relational:{data.name}"] = weight * loss
        floor += weight * saturated_floor(data, lam.negatives)
    for described, factor in zip(problem.descriptive, U, strict=True):
        loss = descriptive_loss(described, W, factor)
        terms[f"descriptive:{described.name}"] = (
            lam.descriptive * weights[described.name] * loss
        )
    terms |= penalty_terms(problem, W, C, U)
    terms["objective"] = sum(terms.values())
    terms["gap"] = terms["objective"] - floor
    return terms


def penalty_terms(
    problem: Problem, W: Floats, C: Sequence[Floats], U: Sequence[Floats]
) -> dict[str, float]:
    """λ2, λ3 and λ4 by name."""
    lam = problem.penalties

    def square(factor: Floats) -> float:
        return float((np.asarray(factor, np.float64) ** 2).sum())

    return {
        "sparsity": lam.sparsity * sum(float(np.abs(u).sum()) for u in U),
        "ridge": 0.5 * lam.ridge * (square(W) + sum(map(square, U))),
        "context_ridge": 0.5 * lam.context_ridge * sum(map(square, C)),
    }
