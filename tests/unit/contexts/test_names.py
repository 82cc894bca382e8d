"""Labels may come as one array of texts or bytes."""

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
    assert pets == PETS
    ape = DescriptiveContext.from_tags({"cat": ["tail"], "ape": ["arms"]})
    joined = align([ape, counts]).labels
    assert joined == ("cat", "ape", "dog", "Käfer", "wolf")
    assert counts.rows_for(joined).toarray().sum(axis=1).tolist() == [3, 0, 3, 3, 3]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b", "a "], "every label must occur once, but 'a'"),
        (["a", " "], "position 2: the label is empty"),
        ([b"\xff"], "names must be UTF-8"),
        ([["a"]], "must be text"),
    ],
)
def test_arrays_that_are_no_names_are_refused(names, message):
    with pytest.raises(ContextError, match=message):
        as_labels(np.array(names, dtype="S"), "pets")
