"""Every back end computes the same functions, for any number."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import BACKENDS, make_backend
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from phcle.backends.protocol import choose_backend
from phcle.errors import BackendError


@pytest.fixture(params=BACKENDS)
def name(request):
    make_backend(request.param)
    return request.param


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


@settings(max_examples=25, deadline=None)
@given(x=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20))
def test_numpy_softplus_matches_logaddexp(x):
    backend = choose_backend("numpy", "cpu", "float64")
    found = backend.softplus(backend.asarray(x))
    assert np.allclose(found, np.logaddexp(x, 0), rtol=1e-14, atol=0)


def test_sparse_product_matches_scipy(name, rng):
    backend = make_backend(name)
    matrix = sp.csr_array(rng.random((7, 5)) * (rng.random((7, 5)) < 0.4))
    dense = rng.normal(size=(5, 3))
    found = backend.sparse_product(backend.sparse(matrix), backend.asarray(dense))
    assert np.allclose(backend.to_numpy(found), matrix @ dense)


def test_blocks_keep_their_order(name):
    assert make_backend(name).map_blocks(lambda i: i * i, 9) == [
        i * i for i in range(9)
    ]


def test_errors_in_a_block_come_through(name):
    def fail(i):
        raise ValueError(f"block {i}")

    with pytest.raises(ValueError, match="block"):
        make_backend(name).map_blocks(fail, 3)


def test_cuda_on_numpy_is_refused_with_the_remedy():
    with pytest.raises(BackendError, match="backend='torch'"):
        choose_backend("numpy", "cuda")


def test_missing_torch_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"pip install 'phcle\[torch\]'"):
        choose_backend("torch")


def test_missing_gpu_is_refused():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(BackendError, match="sees no GPU"):
        choose_backend("torch", "cuda")


def test_auto_is_numpy_where_there_is_no_gpu():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert choose_backend().name == "numpy"


def test_fits_that_overlap_give_blas_its_threads_back():
    from phcle.backends.numpy_backend import _blas_controller

    # Libraries that other tests load later, such as FAISS, have BLAS of their own.
    blas = _blas_controller().select(user_api="blas")

    def n_threads():
        return {library["num_threads"] for library in blas.info()}

    first, second = (make_backend("numpy").limited_threads() for _ in range(2))
    with blas.limit(limits=2):
        before = n_threads()
        first.__enter__()
        second.__enter__()
        assert n_threads() == {1}
        first.__exit__(None, None, None)
        assert n_threads() == {1}
        second.__exit__(None, None, None)
        assert n_threads() == before == {2}
