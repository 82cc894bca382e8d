"""What a GPU does in place of the host, run by torch on the CPU."""

from unittest import mock

import numpy as np
import pytest
from problems import make_problem, random_contexts

from phcle.backends.protocol import choose_backend
from phcle.contexts.labels import hash_names
from phcle.contexts.logistic import draw_strata
from phcle.model.keyed_normals import draw_on_device, normal_rows
from phcle.model.start import spectral, start_factors
from phcle.model.weights import equal_weights

torch = pytest.importorskip("torch")
from phcle.backends.torch_backend import TorchBackend  # noqa: E402
from phcle.contexts.logistic import floor_on_device  # noqa: E402


def test_numbers_belong_to_names_and_not_to_places():
    keys = hash_names([f"label {i}" for i in range(4000)])
    backend = choose_backend("numpy", "cpu", "float64")
    drawn = normal_rows(backend, keys, 5, seed=1)
    np.testing.assert_array_equal(normal_rows(backend, keys[::-1], 5, 1), drawn[::-1])
    assert not np.allclose(normal_rows(backend, keys, 5, seed=2), drawn)
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T), np.eye(5), atol=0.1)
    same = normal_rows(TorchBackend("cpu", "float64"), keys, 5, seed=1)
    np.testing.assert_allclose(same.numpy(), drawn, atol=1e-12)


def test_the_start_and_the_floor_are_those_of_the_host():
    problem = make_problem(random_contexts(np.random.default_rng(0), 30))
    weights = equal_weights(problem)
    backend = TorchBackend("cpu", "float64")
    host = start_factors(problem, weights, "spectral", np.random.default_rng(0))

    def draw(width):
        return draw_on_device(problem, width, 1, backend)[1:]

    device = spectral(problem, weights, draw, backend)
    for ours, theirs in zip(device[1:], host.of_contexts, strict=True):
        product = (device[0] @ ours.T).numpy()
        wanted = host.W @ theirs.T
        assert np.linalg.norm(product - wanted) < 0.1 * np.linalg.norm(wanted)
    lam = problem.penalties
    for context in problem.contexts:
        if context.kind == "relational":
            rate, mass = context._row_rate(lam), context.column_mass
            floor = floor_on_device(backend, context.stored(backend), rate, mass)
            assert floor == pytest.approx(context.floor(lam))


def test_strata_are_unbiased():
    mass = np.random.default_rng(0).random(500) ** 3
    something = np.sin(np.arange(500))
    estimates = []
    for seed in range(300):
        at, masses = draw_strata(np.cumsum(mass), 40, np.random.default_rng(seed))
        assert masses.sum() == pytest.approx(mass.sum())
        estimates.append(masses @ something[at])
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - mass @ something) < 4 * error


def as_gpu(init):
    def accelerated(self, *args, **options):
        init(self, *args, **options)
        self.is_accelerated = True

    return accelerated


def test_a_sampled_fit_with_a_sampled_last_solve_comes_near_the_exact_one():
    from phcle import PHCLE, RelationalContext

    rng = np.random.default_rng(0)
    places = rng.random(300)
    near = np.exp(-30 * np.abs(places[:, None] - places)) > 0.3
    labels = [f"l{i}" for i in range(300)]
    context = RelationalContext.from_matrix(1.0 * near, labels, self_loops=True)
    options = {"dim": 4, "backend": "torch", "device": "cpu"}
    exact = PHCLE(**options).fit(context)
    with (
        mock.patch.object(TorchBackend, "__init__", as_gpu(TorchBackend.__init__)),
        mock.patch("phcle.model.column_samples.GPU_EXACT_PAIRS", 1000),
        mock.patch("phcle.model.column_samples.GPU_SAMPLE", 80),
        mock.patch("phcle.model.column_samples.SHUFFLED", 100),
        mock.patch("phcle.model.label_solve.SOLVED_PAIRS", 1000),
        mock.patch("phcle.model.label_solve.SOLVED_COLUMNS", 150),
    ):
        sampled = PHCLE(**options).fit(context)
    run = sampled.embedding_.origin["run"]
    assert (run["mode"], run["last_solve"]) == ("sampled", "sampled")
    gap = sampled.history_[-1]["gap"]
    assert gap == pytest.approx(exact.history_[-1]["gap"], rel=0.1)
