"""The exact search: many queries, ties, subsets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from phcle import LabelEmbedding
from phcle.errors import ContextError, UnknownLabelError


@pytest.fixture
def embedding(rng):
    """Forty labels of which every vector occurs twice."""
    vectors = np.repeat(rng.normal(size=(20, 5)), 2, axis=0)
    return LabelEmbedding(tuple(f"x{i}" for i in range(40)), vectors)


def nearest_to(embedding, queries, k):
    """What `nearest` gives for each query, asked together."""
    found = embedding.neighbours(queries, k)
    return [[(x.label, x.similarity) for x in own.neighbours] for own in found]


@pytest.fixture(params=["float64", "float32", "float16"])
def of_any_precision(request, embedding):
    return LabelEmbedding(embedding.labels, embedding.vectors.astype(request.param))


def test_many_queries_equal_a_full_sort_and_ties_keep_label_order(of_any_precision):
    embedding = of_any_precision
    cosine = cosine_similarity(embedding.vectors.astype(np.float64)).round(5)
    found = nearest_to(embedding, embedding.labels, k=6)
    for i, own in enumerate(found):
        order = np.lexsort((np.arange(40), -cosine[i]))
        expected = [embedding.labels[j] for j in order if j != i][:6]
        assert [label for label, _ in own] == expected
        assert [s for _, s in own] == sorted((s for _, s in own), reverse=True)


def test_an_answer_does_not_depend_on_what_else_is_asked(of_any_precision):
    embedding = of_any_precision
    alone = [embedding.nearest(label, k=7) for label in embedding.labels]
    assert nearest_to(embedding, embedding.labels, k=7) == alone


def test_labels_and_vectors_may_be_mixed(embedding):
    found = nearest_to(embedding, ["x4", embedding["x4"]], k=2)
    assert found[0][0][0] == "x5"
    assert [label for label, _ in found[1]] == ["x4", "x5"]
    rows = nearest_to(embedding, embedding.vectors[:3], k=1)
    assert [own[0][0] for own in rows] == ["x0", "x0", "x2"]


def test_answers_come_from_among_the_given_labels_only(embedding):
    subset = ["x9", "x3", "x0", "x3"]
    everyone = embedding.nearest("x0", k=39)
    expected = [near for near in everyone if near[0] in subset]
    assert embedding.nearest("x0", k=10, among=subset) == expected
    assert len(embedding.nearest(embedding["x0"], k=10, among=subset)) == 3
    assert embedding.nearest("x0", among=["x0"]) == []
    assert embedding.neighbours([]) == []
    with pytest.raises(UnknownLabelError, match="'y3'"):
        embedding.nearest("x0", among=["y3"])


def test_one_text_is_no_list(embedding):
    for call in (
        lambda: embedding.neighbours("x0"),
        lambda: embedding.nearest("x0", among="x1"),
    ):
        with pytest.raises(ContextError, match="a list of labels"):
            call()


def test_a_zero_vector_is_like_nothing(rng):
    vectors = np.vstack([np.zeros(3), rng.normal(size=(4, 3))])
    embedding = LabelEmbedding(tuple("abcde"), vectors)
    assert [s for _, s in embedding.nearest("a", k=4)] == [0.0] * 4


@pytest.mark.parametrize("scale", [1e20, 1e-25, 1e-40, 1e38])
def test_cosines_do_not_depend_on_the_scale(rng, scale):
    vectors = rng.uniform(-1, 1, size=(6, 3)).astype(np.float32)
    vectors[:, 0] = 1
    scaled = vectors * np.array([[scale], [1]] * 3, dtype=np.float32)
    tolerance = 1e-4 if scale == 1e-40 else 1e-6  # such numbers have fewer digits
    found = LabelEmbedding(tuple("abcdef"), scaled).nearest("a", k=5)
    expected = LabelEmbedding(tuple("abcdef"), vectors).nearest("a", k=5)
    assert [label for label, _ in found] == [label for label, _ in expected]
    np.testing.assert_allclose(
        [s for _, s in found], [s for _, s in expected], atol=tolerance
    )
