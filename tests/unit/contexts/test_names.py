"""Labels that come as one array behave as a tuple of texts does."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import DescriptiveContext, RelationalContext
from phcle.contexts import align, as_labels
from phcle.errors import ContextError

PETS = ("dog", "cat", "Käfer", "wolf")


@pytest.fixture(params=["T", "S"])
def pets(request):
    names = PETS if request.param == "T" else [name.encode() for name in PETS]
    return as_labels(np.array(names, dtype=request.param), "pets")


def test_names_of_an_array_are_found_joined_and_cut(pets):
    counts = RelationalContext.from_matrix(1 - np.eye(4), pets)
    assert [counts.index[name] for name in PETS] == [0, 1, 2, 3]
    assert ("wolf" in pets, "wo" in pets, pets == PETS) == (True, False, True)
    assert pets[1:3] == PETS[1:3]
    ape = DescriptiveContext.from_tags({"cat": ["tail"], "ape": ["arms"]})
    joined = align([ape, counts]).labels
    assert tuple(joined) == ("cat", "ape", "dog", "Käfer", "wolf")
    assert counts.rows_for(joined).toarray().sum(axis=1).tolist() == [3, 0, 3, 3, 3]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b", "a "], "every label must occur once, but 'a'"),
        (["a", " "], "a name is empty"),
        ([b"\xff"], "names must be UTF-8"),
        ([["a"]], "one dimension. Got 2"),
    ],
)
def test_arrays_that_are_no_names_are_refused(names, message):
    with pytest.raises(ContextError, match=message):
        as_labels(np.array(names, dtype="S"), "pets")
