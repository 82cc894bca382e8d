"""CNC and CCA: several embeddings in one."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.errors import ContextError, ContextWarning, OptionError
from phcle_paper.baselines import cca_embedding, concatenated_embedding


def embed(values, labels=None, **options):
    labels = labels or [f"label{i}" for i in range(len(values))]
    return LabelEmbedding(tuple(labels), np.asarray(values), options=options)


@pytest.fixture
def views(rng):
    """Two views that share two directions out of four and three."""
    shared = rng.normal(size=(60, 2))
    one = np.hstack([shared, rng.normal(size=(60, 2))]) @ rng.normal(size=(4, 4))
    noisy = shared + 0.5 * rng.normal(size=(60, 2))
    two = np.hstack([noisy, rng.normal(size=(60, 1))]) @ rng.normal(size=(3, 3))
    return embed(one + 5), embed(two - 1)


def test_every_part_has_the_same_energy_for_every_label():
    one, two = embed([[3.0, 4.0], [0.1, 0.0]]), embed([[7.0], [-2.0]])
    both = concatenated_embedding([one, two])
    np.testing.assert_allclose(both.vectors, [[0.6, 0.8, 1], [1, 0, -1]])


def test_rows_are_joined_by_label_and_the_rest_is_told():
    one = embed([[1.0], [2.0], [3.0]], ["a", "b", "c"])
    two = embed([[4.0], [5.0]], ["c", "b"])
    with pytest.warns(ContextWarning, match="1 labels are not in every.*'a'"):
        both = concatenated_embedding([one, two], normalize=False)
    assert both.labels == ("b", "c")
    np.testing.assert_array_equal(both.vectors, [[2, 5], [3, 4]])
    assert concatenated_embedding([one, two], labels=["c"]).labels == ("c",)


def test_a_missing_label_is_named_with_its_embedding():
    parts = [embed(np.eye(2), ["a", "b"]), embed(np.eye(2), ["a", "c"])]
    with pytest.raises(ContextError, match="embedding 2 of 2 has no vector for 'b'"):
        concatenated_embedding(parts, labels=["a", "b"])
    with pytest.raises(ContextError, match="no label is in every"):
        concatenated_embedding([embed(np.eye(1), ["a"]), embed(np.eye(1), ["b"])])
    with pytest.raises(ContextError, match="at least one"):
        concatenated_embedding([])
    with pytest.raises(ContextError, match=r"LabelEmbedding is needed\. Got ndarray"):
        concatenated_embedding([np.eye(2)])


def test_the_mean_of_projections_solves_the_eigenproblem(views, rng):
    given = [*views, embed(rng.normal(size=(60, 5)))]
    ridge, total = 0.3, 0
    for view in given:
        X = view.vectors - view.vectors.mean(axis=0)
        r = ridge * (X**2).sum() / X.shape[1]
        total = total + X @ np.linalg.solve(X.T @ X + r * np.eye(X.shape[1]), X.T)
    values, vectors = np.linalg.eigh(total)
    result = cca_embedding(given, dim=4, ridge=ridge).vectors
    expected = (total @ vectors / 3)[:, ::-1][:, :4]
    np.testing.assert_allclose(np.abs(result), np.abs(expected), atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(result, axis=0), values[::-1][:4] / 3)


def test_wrong_views_and_options_are_refused(views):
    with pytest.raises(ContextError, match="Got 1 views of 60 labels"):
        cca_embedding(views[:1])
    with pytest.raises(ContextError, match="same vector for every label"):
        cca_embedding([views[0], embed(np.ones((60, 2)))])
    with pytest.raises(OptionError, match="ridge must be a number above 0"):
        cca_embedding(views, ridge=0)
