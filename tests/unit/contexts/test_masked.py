"""One masked matrix: both layouts give the same answers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from phcle.backends.protocol import choose_backend
from phcle.contexts.masked import masked_matrix, unpack_matrix
from phcle.files.tensor_store import TensorStore

values = npst.arrays(
    np.float64,
    npst.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=5),
    elements=st.one_of(
        st.just(np.nan), st.just(0.0), st.floats(-9, 9, allow_subnormal=False)
    ),
)


def layouts(table):
    """The same values dense, sparse with a mask, and without one if all are known."""
    found = [masked_matrix(table, None, "x")]
    known = ~np.isnan(table)
    filled = sp.csr_array(np.nan_to_num(table))
    found.append(masked_matrix(filled, sp.csr_array(known.astype(float)), "x"))
    if known.all():
        found.append(masked_matrix(filled, None, "x"))
    return found


def as_table(matrix):
    return np.array([matrix.row(i) for i in range(matrix.shape[0])])


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


@given(values)
def test_every_layout_holds_the_same_cells(table):
    for matrix in layouts(table):
        assert matrix.shape == table.shape
        assert matrix.n_known == np.count_nonzero(~np.isnan(table))
        assert matrix.is_complete == (not np.isnan(table).any())
        assert same(matrix.known_rows, ~np.isnan(table).all(axis=1))
        assert same(as_table(matrix), table)
        columns = [matrix.column(i) for i in range(table.shape[1])]
        assert same(np.array(columns).T, table)
        rows, places = matrix.known_cells()
        assert same(matrix.cells(rows, places), table[rows, places])
        assert len(rows) == matrix.n_known


@given(values, st.data())
def test_rows_and_columns_are_taken_with_their_masks(table, data):
    n_rows, n_columns = table.shape
    rows = data.draw(st.lists(st.integers(0, n_rows - 1), min_size=1, unique=True))
    at = np.array(
        data.draw(st.lists(st.integers(0, n_columns - 1), min_size=1, unique=True))
    )
    for matrix in layouts(table):
        assert same(as_table(matrix.take(rows)), table[rows])
        assert same(as_table(matrix.on_columns(at)), table[:, at])


@given(values)
def test_a_column_that_is_not_there_is_unknown_but_an_absent_tag_is_zero(table):
    at = np.array([0, -1])
    dense, masked, *whole = layouts(table)
    for matrix in (dense, masked):
        assert np.isnan(matrix.on_columns(at).column(1)).all()
    for matrix in whole:
        assert (matrix.on_columns(at).column(1) == 0).all()


@given(values, st.data())
def test_rows_of_any_two_layouts_are_stacked(table, data):
    below = data.draw(
        npst.arrays(np.float64, (2, table.shape[1]), elements=st.floats(-3, 3))
    )
    for one in layouts(table):
        for two in layouts(below):
            assert same(as_table(one.stacked(two)), np.vstack([table, below]))


@given(values)
def test_moments_are_those_of_the_known_values(table):
    for matrix in layouts(table):
        found = matrix.moments()
        for i, column in enumerate(table.T):
            known = column[~np.isnan(column)]
            assert found.count[i] == len(known)
            if len(known):
                assert found.mean[i] == pytest.approx(known.mean(), abs=1e-9)
                assert found.deviation[i] == pytest.approx(known.std(), abs=1e-6)


@given(values)
def test_a_matrix_returns_from_a_file_as_it_was(table):
    for matrix in layouts(table):
        store = TensorStore({})
        layout = matrix.pack(store)
        parts = unpack_matrix(layout, store, table.shape[1])
        again = masked_matrix(*parts, "x")
        assert type(again) is type(matrix)
        assert same(as_table(again), table)


@given(values, st.integers(0, 99))
def test_split_rows_and_entries_give_the_products_and_errors_of_the_whole(table, seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = table.shape
    offset, scale = rng.normal(size=n_columns), rng.random(n_columns) + 0.5
    W, U = rng.normal(size=(n_rows, 2)), rng.normal(size=(n_columns, 2))
    A = (table - offset) / scale
    backend = choose_backend("numpy", "cpu", "float64")
    for matrix in layouts(table):
        full_rows, full, entries = matrix.split(offset, scale)
        found = np.full(table.shape, np.nan)
        found[full_rows] = full.toarray()
        cells = sp.coo_array(entries)
        found[cells.coords] = cells.data
        assert np.allclose(found, A, equal_nan=True)
        whole = A[full_rows]
        placed = full.place(backend)
        assert np.allclose(placed.product(U), whole @ U)
        assert np.allclose(
            placed.transposed_product(W[full_rows]), whole.T @ W[full_rows]
        )
        assert np.allclose(full.energy(), (whole**2).sum(axis=1))
        error = ((whole - W[full_rows] @ U.T) ** 2).sum()
        assert full.squared_error(W[full_rows], U) == pytest.approx(error, abs=1e-6)


@given(values, st.integers(1, 30))
def test_a_sample_of_cells_holds_known_cells_once(table, most):
    for matrix in layouts(table):
        rows, columns = matrix.some_known_cells(most, np.random.default_rng(0))
        assert len(rows) == min(most, matrix.n_known)
        assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == len(rows)
        assert not np.isnan(table[rows, columns]).any()


def test_an_attribute_is_there_above_the_mean_or_if_it_is_not_zero():
    table = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 0.0]])
    dense, masked, _ = layouts(table)
    mean = dense.moments().mean
    assert dense.n_having(mean).tolist() == [1, 1]  # 5 > 3, 2 > 2/3
    assert masked.n_having(mean).tolist() == [3, 1]
    # Half a label with and half a label without are added.
    assert dense.presence().tolist() == [1.5 / 4, 1.5 / 4]
