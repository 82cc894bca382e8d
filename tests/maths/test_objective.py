"""The objective, its gradient and its floor against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import objective as dense_objective
from problems import make_problem, random_contexts
from scipy.optimize import check_grad, minimize_scalar

from phcle.contexts import align
from phcle.model.objective import objective_terms
from phcle.model.problem import DeviceProblem
from phcle.model.rows import Rows, slopes


def random_factors(problem, rng):
    return (
        rng.normal(size=(len(problem.labels), problem.dim)),
        [rng.normal(size=(len(d.columns), problem.dim)) for d in problem.contexts],
    )


def relational(contexts):
    return [context for context in contexts if context.kind == "relational"]


@pytest.mark.parametrize("seed", range(5))
def test_objective_equals_the_dense_oracle(seed):
    rng = np.random.default_rng(seed)
    contexts = random_contexts(rng)
    problem = make_problem(contexts)
    aligned = align(contexts)
    W, factors = random_factors(problem, rng)
    weights = {name: rng.random() for name in problem.names}
    terms = objective_terms(problem, W, factors, weights)
    ours = terms.pop("objective")
    assert ours == pytest.approx(sum(terms.values()) - terms["gap"])
    n = len(relational(aligned.contexts))
    theirs = dense_objective(
        aligned.contexts[:n],
        aligned.contexts[n:],
        aligned.labels,
        W,
        factors[:n],
        factors[n:],
        weights,
        problem.penalties,
    )
    assert ours == pytest.approx(theirs, rel=1e-10)


def test_gradient_of_w_equals_finite_differences(backend, rng):
    problem = make_problem(random_contexts(rng))
    weights = {name: rng.random() for name in problem.names}
    W, factors = random_factors(problem, rng)
    side = DeviceProblem(backend, problem)
    rows = side.rows([backend.asarray(factor) for factor in factors], weights)

    def value(flat):
        return objective_terms(problem, flat.reshape(W.shape), factors, weights)[
            "objective"
        ]

    def gradient(flat):
        w = backend.asarray(flat.reshape(W.shape))
        return backend.to_numpy(rows.updated(w, slopes)[0]).ravel()

    size = np.linalg.norm(gradient(W.ravel()))
    assert check_grad(value, gradient, W.ravel()) < 1e-5 * size


def test_gradient_of_c_equals_finite_differences(backend, rng):
    problem = make_problem(random_contexts(rng))
    weights = {name: rng.random() for name in problem.names}
    W, C = random_factors(problem, rng)
    device = DeviceProblem(backend, problem)
    for i, context in enumerate(relational(problem.contexts)):
        side = device.updates[i]
        term = side.term.at(backend.asarray(W), weights[context.name])

        def value(flat, i=i):
            c = [*C[:i], flat.reshape(C[i].shape), *C[i + 1 :]]
            return objective_terms(problem, W, c, weights)["objective"]

        def gradient(flat, i=i, term=term, side=side):
            c = backend.asarray(flat.reshape(C[i].shape))
            rows = Rows(backend, [term], problem.penalties.context_ridge, side.blocks)
            return backend.to_numpy(rows.updated(c, slopes)[0]).ravel()

        size = np.linalg.norm(gradient(C[i].ravel()))
        assert check_grad(value, gradient, C[i].ravel()) < 1e-5 * size


def test_floor_is_what_the_best_x_of_every_single_pair_gives(rng):
    problem = make_problem(random_contexts(rng))
    data, k = problem.contexts[0], problem.penalties.negatives
    D = data.rows.toarray()
    B = k * np.outer(D.sum(1), D.sum(0)) / D.sum()
    best = 0.0
    for d, b in zip(D.ravel(), B.ravel(), strict=True):
        found = minimize_scalar(
            lambda x, d=d, b=b: (b + d) * np.logaddexp(0, x) - d * x,
            bounds=(-40, 40),
            method="bounded",
        )
        best += found.fun
    assert data.floor(problem.penalties) == pytest.approx(best, rel=1e-6)
