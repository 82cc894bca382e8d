from __future__ import annotations

import numpy as np
import pytest

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
