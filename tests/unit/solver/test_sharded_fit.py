"""Factors in shards: the sweeps of one process, over gloo, and after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from phcle.backends.numpy_backend import NumpyBackend
from phcle.backends.row_blocks import Block
from phcle.backends.shard_exchange import Layout, ShardExchange
from phcle.contexts import RelationalContext
from phcle.contexts.base.penalties import Penalties
from phcle.contexts.relational import shard_blocks, sharded
from phcle.errors import BackendError, ContextError, FileError, OptionError
from phcle.solver.problem import DeviceProblem, Problem, State
from phcle.solver.shard_files import ShardedFactors
from phcle.solver.sharded_fit import fit_shards
from phcle.solver.sharded_problem import CountRows, ShardedProblem
from phcle.solver.sweep import MajoriseSolver

pytestmark = pytest.mark.filterwarnings("ignore:not converged")

LIMIT = 300  # seconds; a busy machine needs a while to start several processes
N_LABELS, N_COLUMNS, DIM = 50, 17, 4
OPTIONS = {"dim": DIM, "dtype": "float64", "backend": "numpy", "tol": 0.0}


def counts():
    rng = np.random.default_rng(0)
    planted = rng.standard_normal((N_LABELS, 3))
    near = rng.poisson(np.exp(planted @ planted.T / 2 - 1))
    seen = rng.poisson(np.exp(planted @ rng.standard_normal((3, N_COLUMNS)) / 2 - 1))
    seen[7] = 0  # known to the other context only
    seen[:, 4] += 1  # a hub: known to nearly all labels
    seen[7, 4] = 0
    together = near + near.T
    np.fill_diagonal(together, 0)
    return sp.csr_array(together.astype(float)), sp.csr_array(seen.astype(float))


def both():
    together, seen = counts()
    return [
        CountRows.from_matrix("together", together),
        CountRows.from_matrix("seen", seen),
    ]


def fitted(folder, **more):
    return fit_shards(both(), N_LABELS, folder, **{**OPTIONS, "max_iter": 5, **more})


def factors_of(fit):
    names = [fit.context_vectors(name) for name in fit.columns]
    return np.concatenate([fit.vectors(), *names])


@pytest.fixture
def small_pieces(monkeypatch):
    """Several blocks in each part, and several pieces of each shard."""
    monkeypatch.setattr(shard_blocks, "FEWEST_NEAR", 40)
    monkeypatch.setattr(shard_blocks, "MOST_ROWS", 16)
    monkeypatch.setattr(sharded, "PIECE", 16)
    monkeypatch.setattr("phcle.solver.sharded_fit.SAMPLE", 12)
    monkeypatch.setattr("phcle.solver.sharded_fit.LAST_SAMPLE", 25)
    monkeypatch.setattr("phcle.solver.sharded_fit.MOST_STEPS", 2)


def test_parts_cover_all_rows_whatever_the_processes():
    for size in (1, 2, 3, 5):
        layouts = [Layout(17, 5, rank, size) for rank in range(size)]
        parts = [part for layout in layouts for part in layout.parts]
        assert [number for number, _, _ in parts] == list(range(5))
        assert parts[0][1] == 0
        assert parts[-1][2] == 17
        assert [x[2] for x in parts[:-1]] == [x[1] for x in parts[1:]]
        assert [x.start for x in layouts] == layouts[0].bounds[:-1].tolist()


def test_sweeps_are_those_of_the_ordinary_solver(monkeypatch, small_pieces):
    lam = Penalties(10.0, 0.0, 0.0, 3.0, 2.0)
    labels = tuple(f"x{i}" for i in range(N_LABELS))
    contexts = [
        RelationalContext(rows.name, labels, tuple(map(str, range(rows.n_columns))), D)
        for rows, D in zip(both(), counts(), strict=True)
    ]
    fits = [context.in_fit(labels) for context in contexts]
    problem = Problem((), (), lam, DIM).over(labels, fits)
    exchange, backend = ShardExchange(), NumpyBackend("float64")
    backend.processes = exchange
    parts = ShardedProblem(exchange, backend, both(), N_LABELS, 3, lam, DIM)
    blocks = iter([parts.labels.blocks, *(x.blocks for x in parts.updates)])
    assert len(parts.labels.blocks) > 3
    assert any(any(update.term.has_hub) for update in parts.updates)

    def same_blocks(*_, **__):
        return [Block(block.rows, block.at) for block in next(blocks)]

    monkeypatch.setattr("phcle.solver.problem.split_rows", same_blocks)
    monkeypatch.setattr("phcle.contexts.column_update.split_rows", same_blocks)
    usual = DeviceProblem(NumpyBackend("float64"), problem)
    rng = np.random.default_rng(1)
    sizes = [N_LABELS, *(rows.n_columns for rows in both())]
    W, *factors = [rng.standard_normal((n, DIM)) / 2 for n in sizes]
    weights = {"together": 0.7, "seen": 0.3}
    states = []
    for device in (usual, parts):
        solver = MajoriseSolver(device, tol=0.0)
        state = State(W, tuple(factors), weights)
        for _ in range(3):
            state = solver.step(state)
        states.append(state)
    one, other = states
    assert one.history[-1]["gap"] < one.history[0]["gap"]
    for a, b in zip(one.history, other.history, strict=True):
        for name in a:
            if name != "seconds":
                assert a[name] == pytest.approx(b[name], rel=1e-10), name
    for a, b in zip((one.W, *one.factors), (other.W, *other.factors), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


def test_a_spectral_start_is_nearer_than_a_random_one(tmp_path):
    gaps = [
        fitted(tmp_path / init, init=init, max_iter=1).history[0]["gap"]
        for init in ("spectral", "random")
    ]
    assert gaps[0] < gaps[1]


def test_rows_are_read_back_in_ranges(tmp_path):
    fit = fitted(tmp_path, n_parts=4)
    whole = fit.vectors()
    assert whole.shape == (N_LABELS, DIM)
    np.testing.assert_array_equal(fit.vectors(10, 30), whole[10:30])
    names = [f"x{i}" for i in range(N_LABELS)]
    assert fit.to_embedding(names).nearest("x3", k=2)
    with pytest.raises(ContextError, match="no context 'other'; it had together, seen"):
        fit.context_vectors("other")


def test_counts_are_read_from_arrays_on_disk(tmp_path):
    together, _ = counts()
    for part in ("indptr", "indices", "data"):
        np.save(tmp_path / f"{part}.npy", getattr(together, part))
    rows = CountRows.from_npy("together", tmp_path, N_LABELS)
    np.testing.assert_array_equal(rows.read(5, 9).toarray(), together[5:9].toarray())


def test_other_fits_and_counts_are_refused(tmp_path):
    with pytest.raises(FileError, match="no checkpoint to resume"):
        fitted(tmp_path, resume=True)
    fitted(tmp_path, n_parts=2)
    with pytest.raises(FileError, match="there is a fit already"):
        fitted(tmp_path)
    with pytest.raises(FileError, match=r"options was .*'ridge'"):
        fitted(tmp_path, resume=True, ridge=1.5)
    together, seen = counts()
    together.data[3] += 1
    changed = [
        CountRows.from_matrix("together", together),
        CountRows.from_matrix("seen", seen),
    ]
    with pytest.raises(FileError, match="it has other counts"):
        fit_shards(changed, N_LABELS, tmp_path, resume=True, **OPTIONS)


def test_bad_counts_and_options_are_refused(tmp_path):
    rows = CountRows.from_matrix("seen", counts()[1])
    with pytest.raises(ContextError, match=r"1 labels have no count .* '7'; leave"):
        fit_shards(rows, N_LABELS, tmp_path / "a")
    with pytest.raises(ContextError, match=r"read\(0, 51\) must return 51 × 17"):
        fit_shards(rows, N_LABELS + 1, tmp_path / "b")
    with pytest.raises(OptionError, match="no option 'sparsity'"):
        fit_shards(rows, N_LABELS, tmp_path / "c", sparsity=1.0)
    with pytest.raises(ContextError, match="different names"):
        fit_shards([rows, rows], N_LABELS, tmp_path / "d")
    with pytest.raises(BackendError, match="1 processes cannot share 0 parts"):
        fit_shards(both(), N_LABELS, tmp_path / "e", n_parts=0)


RUNNER = """
import json, multiprocessing, os, signal, socket, sys
import torch.distributed  # once, before processes are forked
sys.path.insert(0, {here!r})
import test_sharded_fit as here
from phcle.contexts.relational import shard_blocks, sharded
from phcle.solver import sharded_fit

shard_blocks.FEWEST_NEAR, shard_blocks.MOST_ROWS, sharded.PIECE = 40, 16, 16
sharded_fit.SAMPLE, sharded_fit.LAST_SAMPLE, sharded_fit.MOST_STEPS = 12, 25, 2

def process(rank, size, port, fits, dies_at):
    where = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, LOCAL_WORLD_SIZE=size)
    run = dict(RANK=rank, WORLD_SIZE=size, LOCAL_RANK=rank, **where)
    os.environ.update({{name: str(value) for name, value in run.items()}})

    def on_step(state):
        assert len(state.W) <= -(-here.N_LABELS // size)
        if state.iteration == dies_at and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    for folder, more in fits.items():
        here.fitted(folder, on_step=on_step, **more)

for size, fits, dies_at in json.loads(sys.argv[1]):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fork = multiprocessing.get_context("fork")
    processes = [
        fork.Process(target=process, args=(rank, size, port, fits, dies_at))
        for rank in range(size)
    ]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    codes = [one.exitcode for one in processes]
    found = [here.ShardedFactors.open(folder) for folder in fits]
    print(json.dumps([codes, *([x.state, x.is_finished] for x in found)]))
"""
MODES = {
    mode: {"n_parts": 4, "mode": mode, "max_iter": 2} for mode in ("exact", "sampled")
}
STOPPED = {"n_parts": 4, "max_iter": 3}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Two processes, one of which is killed; then four, which also resume that fit.

    Processes are forked from one that has loaded torch, because that takes seconds.
    """
    pytest.importorskip("torch", reason="PyTorch is not installed")
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    folder = tmp_path_factory.mktemp("shared")
    stopped = str(folder / "stopped")
    four = {str(folder / mode): more for mode, more in MODES.items()}
    runs = [
        (2, {stopped: {**STOPPED, "checkpoint_every": 0}}, 2),
        (4, {**four, stopped: {"max_iter": 3, "resume": True}}, 0),
    ]
    script = RUNNER.format(here=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(runs)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    two, all_four = map(json.loads, done.stdout.splitlines())
    assert all_four[0] == [0, 0, 0, 0], done.stderr
    return folder, two, done.stderr


def test_four_processes_make_the_sweeps_of_one(tmp_path, small_pieces, shared):
    folder, _, _ = shared
    for mode, more in MODES.items():
        one = fitted(tmp_path / mode, **more)
        four = ShardedFactors.open(folder / mode)
        assert four.is_finished
        np.testing.assert_allclose(factors_of(one), factors_of(four), rtol=0, atol=1e-9)
        gaps = [[record["gap"] for record in x.history] for x in (one, four)]
        np.testing.assert_allclose(*gaps, rtol=1e-10)
        assert four.history[0]["sent:rows"] > 0
        assert (four.history[0]["sent:pieces"] > 0) == (mode == "exact")


def test_a_killed_run_goes_on_with_more_processes(tmp_path, small_pieces, shared):
    folder, (codes, state), said = shared
    assert codes == [1, -signal.SIGKILL]
    assert "a process of this run has ended" in said
    assert state == ["sweep-00002", False]
    one = fitted(tmp_path, **STOPPED)
    resumed = ShardedFactors.open(folder / "stopped")
    assert resumed.is_finished
    assert len(resumed.history) == len(one.history)
    np.testing.assert_allclose(factors_of(one), factors_of(resumed), rtol=0, atol=1e-9)


def test_rows_that_share_columns_are_in_one_block():
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat(np.arange(40), 25))
    columns = group[:, None] + 40 * np.array([rng.permutation(9)[:5] for _ in group])
    rows = np.repeat(np.arange(1000), 5)
    ones = np.ones(5000)
    pattern = sp.csr_array((ones, (rows, columns.ravel())), shape=(1000, 360))
    backend = NumpyBackend("float64")
    layout = Layout(1000, 2, 0, 1)
    blocks = shard_blocks.cut_blocks(ShardExchange(), backend, layout, [pattern], 4000)
    assert sorted(np.concatenate([x.rows for x in blocks])) == list(range(1000))
    asked = sum(len(np.unique(pattern[x.rows].indices)) for x in blocks)
    assert len(blocks) > 10
    assert asked < 2 * 360 * 2  # each part asks about once for each column
