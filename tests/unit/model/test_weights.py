"""α and β: given, equal, automatic, and as in the paper."""

from __future__ import annotations

import numpy as np
import pytest
from problems import random_contexts

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import OptionError, PhcleWarning


def planted_contexts(rng, n=300, noisy_labels=15):
    """A relation and attributes that agree, and pure noise known for a few labels."""
    truth = rng.normal(size=(n, 4))
    labels = tuple(f"label{i}" for i in range(n))
    rate = np.exp(truth @ rng.normal(size=(4, 40)))
    counts = rng.poisson(20 * rate / rate.mean()) + 0.01
    values = truth @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(n, 12))
    known = labels[: n // 2]
    return [
        RelationalContext.from_matrix(counts, labels, [f"c{i}" for i in range(40)]),
        DescriptiveContext(
            "signal", known, tuple(f"a{i}" for i in range(12)), values[: n // 2]
        ),
        DescriptiveContext(
            "noise",
            labels[-noisy_labels:],
            tuple(f"n{i}" for i in range(12)),
            rng.normal(size=(noisy_labels, 12)),
        ),
    ]


def test_equal_weights_sum_to_one_for_each_kind(rng):
    weights = PHCLE(dim=2, completion="none").fit(random_contexts(rng)).weights_
    assert weights["first"] == weights["second"] == 0.5
    assert weights["patchy"] == pytest.approx(1 / 3)


def test_a_context_with_weight_zero_has_no_influence(rng):
    contexts = random_contexts(rng)
    given = {"first": 1.0, "second": 0.0, "patchy": 0.5, "tags": 0.5, "whole": 0.0}
    fits = []
    for seed in (1, 2):
        noise = np.random.default_rng(seed)
        other = DescriptiveContext(
            "whole",
            contexts[4].labels,
            ("u", "v"),
            noise.normal(size=(len(contexts[4].labels), 2)),
        )
        model = PHCLE(dim=2, weights=given, dtype="float64", completion="none")
        fits.append(model.fit([*contexts[:4], other]).embedding_.vectors)
    assert np.allclose(*fits, atol=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"first": 1.0}, "'second' must be zero or more.* Got None"),
        ({"frist": 1.0}, "'frist', which was not given. Did you mean 'first'"),
        ({"first": -1.0}, "'first' must be zero or more"),
    ],
)
def test_bad_weights_are_refused_by_name(rng, weights, message):
    with pytest.raises(OptionError, match=message):
        PHCLE(dim=2, weights=weights).fit(random_contexts(rng))


def test_automatic_weights_give_noise_nothing(rng):
    """Labels that only the noise knows would keep a little; here there are none."""
    model = PHCLE(dim=10, weights="auto", completion="none").fit(planted_contexts(rng))
    assert model.weights_ == {"matrix": 1.0, "signal": 1.0, "noise": 0.0}
    found = model.chosen_.weighing
    assert found[0].startswith("without matrix: 0.")
    assert found[0].endswith("it helps; weight × 1.")
    assert found[2].endswith("weight × 0.")


def test_nie_weights_reward_the_noise_that_can_be_overfitted(rng):
    """Why "nie" is kept for the record only (see the table of the paper's errors)."""
    model = PHCLE(
        dim=20,
        weights="nie",
        sparsity=0.0,
        ridge=0.01,
        max_iter=60,
        choose=False,
        completion="none",
    )
    model.fit(planted_contexts(rng))
    assert model.weights_["noise"] > 0.9
    assert model.weights_["signal"] + model.weights_["noise"] == pytest.approx(1)


def test_automatic_weights_fall_back_to_equal_ones_where_nothing_is_predicted(rng):
    labels = tuple(f"label{i}" for i in range(30))
    contexts = [
        DescriptiveContext(name, labels, ("x", "y", "z"), rng.normal(size=(30, 3)))
        for name in ("one", "two")
    ]
    with pytest.warns(PhcleWarning, match="Weights are equal"):
        model = PHCLE(dim=8, weights="auto", max_iter=1000, completion="none").fit(
            contexts
        )
    assert model.weights_ == {"one": 0.5, "two": 0.5}


def test_automatic_weights_from_a_part_of_many_labels_still_find_the_noise(rng):
    weights = PHCLE(dim=4, weights="auto", max_iter=5, tol=0.1, completion="none")
    found = weights.fit(planted_contexts(rng, n=5_200)).weights_
    assert found["noise"] < 0.1 * found["signal"]
