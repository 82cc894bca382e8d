"""The objective in plain NumPy and double precision: the reference for every solver.

Glossary (labels are rows): W (labels × d) label vectors, C_i (columns × d) vectors of
the columns of relational contexts, U_j (descriptions × d) vectors of descriptions; D
counts, B = k · (row mass)(column mass)/total, Q = B + D; A values, I observed; α, β
weights of the contexts.

    Σ_i α_i Σ_wc [ Q softplus(x) − D x ],  x = W C_iᵀ                     relational
  + Σ_j β_j λ1/2 ‖ I_j ⊙ (A_j − W U_jᵀ) ‖²                              descriptive
  + λ2 Σ_j ‖U_j‖₁ + λ3/2 (‖W‖² + Σ_j ‖U_j‖²) + λ4/2 Σ_i ‖C_i‖²            penalties

One relational and one descriptive context give Eq. 4 of the paper, any number gives Eq.
6. Each kind of context computes its own term.
"""

from __future__ import annotations

from collections.abc import Sequence

import array_api_compat.numpy as xp
import numpy as np

from phcle.arrays import AnyFloats
from phcle.backends.numpy_backend import NumpyBackend
from phcle.model.fit import Solver
from phcle.model.problem import DeviceProblem, Problem, Weights
from phcle.model.rows import slopes


def objective_terms(
    problem: Problem, W: AnyFloats, factors: Sequence[AnyFloats], weights: Weights
) -> dict[str, float]:
    """Compute every term of the objective, their sum, and the gap to the lower bound.

    Parameters
    ----------
    problem : Problem
        Contexts and penalties.
    W : array of shape (labels, dim)
        Label vectors.
    factors : sequence of arrays
        One for each context.
    weights : mapping
        α and β by context.

    Returns
    -------
    dict
        A number for each term, their sum "objective", and "gap", the sum above the
        floors of all contexts.
    """
    device = DeviceProblem(NumpyBackend("float64"), problem)
    _, values = device.rows(factors, weights).updated(np.asarray(W, float), slopes)
    penalties = problem.penalty_terms(xp, W, factors)
    return Solver(device, tol=0.0).terms(values, weights, penalties)
