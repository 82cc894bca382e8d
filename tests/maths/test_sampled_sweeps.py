"""Sampled sweeps settle near the exact fit where a column belongs to most labels."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import ConvergenceWarning

N_LABELS = 600


def tree():
    """Counts of the nodes above each label: few columns of many labels, many of few."""
    above = [np.arange(N_LABELS) // size for size in (2, 4, 16, 64, 200)]
    first = np.cumsum([0, *(nodes[-1] + 1 for nodes in above)])
    columns = [nodes + a for nodes, a in zip(above, first[:-1], strict=True)]
    weights = np.repeat(np.exp(-np.arange(1, len(above) + 1) / 4), N_LABELS)
    rows = np.tile(np.arange(N_LABELS), len(above))
    counts = sp.csr_array(
        (weights, (rows, np.concatenate(columns))), shape=(N_LABELS, first[-1])
    )
    labels, nodes = (
        [f"{x}{i}" for i in range(n)] for x, n in zip("ln", counts.shape, strict=True)
    )
    return RelationalContext.from_matrix(counts, labels, nodes, name="tree")


@pytest.fixture
def fit(monkeypatch):
    """Fit the tree; samples begin with this many columns."""

    def fitted(mode, dim, seed=0, drawn=16, **options):
        monkeypatch.setattr("phcle.model.column_samples.SAMPLE", drawn)
        options |= {"dim": dim, "mode": mode, "random_state": seed}
        model = PHCLE(**options, backend="numpy", choose=False, completion="none")
        return model.fit(tree())

    return fitted


@pytest.mark.filterwarnings("ignore:not converged")
def test_a_resumed_fit_draws_the_samples_it_would_have_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr("phcle.model.column_samples.SAMPLE", 24)
    options = {"dim": 2, "mode": "sampled", "choose": False, "completion": "none"}
    options |= {"backend": "numpy", "tol": 0.0, "max_iter": 6}

    def stop(state):
        if state.iteration == 2:
            raise KeyboardInterrupt

    whole, file = PHCLE(**options).fit(tree()), tmp_path / "fit.ckpt"
    with pytest.raises(KeyboardInterrupt):
        PHCLE(**options).fit(tree(), checkpoint=file, on_step=stop)
    resumed = PHCLE(**options).fit(tree(), checkpoint=file, resume=True)
    assert np.array_equal(resumed.embedding_.vectors, whole.embedding_.vectors)
    gaps = [[r["gap"] for r in model.history_] for model in (whole, resumed)]
    assert gaps[0] == gaps[1]


@pytest.mark.filterwarnings("ignore:not converged")
def test_a_family_beside_sampled_counts(monkeypatch, backend_options):
    monkeypatch.setattr("phcle.model.column_samples.SAMPLE", 2)
    edges = [(x, "felid") for x in ("cat", "lion", "lynx", "puma")]
    edges += [(x, "canid") for x in ("dog", "wolf", "fox")]
    edges += [("felid", "beast"), ("canid", "beast")]
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree", role="both"),
        DescriptiveContext.from_vectors(
            {"cat": [4, 1], "lion": [190, 0], "lynx": [20, 0], "dog": [30, 1]}
        ),
    ]
    options = {"dim": 3, "completion": "none", **backend_options}
    sampled = PHCLE(mode="sampled", max_iter=60, **options).fit(contexts).embedding_
    exact = PHCLE(**options).fit(contexts).embedding_
    assert abs(sampled.explain("cat", "lion").rest) < 1e-3
    near = {label for label, _ in exact.nearest("puma", 3)}
    assert sampled.nearest("puma", 1)[0][0] in near


def columns(model):
    """Number of columns that each sweep drew."""
    return [record["columns"] for record in model.history_[:-1]]


@pytest.mark.parametrize(
    ("drawn", "dim", "most"), [(12, 8, 1.1), (128, 2, 1.005), (192, 3, 1.005)]
)
def test_a_sampled_fit_ends_where_the_exact_one_does(drawn, dim, most, fit):
    exact = fit("exact", dim).history_[-1]["gap"]
    history = fit("sampled", dim, drawn=drawn).history_
    assert history[-1]["gap"] < most * exact
    assert all(0 < record["gap"] < 5 * exact for record in history)


def test_a_sweep_that_raises_the_gap_is_repeated_with_more_columns(fit):
    model = fit("sampled", dim=2, seed=2, drawn=24)
    drawn = columns(model)
    assert drawn == sorted(drawn)
    assert 4 in {after / before for before, after in pairwise(drawn)}
    exact = fit("exact", dim=2, seed=2).history_[-1]["gap"]
    assert model.history_[-1]["gap"] < 1.005 * exact


def test_a_fit_that_cannot_settle_ends_before_the_rise_and_names_the_context(
    fit, monkeypatch
):
    settled = fit("sampled", dim=2, seed=2, drawn=24)
    n_before = columns(settled).index(96.0)
    monkeypatch.setattr("phcle.model.fit.MORE", 1)
    message = f"after {n_before} sweeps; the loss of context 'tree' rises"
    with pytest.warns(ConvergenceWarning, match=message):
        ended = fit("sampled", dim=2, seed=2, drawn=24)
    gaps, others = ([r["gap"] for r in m.history_] for m in (ended, settled))
    assert gaps[:-1] == others[:n_before]


def test_the_same_seed_draws_and_repeats_the_same(fit):
    one, again = (fit("sampled", dim=2, seed=2, drawn=24) for _ in range(2))
    assert columns(one) == columns(again)
    assert one.embedding_.vectors.tobytes() == again.embedding_.vectors.tobytes()


PROCESSES = """
import multiprocessing, os, socket, sys
import numpy as np
import torch.distributed  # once, before processes are forked
sys.path.insert(0, sys.argv[1])
import phcle.model.column_samples
from phcle import PHCLE
from test_sampled_sweeps import columns, tree

def process(rank, size, port):
    if size > 1:
        where = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, LOCAL_WORLD_SIZE=size)
        run = dict(RANK=rank, WORLD_SIZE=size, LOCAL_RANK=rank, **where)
        os.environ.update({name: str(value) for name, value in run.items()})
    phcle.model.column_samples.SAMPLE = 24
    options = dict(dim=2, mode="sampled", random_state=2, backend="numpy")
    model = PHCLE(**options, choose=False, completion="none").fit(tree())
    np.save(f"{sys.argv[2]}/columns{rank}of{size}.npy", columns(model))
    np.save(f"{sys.argv[2]}/vectors{rank}of{size}.npy", model.embedding_.vectors)

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
fork = multiprocessing.get_context("fork")
runs = [(0, 1, port), (0, 2, port), (1, 2, port)]
all_started = [fork.Process(target=process, args=run) for run in runs]
for one in all_started:
    one.start()
for one in all_started:
    one.join()
sys.exit(max(abs(one.exitcode) for one in all_started))
"""


def test_two_processes_repeat_the_same_sweeps_as_one(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    done = subprocess.run(
        [sys.executable, "-c", PROCESSES, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    drawn, vectors = (
        [np.load(tmp_path / f"{what}{run}.npy") for run in ("0of1", "0of2", "1of2")]
        for what in ("columns", "vectors")
    )
    assert np.array_equal(drawn[1], drawn[2])
    assert np.array_equal(vectors[1], vectors[2])
    # Rows are cut into other blocks, so inexact steps differ a little on the way.
    assert np.array_equal(drawn[0], drawn[1])
    np.testing.assert_allclose(
        vectors[0], vectors[1], atol=0.02 * abs(vectors[0]).max()
    )
