from __future__ import annotations

import numpy as np
import pytest

from phcle.errors import OptionError
from phcle.images import ZeroShotTask, hold_out, resplits, validation_splits

LABELS = [f"c{i}" for i in range(12)]


def make(**changes):
    y = np.repeat(LABELS, 5)
    options = {
        "X": np.arange(60.0)[:, None],
        "y": y,
        "seen": LABELS[:8],
        "unseen": LABELS[8:11],
    }
    return ZeroShotTask("toy", **{**options, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seen": ["c0", "c0", "c1"]}, "every label must occur once"),
        ({"unseen": ["c7", "c8"]}, "both seen and unseen: 'c7'"),
        ({"unseen": ["c8", "elk"]}, "no images of the classes 'elk'"),
        ({"seen": ["c0"]}, "at least 2 seen classes"),
        ({"unseen": []}, "an unseen one"),
        ({"validation": ["c8"]}, "'c8' are not among them"),
        ({"validation": LABELS[:7]}, "leave 2 seen classes"),
        ({"X": np.zeros((3, 2))}, "inconsistent numbers"),
        ({"X": np.full((60, 1), np.nan)}, "contains NaN"),
    ],
)
def test_tasks_that_cannot_be_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        make(**changes)


def test_resplits_deal_the_same_classes_out_again_and_repeat_by_seed():
    task = make(validation=["c1"])
    splits = resplits(task, 4, 5, seed=1)
    assert [split.split for split in splits] == [0, 1, 2, 3]
    for split in splits:
        assert len(split.unseen) == 5
        assert {*split.seen, *split.unseen} == {*task.seen, *task.unseen}
        assert split.validation is None
        assert split.X is task.X
    assert len({split.unseen for split in splits}) == 4
    again = resplits(task, 4, 5, seed=1)
    assert [split.unseen for split in splits] == [split.unseen for split in again]
    for n_unseen in (0, 10):
        with pytest.raises(OptionError, match=r"11 classes, .* from 1 to 9.*Got"):
            resplits(task, 1, n_unseen, seed=0)


def test_validation_splits_never_touch_unseen_classes():
    task = make()
    for split in validation_splits(task, 5, 0.3, seed=2):
        assert {*split.seen, *split.unseen} == set(task.seen)
        assert len(split.unseen) == 2
    with pytest.raises(OptionError, match=r"from 1 to 6 .* Got 8"):
        validation_splits(task, 1, 1.0)
    (small,) = validation_splits(task, 1, 0.01)
    assert len(small.unseen) == 2  # with one class every answer is right
    with pytest.raises(OptionError, match="'toy', seen has 3 classes"):
        validation_splits(make(seen=LABELS[:3]))


def test_held_out_images_are_never_learned_from():
    task, X, y = hold_out(make(), share=0.4)
    assert np.unique(y, return_counts=True)[1].tolist() == [2] * 8
    assert set(y) == set(task.seen)
    assert not {*X[:, 0]} & {*task.images(task.seen)[0][:, 0]}
    for split in validation_splits(task):
        assert not {*X[:, 0]} & {*split.images((*split.seen, *split.unseen))[0][:, 0]}
