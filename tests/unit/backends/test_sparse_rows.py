"""Sparse products in blocks of padded rows, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from phcle.backends.protocol import choose_backend

pytest.importorskip("torch", reason="PyTorch is not installed")

from phcle.backends.sparse_rows import SparseRows


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("shape", [(1, 7), (60, 40), (40, 200)])
def test_products_are_those_of_scipy_whatever_the_blocks(shape, density, rng):
    matrix = sp.csr_array(rng.random(shape) * (rng.random(shape) < density))
    dense = rng.normal(size=(shape[1], 5))
    backend = choose_backend("numpy", "cpu", "float64")
    backend.gathered = 128 * 50  # many small blocks
    found = SparseRows(backend, matrix).product(dense)
    np.testing.assert_allclose(found, matrix @ dense, atol=1e-12)
