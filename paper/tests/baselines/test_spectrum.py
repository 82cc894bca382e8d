from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, LabelEmbedding, RelationalContext
from phcle.errors import OptionError
from phcle_paper.baselines.reduction import with_spectrum

VECTORS = np.random.default_rng(0).normal(size=(8, 3))
LABELS = tuple("abcdefgh")


def test_the_power_one_changes_nothing():
    embedding = LabelEmbedding(LABELS, VECTORS)
    np.testing.assert_allclose(with_spectrum(embedding, 1.0).vectors, VECTORS)


@pytest.mark.parametrize("power", [0.0, 0.5, 2.0])
def test_singular_values_are_taken_to_the_power(power):
    found = with_spectrum(LabelEmbedding(LABELS, VECTORS), power).vectors
    before, after = (np.linalg.svd(x, compute_uv=False) for x in (VECTORS, found))
    np.testing.assert_allclose(after, before[0] * (before / before[0]) ** power)


def test_directions_of_no_strength_stay_so():
    flat = np.column_stack([VECTORS, np.zeros(8), VECTORS[:, 0]])
    found = with_spectrum(LabelEmbedding(LABELS, flat), 0.0).vectors
    assert np.linalg.matrix_rank(found) == 3


def test_contexts_that_no_longer_fit_are_left_out():
    tree = RelationalContext.from_hierarchy([("a", "x"), ("b", "x")])
    embedding = PHCLE(dim=2).fit(tree).embedding_
    assert with_spectrum(embedding, 0.5).contexts == ()


@pytest.mark.parametrize("power", [-1.0, np.nan, np.inf])
def test_an_impossible_power_is_refused(power):
    with pytest.raises(OptionError, match="power must be 0 or more"):
        with_spectrum(LabelEmbedding(LABELS, VECTORS), power)
