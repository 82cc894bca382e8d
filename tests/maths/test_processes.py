"""Several processes that share a fit give the result of one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FITS = """
import multiprocessing, os, socket, sys
import numpy as np
import torch.distributed  # once, before processes are forked
sys.path.insert(0, sys.argv[1])
from phcle import PHCLE
from phcle.backends.numpy_backend import NumpyBackend
from problems import family_contexts, random_contexts

def process(rank, size, port):
    if size > 1:
        where = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, LOCAL_WORLD_SIZE=size)
        run = dict(RANK=rank, WORLD_SIZE=size, LOCAL_RANK=rank, **where)
        os.environ.update({name: str(value) for name, value in run.items()})
    NumpyBackend.most_rows = 4  # so that every process has blocks of every factor
    contexts = random_contexts(np.random.default_rng(0), 40)
    families = family_contexts(40)
    options = dict(dim=4, dtype="float64", backend="numpy", completion="none")
    options |= dict(weights={c.name: 0.5 for c in [*contexts, *families]})
    model = PHCLE(**options, choose=False).fit([*contexts, *families])
    vectors = model.embedding_.vectors
    factors = [context.factor for context in model.embedding_.contexts]
    found = np.concatenate([x.ravel() for x in (vectors, *factors)])
    np.save(f"{sys.argv[2]}/{rank}of{size}.npy", found)

fork = multiprocessing.get_context("fork")
started = []
for size in (1, 2, 4):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    runs = [fork.Process(target=process, args=(i, size, port)) for i in range(size)]
    for one in runs:
        one.start()
    started += runs
for one in started:
    one.join()
sys.exit(max(abs(one.exitcode) for one in started))
"""


def test_two_and_four_processes_equal_one(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", FITS, str(tests), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    alone = np.load(tmp_path / "0of1.npy")
    assert np.ptp(alone) > 0.1
    for size in (2, 4):
        for rank in range(size):
            shared = np.load(tmp_path / f"{rank}of{size}.npy")
            assert abs(shared - alone).max() < 1e-9
