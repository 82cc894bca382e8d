"""Back ends: logistic, products, dense part and known entries against formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import BACKENDS, make_backend
from scipy.special import expit

CLOSE = {"float32": 2e-5, "float64": 1e-12}


@pytest.fixture(params=BACKENDS)
def name(request):
    make_backend(request.param)
    return request.param


def parts(backend, rng, rows=7, columns=1100, dim=5, size=2.0):
    y = size * rng.normal(size=(rows, dim))
    other = rng.normal(size=(columns, dim))
    mass = rng.random(columns) / columns
    move = backend.asarray
    prepared = backend.columns(move(other), move(mass))
    return y, other, mass, backend.dense_part(move(y), prepared)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1.0, 60.0])
def test_dense_part_matches_the_formulas(name, dtype, size, rng):
    backend = make_backend(name, dtype)
    y, other, mass, part = parts(backend, rng, size=size)
    x = y @ other.T
    sigmoid = expit(x)
    close = {"rtol": CLOSE[dtype] * size, "atol": CLOSE[dtype] * size}
    assert np.allclose(backend.to_numpy(part.value), np.logaddexp(x, 0) @ mass, **close)
    gradient = (sigmoid * mass) @ other
    assert np.allclose(backend.to_numpy(part.gradient), gradient, **close)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_spread_matches_the_formula(name, dtype, rng):
    backend = make_backend(name, dtype)
    # Few enough columns that none is left out of it, on any back end.
    y, other, mass, part = parts(backend, rng, columns=1000)
    x = y @ other.T
    trace = mass * (other**2).sum(axis=1)
    spread = (expit(x) * expit(-x)) @ (trace / trace.sum())
    assert np.allclose(backend.to_numpy(part.spread), spread, rtol=CLOSE[dtype])


def test_dense_curvature_is_the_derivative_of_the_gradient(name, rng):
    backend = make_backend(name)
    y, other, mass, part = parts(backend, rng)
    z, h = rng.normal(size=y.shape), 1e-6
    both = [
        (expit((y + sign * h * z) @ other.T) * mass) @ other for sign in (1.0, -1.0)
    ]
    found = backend.to_numpy(part.curvature()(backend.asarray(z)))
    assert np.allclose(found, (both[0] - both[1]) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_value_alone_is_that_of_the_dense_part(name, dtype, rng):
    backend = make_backend(name, dtype)
    y, _, _, part = parts(backend, rng)
    found = part.value_at(backend.asarray(y))
    value = backend.to_numpy(part.value)
    assert np.allclose(backend.to_numpy(found), value, rtol=CLOSE[dtype])


def test_known_entries_match_the_formulas(name, rng):
    backend = make_backend(name)
    other, y = rng.normal(size=(9, 4)), rng.normal(size=(3, 4))
    columns = np.array([[0, 5], [8, 8], [3, 0]])
    weights = np.array([[1.0, 0.0], [2.0, -1.0], [0.5, 3.0]])
    near = backend.known_entries(backend.indices(columns), backend.asarray(other))
    gathered = other[columns]
    dots = backend.to_numpy(near.dots(backend.asarray(y)))
    assert np.allclose(dots, np.einsum("rwd,rd->rw", gathered, y))
    some = near.take(backend.indices([2, 0])).dots(backend.asarray(y[[2, 0]]))
    assert np.allclose(backend.to_numpy(some), dots[[2, 0]])
    sums = backend.to_numpy(near.sums(backend.asarray(weights)))
    assert np.allclose(sums, np.einsum("rwd,rw->rd", gathered, weights))
    bent = near.bent(backend.asarray(weights), backend.asarray(y))
    expected = np.einsum("rwd,rw,rw->rd", gathered, weights, dots)
    assert np.allclose(backend.to_numpy(bent), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logistic_is_right_and_finite_for_any_number(name, dtype):
    backend = make_backend(name, dtype)
    x = np.array([-1e30, -800, -100, -40, -5, -1e-3, 0, 1e-3, 5, 40, 79, 81, 100, 1e30])
    sigmoid, softplus = map(backend.to_numpy, backend.logistic(backend.asarray(x)))
    x = x.astype(dtype).astype(np.float64)
    eps = np.finfo(dtype).eps
    assert np.allclose(sigmoid, expit(x), rtol=8 * eps, atol=1e-30)
    assert np.allclose(softplus, np.logaddexp(x, 0), rtol=8 * eps, atol=2 * eps)
    again = backend.to_numpy(backend.softplus(backend.asarray(x)))
    assert np.array_equal(again, softplus)


def test_sparse_product_matches_scipy(name, rng):
    backend = make_backend(name)
    matrix = sp.csr_array(rng.random((7, 5)) * (rng.random((7, 5)) < 0.4))
    dense = rng.normal(size=(5, 3))
    found = backend.sparse(matrix) @ backend.asarray(dense)
    assert np.allclose(backend.to_numpy(found), matrix @ dense)
