"""Several processes that share a fit give the result of one."""

from __future__ import annotations

import numpy as np
from forked import run_together
from problems import family_contexts, random_contexts

from phcle import PHCLE
from phcle.backends.numpy_backend import NumpyBackend


def fit(folder, rank, size):
    NumpyBackend.most_rows = 4  # so that every process has blocks of every factor
    contexts = random_contexts(np.random.default_rng(0), 40)
    contexts += family_contexts(40)
    options = {"dim": 4, "dtype": "float64", "backend": "numpy", "completion": "none"}
    weights = {context.name: 0.5 for context in contexts}
    model = PHCLE(**options, weights=weights, choose=False).fit(contexts)
    factors = [context.factor for context in model.embedding_.contexts]
    found = np.concatenate([x.ravel() for x in (model.embedding_.vectors, *factors)])
    np.save(f"{folder}/{rank}of{size}.npy", found)


def test_two_and_four_processes_equal_one(tmp_path):
    run_together(fit, tmp_path, 1, 2, 4)
    alone = np.load(tmp_path / "0of1.npy")
    assert np.ptp(alone) > 0.1
    for size in (2, 4):
        for rank in range(size):
            shared = np.load(tmp_path / f"{rank}of{size}.npy")
            assert abs(shared - alone).max() < 1e-9
