"""Sampled sweeps stay bounded where a column belongs to most labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import PHCLE, RelationalContext


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize(("drawn", "dim"), [(12, 8), (192, 3)])
def test_few_drawn_labels_for_wide_columns_do_not_diverge(drawn, dim, monkeypatch):
    monkeypatch.setattr("phcle.solver.column_samples.SAMPLE", drawn)
    n, levels = 600, (4, 16, 64, 200)
    rows = np.tile(np.arange(n), len(levels))
    first = np.cumsum([0, *(n // size + 1 for size in levels)])
    columns = np.concatenate(
        [np.arange(n) // size + a for size, a in zip(levels, first, strict=False)]
    )
    weights = np.repeat(np.exp(-np.arange(1, 5) / 4), n)
    counts = sp.csr_array((weights, (rows, columns)), shape=(n, first[-1]))
    tree = RelationalContext.from_matrix(
        counts, [f"l{i}" for i in range(n)], [f"n{i}" for i in range(first[-1])]
    )
    options = {"dim": dim, "backend": "numpy", "max_iter": 10, "calibrate": False}
    exact = PHCLE(mode="exact", **options).fit(tree).history_[-1]["gap"]
    history = PHCLE(mode="sampled", **options).fit(tree).history_
    assert all(0 < record["gap"] < 5 * exact for record in history)
    assert history[-1]["gap"] < 1.3 * exact
