"""Sweeps: never up, to the optimum of every block, and the same for every order."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import make_problem, random_contexts
from scipy.optimize import minimize
from sklearn.linear_model import ElasticNet

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.backends.protocol import choose_backend
from phcle.model.fit import Solver
from phcle.model.objective import objective_terms
from phcle.model.paper import PaperSolver
from phcle.model.problem import DeviceProblem, State
from phcle.model.start import first_state
from phcle.model.weights import equal_weights


def described(problem, factors):
    """Descriptive contexts, each with its U."""
    pairs = zip(problem.contexts, factors, strict=True)
    return [(data, U) for data, U in pairs if data.kind == "descriptive"]


def converge(problem, backend, *, sweeps=3000, tol=1e-13, init="spectral"):
    weights = equal_weights(problem)
    solver = Solver(DeviceProblem(backend, problem), tol=tol)
    start = first_state(solver.device, weights, 0, init)
    return solver, solver.learn(start, max_iter=sweeps)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n_labels=st.integers(4, 9),
    dim=st.integers(1, 12),
    sparsity=st.sampled_from([0.0, 0.1, 5.0]),
    init=st.sampled_from(["spectral", "random"]),
)
def test_mm_never_increases_the_objective(seed, n_labels, dim, sparsity, init):
    rng = np.random.default_rng(seed)
    problem = make_problem(random_contexts(rng, n_labels), dim, sparsity=sparsity)
    weights = {name: rng.random() + 0.1 for name in problem.names}
    solver = Solver(
        DeviceProblem(choose_backend("numpy", "cpu", "float64"), problem), tol=0
    )
    state = first_state(solver.device, weights, seed, init)
    last = objective_terms(problem, state.W, state.factors, weights)["objective"]
    for _ in range(8):
        state = solver.sweep(state)
        now = state.history[-1]["objective"]
        assert now <= last * (1 + 1e-12)
        last = now


def test_recorded_objective_equals_the_objective_of_the_factors(backend, rng):
    problem = make_problem(random_contexts(rng))
    solver, state = converge(problem, backend, sweeps=3)
    W, *factors = solver.device.to_numpy([state.W, *state.factors])
    terms = objective_terms(problem, W, factors, state.weights)
    for name, value in terms.items():
        assert state.history[-1][name] == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_at_convergence_w_and_c_match_scipy(seed):
    backend = choose_backend("numpy", "cpu", "float64")
    problem = make_problem(random_contexts(np.random.default_rng(seed)))
    solver, state = converge(problem, backend)
    factors = solver.device.to_numpy([state.W, *state.factors])

    kinds = [context.kind for context in problem.contexts]
    for position in range(1 + kinds.count("relational")):  # W, then every C

        def value(flat, position=position):
            parts = list(factors)
            parts[position] = flat.reshape(parts[position].shape)
            W, *others = parts
            return objective_terms(problem, W, others, state.weights)["objective"]

        found = minimize(value, factors[position].ravel(), method="BFGS")
        # The subproblem is strictly convex: the minimiser is unique.
        assert np.allclose(
            found.x.reshape(factors[position].shape), factors[position], atol=2e-3
        )
        assert value(factors[position].ravel()) <= found.fun + 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_at_convergence_u_matches_scikit_learns_elastic_net(seed):
    backend = choose_backend("numpy", "cpu", "float64")
    problem = make_problem(random_contexts(np.random.default_rng(seed)), sparsity=2.0)
    _, state = converge(problem, backend, sweeps=1000, tol=1e-11)
    W = backend.to_numpy(state.W)
    lam = problem.penalties
    for data, U in described(problem, state.factors):
        A = np.full((len(problem.labels), len(data.columns)), np.nan)
        known = data.rows.gaps.toarray()
        A[data.rows.rows] = (known - data.offset) / data.scale
        weight = lam.descriptive * state.weights[data.name]
        for column in range(A.shape[1]):
            rows = ~np.isnan(A[:, column])
            if not rows.any():
                continue
            n = rows.sum()
            l1, l2 = lam.sparsity / (weight * n), lam.ridge / (weight * n)
            net = ElasticNet(
                alpha=l1 + l2,
                l1_ratio=l1 / (l1 + l2),
                fit_intercept=False,
                tol=1e-12,
                max_iter=1_000_000,
            ).fit(W[rows], A[rows, column])
            assert np.allclose(net.coef_, U[column], atol=1e-4)


def test_sparsity_makes_entries_of_u_exactly_zero(rng):
    backend = choose_backend("numpy", "cpu", "float64")
    contexts = random_contexts(rng)
    problem = make_problem(contexts, sparsity=20.0)
    _, dense = converge(make_problem(contexts, sparsity=0.0), backend, sweeps=300)
    _, sparse = converge(problem, backend, sweeps=300)

    def zeros(state):
        """Share of zeros in every column's vector."""
        shares = [(u == 0).mean(axis=1) for _, u in described(problem, state.factors)]
        return np.concatenate(shares)

    # The vector of a constant column is zero anyway.
    assert set(zeros(dense)) <= {0.0, 1.0}
    assert ((zeros(sparse) > 0) & (zeros(dense) == 0)).any()


@pytest.mark.parametrize("solver", ["mm", "paper"])
def test_ones_start_stays_rank_one_and_warns(imagenet, solver):
    model = PHCLE(init="ones", dim=5, max_iter=5, tol=0, solver=solver)
    with pytest.warns() as caught:
        model.fit([imagenet.hierarchy(), imagenet.contexts()[1]])
    assert any("rank one" in str(warning.message) for warning in caught)
    strength = np.linalg.svd(model.embedding_.vectors, compute_uv=False)
    assert strength[1] / strength[0] < 1e-6


def test_spectral_start_uses_every_dimension(hierarchy_model):
    strength = np.linalg.svd(hierarchy_model.embedding_.vectors, compute_uv=False)
    assert strength[-1] / strength[0] > 1e-3


@pytest.mark.parametrize("solver", [Solver, PaperSolver])
def test_a_sweep_that_raised_the_gap_is_not_the_end(solver, rng):
    backend = choose_backend("numpy", "cpu", "float64")
    device = DeviceProblem(backend, make_problem(random_contexts(rng)))
    gaps = [(3.0, 3.01), (3.0, 2.0), (3.0, 2.9999), (3.0, 3.0)]
    ends = [
        solver(device, tol=1e-3).converged(
            State(None, (), {}, tuple({"gap": x, "objective": 9.0} for x in pair))
        )
        for pair in gaps
    ]
    assert ends == [False, False, True, True]


def test_paper_and_mm_end_at_about_the_same_objective(rng):
    contexts = random_contexts(rng)
    plain = {"dim": 2, "dtype": "float64", "choose": False, "completion": "none"}
    mm = PHCLE(**plain, tol=1e-6, max_iter=20_000).fit(contexts)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="not converged")
        paper = PHCLE(**plain, tol=1e-9, solver="paper", max_iter=500).fit(contexts)
    ours, theirs = mm.history_[-1]["objective"], paper.history_[-1]["objective"]
    assert theirs == pytest.approx(ours, rel=1e-3)


def test_unobserved_values_have_no_influence_to_the_bit(rng):
    values = rng.normal(size=(8, 5))
    values[rng.random(values.shape) < 0.4] = np.nan
    values[:, 0] = rng.normal(size=8)
    labels = tuple(f"label{i}" for i in range(8))
    columns = tuple("abcde")
    counts = rng.integers(1, 5, (8, 4))
    relation = RelationalContext.from_matrix(
        counts, labels, list("wxyz"), name="counts"
    )

    def fit(labels, values):
        described = DescriptiveContext("values", labels, columns, values)
        return PHCLE(dim=3).fit([relation, described]).embedding_.vectors

    one = fit(labels, values)
    # The same knowledge: a row without a single value instead of no row.
    less = values.copy()
    less[3] = np.nan
    with_empty_row = fit(labels, less)
    without_row = fit(labels[:3] + labels[4:], np.delete(less, 3, axis=0))
    assert np.array_equal(with_empty_row, without_row)
    assert not np.array_equal(one, with_empty_row)


def test_a_planted_embedding_is_recovered(rng):
    """Counts and attributes drawn from known vectors give back their similarities."""
    n, d = 120, 3
    truth = rng.normal(size=(n, d))
    columns = rng.normal(size=(60, d))
    rate = np.exp(truth @ columns.T)
    counts = rng.poisson(40 * rate / rate.mean())
    values = truth @ rng.normal(size=(d, 20)) + 0.05 * rng.normal(size=(n, 20))
    values[rng.random(values.shape) < 0.5] = np.nan
    labels = tuple(f"label{i}" for i in range(n))
    contexts = [
        RelationalContext.from_matrix(counts, labels, [f"c{i}" for i in range(60)]),
        DescriptiveContext("values", labels, tuple(f"a{i}" for i in range(20)), values),
    ]
    model = PHCLE(dim=d + 1, ridge=0.1, context_ridge=0.1, completion="none")
    found = model.fit(contexts).embedding_

    # The planted vectors are found up to a linear map, and the offset of the counts.
    design = np.column_stack([found.vectors, np.ones(n)])
    predicted = design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    explained = 1 - ((truth - predicted) ** 2).sum() / (truth**2).sum()
    assert explained > 0.97
