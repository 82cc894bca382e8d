"""Matrices with gaps: sums and products are those of a dense array with NaN."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_backend

from phcle.contexts.gaps import Gaps, ScaledRows

SHAPE, N_LABELS = (9, 6), 12
ROWS = np.array([0, 2, 3, 4, 6, 7, 8, 10, 11])
HIDDEN = np.array([0, 0, 3, 8]), np.array([1, 4, 2, 5])


def table(rng):
    values = rng.normal(size=SHAPE)
    values[rng.random(SHAPE) < 0.4] = np.nan
    values[0], values[3:5] = 1.0, rng.normal(size=(2, SHAPE[1]))
    values[8, 5] = 2.0
    return Gaps(values)


def tags(rng):
    return Gaps(sp.csr_array((rng.random(SHAPE) < 0.4).astype(float)))


def facets(rng):
    known = rng.random(SHAPE) < 0.5
    known[HIDDEN] = known[:, 0] = known[5] = True
    values = known * rng.integers(0, 3, SHAPE)
    return Gaps.of(sp.csr_array(values), sp.csr_array(known.astype(float)), "facets")


@pytest.fixture(params=[table, tags, facets])
def gaps(request, rng):
    return request.param(rng)


@pytest.fixture(params=["whole", "hidden twice", "stacked"])
def changed(request, gaps, rng):
    if request.param == "stacked":
        return gaps.take([0, 1, 2, 3]).stacked(tags(rng).take([4, 5, 6, 7, 8]))
    if request.param == "whole":
        return gaps
    first, rest = slice(0, 2), slice(2, 4)
    cells = [(HIDDEN[0][x], HIDDEN[1][x]) for x in (first, rest)]
    return gaps.without(*cells[0]).without(*cells[1])


def dense(gaps):
    return np.array([gaps.row(i) for i in range(gaps.shape[0])])


def test_hidden_cells_are_gaps_and_all_others_stay(gaps):
    wanted = dense(gaps)
    wanted[HIDDEN] = np.nan
    np.testing.assert_array_equal(dense(gaps.without(*HIDDEN)), wanted)


def test_rows_columns_and_statistics_are_those_of_an_array_with_nan(changed):
    whole = dense(changed)
    known = ~np.isnan(whole)
    np.testing.assert_array_equal(changed.toarray(), whole)
    np.testing.assert_array_equal(changed.known, known)
    np.testing.assert_array_equal(np.array(changed.known_cells()), known.nonzero())
    for i in range(SHAPE[1]):
        np.testing.assert_array_equal(changed.column(i), whole[:, i])
        one = changed.on_columns(np.array([i]))
        np.testing.assert_array_equal(one.toarray(), whole[:, [i]])
    found = changed.moments()
    np.testing.assert_array_equal(found.count, known.sum(axis=0))
    np.testing.assert_allclose(found.mean, np.nanmean(whole, axis=0), atol=1e-14)
    np.testing.assert_allclose(found.deviation, np.nanstd(whole, axis=0), atol=1e-14)


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_products_and_energy_are_those_of_zeros_at_gaps(changed, name, rng):
    if name == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    backend = make_backend(name)
    offset, scale = rng.normal(size=6), 1 + rng.random(6)
    scaled = ScaledRows(changed, ROWS, N_LABELS, offset, scale, np.ones(6, dtype=bool))
    A = np.full((N_LABELS, 6), np.nan)
    A[ROWS] = (dense(changed) - offset) / scale
    known, filled = ~np.isnan(A), np.nan_to_num(A)
    W, U = rng.normal(size=(N_LABELS, 3)), rng.normal(size=(6, 3))
    placed = scaled.placed(backend)
    product = backend.to_numpy(placed.product(backend.asarray(U)))
    turned = backend.to_numpy(placed.turned_product(backend.asarray(W)))
    np.testing.assert_allclose(product, filled @ U, atol=1e-13)
    np.testing.assert_allclose(turned, filled.T @ W, atol=1e-13)
    np.testing.assert_allclose(scaled.energy, (filled**2).sum(axis=1), atol=1e-13)
    for marked, cells in ((scaled.by_row, known), (scaled.by_column, known[ROWS].T)):
        found = marked[0].toarray() > 0
        found = found if cells is known else found[:, ROWS]
        np.testing.assert_array_equal(found ^ marked[1][:, None], cells)


def test_what_is_left_lies_around_its_own_means(gaps, rng):
    offset = gaps.moments().mean
    ones = np.ones(6)
    scaled = ScaledRows(gaps, ROWS, N_LABELS, offset, ones, ones > 0)
    for hidden in ((ROWS[HIDDEN[0]], HIDDEN[1]), (ROWS[:2],)):
        left = scaled.without(*hidden)
        np.testing.assert_allclose(left.offset, np.nanmean(dense(left.gaps), axis=0))
