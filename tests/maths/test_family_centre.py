"""The term of a family and the solve of its nodes, against plain and dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import make_backend
from problems import family_contexts, make_problem, random_contexts
from scipy.optimize import approx_fprime, minimize

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.model.fit import balance
from phcle.model.label_solve import solve_labels
from phcle.model.objective import objective_terms
from phcle.model.problem import DeviceProblem, State
from phcle.model.weights import equal_weights, given_weights


def families(problem):
    return [i for i, c in enumerate(problem.contexts) if c.turns_with_labels]


def random_state(problem, rng):
    W = rng.normal(size=(len(problem.labels), problem.dim))
    factors = [rng.normal(size=(len(c.columns), problem.dim)) for c in problem.contexts]
    return W, factors


@pytest.fixture
def problem(rng):
    return make_problem([*random_contexts(rng, 8), *family_contexts(8)], stiffness=0.6)


def test_value_and_gradient_of_the_term_agree_with_its_plain_loss(
    problem, backend, rng
):
    W, factors = random_state(problem, rng)
    weights, move = equal_weights(problem), backend.asarray
    rows = DeviceProblem(backend, problem).rows(list(map(move, factors)), weights)
    step = rng.normal(size=W.shape)
    for i in families(problem):
        context = problem.contexts[i]
        weight = context.term_weight(weights[context.name], problem.penalties)

        def loss(at, context=context, i=i, weight=weight):
            centres = context.rows @ factors[i]
            return weight * (centres * (0.5 * centres - at)).sum()

        value = after = 0.0
        gradient = np.zeros_like(W)
        for number, block in enumerate(rows.blocks):
            y, moved = move(W[block.rows]), move((W + step)[block.rows])
            local = rows.terms[i].local(number, y)
            value += float(local.value.sum())
            gradient[block.rows] = backend.to_numpy(local.gradient)
            after += float(local.value_at(moved, slice(None)).sum())
            assert not backend.to_numpy(local.product(moved)).any()
        assert value == pytest.approx(loss(W))
        assert after == pytest.approx(loss(W + step))
        expected = approx_fprime(W.ravel(), lambda x: loss(x.reshape(W.shape)), 1e-6)
        assert np.allclose(gradient.ravel(), expected, atol=1e-5)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.3, 0.0), (0.6, 0.4), (0.5, 0.2)])
def test_rows_and_nodes_settle_at_the_joint_minimum(seed, weights):
    rng = np.random.default_rng(seed)
    rows = tuple(f"label{i}" for i in range(4))
    values = rng.normal(size=(4, 3))
    values[0, 0] = values[1, 2] = np.nan
    tags = DescriptiveContext("patchy", rows, ("x", "y", "z"), values)
    problem = make_problem([tags, *family_contexts(8)], 2, stiffness=0.6)
    chosen = given_weights(
        problem, {tags.name: 1.0, "tree": weights[0], "graph": weights[1]}
    )
    W, factors = random_state(problem, rng)
    free = families(problem)
    solved = solve_labels(
        DeviceProblem(make_backend("numpy"), problem),
        W,
        factors,
        chosen,
        tol=1e-8,
        settle=True,
    )
    shapes = [W.shape, *(factors[i].shape for i in free)]
    edges = np.cumsum([0, *(a * b for a, b in shapes)])

    def value(flat):
        parts = [
            flat[a:b].reshape(shape)
            for a, b, shape in zip(edges[:-1], edges[1:], shapes, strict=True)
        ]
        renewed = list(factors)
        for i, part in zip(free, parts[1:], strict=True):
            renewed[i] = part
        return objective_terms(problem, parts[0], renewed, chosen)["objective"]

    here = np.concatenate(
        [solved.W.ravel(), *(solved.factors[i].ravel() for i in free)]
    )
    found = minimize(value, np.zeros_like(here), method="BFGS", options={"gtol": 1e-7})
    assert value(here) == pytest.approx(found.fun, rel=1e-7)
    assert np.allclose(solved.W, found.x[: edges[1]].reshape(W.shape), atol=1e-3)


def test_balancing_keeps_predictions_and_lowers_the_cost(problem, backend, rng):
    W, factors = random_state(problem, rng)
    W *= 9
    weights = equal_weights(problem)
    device = DeviceProblem(backend, problem)
    move = backend.asarray
    before = State(move(W), tuple(map(move, factors)), weights)
    after = balance(device, before)
    new_W, *new = device.to_numpy([after.W, *after.factors])
    old = objective_terms(problem, W, factors, weights)
    now = objective_terms(problem, new_W, new, weights)
    assert now["objective"] < old["objective"]
    for i, context in enumerate(problem.contexts):
        if i in families(problem):  # nodes turn as W does
            change = np.linalg.lstsq(W, new_W, rcond=None)[0]
            assert np.allclose(new[i], factors[i] @ change)
        else:
            assert np.allclose(new_W @ new[i].T, W @ factors[i].T)
            name = f"{context.kind}:{context.name}"
            assert now[name] == pytest.approx(old[name])


def test_no_other_balance_is_better(rng):
    problem = make_problem(
        [*random_contexts(rng, 8), *family_contexts(8)], sparsity=0.0
    )
    weights = equal_weights(problem)
    W, factors = random_state(problem, rng)
    backend = make_backend("numpy")
    state = State(W, tuple(factors), weights)
    best = balance(DeviceProblem(backend, problem), state)
    least = objective_terms(problem, best.W, best.factors, weights)["objective"]
    for _ in range(20):
        change = np.eye(3) + 0.05 * rng.normal(size=(3, 3))
        undo = np.linalg.inv(change).T
        turned = [
            factor @ (change if context.turns_with_labels else undo)
            for context, factor in zip(problem.contexts, best.factors, strict=True)
        ]
        value = objective_terms(problem, best.W @ change, turned, weights)["objective"]
        assert value >= least * (1 - 1e-9)


def test_many_siblings_without_data_settle_at_once(backend, rng):
    """Plain turns between rows and nodes took 2,415 of them to come within 1 %."""
    crowd, known = [f"empty{i}" for i in range(1000)], ["a", "b", "c"]
    edges = [(label, "genus") for label in [*crowd, *known]]
    edges += [("genus", "all"), ("d", "all")]
    values = rng.normal(size=(4, 3))
    table = DescriptiveContext("table", (*known, "d"), ("x", "y", "z"), values)
    tree = RelationalContext.from_hierarchy(edges, role="family")
    _check_settles([table, tree], backend, rng)


def test_a_family_beside_its_own_counts_settles(rng):
    labels = [f"label{i}" for i in range(400)]
    edges = [(label, f"genus{i // 4}") for i, label in enumerate(labels)]
    edges += [(f"genus{i}", f"order{i // 10}") for i in range(100)]
    edges += [(f"order{i}", "all") for i in range(10)]
    values = rng.normal(size=(100, 8)).repeat(4, axis=0) + rng.normal(size=(400, 8))
    values[rng.random(values.shape) < 0.8] = np.nan
    table = DescriptiveContext("table", tuple(labels), tuple("abcdefgh"), values)
    tree = RelationalContext.from_hierarchy(edges, role="both")
    model = PHCLE(dim=20, choose=False, completion="none").fit([tree, table])
    embedding = model.embedding_
    contexts = embedding.contexts
    factors = [context.factor for context in contexts]
    problem = make_problem([tree, table], 20, **embedding.penalties)
    weights = {context.name: context.weight for context in contexts}
    device = DeviceProblem(make_backend("numpy"), problem)
    exact = solve_labels(
        device, embedding.vectors, factors, weights, settle=True, tol=1e-7
    )
    order = [embedding.labels.index(label) for label in problem.labels]
    ours, best = embedding.vectors[order], exact.W
    assert np.linalg.norm(ours - best) < 1e-3 * np.linalg.norm(best)


def _check_settles(contexts, backend, rng):
    """Compare with one dense solve of all rows and nodes for a fixed U."""
    problem = make_problem(contexts, 3, descriptive=1.0, ridge=5.0)
    (at,) = families(problem)
    family, table = problem.contexts[at], problem.contexts[1 - at]
    U = rng.normal(size=(len(table.columns), 3))
    factors = [U, U]
    factors[at] = np.zeros((len(family.columns), 3))
    n, m, d = len(problem.labels), len(family.columns), 3
    S = family.rows.toarray()
    Q = family.kinship.bonds(family.columns).toarray()
    ridge = problem.penalties.ridge
    matrix = np.zeros(((n + m) * d, (n + m) * d))
    target = np.zeros((n + m) * d)
    joint = np.block([[np.eye(n), -S], [-S.T, S.T @ S + Q]]) * ridge
    matrix += np.kron(joint, np.eye(d))
    values = np.full((n, len(table.columns)), np.nan)
    scaled = (contexts[0].values - table.offset) / table.scale
    for row, label in enumerate(problem.labels):
        if label in contexts[0].index:
            values[row] = scaled[contexts[0].index[label]]
    for row in range(n):
        known = ~np.isnan(values[row])
        here = slice(row * d, (row + 1) * d)
        matrix[here, here] += U[known].T @ U[known]
        target[here] = U[known].T @ values[row, known]
    expected = np.linalg.solve(matrix, target).reshape(n + m, d)
    start = rng.normal(size=(n, d))
    weights = equal_weights(problem)
    device = DeviceProblem(backend, problem)
    solved = solve_labels(device, start, factors, weights, settle=True)
    size = np.linalg.norm(expected[:n], axis=1).mean()
    assert abs(solved.W - expected[:n]).max() < 0.01 * size
    assert abs(solved.factors[at] - expected[n:]).max() < 0.01 * size
