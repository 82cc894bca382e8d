"""PHCLE as a user meets it: options, results, determinism, back ends, interruption."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest
import threadpoolctl
from problems import random_contexts

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import BackendError, ConvergenceWarning, OptionError, PhcleError
from phcle.options import OPTIONS


def test_constructor_and_option_table_agree():
    signature = inspect.signature(PHCLE)
    defaults = {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if name != "self"
    }
    assert defaults == {option.name: option.default for option in OPTIONS}
    assert PHCLE().get_params() == defaults


def test_an_unknown_option_is_refused_at_once_with_the_nearest_name():
    with pytest.raises(TypeError, match=r"argument 'ridg'\. Did you mean 'ridge'"):
        PHCLE(ridg=3)
    with pytest.raises(OptionError, match="Did you mean 'ridge'"):
        PHCLE().set_params(rige=1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"solver": "papper"}, OptionError, "'solver'.*Did you mean 'paper'"),
        ({"weights": 3}, OptionError, "'weights'.*Got 3"),
        ({"tol": "small"}, OptionError, "'tol'.*Got 'small'"),
        ({"solver": "paper", "mode": "sampled"}, OptionError, "needs solver='mm'"),
        ({"backend": "numpy", "device": "cuda"}, BackendError, "backend='torch'"),
        ({"precision": "mixed", "backend": "numpy"}, BackendError, "='mixed' needs"),
        ({"precision": "mixed", "dtype": "float64"}, BackendError, "='mixed' needs"),
    ],
)
def test_options_that_do_not_go_together_are_refused(rng, options, error, message):
    with pytest.raises(error, match=message):
        PHCLE(**options).fit(random_contexts(rng))


def test_missing_torch_is_refused_with_the_remedy(rng, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"pip install 'phcle\[torch\]'"):
        PHCLE(backend="torch").fit(random_contexts(rng))


def test_a_gpu_that_is_not_there_is_refused(rng):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(BackendError, match="precision='full'"):
        PHCLE(precision="mixed", device="cpu").fit(random_contexts(rng))
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(BackendError, match="sees no GPU"):
        PHCLE(backend="torch", device="cuda").fit(random_contexts(rng))


@pytest.mark.parametrize("solver", ["mm", "paper"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_back_end_agrees_with_numpy_from_the_same_start(
    rng, backend_options, dtype, solver
):
    contexts = random_contexts(rng, 9)
    options = {"dim": 4, "tol": 0, "max_iter": 5, "dtype": dtype, "solver": solver}
    with pytest.warns(ConvergenceWarning):
        here = PHCLE(**options, backend="numpy").fit(contexts).embedding_.vectors
    with pytest.warns(ConvergenceWarning):
        there = PHCLE(**options, **backend_options).fit(contexts).embedding_.vectors
    assert np.abs(here - there).max() / np.abs(here).max() < 1e-4


def test_ctrl_c_keeps_the_last_whole_sweep(rng):
    model = PHCLE(dim=3, tol=0)

    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(random_contexts(rng), on_step=interrupt)
    assert len(model.history_) == 4  # three sweeps and the last solve
    assert len(model.embedding_) == 6


def test_fits_that_overlap_give_blas_its_threads_back(rng):
    blas = threadpoolctl.ThreadpoolController().select(user_api="blas")
    contexts, seen = random_contexts(rng), []
    started, ended = threading.Event(), threading.Event()
    options = {"dim": 2, "backend": "numpy", "choose": False, "completion": "none"}

    def n_threads():
        return {library["num_threads"] for library in blas.info()}

    def wait(_):
        started.set()
        ended.wait(60)
        seen.append(n_threads())

    def overlap(_):
        if not started.is_set():
            thread.start()
            started.wait(60)
            seen.append(n_threads())

    thread = threading.Thread(
        target=PHCLE(**options).fit, args=(contexts,), kwargs={"on_step": wait}
    )
    limits = blas.limit(limits=2)
    PHCLE(**options).fit(contexts, on_step=overlap)
    ended.set()
    thread.join()
    assert len(seen) > 1
    assert all(threads == {1} for threads in seen)
    assert n_threads() == {2}
    limits.restore_original_limits()


def test_diverging_step_is_an_error_and_not_a_nan(rng):
    model = PHCLE(dim=3, solver="paper", step_size=1e6, max_iter=500, tol=0)
    with (
        np.errstate(all="ignore"),
        pytest.raises(PhcleError, match="smaller step_size"),
    ):
        model.fit(random_contexts(rng))
    assert np.isfinite(model.embedding_.vectors).all()  # of the last finite sweep


def test_transform_before_fit_says_so(rng):
    with pytest.raises(PhcleError, match="needs a fit first"):
        PHCLE().transform(random_contexts(rng))


def test_scale_of_the_input_does_not_matter(rng):
    """Counts times 1000 and attributes in grams instead of kilograms."""
    labels = [f"label{i}" for i in range(8)]
    counts = rng.integers(0, 5, (8, 5)) + np.eye(8, 5)
    values = rng.normal(size=(8, 3)) + 5
    columns = [f"c{i}" for i in range(5)]

    def fit(factor):
        return PHCLE(dim=3).fit(
            [
                RelationalContext.from_matrix(factor * counts, labels, columns),
                DescriptiveContext(
                    "v", tuple(labels), ("x", "y", "z"), factor * values
                ),
            ]
        )

    one, other = fit(1).embedding_, fit(1000.0).embedding_
    assert np.allclose(one.vectors, other.vectors, atol=1e-4)
    predicted = [e.contexts[1].predict(e.vectors) for e in (one, other)]
    assert np.allclose(1000 * predicted[0], predicted[1], rtol=1e-3)


def test_mixed_precision_ends_where_double_precision_does(imagenet):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    options = {"device": "cuda", "dim": 30, "completion": "none"}
    tree = imagenet.hierarchy()
    mixed = PHCLE(**options, precision="mixed").fit(tree).history_[-1]["gap"]
    double = PHCLE(**options, dtype="float64").fit(tree).history_[-1]["gap"]
    assert mixed == pytest.approx(double, rel=0.01)
