"""Under torchrun each process reads its own rows of counts and fits all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import PHCLE, RelationalContext
from phcle.errors import ContextError

pytest.importorskip("torch", reason="PyTorch is not installed")

LIMIT = 240  # seconds; a busy machine needs a while to start several processes
N_LABELS, N_OF_FIRST = 60, 23
LABELS = [f"label {i}" for i in range(N_LABELS)]
COLUMNS = [f"column {i}" for i in range(20)]
OPTIONS = {"dim": 4, "dtype": "float64", "backend": "numpy", "tol": 0.0, "max_iter": 5}


def counts():
    rng = np.random.default_rng(0)
    rate = rng.normal(size=(N_LABELS, 3)) @ rng.normal(size=(3, len(COLUMNS)))
    return sp.csr_array(rng.poisson(np.exp(rate / 2)).astype(float))


def fitted(context):
    return PHCLE(**OPTIONS, choose=False, completion="none").fit([context]).embedding_


PROCESSES = """
import multiprocessing, os, socket, sys, warnings
import numpy as np
import torch.distributed  # once, before processes are forked
sys.path.insert(0, sys.argv[1])
import test_own_rows as here
from phcle import RelationalContext

def process(rank, port, folder):
    where = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, LOCAL_WORLD_SIZE=2)
    run = dict(RANK=rank, WORLD_SIZE=2, LOCAL_RANK=rank, **where)
    os.environ.update({name: str(value) for name, value in run.items()})
    warnings.simplefilter("ignore")
    own = [slice(0, here.N_OF_FIRST), slice(here.N_OF_FIRST, None)][rank]
    rows = np.load(f"{folder}/rows.npy", mmap_mode="r")[own]
    parts = (rows[i : i + 10] for i in range(0, len(rows), 10))
    context = RelationalContext.from_parts(
        parts, here.LABELS, here.COLUMNS, own_rows=True
    )
    np.save(f"{folder}/counts{rank}.npy", context.counts.toarray())
    np.save(f"{folder}/vectors{rank}.npy", here.fitted(context).vectors)

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
fork = multiprocessing.get_context("fork")
both = [fork.Process(target=process, args=(i, port, sys.argv[2])) for i in (0, 1)]
for one in both:
    one.start()
for one in both:
    one.join()
sys.exit(max(abs(one.exitcode) for one in both))
"""


@pytest.mark.filterwarnings("ignore:not converged")
def test_two_processes_with_their_own_rows_fit_what_one_fits_with_all(tmp_path):
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    whole = counts()
    np.save(tmp_path / "rows.npy", whole.toarray())
    done = subprocess.run(
        [sys.executable, "-c", PROCESSES, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    alone = fitted(RelationalContext.from_matrix(whole, LABELS, COLUMNS)).vectors
    for rank in (0, 1):
        found = np.load(tmp_path / f"counts{rank}.npy")
        np.testing.assert_array_equal(found, whole.toarray())
        # Rows are cut into other blocks, so inexact steps differ a little on the way.
        vectors = np.load(tmp_path / f"vectors{rank}.npy")
        np.testing.assert_allclose(vectors, alone, atol=1e-3)


def test_own_rows_of_a_single_process_are_all_rows():
    with pytest.raises(ContextError, match="23"):
        RelationalContext.from_parts(
            [counts()[:N_OF_FIRST]], LABELS, COLUMNS, own_rows=True
        )
    found = RelationalContext.from_parts([counts()], LABELS, COLUMNS, own_rows=True)
    assert (found.counts != counts()).nnz == 0
