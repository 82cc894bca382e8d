"""Class splits in scikit-learn's own tools give what the evaluation gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from phcle.errors import OptionError, PhcleWarning
from phcle.images import (
    ESZSL,
    Search,
    UnseenClassSplit,
    evaluate,
    unseen_class_accuracy,
)


@settings(deadline=None)  # the first draw imports things
@given(
    st.lists(st.integers(0, 12), min_size=4, max_size=60).filter(
        lambda y: len(set(y)) >= 4
    ),
    st.integers(1, 4),
    st.floats(0.05, 0.9),
    st.integers(0, 9),
)
def test_test_classes_never_occur_in_training(y, n_splits, share, seed):
    y = np.array(y)
    splitter = UnseenClassSplit(n_splits, share=share, random_state=seed)
    found = list(splitter.split(np.zeros((len(y), 1)), y))
    assert len(found) == n_splits == splitter.get_n_splits()
    for train, test in found:
        assert not set(y[train]) & set(y[test])
        assert min(len(set(y[train])), len(set(y[test]))) >= 2
        assert sorted([*train, *test]) == list(range(len(y)))
    again = list(splitter.split(np.zeros((len(y), 1)), y))
    for one, two in zip(found, again, strict=True):
        np.testing.assert_array_equal(one[1], two[1])


def test_a_grid_search_chooses_what_our_own_selection_chooses(planted_problem):
    embedding, task = planted_problem
    X, y = task.images(task.seen)
    grid = {"class_ridge": [0.01, 1.0, 100.0], "feature_ridge": [1.0, 1000.0]}
    search = GridSearchCV(
        ESZSL(embedding),
        grid,
        cv=UnseenClassSplit(3, share=0.2, random_state=5),
        scoring=unseen_class_accuracy,
    ).fit(X, y)
    own = evaluate(
        {"": embedding}, {"": Search(ESZSL, grid)}, [task], seeds=[5], n_validation=3
    ).iloc[0]
    assert search.best_score_ == pytest.approx(own["validation_accuracy"])
    assert search.best_params_ == own["parameters"]
    unseen_X, unseen_y = task.images(task.unseen)
    assert unseen_class_accuracy(search.best_estimator_, unseen_X, unseen_y) > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_splits": 0}, "n_splits must be a whole number, 1 or more. Got 0"),
        ({"n_splits": 2.5}, "Got 2.5"),
        ({"share": 1.0}, "share must be between 0 and 1. Got 1.0"),
        ({"n_unseen": 3}, "n_unseen must be a whole number from 1 to 2 .* Got 3"),
        ({"n_unseen": True}, "Got True"),
    ],
)
def test_what_cannot_be_split_is_refused(options, message):
    y = list("aabbccdd")
    with pytest.raises(OptionError, match=message):
        list(UnseenClassSplit(**options).split(y, y))


def test_too_few_classes_no_y_and_unused_groups_are_told():
    with pytest.raises(OptionError, match="y has 3 classes, too few"):
        list(UnseenClassSplit().split(None, list("aabbcc")))
    with pytest.raises(OptionError, match="give y"):
        list(UnseenClassSplit().split(np.zeros((3, 1))))
    with pytest.warns(PhcleWarning, match="groups are not used"):
        list(UnseenClassSplit().split(None, list("abcd"), groups=[1, 1, 2, 2]))


def test_a_class_that_can_never_be_answered_is_named(planted_problem):
    embedding, task = planted_problem
    model = ESZSL(embedding, candidates=task.unseen).fit(*task.images(task.seen))
    X, y = task.images(task.seen[:1])
    with pytest.raises(OptionError, match=f"class '{task.seen[0]}' of y is no"):
        unseen_class_accuracy(model, X, y)
