"""ALE and WLE: values of a descriptive context as vectors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from phcle import DescriptiveContext
from phcle.errors import ContextError
from phcle_paper.baselines import attribute_embedding, word_vector_embedding


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


def test_rows_are_centred_first_and_then_normalised(animals):
    centred = attribute_embedding(animals, center=True).vectors
    np.testing.assert_allclose(centred, [[-1, 2], [1, -2], [0, 0]])
    both = attribute_embedding(animals, center=True, normalize=True).vectors
    root = np.sqrt(5)
    np.testing.assert_allclose(
        both, [[-1 / root, 2 / root], [1 / root, -2 / root], [0, 0]]
    )


def test_an_unknown_value_is_named_by_label_and_column(animals):
    values = animals.values.copy()
    values[1, 1] = values[2, 0] = np.nan
    patchy = DescriptiveContext("traits", animals.labels, animals.columns, values)
    with pytest.raises(ContextError, match=r"'seal' for column 'legs'.*2 of 3"):
        attribute_embedding(patchy)
    assert attribute_embedding(patchy, labels=["cat"]).labels == ("cat",)


def test_a_label_that_is_not_described_is_named(animals):
    with pytest.raises(ContextError, match=r"does not describe 'sea'.*'seal'"):
        attribute_embedding(animals, labels=["cat", "sea"])


def test_word_vectors_keep_their_values_or_get_length_one():
    words = DescriptiveContext.from_vectors({"cat": [3, 4], "dog": [0, 2]})
    np.testing.assert_array_equal(word_vector_embedding(words)["cat"], [3, 4])
    unit = word_vector_embedding(words, normalize=True)
    np.testing.assert_allclose(unit["cat"], [0.6, 0.8])
    assert unit.options["method"] == "WLE"
