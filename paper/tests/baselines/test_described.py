"""ALE and WLE: values of a descriptive context as vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import loadmat

from phcle import DescriptiveContext, RelationalContext, load
from phcle.errors import ContextError
from phcle_paper.baselines import attribute_embedding, word_vector_embedding

AWA = Path(__file__).parents[3].parent / "shared/data/awa/att_splits_with_wv.mat"


@pytest.fixture
def animals():
    frame = pd.DataFrame(
        {"fur": [1.0, 3.0, 2.0], "legs": [4.0, 0.0, 2.0]}, index=["cat", "seal", "ape"]
    )
    return DescriptiveContext.from_frame(frame, standardize=False)


def test_attribute_vectors_are_the_values_as_given(animals):
    embedding = attribute_embedding(animals)
    assert embedding.labels == ("cat", "seal", "ape")
    np.testing.assert_array_equal(embedding.vectors, [[1, 4], [3, 0], [2, 2]])
    assert embedding.options["method"] == "ALE"
    assert embedding.options["context"] == "attributes"


def test_labels_choose_and_order_the_rows(animals):
    embedding = attribute_embedding(animals, labels=["ape", "cat"])
    assert embedding.labels == ("ape", "cat")
    np.testing.assert_array_equal(embedding.vectors, [[2, 2], [1, 4]])


def test_rows_are_centred_first_and_then_normalised(animals):
    centred = attribute_embedding(animals, center=True).vectors
    np.testing.assert_allclose(centred, [[-1, 2], [1, -2], [0, 0]])
    both = attribute_embedding(animals, center=True, normalize=True).vectors
    root = np.sqrt(5)
    np.testing.assert_allclose(
        both, [[-1 / root, 2 / root], [1 / root, -2 / root], [0, 0]]
    )


def test_a_reduced_embedding_has_the_wanted_dimensions(animals):
    assert attribute_embedding(animals, dim=1).dim == 1


def test_an_unknown_value_is_named_by_label_and_column(animals):
    values = animals.values.copy()
    values[1, 1] = values[2, 0] = np.nan
    patchy = DescriptiveContext("traits", animals.labels, animals.columns, values)
    with pytest.raises(ContextError, match=r"'seal' for column 'legs'.*2 of 3"):
        attribute_embedding(patchy)
    assert attribute_embedding(patchy, labels=["cat"]).labels == ("cat",)


def test_an_unknown_sparse_value_is_named_too():
    observed = sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]))
    values = sp.csr_array(np.array([[1.0, 0.0], [0.0, 0.0]]))
    tags = DescriptiveContext("tags", ("a", "b"), ("x", "y"), values, observed)
    with pytest.raises(ContextError, match="'b' for column 'y'"):
        attribute_embedding(tags)


def test_a_label_that_is_not_described_is_named(animals):
    with pytest.raises(ContextError, match=r"does not describe 'sea'.*'seal'"):
        attribute_embedding(animals, labels=["cat", "sea"])


def test_a_relational_context_is_refused():
    with pytest.raises(ContextError, match="DescriptiveContext is needed"):
        attribute_embedding(RelationalContext.from_edges([("a", "b")]))


def test_tags_give_zeros_and_ones():
    tags = DescriptiveContext.from_tags({"cat": ["fur"], "fish": ["fins", "wet"]})
    embedding = attribute_embedding(tags, center=False)
    np.testing.assert_array_equal(embedding.vectors, [[0, 1, 0], [1, 0, 1]])
    centred = attribute_embedding(tags, center=True).vectors
    np.testing.assert_allclose(centred.sum(axis=0), 0)


def test_word_vectors_keep_their_values_or_get_length_one():
    words = DescriptiveContext.from_vectors({"cat": [3, 4], "dog": [0, 2]})
    np.testing.assert_array_equal(word_vector_embedding(words)["cat"], [3, 4])
    unit = word_vector_embedding(words, normalize=True)
    np.testing.assert_allclose(unit["cat"], [0.6, 0.8])
    assert unit.options["method"] == "WLE"


def test_sentence_vectors_come_through_an_encoder():
    def encode(texts):
        return np.array([[len(text), text.count("a")] for text in texts])

    texts = {"cat": "a small felid", "dog": "barks"}
    context = DescriptiveContext.from_texts(texts, encoder=encode)
    np.testing.assert_array_equal(
        word_vector_embedding(context).vectors, [[13, 2], [5, 1]]
    )


def test_a_baseline_can_be_saved_and_loaded(animals, tmp_path):
    embedding = attribute_embedding(animals, names={"ape": "great ape"})
    embedding.save(tmp_path / "ale.phcle")
    again = load(tmp_path / "ale.phcle")
    np.testing.assert_array_equal(again.vectors, embedding.vectors)
    assert (again.options, again.names) == (embedding.options, embedding.names)


@pytest.mark.skipif(not AWA.exists(), reason="shared/data is not beside the checkout")
def test_word_vectors_of_animals_put_relatives_together():
    data = loadmat(AWA)
    classes = [str(cell[0]) for cell in data["allclasses_names"].ravel()]
    vectors = dict(zip(classes, data["wv"].T, strict=True))
    embedding = word_vector_embedding(DescriptiveContext.from_vectors(vectors))
    assert (len(embedding), embedding.dim) == (50, 1000)
    near = [label for label, _ in embedding.nearest("chimpanzee", k=3)]
    assert "gorilla" in near
