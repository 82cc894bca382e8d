"""Answers among seen and unseen classes: what is taken off the scores of seen ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phcle import LabelEmbedding
from phcle.errors import OptionError
from phcle.images import (
    ESZSL,
    SJE,
    ConSE,
    Search,
    balancing_penalty,
    evaluate,
    generalised_accuracy,
    hold_out,
)

KINDS = [ESZSL, ConSE, SJE]
NAMES = np.array(["old0", "old1", "old2", "new0", "new1"])
NEW = ["new0", "new1"]


def harmonic(scores, y, penalty):
    """By the definition, from answers."""
    lowered = scores - penalty * ~np.isin(NAMES, NEW)
    answers = NAMES[lowered.argmax(axis=1)]
    return generalised_accuracy(y, answers, unseen=NEW).harmonic


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.booleans())
def test_no_other_penalty_balances_better(seed, has_ties):
    random = np.random.default_rng(seed)
    y = np.concatenate([NAMES, random.choice(NAMES, size=20)])
    scores = random.normal(size=(len(y), len(NAMES)))
    if has_ties:
        # Eighths are exact: ties stay ties when a penalty is subtracted.
        scores = (scores * 8).round() / 8
    scores[np.arange(len(y)), np.searchsorted(NAMES, y, sorter=np.argsort(NAMES))] += 1
    chosen = harmonic(scores, y, balancing_penalty(scores, y, NAMES, NEW))
    leads = scores[:, :3].max(axis=1) - scores[:, 3:].max(axis=1)
    ends = np.unique(leads.round(6))
    between = (ends[1:] + ends[:-1]) / 2
    best = max(harmonic(scores, y, p) for p in (ends[0] - 1, *between, ends[-1] + 1))
    assert chosen == pytest.approx(best)


@pytest.mark.parametrize(
    ("y", "unseen", "words"),
    [
        (["old0", "old1"], NEW, "y_true must have both seen and unseen"),
        (["old0", "new1"], ["other"], "candidates must have both seen and unseen"),
    ],
)
def test_both_kinds_of_classes_are_needed(y, unseen, words):
    with pytest.raises(OptionError, match=words):
        balancing_penalty(np.eye(2, 5), y, NAMES, unseen)


@pytest.fixture
def attached(planted_problem):
    """Vectors in which every class has an axis of its own, so that images stick to
    the classes they were learned from."""
    embedding, task = planted_problem
    own = np.eye(len(embedding))
    vectors = np.hstack([embedding.vectors, own])
    return LabelEmbedding(embedding.labels, vectors), task


def generalised(model, task, X_seen, y_seen):
    X, y = task.images(task.unseen)
    answers = model.predict(np.concatenate([X, X_seen]))
    return generalised_accuracy(
        np.concatenate([y, y_seen]), answers, unseen=task.unseen
    )


@pytest.mark.parametrize("kind", KINDS)
def test_balanced_answers_find_unseen_classes_among_all(kind, attached):
    embedding, (task, *held) = attached[0], hold_out(attached[1])
    images = task.images(task.seen)
    plain = kind(embedding, candidates="all").fit(*images)
    balanced = kind(embedding, candidates="all", seen_penalty="auto").fit(*images)
    assert plain.seen_penalty_ == 0
    assert balanced.seen_penalty_ > 0
    before, after = (generalised(x, task, *held) for x in (plain, balanced))
    assert after.unseen > before.unseen
    assert after.harmonic > before.harmonic
    X = held[0]
    taken = plain.decision_function(X) - balanced.decision_function(X)
    is_seen = np.isin(plain.candidates_, task.seen)
    np.testing.assert_allclose(taken[:, is_seen], balanced.seen_penalty_, rtol=1e-4)
    np.testing.assert_allclose(taken[:, ~is_seen], 0.0)


def test_among_unseen_classes_nothing_has_to_be_balanced(planted_problem):
    embedding, task = planted_problem
    # So few classes that none could be set aside to balance them.
    model = ESZSL(embedding, seen_penalty="auto").fit(*task.images(task.seen[:3]))
    assert model.seen_penalty_ == 0


@pytest.mark.parametrize(
    "value", ["much", None, True, float("nan"), float("inf"), [1.0]]
)
def test_a_penalty_that_is_none_is_refused(value, planted_problem):
    embedding, task = planted_problem
    model = ESZSL(embedding, candidates="all", seen_penalty=value)
    with pytest.raises(OptionError, match="seen_penalty must be a number or 'auto'"):
        model.fit(*task.images(task.seen))


def test_too_few_classes_to_set_some_aside_are_said(planted_problem):
    embedding, task = planted_problem
    model = ESZSL(embedding, candidates="all", seen_penalty="auto")
    with pytest.raises(OptionError, match=r"'auto': y has 3 classes, .*; 4 are"):
        model.fit(*task.images(task.seen[:3]))


def test_an_evaluation_balances_without_a_look_at_what_it_tests(attached):
    embedding, task = attached
    searches = {"eszsl": Search(ESZSL, {"feature_ridge": [10.0]})}
    frame = evaluate({"e": embedding}, searches, [task], generalised=True)
    assert (frame["balanced_harmonic"] > frame["harmonic"]).all()
    # Whatever the tested images look like, the same is taken off.
    learned = hold_out(task)[0]
    is_learned = np.isin(task.X[:, 0], learned.images(task.seen)[0][:, 0])
    is_tested = ~is_learned
    other = np.where(is_tested[:, None], task.X[::-1], task.X)
    again = evaluate(
        {"e": embedding}, searches, [replace(task, X=other)], generalised=True
    )
    assert (again["seen_penalty"] == frame["seen_penalty"]).all()
    assert (again["balanced_harmonic"] != frame["balanced_harmonic"]).all()
