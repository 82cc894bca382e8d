from __future__ import annotations

import numpy as np
import pytest

from phcle import LabelEmbedding
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


@pytest.mark.parametrize("power", [-1.0, np.nan, np.inf])
def test_an_impossible_power_is_refused(power):
    with pytest.raises(OptionError, match="power must be 0 or more"):
        with_spectrum(LabelEmbedding(LABELS, VECTORS), power)
