"""PMI + SVD by hand and on the embedded hierarchy."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import RelationalContext
from phcle.errors import ContextError, ContextWarning, OptionError
from phcle_paper.baselines import pmi_svd_embedding
from phcle_paper.baselines.pmi_svd import shifted_pmi

COUNTS = [[2, 0, 0], [0, 1, 1], [2, 1, 1]]  # rows 2, 2, 4; columns 4, 2, 2; total 8


@pytest.fixture
def context():
    return RelationalContext.from_matrix(COUNTS, [*"abc"], [*"xyz"], name="near")


def test_information_equals_that_by_hand():
    found = shifted_pmi(sp.csr_array(np.array(COUNTS, float))).toarray()
    # Expected by chance are 1, ½, ½ for a and b, and 2, 1, 1 for c.
    np.testing.assert_allclose(found, [[log(2), 0, 0], [0, log(2), log(2)], [0, 0, 0]])


def test_vectors_equal_those_by_hand(context):
    with pytest.warns(ContextWarning, match="1 of 3 labels.*zero vector: 'c'"):
        embedding = pmi_svd_embedding(context, power=1.0)
    # The rows of a and b are orthogonal, so they are the singular directions.
    expected = [[0, log(2)], [log(2) * np.sqrt(2), 0], [0, 0]]
    np.testing.assert_allclose(embedding.vectors, expected, atol=1e-12)


@pytest.mark.parametrize("power", [0, 0.5, 1])
def test_power_scales_the_directions(rng, power):
    counts = rng.integers(0, 4, (12, 9)) + np.eye(12, 9)
    context = RelationalContext.from_matrix(
        counts, [f"w{i}" for i in range(12)], [f"c{i}" for i in range(9)]
    )
    strength = np.linalg.svd(
        shifted_pmi(sp.csr_array(counts)).toarray(), compute_uv=False
    )
    vectors = pmi_svd_embedding(context, dim=4, power=power).vectors
    np.testing.assert_allclose(
        np.linalg.norm(vectors, axis=0), strength[:4] ** power, rtol=1e-3
    )


def test_labels_without_counts_are_named_or_left_out():
    counts = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    context = RelationalContext.from_matrix(counts, [*"abc"], [*"xyz"], name="near")
    assert pmi_svd_embedding(context).labels == ("a", "c")
    with pytest.raises(ContextError, match="no count for 'b'"):
        pmi_svd_embedding(context, labels=["a", "b"])


def test_wrong_options_are_refused(context):
    with pytest.raises(OptionError, match="negatives must be above 0"):
        pmi_svd_embedding(context, negatives=0)
    with pytest.raises(OptionError, match="power must be 0 or more"):
        pmi_svd_embedding(context, power=-1)
