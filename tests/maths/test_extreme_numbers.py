"""Extreme numbers: finite results, or an error that names the context."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import PHCLE, DescriptiveContext, RelationalContext, fold_in, load
from phcle.contexts import align
from phcle.contexts.squared import offset_and_scale
from phcle.errors import ContextError, NumericalError
from phcle.files import read_sealed

LABELS = tuple(f"label{i}" for i in range(12))
COUNTS = np.random.default_rng(0).integers(0, 4, (12, 6)) + np.eye(12, 6)
COUNTS[:, 0] += 1
VALUES = np.random.default_rng(1).normal(size=(12, 4))

pytestmark = pytest.mark.filterwarnings("ignore:not converged")


def related(counts, name="related"):
    counts = np.asarray(counts, float)
    columns = [f"c{i}" for i in range(counts.shape[1])]
    return RelationalContext.from_matrix(
        counts, LABELS[: len(counts)], columns, name=name
    )


def described(values, *, standardize=False, name="described"):
    columns = tuple(f"a{i}" for i in range(values.shape[1]))
    labels = LABELS[: values.shape[0]]
    return DescriptiveContext(name, labels, columns, values, None, standardize)


def with_value(value, at=(2, 1)):
    values = VALUES.copy()
    values[at] = value
    return values


def tiny_block():
    """Two labels whose counts are nothing beside those of the others."""
    counts = np.zeros((12, 6))
    counts[:2, :2], counts[2:, 2:] = 1e-98, COUNTS[2:, :4]
    return counts


MAGNITUDES = 10.0 ** np.random.default_rng(2).integers(-6, 7, (12, 6))
HUGE_LABEL = np.where(np.arange(12)[:, None] == 3, 1e12, 1.0)
UNITS = np.array([1e-30, 1.0, 1e30, 1e5])
PATCHY = np.where(np.arange(12)[:, None] % 3 == 0, np.nan, VALUES * 1e38)

EXTREMES = {
    "a label of huge degree": [related(COUNTS * HUGE_LABEL), described(VALUES)],
    "one column each": [related(COUNTS[:, :1]), described(VALUES[:, :1])],
    "constant attributes": [related(COUNTS), described(np.ones((12, 3)))],
    "huge constants": [related(COUNTS), described(np.full((12, 3), 1e30))],
    "counts over 12 orders": [related(COUNTS * MAGNITUDES), described(VALUES)],
    "counts that vanish": [related(tiny_block()), described(VALUES)],
    "counts of 1e99": [related(COUNTS * 1e98), described(VALUES)],
    "one label": [related(COUNTS[:1]), described(VALUES[:1])],
    "values of 1e38": [related(COUNTS), described(VALUES * 1e38)],
    "one value of 1e38": [related(COUNTS), described(with_value(1e38))],
    "patchy values of 1e38": [related(COUNTS), described(PATCHY)],
    "values of 1e99": [related(COUNTS), described(VALUES * 1e98)],
    "values of 1e-320": [related(COUNTS), described(VALUES * 1e-320)],
    "units 60 orders apart": [related(COUNTS), described(VALUES * UNITS)],
    "standardised units": [
        related(COUNTS),
        described(VALUES * UNITS, standardize=True),
    ],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_contexts_give_finite_results(backend_options, name, dtype):
    # With 20 dimensions, more than there are labels.
    options = {"dim": 20, "dtype": dtype, "max_iter": 3, "completion": "none"}
    model = PHCLE(**backend_options, **options).fit(EXTREMES[name])
    embedding = model.embedding_
    assert np.isfinite(embedding.vectors).all()
    for context in embedding.contexts:
        assert np.isfinite(context.factor).all()
    history = [value for record in model.history_ for value in record.values()]
    assert np.isfinite(history).all()
    gaps = [record["gap"] for record in model.history_]
    assert all(b <= a + 1e-4 * abs(a) for a, b in pairwise(gaps))
    if len(embedding) > 1:
        similar = [score for _, score in embedding.nearest(embedding.labels[0])]
        assert np.isfinite(similar).all()


def test_tiny_and_huge_units_give_the_same_fit():
    options = {"dim": 3, "max_iter": 3, "completion": "none", "backend": "numpy"}
    fits = [
        PHCLE(**options).fit([related(COUNTS), described(VALUES * 2.0**power)])
        for power in (0, 300, -500, -1000)
    ]
    for other in fits[1:]:
        found, wanted = other.embedding_.vectors, fits[0].embedding_.vectors
        assert np.allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_small_spread_around_a_large_mean_is_not_taken_for_a_constant(is_sparse):
    # Seconds since 1970 within a few minutes: squares that cancel lose the spread.
    values = 1.7e9 + 100 * VALUES[:, :1]
    context = DescriptiveContext(
        "times",
        LABELS,
        ("t",),
        sp.csr_array(values) if is_sparse else values,
        None,
        True,
    )
    offset, scale = offset_and_scale(context.matrix, ("t",), standardize=True)
    assert offset == pytest.approx(values.mean())
    assert scale == pytest.approx(values.std() * np.sqrt(1 / 100), rel=1e-5)


def test_a_constant_column_leaves_no_trace_of_its_rounded_mean():
    values = np.hstack([VALUES, np.full((12, 1), 0.1 * 1e30)])
    context = described(values)
    offset, _ = offset_and_scale(context.matrix, context.titles, standardize=False)
    assert (values[:, -1] - offset[-1] == 0).all()


@pytest.mark.parametrize("value", [2e100, -1.7e308, np.inf])
def test_values_beyond_bounds_are_refused_with_label_and_column(value):
    message = r"within ±1e\+100. Got .* for label 'label2' and column 'a1'"
    with pytest.raises(ContextError, match=message):
        described(with_value(value))
    with pytest.raises(ContextError, match=message):
        described(sp.csr_array(with_value(value)))


def test_counts_beyond_bounds_are_refused_by_name():
    counts = COUNTS.copy()
    counts[5, 0] = 1e101
    with pytest.raises(ContextError, match=r"1e\+100 at most. Got 1e\+101 .*'label5'"):
        related(counts)
    with pytest.raises(ContextError, match=r"'related': its counts sum to .*e-3"):
        PHCLE(dim=2).fit(related(COUNTS * 1e-310))
    assert align(related(COUNTS * 1e-90)).labels == LABELS


DIVERGING = {
    # Single precision ends at 3.4e38.
    "weight": ({"descriptive_weight": 3e37}, "described"),
    "step": ({"solver": "paper", "step_size": 10.0, "max_iter": 500}, "related"),
}


@pytest.mark.parametrize("kind", DIVERGING)
def test_a_fit_that_leaves_the_finite_numbers_names_the_context(backend_options, kind):
    changed, culprit = DIVERGING[kind]
    options = {"dim": 3, "max_iter": 5, "completion": "none"} | changed
    model = PHCLE(**backend_options, **options)
    with pytest.raises(NumericalError, match=f"of context '{culprit}' are no longer"):
        model.fit([related(COUNTS), described(VALUES)])


def test_the_last_good_sweep_is_kept_in_the_model_and_in_the_checkpoint(
    tmp_path, backend_options
):
    file = tmp_path / "fit.ckpt"
    options, _ = DIVERGING["step"]
    model = PHCLE(**backend_options, **options, dim=3, completion="none")
    with pytest.raises(NumericalError) as raised:
        model.fit([related(COUNTS), described(VALUES)], checkpoint=file)
    sweep = int(re.search(r"sweep (\d+) was the last good one", str(raised.value))[1])
    assert sweep >= 1
    assert len(model.history_) == sweep + 1  # the last is the solve after the sweeps
    model.embedding_.save(tmp_path / "kept.phcle")
    assert np.isfinite(load(tmp_path / "kept.phcle").vectors).all()
    about, tensors = read_sealed(file, "phcle.checkpoint", 2, "is no checkpoint")
    assert len(about["history"]) == sweep
    assert all(np.isfinite(tensor).all() for tensor in tensors.values())


def test_a_label_added_with_an_absurd_value_stays_finite_or_is_refused():
    embedding = (
        PHCLE(dim=3, backend="numpy", completion="none")
        .fit([related(COUNTS), described(VALUES)])
        .embedding_
    )
    for value in (1e20, 1e30, 1e60, 1e99):
        values = np.full((1, 4), value)
        new = DescriptiveContext(
            "described", ("new",), ("a0", "a1", "a2", "a3"), values
        )
        if value < 1e31:
            assert np.isfinite(fold_in(embedding, new).vectors).all()
            continue
        with pytest.raises(NumericalError, match="far larger than those of the fit"):
            fold_in(embedding, new)
