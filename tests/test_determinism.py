"""The same seed on the same machine gives the same bits; elsewhere, nearly the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import make_backend

TOOLS = Path(__file__).parents[1] / "tools"

# What docs/guarantees.md promises between back ends and numbers of threads, in float32.
VECTORS, OBJECTIVE, NEIGHBOURS = 5e-2, 1e-5, 0.99
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@pytest.fixture
def agreement(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    import agreement

    return agreement


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Fit 60 embedded labels in a process of its own, once for each setting."""
    folder, made = tmp_path_factory.mktemp("fits"), {}

    def fit(backend, hashes, threads=1):
        make_backend(backend)
        out = folder / f"{backend}{hashes}-{threads}.phcle"
        if out not in made:
            size = ["--labels", "60", "--dim", "8", "--out", out]
            made[out] = subprocess.run(
                [sys.executable, TOOLS / "agreement.py", "--one", backend, *size],
                env={
                    **os.environ,
                    "PYTHONHASHSEED": str(hashes),
                    **dict.fromkeys(THREADS, str(threads)),
                },
                check=True,
            )
        return out

    return fit


@pytest.mark.parametrize("backend", ["numpy", "numba", "torch", "cuda"])
def test_two_processes_write_the_same_bytes(fitted, backend):
    assert fitted(backend, 1).read_bytes() == fitted(backend, 2).read_bytes()


@pytest.mark.parametrize("backend", ["numba", "torch", "cuda"])
def test_back_ends_agree_within_the_documented_tolerance(agreement, fitted, backend):
    found = agreement.compare(fitted("numpy", 1), fitted(backend, 1))
    assert found["vectors"] <= VECTORS
    assert found["objective"] <= OBJECTIVE
    assert found["neighbours"] >= NEIGHBOURS


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_numbers_of_threads_agree_within_the_documented_tolerance(
    agreement, fitted, backend
):
    found = agreement.compare(fitted(backend, 1), fitted(backend, 1, threads=2))
    assert found["vectors"] <= VECTORS
    assert found["objective"] <= OBJECTIVE
    assert found["neighbours"] >= NEIGHBOURS


def test_the_comparison_sees_another_fit(agreement, fitted, tmp_path):
    from dataclasses import replace

    import phcle

    other = phcle.load(fitted("numpy", 1))
    vectors = other.vectors.copy()
    vectors[0] = -vectors[0]
    replace(other, vectors=vectors).save(tmp_path / "other.phcle")
    found = agreement.compare(fitted("numpy", 1), tmp_path / "other.phcle")
    assert not found["same_bytes"]
    assert found["vectors"] > VECTORS
    assert found["neighbours"] < NEIGHBOURS
