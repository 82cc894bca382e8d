"""The same seed on the same machine gives the same bits; elsewhere, nearly the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_backend

import phcle

# What docs/promises.md promises between back ends and numbers of threads, in float32.
VECTORS, OBJECTIVE, NEIGHBOURS = 5e-2, 1e-5, 0.99
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
FIT = """
import sys
from phcle import PHCLE, DescriptiveContext
from phcle.datasets import load_imagenet1k

backend, out = sys.argv[1:]
data = load_imagenet1k()
contexts = [
    data.hierarchy(),
    DescriptiveContext.from_tags(data.parts, name="parts"),
    DescriptiveContext.from_texts(data.glosses, name="glosses"),
]
known = sorted(data.glosses)[::16][:60]
device = "cuda" if backend == "cuda" else "cpu"
backend = "torch" if backend == "cuda" else backend
model = PHCLE(dim=8, completion="none", backend=backend, device=device)
model.fit(contexts, labels=known).embedding_.save(out)
"""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Fit 60 embedded labels in a process of its own, once for each setting."""
    folder, made = tmp_path_factory.mktemp("fits"), {}

    def fit(backend, hashes, threads=1):
        make_backend(backend)
        out = folder / f"{backend}{hashes}-{threads}.phcle"
        if out not in made:
            settings = {**os.environ, "PYTHONHASHSEED": str(hashes)}
            settings |= dict.fromkeys(THREADS, str(threads))
            made[out] = subprocess.run(
                [sys.executable, "-c", FIT, backend, out], env=settings, check=True
            )
        return out

    return fit


def compare(first: Path, other: Path) -> dict[str, Any]:
    """How far the second file is from the first."""
    one, two = phcle.load(first), phcle.load(other)
    a, b = (np.asarray(x.vectors, np.float64) for x in (one, two))
    left, _, right = np.linalg.svd(b.T @ a)
    apart = np.linalg.norm(a - b @ left @ right, axis=1)
    objectives = [x.history[-1]["objective"] for x in (one, two)]
    return {
        "vectors": float((apart / np.linalg.norm(a, axis=1)).max()),
        "objective": abs(objectives[1] / objectives[0] - 1),
        "neighbours": common_neighbours(a, b),
    }


def common_neighbours(a: np.ndarray, b: np.ndarray, k: int = 10) -> float:
    """Share of the k nearest by `b` that are as near by `a` as its k nearest."""
    similar = []
    for vectors in (a, b):
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = units @ units.T
        np.fill_diagonal(cosines, -2)
        similar.append(cosines)
    nearest = np.argsort(-similar[1], axis=1)[:, :k]
    least = np.sort(similar[0], axis=1)[:, -k]
    found = np.take_along_axis(similar[0], nearest, axis=1)
    return float((found >= least[:, None] - 1e-4).mean())


@pytest.mark.parametrize("backend", ["numpy", "numba", "torch", "cuda"])
def test_two_processes_write_the_same_bytes(fitted, backend):
    assert fitted(backend, 1).read_bytes() == fitted(backend, 2).read_bytes()


@pytest.mark.parametrize(
    ("backend", "threads"),
    [("numba", 1), ("torch", 1), ("cuda", 1), ("numpy", 2), ("numba", 2)],
)
def test_back_ends_and_threads_agree_within_the_documented_tolerance(
    fitted, backend, threads
):
    found = compare(fitted("numpy", 1), fitted(backend, 1, threads))
    assert found["vectors"] <= VECTORS
    assert found["objective"] <= OBJECTIVE
    assert found["neighbours"] >= NEIGHBOURS
