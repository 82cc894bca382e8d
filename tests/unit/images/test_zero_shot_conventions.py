"""scikit-learn's own estimator checks, as far as zero-shot learning allows them.

The checks name classes by numbers and compare answers as numbers, while our labels are
text: a thin subclass translates. Every class the checks use has a vector, and the
candidates are all labels, so that seen classes can be answered.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from phcle import LabelEmbedding
from phcle.images import ESZSL, SJE, ConSE

LABELS = (*map(str, range(-2, 11)), "one", "two", "three")
EMBEDDING = LabelEmbedding(LABELS, np.eye(len(LABELS)))
# The table from label to row is made at first use; one check would see that as change.
assert "one" in EMBEDDING

LEFT_OUT = {
    "check_classifiers_classes": "scores have a column per candidate, not per class",
    "check_classifiers_train": "scores of two classes are two columns, not one",
    "check_array_api_input": "needs SCIPY_ARRAY_API to be set",
}


class Numbered:
    """Takes numbers for labels, and answers with numbers then."""

    def fit(self, X, y):
        if isinstance(y, np.ndarray) and y.dtype.kind == "f":
            whole = np.isfinite(y).all() and (y == np.round(y)).all()
            y = y.astype(int) if whole else y
        self.is_numbered_ = np.asarray(y).dtype.kind in "iu"
        return super().fit(X, y)

    def predict(self, X):
        answers = super().predict(X)
        return answers.astype(int) if self.is_numbered_ else answers


class NumberedESZSL(Numbered, ESZSL):
    __init__ = ESZSL.__init__


class NumberedConSE(Numbered, ConSE):
    __init__ = ConSE.__init__


class NumberedSJE(Numbered, SJE):
    __init__ = SJE.__init__


@parametrize_with_checks(
    [
        kind(EMBEDDING, candidates="all")
        for kind in (NumberedESZSL, NumberedConSE, NumberedSJE)
    ]
)
def test_scikit_learn_conventions_hold(estimator, check):
    reason = LEFT_OUT.get(check.func.__name__)
    if reason:
        pytest.skip(f"scikit-learn's check: {reason}")
    check(estimator)
