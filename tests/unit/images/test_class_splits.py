"""Splits of classes, scikit-learn's search over them, and measures of answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit

from phcle.errors import OptionError
from phcle.images import (
    ESZSL,
    generalised_accuracy,
    mean_class_accuracy,
    unseen_class_accuracy,
)


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
