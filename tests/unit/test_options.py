"""Options from NumPy are plain numbers once they are checked, and can be saved."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pytest

from phcle import PHCLE, LabelEmbedding, RelationalContext, load
from phcle.errors import ContextError, NumericalError, OptionError, PhcleWarning
from phcle.options import check_options

TREE = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]

NUMPY = {
    "dim": np.int64(2),
    "ridge": np.float32(1),
    "negatives": np.array(5.0),
    "random_state": np.uint8(3),
    "max_iter": np.int32(3),
    "choose": np.bool_(False),
    "weights": {"hierarchy": np.float32(1)},
}


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
        {"dim": 0},
        {"dim": 2.5},
        {"dim": 2.0},
        {"ridge": -1},
        {"ridge": True},
        {"ridge": np.array([1.0, 2.0])},
        {"ridge": np.nan},
        {"completion": True},
    ],
)
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(OptionError, match="must be"):
        check_options(wrong)


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"ridge": 10**400}, "from 1e-100 to 1e+100"),
        ({"ridge": 10**5000}, "Got a number of 16,610 bits instead"),
        ({"dim": 10**30}, "from 1 to 1,000,000"),
        ({"random_state": 2**63}, "from 0 to 9,223,372,036,854,775,807"),
        ({"negatives": 5e-324}, "from 1e-100 to 1e+100. Got 5e-324"),
        ({"negatives": 1e308}, "from 1e-100 to 1e+100"),
        ({"step_size": np.float64(1e-310)}, "from 1e-100 to 1e+100"),
        ({"tol": 1e300}, "from 0 to 1e+100"),
    ],
)
def test_huge_and_tiny_numbers_are_refused_in_one_short_line(wrong, shown):
    model = PHCLE(**wrong)
    with pytest.raises(OptionError) as raised:
        model.fit(RelationalContext.from_hierarchy(TREE))
    message = str(raised.value)
    assert shown in message
    assert repr(next(iter(wrong))) in message
    assert len(message) < 200


@pytest.mark.parametrize("weight", [10**400, 1e308, "1", None])
def test_a_weight_that_is_no_amount_is_refused_by_its_context(weight):
    model = PHCLE(dim=2, weights={"hierarchy": weight})
    with pytest.raises(OptionError, match="weight of context 'hierarchy' must be"):
        model.fit(RelationalContext.from_hierarchy(TREE))


@pytest.mark.parametrize("negatives", [1e-100, 1e-30, 1e30, 1e100])
def test_any_allowed_number_of_negatives_fits_or_says_what_is_wrong(negatives):
    model = PHCLE(negatives=negatives, dim=2, max_iter=3, tol=0)
    with warnings.catch_warnings(), suppress(NumericalError):
        warnings.simplefilter("ignore", PhcleWarning)
        model.fit(RelationalContext.from_hierarchy(TREE))
        assert np.isfinite(model.embedding_.vectors).all()


@pytest.mark.parametrize("nothing", [None, 3, object()])
def test_what_holds_no_contexts_is_refused_by_its_type(nothing):
    with pytest.raises(ContextError, match=f"Got {type(nothing).__name__} instead"):
        PHCLE().fit(nothing)


@pytest.mark.parametrize("k", ["3", None, 2.5, [3], np.float64(2)])
def test_a_number_of_neighbours_must_be_whole(k):
    pets = LabelEmbedding(("cat", "dog", "lion"), np.eye(3))
    for ask in (pets.nearest, pets.describe):
        with pytest.raises(ContextError, match="k must be a whole number"):
            ask("cat", k=k)
    assert len(pets.nearest("cat", k=np.int32(2))) == 2
