"""Sweeps with families: never up, to a stationary point of rows and nodes together."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import family_contexts, make_problem, random_contexts

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.backends.protocol import choose_backend
from phcle.solver.objective import objective_terms
from phcle.solver.paper import PaperSolver
from phcle.solver.problem import DeviceProblem
from phcle.solver.start import start_factors
from phcle.solver.sweep import MajoriseSolver, run
from phcle.solver.weights import equal_weights


def numpy_backend():
    return choose_backend("numpy", "cpu", "float64")


def patchy_problem(rng, roles, n_labels=8, dim=3, **changes):
    """Half of the labels have data; relatives are in a tree and a graph."""
    tree, graph = family_contexts(n_labels)
    contexts = [
        context.in_role(role)
        for context, role in zip((tree, graph), roles, strict=True)
        if role
    ]
    half = n_labels // 2
    values = rng.normal(size=(half, 4))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[:, 0] = rng.normal(size=half)
    labels = tuple(f"label{i}" for i in range(half))
    table = DescriptiveContext("table", labels, tuple("abcd"), values)
    last = DescriptiveContext.from_tags({f"label{n_labels - 1}": ["x"]}, name="tags")
    return make_problem([*contexts, table, last], dim, **changes)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    roles=st.sampled_from([("family", ""), ("", "family"), ("family",) * 2]),
    is_both=st.booleans(),
    pull=st.sampled_from([0.0, 0.3, 1.0]),
    init=st.sampled_from(["spectral", "random"]),
    solver=st.sampled_from(["mm", "paper"]),
)
def test_no_sweep_raises_the_objective(seed, roles, is_both, pull, init, solver):
    rng = np.random.default_rng(seed)
    roles = ["both" if role and is_both else role for role in roles]
    problem = patchy_problem(
        rng, roles, sparsity=0.2, stiffness=float(rng.random() + 0.1)
    )
    weights = {
        name: pull * weight if name in ("tree", "graph") else weight
        for name, weight in equal_weights(problem).items()
    }
    device = DeviceProblem(numpy_backend(), problem)
    solver = (MajoriseSolver if solver == "mm" else PaperSolver)(device, tol=0)
    state = solver.init(start_factors(problem, weights, init, rng), weights)
    state = solver.step(state)
    last = state.history[-1]["objective"]
    for _ in range(8):
        state = solver.step(state)
        now = state.history[-1]["objective"]
        assert now <= last + 1e-9 * abs(last)
        last = now
    W, *factors = device.to_numpy([state.W, *state.factors])
    terms = objective_terms(problem, W, factors, weights)
    for name, value in terms.items():
        assert state.history[-1][name] == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("roles", [("family", ""), ("family", "family"), ("both", "")])
def test_many_sweeps_end_where_no_direction_leads_down(backend, roles):
    rng = np.random.default_rng(0)
    problem = patchy_problem(rng, roles, sparsity=0.0)
    weights = equal_weights(problem)
    solver = MajoriseSolver(DeviceProblem(backend, problem), tol=1e-13)
    start = start_factors(problem, weights, "spectral", rng)
    state = run(solver, solver.init(start, weights), max_iter=3000)
    parts = list(solver.device.to_numpy([state.W, *state.factors]))
    here = objective_terms(problem, parts[0], parts[1:], weights)["objective"]
    for number, part in enumerate(parts):
        step = rng.normal(size=part.shape)
        changed = [
            [p + sign * 1e-5 * step if i == number else p for i, p in enumerate(parts)]
            for sign in (1, -1)
        ]
        up, down = (
            objective_terms(problem, x[0], x[1:], weights)["objective"] for x in changed
        )
        assert abs(up - down) / 2e-5 < 1e-3 * abs(here)


def genera(rng, n_genera=1000, each=3, n_traits=12):
    """Values that follow genera, which a few dimensions of counts cannot hold."""
    means = rng.normal(size=(n_genera, 6)) @ rng.normal(size=(6, n_traits)) / 6**0.5
    truth = means.repeat(each, axis=0) + 0.3 * rng.normal(
        size=(n_genera * each, n_traits)
    )
    labels = [f"s{i}" for i in range(len(truth))]
    edges = [(label, f"g{i // each}") for i, label in enumerate(labels)]
    edges += [(f"g{i}", f"order{i % 10}") for i in range(n_genera)]
    edges += [(f"order{i}", "all") for i in range(10)]
    return labels, edges, truth


def hidden_r2(role, labels, edges, truth, hidden):
    tree = RelationalContext.from_hierarchy(edges, role=role)
    values = np.where(hidden, np.nan, truth)
    traits = tuple(f"t{i}" for i in range(truth.shape[1]))
    table = DescriptiveContext("table", tuple(labels), traits, values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PHCLE(dim=10, max_iter=60, calibrate=False).fit([tree, table])
    found = next(c for c in model.embedding_.contexts if c.name == "table")
    error = found.predict(model.embedding_.vectors) - truth
    return 1 - (error[hidden] ** 2).sum() / ((truth - truth.mean()) ** 2)[hidden].sum()


def test_a_family_recovers_values_that_counts_cannot_hold():
    rng = np.random.default_rng(1)
    labels, edges, truth = genera(rng)
    hidden = rng.random(truth.shape) < 0.5
    hidden[::3] = False  # one species of each genus is known in full
    print(hidden_r2("both", labels, edges, truth, hidden))
    counts = hidden_r2("counts", labels, edges, truth, hidden)
    family = hidden_r2("family", labels, edges, truth, hidden)
    print(counts, family)
    assert family > 0.7
    assert family > counts + 0.2
