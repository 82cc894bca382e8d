"""Sampled sweeps settle near the exact fit where a column belongs to most labels."""

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from forked import run_together

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts.logistic import draw_columns
from phcle.errors import ConvergenceWarning
from phcle.model import problem as posing

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
        monkeypatch.setattr("phcle.model.problem.SAMPLE", drawn)
        options |= {"dim": dim, "mode": mode, "random_state": seed}
        model = PHCLE(**options, backend="numpy", choose=False, completion="none")
        return model.fit(tree())

    return fitted


@pytest.mark.filterwarnings("ignore:not converged")
def test_a_resumed_fit_draws_the_samples_it_would_have_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr("phcle.model.problem.SAMPLE", 24)
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
    monkeypatch.setattr("phcle.model.problem.SAMPLE", 2)
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


def unlucky(mass, n, rng):
    """Draws of 48 that see the first labels alone."""
    if n != 48 or len(mass) != N_LABELS:
        return draw_columns(mass, n, rng)
    return np.arange(n), np.full(n, mass.sum() / n)


@pytest.fixture
def unlucky_fit(fit, monkeypatch):
    monkeypatch.setattr("phcle.model.problem.draw_columns", unlucky)
    return lambda: fit("sampled", dim=2, seed=2, drawn=24)


def test_a_sweep_that_raises_the_gap_is_repeated_with_more_columns(fit, unlucky_fit):
    model = unlucky_fit()
    drawn = columns(model)
    assert drawn == sorted(drawn)
    assert (24, 4 * 48) in pairwise(drawn)
    exact = fit("exact", dim=2, seed=2).history_[-1]["gap"]
    assert model.history_[-1]["gap"] < 1.005 * exact


def test_a_fit_that_cannot_settle_ends_before_the_rise_and_names_the_context(
    unlucky_fit, monkeypatch
):
    settled = unlucky_fit()
    n_before = columns(settled).index(192.0)
    monkeypatch.setattr("phcle.model.fit.MORE", 1)
    message = f"after {n_before} sweeps; the loss of context 'tree' rises"
    with pytest.warns(ConvergenceWarning, match=message):
        ended = unlucky_fit()
    gaps, others = ([r["gap"] for r in m.history_] for m in (ended, settled))
    assert gaps[:-1] == others[:n_before]


def fit_and_save(folder, rank, size):
    posing.SAMPLE = 24
    options = {"dim": 2, "mode": "sampled", "random_state": 2, "backend": "numpy"}
    model = PHCLE(**options, choose=False, completion="none").fit(tree())
    np.save(f"{folder}/columns{rank}of{size}.npy", columns(model))
    np.save(f"{folder}/vectors{rank}of{size}.npy", model.embedding_.vectors)


def test_two_processes_repeat_the_same_sweeps_as_one(tmp_path):
    run_together(fit_and_save, tmp_path, 1, 2)
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


def as_gpu(init):
    def accelerated(self, *args, **options):
        init(self, *args, **options)
        self.is_accelerated = True

    return accelerated


def test_a_sampled_fit_with_a_sampled_last_solve_comes_near_the_exact_one():
    torch_backend = pytest.importorskip(
        "phcle.backends.torch_backend", reason="PyTorch is not installed"
    )
    backend = torch_backend.TorchBackend
    rng = np.random.default_rng(0)
    places = rng.random(300)
    near = np.exp(-30 * np.abs(places[:, None] - places)) > 0.3
    labels = [f"l{i}" for i in range(300)]
    context = RelationalContext.from_matrix(1.0 * near, labels, self_loops=True)
    options = {"dim": 4, "backend": "torch", "device": "cpu"}
    exact = PHCLE(**options).fit(context)
    with (
        mock.patch.object(backend, "__init__", as_gpu(backend.__init__)),
        mock.patch("phcle.model.problem.GPU_EXACT_PAIRS", 1000),
        mock.patch("phcle.model.problem.GPU_SAMPLE", 80),
        mock.patch("phcle.model.label_solve.SOLVED_PAIRS", 1000),
        mock.patch("phcle.model.label_solve.SOLVED_COLUMNS", 150),
    ):
        sampled = PHCLE(**options).fit(context)
    run = sampled.embedding_.origin["run"]
    assert (run["mode"], run["last_solve"]) == ("sampled", "sampled")
    gap = sampled.history_[-1]["gap"]
    assert gap == pytest.approx(exact.history_[-1]["gap"], rel=0.1)
