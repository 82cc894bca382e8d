"""Options from NumPy are plain numbers once they are checked, and can be saved."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phcle import PHCLE, RelationalContext, load
from phcle.errors import OptionError
from phcle.options import OPTIONS, check_options, parameters_text

TREE = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]

NUMPY = {
    "dim": np.int64(2),
    "ridge": np.float32(1),
    "negatives": np.array(5.0),
    "random_state": np.uint8(3),
    "max_iter": np.int32(3),
    "calibrate": np.bool_(False),
    "weights": {"hierarchy": np.float32(1)},
}


def test_numpy_scalars_become_numbers_of_python():
    plain = check_options(NUMPY)
    assert plain == NUMPY
    assert json.loads(json.dumps(plain)) == plain
    assert type(plain["dim"]) is int
    assert type(plain["ridge"]) is float
    assert type(plain["calibrate"]) is bool


def test_a_model_with_numpy_scalars_can_be_saved_and_cloned(tmp_path):
    from sklearn.base import clone

    model = clone(PHCLE(**NUMPY, tol=np.float64(0)))
    assert model.get_params()["dim"] == 2
    with pytest.warns(UserWarning, match="sweeps"):
        model.fit(RelationalContext.from_hierarchy(TREE))
    model.embedding_.save(tmp_path / "labels.phcle")
    assert load(tmp_path / "labels.phcle").vectors.shape[1] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"dim": np.array([1, 2])},
        {"dim": np.bool_(True)},
        {"dim": 2.0},
        {"ridge": True},
        {"ridge": np.array([1.0, 2.0])},
        {"ridge": np.nan},
        {"calibrate": 1},
    ],
)
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(OptionError, match="must be"):
        check_options(wrong)


def test_the_six_options_to_try_first_come_first():
    groups = [option.group for option in OPTIONS]
    assert groups.count("main") == 6
    assert groups == sorted(groups, key=["main", "model", "solver", "computing"].index)
    text = parameters_text("main", "model", "solver", "computing")
    for option in OPTIONS:
        assert f"{option.name} : " in text
        assert option.help.endswith(".")
        assert option.when.endswith(".")
        assert option.check(option.default)
        assert option.plain(option.default) is option.default
