"""Splits of classes, scikit-learn's search over them, and measures of answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score
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


LABELS = ("cat", "dog", "elk", "fox")
pairs = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40
)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:A single label was found")
@given(pairs)
def test_mean_class_accuracy_is_balanced_accuracy(answers):
    truth, given = zip(*answers, strict=True)
    assert mean_class_accuracy(truth, given) == pytest.approx(
        balanced_accuracy_score(truth, given)
    )


@given(pairs)
def test_generalised_accuracy_joins_its_two_halves(answers):
    truth, given = map(np.array, zip(*answers, strict=True))
    new = np.isin(truth, ["elk", "fox"])
    if new.all() or not new.any():
        with pytest.raises(OptionError, match="both seen and unseen classes"):
            generalised_accuracy(truth, given, unseen=["elk", "fox"])
        return
    found = generalised_accuracy(truth, given, unseen=["elk", "fox"])
    assert found.seen == pytest.approx(mean_class_accuracy(truth[~new], given[~new]))
    assert found.unseen == pytest.approx(mean_class_accuracy(truth[new], given[new]))
    if found.seen and found.unseen:
        assert 2 / found.harmonic == pytest.approx(1 / found.seen + 1 / found.unseen)
    else:
        assert found.harmonic == 0
