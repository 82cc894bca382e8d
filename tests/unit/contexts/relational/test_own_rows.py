"""Under torchrun each process reads its own rows of counts and fits all of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from forked import run_together

from phcle import PHCLE, RelationalContext
from phcle.errors import ContextError

N_LABELS, N_OF_FIRST = 60, 23
LABELS = [f"label {i}" for i in range(N_LABELS)]
COLUMNS = [f"column {i}" for i in range(20)]
OPTIONS = {"dim": 4, "dtype": "float64", "backend": "numpy", "tol": 0.0, "max_iter": 5}


def counts():
    rng = np.random.default_rng(0)
    rate = rng.normal(size=(N_LABELS, 3)) @ rng.normal(size=(3, len(COLUMNS)))
    return sp.csr_array(rng.poisson(np.exp(rate / 2)).astype(float))


def fitted(context):
    return PHCLE(**OPTIONS, choose=False, completion="none").fit([context]).embedding_


def fit_own_rows(folder, rank, size):
    warnings.simplefilter("ignore")
    own = [slice(0, N_OF_FIRST), slice(N_OF_FIRST, None)][rank]
    rows = np.load(f"{folder}/rows.npy", mmap_mode="r")[own]
    parts = (rows[i : i + 10] for i in range(0, len(rows), 10))
    context = RelationalContext.from_matrix(parts, LABELS, COLUMNS, own_rows=True)
    np.save(f"{folder}/counts{rank}.npy", context.counts.toarray())
    np.save(f"{folder}/vectors{rank}.npy", fitted(context).vectors)


@pytest.mark.filterwarnings("ignore:not converged")
def test_two_processes_with_their_own_rows_fit_what_one_fits_with_all(tmp_path):
    whole = counts()
    np.save(tmp_path / "rows.npy", whole.toarray())
    run_together(fit_own_rows, tmp_path, 2)
    alone = fitted(RelationalContext.from_matrix(whole, LABELS, COLUMNS)).vectors
    for rank in (0, 1):
        found = np.load(tmp_path / f"counts{rank}.npy")
        np.testing.assert_array_equal(found, whole.toarray())
        # Rows are cut into other blocks, so inexact steps differ a little on the way.
        vectors = np.load(tmp_path / f"vectors{rank}.npy")
        np.testing.assert_allclose(vectors, alone, atol=1e-3)


def test_own_rows_of_a_single_process_are_all_rows():
    with pytest.raises(ContextError, match="23"):
        RelationalContext.from_matrix(
            counts()[:N_OF_FIRST], LABELS, COLUMNS, own_rows=True
        )
    found = RelationalContext.from_matrix(counts(), LABELS, COLUMNS, own_rows=True)
    assert (found.counts != counts()).nnz == 0
