"""Tables with few gaps: sums over gaps give what sums over cells would."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from problems import make_problem
from scipy.optimize import approx_fprime

from phcle import DescriptiveContext
from phcle.contexts.descriptive.cells_or_gaps import CellsOrGaps
from phcle.contexts.terms import Curvature
from phcle.solver.problem import LabelRows

SHARES = {"few gaps": 0.2, "many gaps": 0.8}


def patchy_problem(rng, share, n_labels=12, n_columns=9):
    """One table; a complete row, an empty one, and others with a share of gaps."""
    values = rng.normal(size=(n_labels, n_columns))
    values[rng.random(values.shape) < share] = np.nan
    values[0] = 1.0
    values[1, 1:] = np.nan
    values[:, 0] = np.arange(n_labels)  # a column without gaps
    labels = tuple(f"label{i}" for i in range(n_labels))
    columns = tuple(f"a{i}" for i in range(n_columns))
    context = DescriptiveContext("table", labels, columns, values)
    return make_problem([context], dim=3, sparsity=0.4)


def dense(values):
    """A with NaN at gaps."""
    A = np.full(values.entries.shape, np.nan)
    A[values.full_rows] = values.full.toarray()
    entries = sp.coo_array(values.entries)
    A[entries.coords] = entries.data
    return A


@pytest.mark.parametrize("share", SHARES.values(), ids=SHARES)
def test_each_line_has_its_cells_or_its_gaps_whichever_are_fewer(rng, share):
    known = rng.random((30, 17)) >= share
    known[3] = False
    entries = sp.csr_array(known.astype(float))
    found = CellsOrGaps.of(entries, np.arange(17))
    n_known = known.sum(axis=1)
    assert np.array_equal(found.by_gaps, 17 - n_known < n_known)
    expected = np.where(found.by_gaps[:, None], ~known, known)
    stored = sp.coo_array(found.cells)
    assert len(stored.data) == expected.sum()
    assert expected[stored.coords].all()
    assert not stored.data[found.by_gaps[stored.coords[0]]].any()
    assert np.diff(found.cells.indptr).max() <= 17 // 2


def test_gaps_are_looked_for_at_some_places_only():
    known = sp.csr_array(np.array([[1.0, 0, 1, 0, 1], [0, 0, 0, 0, 1]]))
    found = CellsOrGaps.of(known, np.array([0, 1, 2, 4]))
    assert found.by_gaps.tolist() == [True, False]
    assert sp.coo_array(found.cells).coords[1].tolist() == [1, 4]


@pytest.mark.parametrize("share", SHARES.values(), ids=SHARES)
def test_value_gradient_and_curvature_are_those_of_the_known_cells(backend, rng, share):
    problem = patchy_problem(rng, share)
    (context,) = problem.contexts
    assert context.values.by_row.by_gaps.any() == (share < 0.5)
    A = dense(context.values)
    U, W = rng.normal(size=(A.shape[1], 3)), rng.normal(size=(len(A), 3))
    weight = context.term_weight(0.7, problem.penalties)

    def plain(w, row):
        return 0.5 * weight * np.nansum((A[row] - U @ w) ** 2)

    rows = LabelRows(backend, problem)
    (view,) = rows.views([backend.asarray(U)], {"table": 0.7})
    step = rng.normal(size=W.shape)
    for number, block in enumerate(rows.blocks):
        local = view.local(number, backend.asarray(W[block.rows]))
        bent = local.product(backend.asarray(step[block.rows]), Curvature.MATCHED)
        for at, row in enumerate(block.rows.tolist()):
            assert float(local.value[at]) == pytest.approx(plain(W[row], row))
            slope = approx_fprime(W[row], plain, 1e-7, row)
            gradient = backend.to_numpy(local.gradient)[at]
            assert np.allclose(gradient, slope, rtol=1e-4, atol=1e-4)
            known = U[~np.isnan(A[row])]
            expected = weight * known.T @ (known @ step[row])
            assert np.allclose(backend.to_numpy(bent)[at], expected)


@pytest.mark.parametrize("share", SHARES.values(), ids=SHARES)
def test_the_elastic_net_ends_where_no_known_cell_pulls(backend, rng, share):
    problem = patchy_problem(rng, share)
    (context,) = problem.contexts
    lam, A = problem.penalties, dense(context.values)
    W = rng.normal(size=(len(A), 3))
    weight = context.term_weight(1.0, lam)
    update = context.factor_update(backend, 3, lam)
    U = backend.asarray(np.zeros((A.shape[1], 3)))
    for _ in range(20):
        U = update.improve(backend.asarray(W), U, weight, None, tol=1e-12)
    U = backend.to_numpy(U)
    residual = np.where(np.isnan(A), 0.0, W @ U.T - A)
    pull = weight * residual.T @ W + context.factor_ridge(lam) * U
    # The subgradient of sparsity · |u| cancels the rest.
    assert np.allclose(pull[U != 0], -lam.sparsity * np.sign(U[U != 0]), atol=1e-5)
    assert (np.abs(pull[U == 0]) <= lam.sparsity + 1e-5).all()
