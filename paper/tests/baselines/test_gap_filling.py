"""CNC and SoftImpute for labels that lack a part."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.errors import ContextError, OptionError
from phcle_paper.baselines import concatenated_embedding, soft_impute_embedding
from phcle_paper.baselines.soft_impute import soft_impute


def embed(values, labels):
    return LabelEmbedding(tuple(labels), np.asarray(values, float))


@pytest.fixture
def planted(rng):
    """Two views of one plane, each known for two thirds of 60 labels."""
    labels = [f"label{i}" for i in range(60)]
    plane = rng.normal(size=(60, 2))
    views = [plane @ rng.normal(size=(2, d)) for d in (5, 4)]
    known = [labels[:40], labels[20:]]
    parts = [
        embed([view[labels.index(x)] for x in own], own)
        for view, own in zip(views, known, strict=True)
    ]
    return labels, views, parts


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, float("nan")]])
def test_weights_must_fit_the_parts(weights):
    parts = [embed(np.eye(2), "ab"), embed(np.eye(2), "ab")]
    with pytest.raises(OptionError, match="weights must be 2 numbers above 0"):
        concatenated_embedding(parts, weights=weights)


def test_a_label_that_lacks_a_part_gets_its_mean():
    one = embed([[1.0, 0.0], [0.0, 1.0]], "ab")
    two = embed([[1.0], [-1.0]], "bc")
    both = concatenated_embedding([one, two], gaps="mean")
    assert both.labels == ("a", "b", "c")
    np.testing.assert_allclose(both.vectors, [[1, 0, 0], [0, 1, 1], [0.5, 0.5, -1]])


def test_ridge_finds_a_part_that_the_other_determines(planted):
    labels, views, parts = planted
    both = concatenated_embedding(
        parts, labels=labels, normalize=False, gaps="ridge"
    ).vectors
    np.testing.assert_allclose(both, np.hstack(views), atol=0.02)


def test_soft_impute_finds_a_low_rank_matrix_with_missing_blocks(planted):
    _, views, _ = planted
    whole = np.hstack(views)
    gaps = whole.copy()
    gaps[40:, :5] = np.nan
    gaps[:20, 5:] = np.nan
    found = soft_impute(gaps, 0.02)
    for block in (np.s_[40:, :5], np.s_[:20, 5:]):
        rest = np.linalg.norm(found[block] - whole[block])
        assert rest < 0.25 * np.linalg.norm(whole[block])


def test_soft_impute_without_gaps_lowers_the_singular_values(rng):
    for shape in ((7, 4), (4, 7)):
        values = rng.normal(size=shape)
        left, strength, right = np.linalg.svd(values, full_matrices=False)
        lowered = np.maximum(strength - 0.3 * strength[0], 0)
        np.testing.assert_allclose(
            soft_impute(values, 0.3), (left * lowered) @ right, atol=1e-12
        )


def test_wrong_options_are_refused(planted):
    _, _, parts = planted
    with pytest.raises(OptionError, match="threshold must be between 0 and 1"):
        soft_impute_embedding(parts, threshold=0)
    with pytest.raises(OptionError, match="gaps must be one of"):
        concatenated_embedding(parts, gaps="zero")
    with pytest.raises(ContextError, match="no embedding has a vector for 'elk'"):
        concatenated_embedding(parts, labels=["elk"], gaps="mean")
