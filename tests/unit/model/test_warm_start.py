"""Refits from an earlier embedding: the same result, sooner, and honest."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import family_contexts, random_contexts

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext
from phcle.errors import ContextError, OptionError

PLAIN = {"completion": "none", "choose": False, "dim": 20}
N, COLUMNS = 90, 8

pytestmark = pytest.mark.filterwarnings("ignore:not converged")


def table(rows=range(N), columns=range(COLUMNS), *, seed=0, wrong=0):
    """A tree of groups, and numbers that follow it, some of them unknown."""
    rng = np.random.default_rng(seed)
    n = N + 10
    place = rng.normal(size=(n, 3)) + 2 * rng.normal(size=(10, 3))[np.arange(n) % 10]
    values = place @ rng.normal(size=(3, COLUMNS)) + 0.3 * rng.normal(size=(n, COLUMNS))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[:wrong, 0] += 5
    rows, columns = list(rows), list(columns)
    labels = tuple(f"label{i}" for i in rows)
    edges = [(f"label{i}", f"group{i % 10}") for i in rows]
    edges += [(f"group{i}", "all") for i in range(10)]
    return [
        RelationalContext.from_hierarchy(edges, name="tree", labels=labels),
        DescriptiveContext(
            "table",
            labels,
            tuple(f"column{i}" for i in columns),
            values[np.ix_(rows, columns)],
        ),
    ]


def gap(model):
    return model.history_[-1]["gap"]


@pytest.fixture(scope="module")
def earlier():
    """A fit with all defaults, of ten more rows."""
    return PHCLE().fit(table(range(N + 10)))


@pytest.mark.parametrize(
    "before",
    [
        table(range(80)),
        table(columns=range(COLUMNS - 1)),
        table(wrong=3),
        table(range(N + 10)),
        [*table(), DescriptiveContext.from_tags({"label1": ["x"]}, name="tags")],
    ],
    ids=["new rows", "a new column", "corrected", "rows less", "a context less"],
)
def test_a_refit_ends_as_low_as_a_cold_fit_after_fewer_sweeps(tmp_path, before):
    PHCLE(**PLAIN).fit(before).embedding_.save(tmp_path / "old.phcle")
    warm = PHCLE(**PLAIN).fit(table(), warm_start=tmp_path / "old.phcle")
    cold = PHCLE(**PLAIN).fit(table())
    assert gap(warm) <= gap(cold) * (1 + 2e-3)
    assert len(warm.history_) < len(cold.history_)
    assert warm.embedding_.labels == cold.embedding_.labels


@pytest.mark.parametrize(
    ("before", "options"), [(table()[1:], PLAIN), (table(), {**PLAIN, "dim": 25})]
)
def test_a_new_context_or_another_length_of_vectors_has_the_start_of_a_cold_fit(
    before, options
):
    old = PHCLE(**PLAIN).fit(before).embedding_
    warm = PHCLE(**options).fit(table(), warm_start=old).embedding_
    cold = PHCLE(**options).fit(table()).embedding_
    assert np.array_equal(warm.vectors, cold.vectors)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=8)
def test_any_masks_lead_to_a_stationary_point(seed, family):
    """Random contexts lose labels; the refit never goes up, and a second one stays.

    It need not end where a cold fit does: in seed 552059 with a family its gap is 5.4 %
    larger, at a point where fits from random starts end as well.
    """
    rng = np.random.default_rng(seed)
    now = random_contexts(rng, 8)
    if family:
        now += family_contexts(8)[:1]
    some = [f"label{i}" for i in range(8) if rng.random() < 0.7] or ["label0"]
    options = {"completion": "none", "choose": False, "dim": 3, "dtype": "float64"}
    kept = [c for c in now if not set(some).isdisjoint(c.observed_labels)]
    old = PHCLE(**options).fit(kept, labels=some).embedding_
    exact = {**options, "tol": 1e-6, "max_iter": 300}
    warm = PHCLE(**exact).fit(now, warm_start=old)
    assert all(
        b <= a * (1 + 1e-9) for a, b in pairwise(x["gap"] for x in warm.history_)
    )
    again = PHCLE(**exact).fit(now, warm_start=warm.embedding_)
    assert gap(again) == pytest.approx(gap(warm), rel=1e-4)


def test_settings_are_taken_while_little_changes(earlier):
    warm = PHCLE().fit(table(), warm_start=earlier.embedding_)
    assert warm.chosen_.reason.startswith("Taken from the earlier embedding")
    assert warm.chosen_.setting.shrinkage == earlier.chosen_.setting.shrinkage


def test_settings_are_chosen_anew_for_other_contexts_or_if_that_is_asked_for(earlier):
    warm = PHCLE().fit(table()[1:], warm_start=earlier.embedding_)
    assert warm.chosen_.reason.startswith("The best of")
    again = PHCLE().fit(table(), warm_start=earlier.embedding_, choose_again=True)
    assert again.chosen_.reason.startswith("The best of")


@pytest.mark.parametrize("chosen", [7, {"setting": 3}, {"setting": {"dim": "x"}}])
def test_settings_that_a_file_garbled_are_chosen_anew(earlier, chosen):
    before = replace(earlier.embedding_, origin={"chosen": chosen})
    model = PHCLE(completion="none", max_iter=2).fit(table(), warm_start=before)
    assert model.chosen_.reason != "Taken from the earlier embedding."


def test_a_stopped_refit_can_be_resumed(tmp_path, earlier):
    class Stop(KeyboardInterrupt):
        pass

    def stop(state):
        raise Stop

    file = tmp_path / "fit.ckpt"
    options = {"tol": 1e-5}
    whole = PHCLE(**options).fit(table(), warm_start=earlier.embedding_)
    with pytest.raises(Stop):
        PHCLE(**options).fit(
            table(), warm_start=earlier.embedding_, checkpoint=file, on_step=stop
        )
    resumed = PHCLE(**options).fit(
        table(), warm_start=earlier.embedding_, checkpoint=file, resume=True
    )
    assert np.array_equal(resumed.embedding_.vectors, whole.embedding_.vectors)
    assert resumed.chosen_.reason == whole.chosen_.reason


@pytest.mark.parametrize(
    ("start", "error", "remedy"),
    [
        (3, OptionError, "LabelEmbedding or the path"),
        (LabelEmbedding(("label1",), np.ones((1, 2))), ContextError, "no contexts"),
        ("names", ContextError, "name them alike"),
        ("labels", ContextError, "leave warm_start out"),
    ],
)
def test_a_start_that_cannot_serve_is_refused_with_a_remedy(start, error, remedy):
    if start == "names":
        tags = DescriptiveContext.from_tags({"label1": ["x"], "label2": ["y"]})
        start = PHCLE(**PLAIN).fit(tags).embedding_
    if start == "labels":
        tags = {"a": ["x"], "b": ["y"]}
        context = DescriptiveContext.from_tags(tags, name="table")
        start = PHCLE(**PLAIN).fit(context).embedding_
    with pytest.raises(error, match=remedy):
        PHCLE(**PLAIN).fit(table(), warm_start=start)
    with pytest.raises(OptionError, match="init='random'"):
        PHCLE(**PLAIN, init="random").fit(table(), warm_start=start)
