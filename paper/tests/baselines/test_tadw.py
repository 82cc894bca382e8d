"""TADW: the target, the solver against SciPy and the closed form, and who is in it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from phcle import DescriptiveContext, RelationalContext
from phcle.errors import ContextError, ConvergenceWarning, OptionError
from phcle_paper.baselines import tadw_embedding
from phcle_paper.baselines.tadw import factorise, proximity, text_features

LABELS = tuple(f"label{i}" for i in range(8))


def objective(M, T, W, H, ridge):
    return ((M - W @ H @ T.T) ** 2).sum() + ridge / 2 * ((W**2).sum() + (H**2).sum())


@pytest.fixture
def problem(rng):
    M = rng.random((8, 8)) * (rng.random((8, 8)) < 0.6)
    T = text_features(rng.normal(size=(8, 5)) + 1, 4)
    return M, T, rng.normal(size=(3, 4))


@pytest.fixture
def contexts(rng):
    counts = np.triu(rng.integers(0, 4, (8, 8)), 1) + np.eye(8, k=1)
    relational = RelationalContext.from_matrix(counts + counts.T, LABELS)
    values = rng.normal(size=(8, 6))
    columns = tuple("uvwxyz")
    return relational, DescriptiveContext("traits", LABELS, columns, values)


def solve(M, T, start, ridge=0.2, tol=1e-14):
    return factorise(sp.csr_array(M), T, start, ridge, max_iter=20_000, tol=tol)


def test_target_of_a_path_graph_equals_that_by_hand():
    context = RelationalContext.from_edges([("a", "b"), ("b", "c")])
    A = np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]])
    found = proximity(context, ("a", "b", "c")).toarray()
    np.testing.assert_allclose(found, (A + A @ A) / 2)
    # Without c, a step from b can lead to a only.
    np.testing.assert_allclose(
        proximity(context, ("b", "a")).toarray(), [[0.5, 0.5], [0.5, 0.5]]
    )


def test_steps_over_other_columns_lead_from_label_to_label():
    # a and b share x; b and c share y, which a third of b's counts are.
    context = RelationalContext.from_matrix(
        [[3, 0], [2, 1], [0, 1]], ["a", "b", "c"], ["x", "y"]
    )
    found = proximity(context, ("a", "b", "c")).toarray()
    to_a, to_c = 2 / 3 * 3 / 5, 1 / 3 * 1 / 2
    b = np.array([to_a, 0, to_c]) / (to_a + to_c)
    A = np.array([[0, 1, 0], b, [0, 1, 0]])
    np.testing.assert_allclose(found, (A + A @ A) / 2)


def test_objective_never_rises_and_factors_leave_the_start(problem):
    M, T, start = problem
    W, H, history = solve(M, T, start)
    assert len(history) > 10
    assert np.all(np.diff(history) <= 1e-12)
    assert history[-1] < 0.9 * history[0]
    assert np.linalg.norm(H - start) > 0.5
    assert np.linalg.matrix_rank(W) == 3
    np.testing.assert_allclose(history[-1], objective(M, T, W, H, 0.2))


def test_result_equals_the_minimum_found_by_scipy(problem, rng):
    M, T, start = problem
    W, H, history = solve(M, T, start)

    def loss(x):
        w, h = x[:24].reshape(8, 3), x[24:].reshape(3, 4)
        gap = w @ h @ T.T - M
        gradient = [2 * gap @ T @ h.T + 0.2 * w, 2 * w.T @ gap @ T + 0.2 * h]
        return objective(M, T, w, h, 0.2), np.concatenate([g.ravel() for g in gradient])

    runs = [
        minimize(loss, rng.normal(size=36), jac=True, tol=1e-12, options={"gtol": 1e-9})
        for _ in range(5)
    ]
    best = min(runs, key=lambda run: run.fun)
    np.testing.assert_allclose(history[-1], best.fun, rtol=1e-8)
    theirs = best.x[:24].reshape(8, 3) @ best.x[24:].reshape(3, 4)
    np.testing.assert_allclose(W @ H, theirs, atol=1e-4)


def test_only_labels_with_both_contexts_in_full_are_embedded(contexts):
    relational, traits = contexts
    values = traits.values.copy()
    values[2, 3] = np.nan
    patchy = DescriptiveContext("traits", LABELS, traits.columns, values)
    embedding = tadw_embedding(relational, patchy.rows_for(LABELS[:6]), dim=4)
    assert embedding.labels == (*LABELS[:2], *LABELS[3:6])
    with pytest.raises(ContextError, match="incomplete for 'label2'"):
        tadw_embedding(relational, patchy, labels=LABELS[:4], dim=4)
    with pytest.raises(ContextError, match="incomplete for 'label6', 'label7'"):
        tadw_embedding(relational, traits.rows_for(LABELS[:6]), labels=LABELS, dim=4)


def test_trouble_is_told(contexts):
    with pytest.raises(OptionError, match="even whole number"):
        tadw_embedding(*contexts, dim=5)
    with pytest.raises(OptionError, match="ridge must be above 0"):
        tadw_embedding(*contexts, ridge=0)
    with pytest.warns(ConvergenceWarning, match="after 1 sweeps"):
        tadw_embedding(*contexts, dim=4, max_iter=1, tol=1e-12)
