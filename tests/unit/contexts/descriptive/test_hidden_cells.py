from __future__ import annotations

import numpy as np
import pytest

from phcle import DescriptiveContext
from phcle.contexts.descriptive.hidden_cells import HiddenCells


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_cells_of_few_and_of_whole_rows_are_predicted_alike(rng, share):
    W, U = rng.normal(size=(30, 4)), rng.normal(size=(12, 4))
    rows, columns = np.nonzero(rng.random((30, 12)) < share)
    nothing = np.zeros(len(rows))
    cells = HiddenCells(rows, columns, nothing, nothing > 0)
    assert cells.predicted(W, U) == pytest.approx((W @ U.T)[rows, columns])


def test_no_hidden_cells_have_no_predictions(rng):
    none = np.empty(0, dtype=np.int64)
    cells = HiddenCells(none, none, np.empty(0), np.empty(0, dtype=bool))
    found = cells.predicted(rng.normal(size=(3, 2)), rng.normal(size=(5, 2)))
    assert found.shape == (0,)


LABELS = tuple(f"label {i}" for i in range(40))


def numbers(rng):
    values = 5 + rng.normal(size=(40, 6))
    values[:20][rng.random((20, 6)) < 0.3] = np.nan  # the other rows are complete
    return DescriptiveContext("sizes", LABELS, tuple("abcdef"), values)


def tags(rng):
    chosen = rng.random((40, 6)) < 0.3
    return DescriptiveContext.from_tags(
        {
            label: [f"tag {j}" for j in np.flatnonzero(own)]
            for label, own in zip(LABELS, chosen, strict=True)
        }
    )


def values_of(fitted):
    return np.column_stack([fitted.data.matrix.column(j) for j in range(6)])


@pytest.mark.parametrize("make", [numbers, tags])
@pytest.mark.parametrize("n_rows", [0, 3])
def test_what_is_left_is_centred_as_if_hidden_cells_had_never_been_known(
    rng, make, n_rows
):
    whole = make(rng).in_fit(LABELS)
    rows = rng.choice(40, n_rows, replace=False)
    left, cells = whole.hide_cells(0.2, 10**6, rng, rows=rows)
    values = values_of(whole)
    truth = cells.truth * left.scale[cells.columns] + left.offset[cells.columns]
    assert truth == pytest.approx(values[cells.rows, cells.columns])
    values[cells.rows, cells.columns] = np.nan
    assert left.offset == pytest.approx(np.nanmean(values, axis=0))
    total = left.values.full.toarray().sum(axis=0) + left.values.entries.sum(axis=0)
    assert total == pytest.approx(np.zeros(6), abs=1e-9)


def test_a_column_that_is_hidden_as_a_whole_keeps_its_mean(rng):
    whole = numbers(rng).in_fit(LABELS)
    left, cells = whole.hide_cells(1.0, 10**6, rng)
    assert len(cells.rows) == np.count_nonzero(~np.isnan(values_of(whole)))
    assert left.offset == pytest.approx(whole.offset)
