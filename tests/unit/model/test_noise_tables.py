"""Tables of noise beside a good one hardly change what is fitted of it."""

from __future__ import annotations

import numpy as np
import pytest
from problems import table, tree_of

from phcle import PHCLE, DescriptiveContext

N_LABELS, N_GROUPS, N_COLUMNS = 200, 20, 12
LABELS = tuple(f"label{i}" for i in range(N_LABELS))


def planted(rng, n_noise=0, *, with_tree=False):
    """A table of rank 3 with gaps, its true values, and tables of noise.

    If there is noise, one of its tables is given twice.
    """
    group = np.arange(N_LABELS) // (N_LABELS // N_GROUPS)
    means = rng.normal(size=(N_GROUPS, 3))
    latent = means[group] + 0.7 * rng.normal(size=(N_LABELS, 3))
    truth = latent @ rng.normal(size=(3, N_COLUMNS))
    truth += 0.4 * rng.normal(size=truth.shape)
    is_gap = rng.random(truth.shape) < 0.3
    contexts = [table("good", LABELS, np.where(is_gap, np.nan, truth))]
    if with_tree:
        contexts.append(tree_of(LABELS, group))
    noise = [rng.normal(size=(N_LABELS, 6)) for _ in range(n_noise)]
    contexts += [table(f"noise{i}", LABELS, values) for i, values in enumerate(noise)]
    contexts += [table("again", LABELS, values) for values in noise[-1:]]
    return contexts, truth, is_gap


def scores(model, truth, is_gap):
    """R² of the good table: in its gaps, and where it is known."""
    context = next(x for x in model.embedding_.contexts if x.name == "good")
    predicted = context.predict(model.embedding_.vectors)[:, :N_COLUMNS]
    missed = (truth - predicted) ** 2
    spread = (truth - np.where(is_gap, np.nan, truth).mean(0, where=~is_gap)) ** 2
    return [1 - missed[at].sum() / spread[at].sum() for at in (is_gap, ~is_gap)]


@pytest.mark.parametrize(("weights", "n_noise"), [("equal", 15), ("auto", 7)])
def test_noise_hardly_changes_the_fit_of_a_good_table(weights, n_noise):
    found = []
    for n in (0, n_noise):
        contexts, truth, is_gap = planted(np.random.default_rng(3), n)
        model = PHCLE(weights=weights, completion="none", tol=1e-3).fit(contexts)
        found.append(scores(model, truth, is_gap))
        assert model.weights_["good"] == 1
    assert min(found[0]) > 0.8
    assert np.allclose(*found, rtol=0.05)


def noisy_cells(noise, rng):
    """Cells of columns that nothing predicts."""
    if noise == "rare truth values":
        names = [f"flag {i}" for i in range(40)]
        return {x: np.where(rng.random(N_LABELS) < 0.01, "yes", "no") for x in names}
    return {"brand": [f"brand {x}" for x in rng.integers(80, size=N_LABELS)]}


@pytest.mark.parametrize("noise", ["rare truth values", "a wide category"])
def test_columns_of_noise_hardly_change_the_numbers_beside_them(noise):
    rng = np.random.default_rng(3)
    (good, tree), truth, is_gap = planted(rng, with_tree=True)
    numbers = {x: 30 * own for x, own in zip(good.columns, good.values.T, strict=True)}
    found = []
    for more in ({}, noisy_cells(noise, rng)):
        mixed = DescriptiveContext.from_cells(LABELS, {**numbers, **more}, "good")
        model = PHCLE(completion="none", tol=1e-3).fit([mixed, tree])
        found.append(scores(model, 30 * truth, is_gap))
    assert min(found[0]) > 0.8
    assert np.allclose(*found, rtol=0.05)
