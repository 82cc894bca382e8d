"""RelationalContext: what it stores, refuses and cuts down."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from phcle import RelationalContext
from phcle.errors import ContextError, ContextWarning

COUNTS = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])

matrices = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.sampled_from([0.0, 0.0, 1.0, 2.5]),
)


def make(counts=COUNTS, labels=("a", "b"), contexts=("x", "y", "z"), **options):
    return RelationalContext.from_matrix(counts, labels, contexts, **options)


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.coo_array, sp.csc_matrix, np.ndarray.tolist]
)
def test_matrix_of_any_form_gives_the_same_counts(form):
    context = make(form(COUNTS))
    assert context.labels == ("a", "b")
    assert context.columns == ("x", "y", "z")
    np.testing.assert_array_equal(context.counts.toarray(), COUNTS)
    assert context.counts.nnz == 3


def test_repeated_sparse_entries_add_up_and_zeros_are_not_stored():
    counts = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 3))
    context = make(counts)
    np.testing.assert_array_equal(context.counts.toarray(), [[0, 3, 0], [0, 0, 0]])
    assert context.counts.nnz == 1
    assert context.observed_labels == ("a",)


def test_columns_are_the_labels_where_none_are_named():
    context = make([[0, 1], [2, 0]], contexts=None)
    assert context.columns == ("a", "b")
    np.testing.assert_array_equal(context.counts.toarray(), [[0, 1], [2, 0]])


def test_diagonal_of_labels_by_labels_is_left_out_and_counted():
    counts = sp.csr_array([[5.0, 1.0], [2.0, 7.0]])
    with pytest.warns(
        ContextWarning, match=r"2 labels occur with themselves.*self_loop"
    ):
        context = make(counts, contexts=None)
    np.testing.assert_array_equal(context.counts.toarray(), [[0, 1], [2, 0]])
    assert counts[0, 0] == 5.0


def test_diagonal_is_kept_when_asked_for_or_when_columns_are_named():
    square = [[5.0, 1.0], [2.0, 7.0]]
    asked = make(square, contexts=None, self_loops=True)
    named = make(square, contexts=("a", "b"))
    np.testing.assert_array_equal(asked.counts.toarray(), square)
    np.testing.assert_array_equal(named.counts.toarray(), square)


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ([[0, 1, 0], [1, 0, np.nan]], {}, "finite.* Got nan.*'b' and column 'z'"),
        (sp.csr_array([[0, 1, 0], [1, 0, np.inf]]), {}, "Got inf.*'b' and column 'z'"),
        ([[0, 1, 0], [1, 0, -1.0]], {}, "zero or more.*'b' and column 'z'"),
        (
            COUNTS,
            {"labels": ("a", "b", "c")},
            r"'mine'.*\(2, 3\).*3 labels and 3 columns",
        ),
        (COUNTS, {"labels": ("a", " a ")}, "every label must occur once, but 'a'"),
        (COUNTS, {"contexts": ("x", "y", "x")}, "columns of context 'mine'.*'x'"),
        (np.zeros((2, 3)), {}, "'mine' is empty.*leave it out"),
        (sp.csr_array((2, 3)), {}, "'mine' is empty.*leave it out"),
        ([["a", "b"]], {}, "'mine'.*two-dimensional array of numbers"),
        ([[1], [1, 2]], {}, "'mine'.*two-dimensional array of numbers"),
        (object(), {}, "'mine'.*two-dimensional array of numbers"),
        (COUNTS, {"labels": ["a", "  "]}, "position 2: the label is empty"),
        (COUNTS, {"labels": ["a", float("nan")]}, "position 2: the label is empty"),
        (COUNTS, {"labels": ["a", 1.5]}, "text or a whole number. Got 1.5"),
        (COUNTS, {"labels": ["a", True]}, "text or a whole number. Got True"),
        (COUNTS, {"labels": "ab"}, "list of labels is needed. Got the text 'ab'"),
    ],
)
def test_counts_and_names_that_do_not_fit_are_refused(counts, options, message):
    with pytest.raises(ContextError, match=message):
        make(counts, name="mine", **options)


def test_whole_numbers_are_labels_and_names_are_stripped():
    context = make(labels=[np.int64(7), " b "])
    assert context.labels == ("7", "b")
    assert all(type(label) is str for label in make(labels=np.array(["a", "b"])).labels)


@given(matrices, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_rows_follow_their_labels_through_a_permutation(matrix, random):
    matrix[0, 0] = 1.0  # an empty context is refused
    labels = [f"label{i}" for i in range(len(matrix))]
    columns = [f"column{i}" for i in range(matrix.shape[1])]
    order = list(range(len(labels)))
    random.shuffle(order)
    context = RelationalContext.from_matrix(matrix, labels, columns)
    shuffled = RelationalContext.from_matrix(
        matrix[order], [labels[i] for i in order], columns
    )
    asked = [*labels, "somebody else"]
    ours, theirs = context.rows_for(asked), shuffled.rows_for(asked)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    np.testing.assert_array_equal(ours.toarray()[:-1], matrix)
    assert not ours.toarray()[-1].any()
    assert set(context.observed_labels) == set(shuffled.observed_labels)
    assert set(context.observed_labels) == {
        x for x, row in zip(labels, matrix, strict=True) if row.any()
    }
