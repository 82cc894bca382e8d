"""DescriptiveContext: known and unknown values, from every source."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.feature_extraction.text import TfidfVectorizer

from phcle import DescriptiveContext
from phcle.errors import ContextError, PhcleError

VALUES = np.array([[1.0, np.nan], [np.nan, np.nan], [0.0, -2.0]])
ONES = sp.csr_array(np.ones((3, 2)))

patchy = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.sampled_from([np.nan, 0.0, 1.0, -2.5]),
)


def dense(values=VALUES, labels=("a", "b", "c"), columns=("x", "y"), **options):
    return DescriptiveContext("mine", tuple(labels), tuple(columns), values, **options)


def table(context):
    """Known values by (label, column)."""
    places = np.transpose(context.matrix.known_cells())
    return {
        (context.labels[i], context.columns[j]): context.matrix.row(i)[j]
        for i, j in places.tolist()
    }


# The container


SPARSE = sp.csr_array([[1.0, 0], [0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("values", "observed", "known"),
    [
        (VALUES, None, {"ax": 1.0, "cx": 0.0, "cy": -2.0}),
        (SPARSE, None, {"ax": 1.0, "ay": 0, "bx": 0, "by": 0, "cx": 0, "cy": 0}),
        (SPARSE, [[1, 0], [0, 0], [1, 1]], {"ax": 1.0, "cx": 0.0, "cy": 0.0}),
    ],
)
def test_nan_and_what_a_sparse_mask_lacks_are_unknown(values, observed, known):
    mask = None if observed is None else sp.csr_array(observed, dtype=bool)
    context = dense(values, known=mask)
    assert table(context) == {tuple(cell): value for cell, value in known.items()}
    assert context.n_observed == len(known)
    assert context.observed_labels == tuple(sorted({cell[0] for cell in known}))
    assert f"'mine': 3 labels × 2 columns, {len(known)} values known" in repr(context)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[1, 2], [np.inf, 1], [1, 1]], {}, "Got inf for label 'b' and column 'x'"),
        (
            sp.csr_array([[1, 2], [np.nan, 1], [1, 1]]),
            {},
            "Got nan for label 'b' and column 'x'",
        ),
        (VALUES, {"columns": "x"}, r"\(3, 2\), but there are 3 labels and 1 c"),
        (VALUES, {"columns": "xx"}, "the column 'x' occurs more than once"),
        (VALUES, {"labels": "aba"}, "the label 'a' occurs more than once"),
        (np.full((3, 2), np.nan), {}, "'mine' is empty: no value is known"),
        (np.empty((0, 2)), {"labels": ""}, "'mine' is empty: no value is known"),
        (np.empty((3, 0)), {"columns": ""}, "'mine' is empty: no value is known"),
        (VALUES, {"known": ONES}, "in dense values NaN is a missing value"),
        (ONES, {"known": ONES[:1]}, r"known has shape \(1, 2\), values"),
        (ONES, {"known": sp.eye_array(3, 2)}, "'mine': 4 values are where known"),
    ],
)
def test_values_that_do_not_fit_are_refused(values, options, message):
    with pytest.raises(ContextError, match=message):
        dense(values, **options)


@given(patchy, st.data(), st.sampled_from(["dense", "sparse", "masked"]))
@settings(max_examples=100)
def test_rows_for_keeps_values_and_masks_with_their_labels(matrix, data, form):
    matrix[0, 0] = 1.0  # an empty context is refused
    labels = [f"label{i}" for i in range(len(matrix))]
    columns = [f"column{i}" for i in range(matrix.shape[1])]
    known, mask = ~np.isnan(matrix), None
    if form != "dense":
        matrix = sp.csr_array(np.where(known, matrix, 0.0))
        mask = sp.csr_array(known) if form == "masked" else None
    context = dense(matrix, labels, columns, known=mask, standardize=True)
    some = data.draw(st.lists(st.sampled_from(labels), unique=True))
    order = list(dict.fromkeys(["stranger", "label0", *some]))
    cut = context.rows_for(order)
    assert cut.labels == tuple(order[1:])
    assert cut.standardize
    assert table(cut) == {k: v for k, v in table(context).items() if k[0] in order}
    assert set(cut.observed_labels) == {label for label, _ in table(cut)}


# Frames


def frame(rows, index=("a",), columns=("x", "y")):
    index = index if isinstance(index, pd.Index) else pd.Index(index, dtype=object)
    return pd.DataFrame(rows, index=index, columns=columns)


ONE, TWO = [(1, 2)], [(1, 2), (3, 4)]
LEVELS = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (frame(ONE, columns=["x", "x"]), "two columns are called 'x'"),
        (frame(ONE, columns=[1, "1"]), "two columns are called '1'"),
        (frame([["red", 0]], columns=["x", "x=red"]), "'x=red' occurs more than"),
        (frame(TWO, ["a", np.nan]), "row 2: the label is empty"),
        (frame(TWO, ["a", "  "]), "row 2: the label is empty"),
        (frame(TWO, LEVELS), "the index has 2 levels.*join them"),
        ([[1.0]], "data frame of pandas.* is needed"),
        (pd.Series([1.0]), "data frame of pandas.* is needed"),
    ],
)
def test_what_is_no_table_of_labels_is_refused(given, message):
    with pytest.raises(ContextError, match=message):
        DescriptiveContext.from_frame(given)


# Tags


def test_absent_tag_of_a_present_label_is_a_known_zero():
    context = DescriptiveContext.from_tags(
        {"cat": ["fur", "tail", "fur "], 7: {"tail"}, "stone": []}
    )
    assert context.matrix.is_sparse
    assert context.labels == ("cat", "7", "stone")
    assert context.columns == ("fur", "tail")
    np.testing.assert_array_equal(context.values.toarray(), [[1, 1], [0, 1], [0, 0]])
    assert context.n_observed == 6


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"cat": "a"}, "tags of 'cat' must be a list. Got"),
        ({"cat": {"a": 2}}, "tags of 'cat' must be a list. Got"),
        ({"cat": 3}, "tags of 'cat' must be a list. Got"),
        ({"cat": ["a", " "]}, "tags of 'cat': the tag is empty"),
        ({"cat": ["a", np.nan]}, "tags of 'cat': the tag is empty"),
        ({}, "'tags' is empty"),
        ({"cat": [], "dog": []}, "'tags' is empty"),
        (pd.DataFrame({"cat": ["fur"]}), "needs the columns 'label', 'tag'"),
        ([("cat", ["fur"])], "'tags': a mapping from labels is needed"),
        ({"cat": ["x"], " cat": ["y"]}, "must occur once, but 'cat'"),
    ],
)
def test_what_is_no_mapping_to_tags_is_refused(tags, message):
    with pytest.raises(ContextError, match=message):
        DescriptiveContext.from_tags(tags)


# Texts

TEXTS = {
    "cat": "a small animal with soft fur",
    "dog": "an animal with fur that barks",
    "fish": "a small swimming animal",
}


def test_texts_are_tf_idf_of_words_that_occur_often_enough():
    context = DescriptiveContext.from_texts(TEXTS, min_count=2)
    assert context.columns == ("animal", "fur", "small")
    assert context.matrix.is_sparse
    oracle = TfidfVectorizer(
        vocabulary=context.columns, sublinear_tf=True, stop_words="english"
    ).fit_transform(TEXTS.values())
    np.testing.assert_allclose(context.values.toarray(), oracle.toarray())


def test_encoder_may_be_a_callable_or_have_an_encode_method():
    def lengths(texts):
        return [[len(text), text.count(" ")] for text in texts]

    class Encoder:
        encode = staticmethod(lengths)

    for encoder in (lengths, Encoder()):
        context = DescriptiveContext.from_texts(TEXTS, encoder=encoder)
        np.testing.assert_array_equal(context.values, lengths(TEXTS.values()))
        assert context.columns == ("dimension 1", "dimension 2")
        assert not context.readable


@pytest.mark.parametrize("text", ["  ", None, np.nan, 3])
def test_a_text_that_says_nothing_is_refused(text):
    with pytest.raises(ContextError, match=r"the text of 'dog' must not be empty. Got"):
        DescriptiveContext.from_texts({"cat": "x", "dog": text})


@pytest.mark.parametrize("found", [[1.0, 2.0, 3.0], [[1.0], [2.0]], sp.eye_array(2)])
def test_an_encoder_must_return_one_vector_per_text(found):
    with pytest.raises(ContextError, match=r"one vector per text. Got .* 3 texts"):
        DescriptiveContext.from_texts(TEXTS, encoder=lambda _: found)


def test_texts_without_a_common_word_are_refused():
    with pytest.raises(ContextError, match="no word occurs in 2 of the texts"):
        DescriptiveContext.from_texts({"cat": "purring", "dog": "barking"})
    with pytest.raises(PhcleError, match=r"min_count must be 1 or more. Got 0"):
        DescriptiveContext.from_texts(TEXTS, min_count=0)


# Vectors


@pytest.fixture
def keyed():
    gensim = pytest.importorskip("gensim", reason="gensim is not installed")
    vectors = gensim.models.KeyedVectors(vector_size=4)
    numbers = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    vectors.add_vectors(["cat", "dog", "fish"], numbers)
    return vectors


def same_vectors(context, keyed, **words):
    """Whether the labels have the vectors of these words."""
    assert context.labels == tuple(words)
    np.testing.assert_allclose(context.values, keyed[list(words.values())], rtol=1e-6)


@pytest.mark.parametrize(("suffix", "binary"), [(".txt", False), (".bin", True)])
def test_files_written_by_gensim_give_the_same_vectors(keyed, tmp_path, suffix, binary):
    path = tmp_path / f"vectors{suffix}"
    keyed.save_word2vec_format(path, binary=binary)
    for source in (path, str(path)):
        context = DescriptiveContext.from_vectors(source)
        same_vectors(context, keyed, cat="cat", dog="dog", fish="fish")
    some = DescriptiveContext.from_vectors(path, labels=["fish", "yeti", "cat"])
    same_vectors(some, keyed, fish="fish", cat="cat")


def test_mapping_of_vectors_matches_labels_as_text():
    vectors = {7: [1, 2], "b ": (3, 4), "c": np.array([5.0, np.nan])}
    context = DescriptiveContext.from_vectors(vectors, labels=["c", "7"])
    assert context.labels == ("c", "7")
    np.testing.assert_array_equal(context.values, [[5, np.nan], [1, 2]])
    assert DescriptiveContext.from_vectors(vectors).labels == ("7", "b", "c")


@pytest.mark.parametrize(
    ("vectors", "labels", "message"),
    [
        ({"cat": [1, 2]}, {"n1": "yeti"}, "no vector was found for 'yeti'; check"),
        ({}, None, "'vectors': no vector was found; check"),
        ({"a": [1, 2], "b": [1]}, None, r"\(1,\) for 'b', but \(2,\) for 'a'"),
        ({"a": 3.0}, None, "one row of numbers.*for 'a'"),
        ({"a": [[1.0, 2.0]]}, None, "one row of numbers.*for 'a'"),
        ({"a": ["x", "y"]}, None, "the vector of 'a' must be numbers"),
        ({"a": [1.0], "b": [np.inf]}, None, "Got inf for label 'b'"),
        ({"cat": [1, 2]}, {"n1": ""}, "labels of context 'vectors', 'n1': the w"),
        ([[1.0]], None, "'vectors': a mapping from labels"),
    ],
)
def test_vectors_of_another_form_are_refused(vectors, labels, message):
    with pytest.raises(ContextError, match=message):
        DescriptiveContext.from_vectors(vectors, labels=labels)
