"""Sampled columns: unbiased, exact where they must be, and good enough to fit with."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE
from phcle.backends.protocol import choose_backend
from phcle.contexts import align
from phcle.contexts.relational.column_sampling import draw_columns
from phcle.contexts.terms import Penalties
from phcle.errors import OptionError
from phcle.solver.column_samples import ColumnSamples
from phcle.solver.problem import DeviceProblem, pose

PENALTIES = Penalties(10.0, 3.0, 0.1, 10.0, 10.0)


def test_sampled_sums_are_unbiased(rng):
    mass, value = rng.gamma(0.3, size=50), rng.normal(size=50)
    found = []
    for _ in range(4000):
        at, stands_for = draw_columns(mass, 12, rng)
        found.append(stands_for @ value[at])
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - mass @ value) < 4 * error


def test_samples_have_the_wanted_size_and_always_hold_what_outweighs_a_draw(rng):
    mass = np.array([100.0, 50.0, *np.ones(30)])
    for _ in range(50):
        at, stands_for = draw_columns(mass, 10, rng)
        assert len(at) in (9, 10, 11)
        assert {0, 1} <= set(at)
        assert np.allclose(stands_for[:2], [100.0, 50.0])
        assert np.isclose(stands_for.sum(), mass.sum(), rtol=0.05)


def test_columns_without_mass_are_never_drawn(rng):
    mass = np.array([0.0, 1.0, 0.0, 2.0])
    at, stands_for = draw_columns(mass, 4, rng)
    assert list(at) == [1, 3]
    assert np.allclose(stands_for, [1.0, 2.0])


def test_sampled_gradient_is_unbiased_and_its_gram_matrix_exact(imagenet, rng):
    problem = pose(align(imagenet.hierarchy()), PENALTIES, 6)
    device = DeviceProblem(choose_backend("numpy", "cpu", "float64"), problem)
    (data,), term = problem.contexts, device.labels.terms[0]
    rows = device.labels.blocks[0].rows
    W, C = rng.normal(size=(len(rows), 6)), rng.normal(size=(len(data.columns), 6))
    exact = term.at(C, 1.0)
    gradient = exact.local(0, W).gradient
    found = []
    for _ in range(300):
        sample = draw_columns(data.column_mass, 60, rng)
        view = term.at(C, 1.0, sample=sample)
        assert np.array_equal(view.gram, exact.gram)
        found.append(view.local(0, W).gradient)
    error = np.std(found, axis=0) / np.sqrt(len(found))
    off = np.abs(np.mean(found, axis=0) - gradient)
    assert (off <= 5.5 * error + 1e-9).all()
    assert np.median(off) < np.median(error)


def test_draws_depend_on_seed_and_sweep_alone(imagenet):
    problem = pose(align(imagenet.hierarchy()), PENALTIES, 6)
    draws = [ColumnSamples(problem, 50, 3).draw(7).columns[0] for _ in range(2)]
    assert np.array_equal(draws[0][0], draws[1][0])
    other = ColumnSamples(problem, 50, 3).draw(8).columns[0]
    assert not np.array_equal(draws[0][0], other[0])


def test_sampled_fit_ends_near_the_exact_one(imagenet, hierarchy_model, monkeypatch):
    monkeypatch.setattr("phcle.solver.column_samples.SAMPLE", 100)
    sampled = PHCLE(backend="numpy", mode="sampled", calibrate=False, max_iter=20)
    sampled.fit(imagenet.hierarchy())
    exact = hierarchy_model.history_[-1]["gap"]
    assert abs(sampled.history_[-1]["gap"] / exact - 1) < 0.03


def test_paper_solver_refuses_to_sample(imagenet):
    with pytest.raises(OptionError, match="needs solver='mm'"):
        PHCLE(solver="paper", mode="sampled").fit(imagenet.hierarchy())
