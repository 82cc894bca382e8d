from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from phcle.errors import OptionError
from phcle.images import generalised_accuracy, mean_class_accuracy

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
