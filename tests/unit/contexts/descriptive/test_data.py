"""DescriptiveContext: known and unknown values, from every source."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from phcle import DescriptiveContext
from phcle.errors import ContextError, OptionError

VALUES = np.array([[1.0, np.nan], [np.nan, np.nan], [0.0, -2.0]])

patchy = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.sampled_from([np.nan, 0.0, 1.0, -2.5]),
)


def dense(values=VALUES, labels=("a", "b", "c"), columns=("x", "y"), **options):
    return DescriptiveContext("mine", tuple(labels), tuple(columns), values, **options)


def table(context):
    """Known values by (label, column)."""
    values, observed = context.values, context.observed
    known = np.ones((len(context.labels), len(context.columns)), dtype=bool)
    if not context.is_sparse:
        known = ~np.isnan(values)
    else:
        values = values.toarray()
        known = known if observed is None else observed.toarray() > 0
    return {
        (context.labels[i], context.columns[j]): values[i, j]
        for i, j in zip(*np.nonzero(known), strict=True)
    }


# The container


def test_nan_is_unknown_and_a_row_of_nan_is_not_observed():
    context = dense()
    assert not context.is_sparse
    assert context.n_observed == 3
    assert context.observed_labels == ("a", "c")
    assert repr(context) == (
        "DescriptiveContext('mine': 3 labels × 2 columns, 3 values known)"
    )


def test_sparse_values_without_a_mask_are_all_known():
    context = dense(sp.csr_array([[1.0, 0], [0, 0], [0, 2.0]]))
    assert context.n_observed == 6
    assert context.observed_labels == ("a", "b", "c")


def test_sparse_mask_says_what_is_known_zeros_included():
    values = sp.csr_array([[1.0, 0], [0, 0], [0, 0]])
    observed = sp.csr_array([[True, False], [False, False], [True, True]])
    context = dense(values, observed=observed)
    assert context.n_observed == 3
    assert context.observed_labels == ("a", "c")
    assert table(context) == {("a", "x"): 1.0, ("c", "x"): 0.0, ("c", "y"): 0.0}


def test_mask_given_by_the_user_is_not_changed():
    observed = sp.csr_array([[2.0, 0], [0, 0], [0, 3.0]])
    context = dense(sp.csr_array([[1.0, 0], [0, 0], [0, 1.0]]), observed=observed)
    assert context.observed.data.tolist() == [1.0, 1.0]
    assert observed.data.tolist() == [2.0, 3.0]


def test_values_outside_the_mask_are_refused():
    values = sp.csr_array([[1.0, 5.0], [0, 0], [0, 0]])
    observed = sp.csr_array([[True, False], [False, False], [True, True]])
    with pytest.raises(ContextError, match=r"'mine': 1 values are where observed"):
        dense(values, observed=observed)


def test_mask_of_another_shape_is_refused():
    with pytest.raises(ContextError, match=r"observed has shape \(1, 2\), values"):
        dense(sp.csr_array(np.ones((3, 2))), observed=sp.csr_array([[1, 1]]))


def test_mask_on_dense_values_is_refused():
    with pytest.raises(ContextError, match=r"in dense values NaN is a missing value"):
        dense(observed=sp.csr_array(np.ones((3, 2))))


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (np.array([[1, 2], [np.inf, 1], [1, 1]]), "inf"),
        (sp.csr_array([[1, 2], [np.nan, 1], [1, 1]]), "nan"),
        (sp.csr_array([[0, 0], [-np.inf, 0], [0, 0]]), "-inf"),
    ],
)
def test_value_that_is_not_finite_is_refused_with_its_label_and_column(values, got):
    with pytest.raises(ContextError, match=f"Got {got} for label 'b' and column 'x'"):
        dense(values)


def test_shape_that_does_not_fit_the_names_is_refused():
    with pytest.raises(ContextError, match=r"\(3, 2\), but there are 3 labels and 1 c"):
        dense(columns=["x"])


def test_repeated_names_are_refused():
    with pytest.raises(ContextError, match=r"the column 'x' occurs more than once"):
        dense(columns=["x", "x"])
    with pytest.raises(ContextError, match=r"the label 'a' occurs more than once"):
        dense(labels=["a", "b", "a"])


@pytest.mark.parametrize(
    ("values", "labels", "columns"),
    [
        (np.full((1, 1), np.nan), ["a"], ["x"]),
        (np.empty((0, 1)), [], ["x"]),
        (np.empty((1, 0)), ["a"], []),
    ],
)
def test_context_without_a_known_value_is_refused(values, labels, columns):
    with pytest.raises(ContextError, match=r"'mine' is empty: no value is known"):
        dense(values, labels, columns)


@given(patchy, st.data(), st.sampled_from(["dense", "sparse", "masked"]))
@settings(deadline=None, max_examples=100)
def test_rows_for_keeps_values_and_masks_with_their_labels(matrix, data, form):
    matrix[0, 0] = 1.0  # an empty context is refused
    labels = [f"label{i}" for i in range(len(matrix))]
    columns = [f"column{i}" for i in range(matrix.shape[1])]
    known = ~np.isnan(matrix)
    if form == "dense":
        context = dense(matrix, labels, columns, standardize=True)
    else:
        filled = sp.csr_array(np.where(known, matrix, 0.0))
        mask = sp.csr_array(known) if form == "masked" else None
        context = dense(filled, labels, columns, observed=mask, readable=False)
    order = [
        "stranger",
        "label0",
        *data.draw(st.lists(st.sampled_from(labels), unique=True)),
    ]
    order = list(dict.fromkeys(order))
    cut = context.rows_for(order)
    assert cut.labels == tuple(order[1:])
    assert table(cut) == {k: v for k, v in table(context).items() if k[0] in order}
    assert (cut.standardize, cut.readable) == (context.standardize, context.readable)
    assert set(cut.observed_labels) == {label for label, _ in table(cut)}
    assert cut.n_observed == len(table(cut))


# Frames


def test_frame_keeps_numbers_and_marks_missing_cells_unknown():
    frame = pd.DataFrame(
        {
            "legs": pd.array([4, None, 2], dtype="Int64"),
            "tame": pd.array([True, False, pd.NA], dtype="boolean"),
            "size": [1.5, np.nan, 3.0],
            "wild": [False, True, True],
        },
        index=["cat", "fish", "bird"],
    )
    context = DescriptiveContext.from_frame(frame)
    assert context.name == "attributes"
    assert context.columns == ("legs", "tame", "size", "wild")
    expected = [[4, 1, 1.5, 0], [np.nan, 0, np.nan, 1], [2, np.nan, 3, 1]]
    np.testing.assert_array_equal(context.values, expected)


@pytest.mark.parametrize("dtype", [object, "category", "string"])
def test_text_column_becomes_one_column_per_value(dtype):
    colour = pd.Series(["red", None, "blue", " red "], index=list("abcd"), dtype=dtype)
    context = DescriptiveContext.from_frame(colour.to_frame("colour"))
    assert context.columns == ("colour=blue", "colour=red")
    np.testing.assert_array_equal(
        context.values, [[0, 1], [np.nan, np.nan], [1, 0], [0, 1]]
    )


def test_whole_numbers_serve_as_labels_and_column_names():
    frame = pd.DataFrame([[1.0, 2.0]], index=[7], columns=[0, 1])
    context = DescriptiveContext.from_frame(frame)
    assert context.labels == ("7",)
    assert context.columns == ("0", "1")


@pytest.mark.parametrize("columns", [["x", "x"], [1, "1"]])
def test_columns_of_the_same_name_are_refused(columns):
    frame = pd.DataFrame([[1.0, 2.0]], index=["a"], columns=columns)
    with pytest.raises(ContextError, match=f"two columns are called '{columns[0]}'"):
        DescriptiveContext.from_frame(frame)


def test_text_value_that_collides_with_a_column_is_refused():
    frame = pd.DataFrame({"colour": ["red"], "colour=red": [0]}, index=["a"])
    with pytest.raises(ContextError, match=r"column 'colour=red' occurs more than"):
        DescriptiveContext.from_frame(frame)


def test_repeated_row_is_refused_by_label():
    frame = pd.DataFrame({"x": [1, 2, 3]}, index=["a", "b", "a"])
    with pytest.raises(ContextError, match=r"index of context 'attributes'.*'a' occur"):
        DescriptiveContext.from_frame(frame)


@pytest.mark.parametrize("label", [np.nan, "  ", None])
def test_row_without_a_label_is_refused(label):
    frame = pd.DataFrame({"x": [1, 2]}, index=pd.Index(["a", label], dtype=object))
    with pytest.raises(ContextError, match=r"position 2: the label is empty"):
        DescriptiveContext.from_frame(frame)


def test_index_of_several_levels_is_refused():
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    with pytest.raises(ContextError, match=r"the index has 2 levels.*join them"):
        DescriptiveContext.from_frame(pd.DataFrame({"x": [1, 2]}, index=index))


@pytest.mark.parametrize("frame", [[[1.0]], {"a": 1}, pd.Series([1.0])])
def test_anything_but_a_frame_is_refused(frame):
    with pytest.raises(ContextError, match=r"data frame of pandas.* is needed"):
        DescriptiveContext.from_frame(frame)


def test_columns_in_different_units_get_their_own_scale_unless_told():
    frame = pd.DataFrame({"mm": [1.0, 2000], "m": [0.1, 0.2]}, index=["a", "b"])
    assert DescriptiveContext.from_frame(frame).standardize
    assert not DescriptiveContext.from_frame(frame, standardize=False).standardize
    assert not DescriptiveContext.from_frame(frame[["m"]]).standardize


# Tags


def test_absent_tag_of_a_present_label_is_a_known_zero():
    context = DescriptiveContext.from_tags(
        {"cat": ["fur", "tail", "fur "], 7: {"tail"}, "stone": []}
    )
    assert context.is_sparse
    assert context.labels == ("cat", "7", "stone")
    assert context.columns == ("fur", "tail")
    np.testing.assert_array_equal(context.values.toarray(), [[1, 1], [0, 1], [0, 0]])
    assert context.n_observed == 6


def test_tags_come_from_a_series_of_lists_too():
    series = pd.Series([["fur"], ["fins"]], index=["cat", "fish"])
    assert DescriptiveContext.from_tags(series).labels == ("cat", "fish")


@pytest.mark.parametrize("tags", ["fur", {"fur": 2}, None, 3])
def test_tags_that_are_no_list_are_refused_with_their_label(tags):
    with pytest.raises(ContextError, match=r"tags of 'cat' must be a list. Got"):
        DescriptiveContext.from_tags({"cat": tags})


@pytest.mark.parametrize("tag", ["", " ", None, np.nan])
def test_empty_tag_is_refused_with_its_label(tag):
    with pytest.raises(ContextError, match=r"tags of 'cat': the tag is empty"):
        DescriptiveContext.from_tags({"cat": ["fur", tag]})


@pytest.mark.parametrize("tags", [{}, {"cat": [], "dog": []}])
def test_tags_without_any_tag_are_refused(tags):
    with pytest.raises(ContextError, match=r"'tags' is empty"):
        DescriptiveContext.from_tags(tags)


def test_a_frame_of_tags_has_one_row_per_tag():
    frame = pd.DataFrame(
        {"label": ["cat", "cat", "eel"], "tag": ["fur", "tail", None]}, dtype=object
    )
    found = DescriptiveContext.from_tags(frame)
    assert found.labels == ("cat", "eel")
    np.testing.assert_array_equal(found.values.toarray(), [[1, 1], [0, 0]])


def test_a_frame_of_one_column_holds_no_tags():
    with pytest.raises(ContextError, match=r"columns 'label', 'tag' are needed"):
        DescriptiveContext.from_tags(pd.DataFrame({"cat": ["fur"]}))


@pytest.mark.parametrize("tags", [[("cat", ["fur"])], pd.Series(["fur"]).to_numpy()])
def test_anything_but_a_mapping_is_refused(tags):
    with pytest.raises(ContextError, match=r"'tags': a mapping from labels is needed"):
        DescriptiveContext.from_tags(tags)


def test_labels_that_are_one_after_stripping_are_refused():
    with pytest.raises(ContextError, match=r"must occur once, but 'cat'"):
        DescriptiveContext.from_tags({"cat": ["x"], " cat": ["y"]})


# Texts

TEXTS = {
    "cat": "a small animal with soft fur",
    "dog": "an animal with fur that barks",
    "fish": "a small swimming animal",
}


def test_texts_are_tf_idf_of_words_that_occur_often_enough():
    context = DescriptiveContext.from_texts(TEXTS, min_count=2)
    assert context.columns == ("animal", "fur", "small")
    assert context.is_sparse
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


def test_sparse_result_of_an_encoder_stays_sparse():
    encoder = CountVectorizer()
    context = DescriptiveContext.from_texts(TEXTS, encoder=encoder.fit_transform)
    assert context.is_sparse
    np.testing.assert_array_equal(
        context.values.toarray(), encoder.transform(TEXTS.values()).toarray()
    )


@pytest.mark.parametrize("result", [[1.0, 2.0, 3.0], [[1.0], [2.0]], sp.eye_array(2)])
def test_encoder_that_returns_no_row_per_text_is_refused(result):
    with pytest.raises(
        ContextError, match=r"one vector per text. Got shape .* 3 texts"
    ):
        DescriptiveContext.from_texts(TEXTS, encoder=lambda texts: result)


@pytest.mark.parametrize("text", ["", "  ", None, np.nan, 3])
def test_empty_text_is_refused_with_its_label(text):
    with pytest.raises(ContextError, match=r"the text of 'dog' must not be empty. Got"):
        DescriptiveContext.from_texts({"cat": "x", "dog": text})


def test_texts_without_a_common_word_are_refused():
    with pytest.raises(ContextError, match=r"no word occurs in 2 of the texts"):
        DescriptiveContext.from_texts({"cat": "purring", "dog": "barking"})
    with pytest.raises(OptionError, match=r"min_count must be 1 or more. Got 0"):
        DescriptiveContext.from_texts(TEXTS, min_count=0)


# Vectors


@pytest.fixture
def keyed():
    words = ["cat", "dog", "fish"]
    gensim = pytest.importorskip("gensim", reason="gensim is not installed")
    vectors = gensim.models.KeyedVectors(vector_size=4)
    numbers = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    vectors.add_vectors(words, numbers)
    return vectors


def same_vectors(context, keyed, words):
    np.testing.assert_allclose(
        context.values, [keyed[word] for word in words], rtol=1e-6
    )


def test_gensim_vectors_are_taken_word_by_word(keyed):
    context = DescriptiveContext.from_vectors(keyed)
    assert context.labels == ("cat", "dog", "fish")
    assert not context.readable
    same_vectors(context, keyed, context.labels)


@pytest.mark.parametrize(("suffix", "binary"), [(".txt", False), (".bin", True)])
def test_files_written_by_gensim_give_the_same_vectors(keyed, tmp_path, suffix, binary):
    path = tmp_path / f"vectors{suffix}"
    keyed.save_word2vec_format(path, binary=binary)
    for source in (path, str(path)):
        context = DescriptiveContext.from_vectors(source)
        assert context.labels == ("cat", "dog", "fish")
        same_vectors(context, keyed, context.labels)
    some = DescriptiveContext.from_vectors(path, labels=["fish", "yeti", "cat"])
    assert some.labels == ("fish", "cat")
    same_vectors(some, keyed, some.labels)


def test_labels_may_be_looked_up_under_another_word(keyed):
    names = {"n1": "fish", "n2": "yeti", 3: "fish"}
    context = DescriptiveContext.from_vectors(keyed, labels=names)
    assert context.labels == ("n1", "3")
    same_vectors(context, keyed, ["fish", "fish"])


def test_mapping_of_vectors_matches_labels_as_text():
    vectors = {7: [1, 2], "b ": (3, 4), "c": np.array([5.0, np.nan])}
    context = DescriptiveContext.from_vectors(vectors, labels=["c", "7"])
    assert context.labels == ("c", "7")
    np.testing.assert_array_equal(context.values, [[5, np.nan], [1, 2]])
    assert DescriptiveContext.from_vectors(vectors).labels == ("7", "b", "c")


def test_no_vector_found_is_refused_with_the_words_looked_for(keyed):
    with pytest.raises(ContextError, match=r"no vector was found for 'yeti'; check"):
        DescriptiveContext.from_vectors(keyed, labels={"n1": "yeti"})
    with pytest.raises(ContextError, match=r"'vectors': no vector was found; check"):
        DescriptiveContext.from_vectors({})


def test_vectors_of_different_lengths_are_refused_by_label():
    with pytest.raises(ContextError, match=r"\(1,\) for 'b', but \(2,\) for 'a'"):
        DescriptiveContext.from_vectors({"a": [1, 2], "b": [1]})


@pytest.mark.parametrize("vector", [3.0, [[1.0, 2.0]]])
def test_vector_that_is_no_row_is_refused_by_label(vector):
    with pytest.raises(ContextError, match=r"one row of numbers.*for 'a'"):
        DescriptiveContext.from_vectors({"a": vector})


def test_vector_that_is_no_numbers_is_refused_by_label():
    with pytest.raises(ContextError, match=r"the vector of 'a' must be numbers"):
        DescriptiveContext.from_vectors({"a": ["x", "y"]})


def test_infinite_vector_is_refused_by_label():
    with pytest.raises(ContextError, match=r"Got inf for label 'b'"):
        DescriptiveContext.from_vectors({"a": [1.0], "b": [np.inf]})


def test_label_without_a_word_to_look_for_is_refused(keyed):
    with pytest.raises(ContextError, match=r"labels of context 'vectors', 'n1': the w"):
        DescriptiveContext.from_vectors(keyed, labels={"n1": ""})


@pytest.mark.parametrize("vectors", [[[1.0]], np.ones((1, 1))])
def test_vectors_that_are_no_mapping_are_refused(vectors):
    with pytest.raises(ContextError, match=r"'vectors': a mapping from labels"):
        DescriptiveContext.from_vectors(vectors)
