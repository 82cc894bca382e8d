"""Sweeps with families: never up, to a stationary point of rows and nodes together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import family_contexts, make_problem

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.backends.protocol import choose_backend
from phcle.model.fit import Solver
from phcle.model.objective import objective_terms
from phcle.model.paper import PaperSolver
from phcle.model.problem import DeviceProblem
from phcle.model.start import first_state
from phcle.model.weights import equal_weights


def numpy_backend():
    return choose_backend("numpy", "cpu", "float64")


def patchy_problem(rng, roles, n_labels=8, dim=3, **changes):
    """Half of the labels have data; relatives are in a tree and a graph."""
    tree, graph = family_contexts(n_labels)
    contexts = [
        context.changed(role=role)
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


@settings(max_examples=40)
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
    solver = (Solver if solver == "mm" else PaperSolver)(device, tol=0)
    state = solver.sweep(first_state(device, weights, 0, init))
    last = state.history[-1]["objective"]
    for _ in range(8):
        state = solver.sweep(state)
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
    solver = Solver(DeviceProblem(backend, problem), tol=1e-13)
    state = solver.learn(first_state(solver.device, weights, 0), max_iter=3000)
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


def genera(rng, n_genera, each, n_traits):
    """Values that differ between genera, and less within them; every genus has one."""
    means = rng.normal(size=(n_genera, 5)) @ rng.normal(size=(5, n_traits)) / 5**0.5
    noise = 0.3 * rng.normal(size=(n_genera * each, n_traits))
    truth = means.repeat(each, axis=0) + noise
    edges = [(f"s{i}", f"g{i // each}") for i in range(len(truth))]
    return truth, [*edges, *((f"g{i}", "all") for i in range(n_genera))]


def hidden_r2(truth, edges, hidden, role, **options):
    labels = tuple(f"s{i}" for i in range(len(truth)))
    traits = tuple(f"t{i}" for i in range(truth.shape[1]))
    values = np.where(hidden, np.nan, truth)
    tree = RelationalContext.from_hierarchy(edges, role=role)
    table = DescriptiveContext("table", labels, traits, values)
    model = PHCLE(dim=10, completion="none", choose=False, **options).fit([tree, table])
    found = next(c for c in model.embedding_.contexts if c.name == "table")
    error = found.predict(model.embedding_.vectors) - truth
    return 1 - (error[hidden] ** 2).sum() / (truth[hidden] ** 2).sum()


def test_a_family_fills_a_short_patchy_table_that_counts_cannot():
    """So it is at fixed settings with few traits; with many, counts do as well."""
    rng = np.random.default_rng(0)
    truth, edges = genera(rng, 1000, 3, 5)
    hidden = rng.random(truth.shape) < 0.5
    hidden[::3, 0] = False  # a genus without a known value would be refused
    counts = hidden_r2(truth, edges, hidden, "counts")
    family = hidden_r2(truth, edges, hidden, "family")
    assert family > 0.55
    assert family > counts + 0.3
