"""The parts that the start is made of."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.backends.protocol import choose_backend
from phcle.solver.start import LONG, _orthonormal


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e8, 1e14])
def test_columns_are_made_orthonormal_however_much_they_are_alike(condition, rng):
    backend = choose_backend("numpy", "cpu", "float64")
    spread = np.geomspace(1, 1 / condition, 12)
    columns = rng.normal(size=(LONG, 12)) * spread @ rng.normal(size=(12, 12))
    basis = _orthonormal(backend, columns)
    np.testing.assert_allclose(basis.T @ basis, np.eye(12), atol=1e-13)
    np.testing.assert_allclose(basis @ (basis.T @ columns), columns, atol=1e-12)


def test_columns_of_small_rank_still_give_an_orthonormal_basis(rng):
    backend = choose_backend("numpy", "cpu", "float64")
    columns = rng.normal(size=(LONG, 3)) @ rng.normal(size=(3, 8))
    for given in (columns, np.zeros((9, 4))):
        basis = _orthonormal(backend, given)
        n = given.shape[1]
        np.testing.assert_allclose(basis.T @ basis, np.eye(n), atol=1e-13)
