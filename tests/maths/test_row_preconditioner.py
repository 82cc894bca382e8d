"""The preconditioner is an inverse that NumPy would compute row by row."""

from __future__ import annotations

import numpy as np
from problems import make_problem, random_contexts

from phcle import DescriptiveContext
from phcle.contexts.terms import Curvature
from phcle.solver.problem import LabelRows
from phcle.solver.rows import row_preconditioner
from phcle.solver.weights import equal_weights

RIDGE = 0.8


def local_terms(backend, problem, rng, row=None):
    """All terms at the first block of labels, or one row of it, at random vectors."""
    rows = LabelRows(backend, problem)
    factors = [
        backend.asarray(rng.normal(size=(len(context.columns), problem.dim)))
        for context in problem.contexts
    ]
    views = rows.views(factors, equal_weights(problem))
    n_rows = len(rows.blocks[0].rows) if row is None else 1
    chosen = None if row is None else backend.indices([row])
    y = backend.asarray(rng.normal(size=(n_rows, problem.dim)))
    return [view.local(0, y, chosen) for view in views]


def matrices(backend, terms, curvature):
    """The curvature of each row as a matrix, column by column."""
    n_rows, dim = terms[0].gradient.shape
    found = np.zeros((n_rows, dim, dim))
    for k in range(dim):
        unit = np.zeros((n_rows, dim))
        unit[:, k] = 1.0
        z = backend.asarray(unit)
        for term in terms:
            found[:, :, k] += backend.to_numpy(term.product(z, curvature))
    return found


def test_rows_with_known_entries_are_inverted_exactly(backend, rng):
    first, _, patchy, _, whole = random_contexts(rng)
    values = np.full((len(patchy.labels), 4), np.nan)  # few cells, so many gaps
    values[np.arange(len(values)), rng.integers(0, 4, len(values))] = 1.0
    few = DescriptiveContext("few", patchy.labels, patchy.columns, values)
    problem = make_problem([first, few, whole], dim=4)
    for row in range(len(problem.labels)):
        # Alone, a row shares everything with its block.
        terms = local_terms(backend, problem, rng, row)
        full = matrices(backend, terms, Curvature.MATCHED) + RIDGE * np.eye(4)
        z = rng.normal(size=(1, 4))
        solve = row_preconditioner(backend, terms, RIDGE, most_entries=20)
        found = backend.to_numpy(solve(backend.asarray(z)))
        assert np.allclose(found[0], np.linalg.solve(full[0], z[0]))
