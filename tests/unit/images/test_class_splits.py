"""Splits of classes, scikit-learn's search over them, and measures of answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit

from phcle.errors import OptionError
from phcle.images import (
    ESZSL,
    class_splits,
    generalised_accuracy,
    mean_class_accuracy,
    unseen_class_accuracy,
)


@given(st.integers(4, 60), st.integers(1, 4), st.floats(0.05, 0.9), st.integers(0, 9))
def test_every_class_is_seen_or_unseen_and_both_sides_have_two(
    n, n_splits, share, seed
):
    classes = [f"class{i}" for i in range(n)]
    found = list(class_splits(classes, n_splits, share, seed))
    assert len(found) == n_splits
    for seen, unseen in found:
        assert sorted([*seen, *unseen]) == sorted(classes)
        assert min(len(seen), len(unseen)) >= 2
    assert list(class_splits(classes[::-1], n_splits, share, seed)) == found


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (1.0, "a share between 0 and 1 .* Got 1.0"),
        (3, "a number from 1 to 2 .* Got 3"),
        (0, "Got 0"),
        (float("nan"), "Got nan"),
    ],
)
def test_what_cannot_be_split_is_refused(size, message):
    with pytest.raises(OptionError, match=message):
        list(class_splits("abcd", 1, size))


def test_too_few_classes_are_told():
    with pytest.raises(OptionError, match="y has 3 classes, too few"):
        list(class_splits("abc", 1, 0.2))


def test_scikit_learn_searches_over_classes_with_our_score(planted_problem):
    embedding, task = planted_problem
    X, y = task.images(task.seen)
    search = GridSearchCV(
        ESZSL(embedding),
        {"class_ridge": [0.01, 100.0], "feature_ridge": [1.0, 1000.0]},
        cv=GroupShuffleSplit(3, test_size=0.2, random_state=5),
        scoring=unseen_class_accuracy,
    ).fit(X, y, groups=y)
    scores = search.cv_results_["mean_test_score"]
    assert scores.max() == search.best_score_ > scores.min()
    unseen_X, unseen_y = task.images(task.unseen)
    assert unseen_class_accuracy(search.best_estimator_, unseen_X, unseen_y) > 0.5
    with pytest.raises(OptionError, match="'elk' of y is not a candidate"):
        unseen_class_accuracy(search.best_estimator_, X[:1], np.array(["elk"]))


def test_generalised_accuracy_joins_the_means_of_seen_and_unseen_classes():
    truth = ["cat", "cat", "dog", "elk", "fox", "fox"]
    answers = ["cat", "dog", "dog", "elk", "fox", "cat"]
    found = generalised_accuracy(truth, answers, unseen=["elk", "fox"])
    assert found == pytest.approx((0.75, 0.75, 0.75))
    assert mean_class_accuracy(truth, answers) == pytest.approx(0.75)
    assert generalised_accuracy(["a", "b"], ["b", "a"], unseen=["b"]).harmonic == 0
    with pytest.raises(OptionError, match="both seen and unseen classes"):
        generalised_accuracy(["cat"], ["cat"], unseen=["elk"])
