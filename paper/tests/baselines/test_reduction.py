"""The uncentred SVD that every baseline shares."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import LabelEmbedding
from phcle.errors import OptionError
from phcle_paper.baselines import reduce_embedding
from phcle_paper.baselines.reduction import reduce_dimensions, with_spectrum


def test_all_dimensions_of_the_rank_keep_every_inner_product(rng):
    values = rng.normal(size=(5, 9)) + 2
    reduced = reduce_dimensions(values, 5)
    assert reduced.shape == (5, 5)
    np.testing.assert_allclose(reduced @ reduced.T, values @ values.T, atol=1e-10)


def test_fewer_dimensions_are_the_best_approximation_without_centring(rng):
    values = rng.normal(size=(8, 6)) + 3
    reduced = reduce_dimensions(values, 2)
    strength = np.linalg.svd(values, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(reduced, axis=0), strength[:2])


def test_sparse_values_reduce_like_dense_ones(rng):
    values = rng.normal(size=(30, 20)) * (rng.random((30, 20)) < 0.3)
    np.testing.assert_allclose(
        reduce_dimensions(sp.csr_array(values), 4),
        reduce_dimensions(values, 4),
        atol=1e-3,
    )


def test_any_embedding_can_be_reduced(rng):
    full = LabelEmbedding(("a", "b", "c"), rng.normal(size=(3, 5)), {"a": "Alpha"})
    small = reduce_embedding(full, 2)
    assert (small.labels, small.dim, small.options["dim"]) == (full.labels, 2, 2)
    assert small.resolve("alpha") == "a"


@pytest.mark.parametrize("dim", [0, -1, 2.5, "2", True])
def test_a_dimension_must_be_a_whole_number(dim):
    with pytest.raises(OptionError, match="whole number"):
        reduce_dimensions(np.eye(3), dim)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_singular_values_are_taken_to_the_power(rng, power):
    embedding = LabelEmbedding(tuple("abcdefgh"), rng.normal(size=(8, 3)))
    found = with_spectrum(embedding, power).vectors
    before, after = (
        np.linalg.svd(x, compute_uv=False) for x in (embedding.vectors, found)
    )
    np.testing.assert_allclose(after, before[0] * (before / before[0]) ** power)
    if power == 1.0:
        np.testing.assert_allclose(found, embedding.vectors)
    with pytest.raises(OptionError, match="power must be 0 or more"):
        with_spectrum(embedding, power - 3)
