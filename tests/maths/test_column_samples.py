"""Sampled columns: unbiased, and exact where they must be."""

from __future__ import annotations

import numpy as np

from phcle.backends.protocol import choose_backend
from phcle.contexts import align
from phcle.contexts.logistic import draw_columns
from phcle.contexts.terms import Penalties
from phcle.model.problem import DeviceProblem, pose

PENALTIES = Penalties(10.0, 3.0, 0.1, 10.0, 10.0)


def test_samples_have_the_wanted_size_and_always_hold_what_outweighs_a_draw(rng):
    mass = np.array([100.0, 50.0, *np.ones(30)])
    for _ in range(50):
        at, stands_for = draw_columns(mass, 10, rng)
        assert len(at) in (9, 10, 11)
        assert {0, 1} <= set(at)
        assert np.allclose(stands_for[:2], [100.0, 50.0])
        assert np.isclose(stands_for.sum(), mass.sum(), rtol=0.05)


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
