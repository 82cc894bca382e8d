"""Masked matrices from arrays, and from what a file stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.contexts.masked.dense_values import DenseValues
from phcle.contexts.masked.masked_matrix import MaskedMatrix
from phcle.contexts.masked.sparse_values import SparseValues
from phcle.contexts.matrices import as_csr
from phcle.errors import ContextError
from phcle.files.tensor_store import TensorStore


def masked_matrix(values: Any, observed: Any, name: str) -> MaskedMatrix:
    """Make a matrix from values and, for sparse values, an optional mask.

    Parameters
    ----------
    values : array or sparse matrix
        The numbers; NaN is a missing value in a dense array.
    observed : sparse matrix or None
        Known cells of sparse values; None means all of them.
    name : str
        Name of the context, for error messages.

    Returns
    -------
    MaskedMatrix
        The matrix in the layout of `values`.
    """
    if isinstance(values, MaskedMatrix):
        return values
    if not sp.issparse(values):
        if observed is not None:
            raise ContextError(
                f"context {name!r}: in dense values NaN is a missing value; "
                "observed= is for sparse values."
            )
        return DenseValues(np.asarray(values, dtype=np.float64))
    values = as_csr(values, name)
    if observed is None:
        return SparseValues(values, None)
    mask = as_csr(observed, name).copy()
    mask.data[:] = 1.0
    if mask.shape != values.shape:
        raise ContextError(
            f"context {name!r}: observed has shape {mask.shape}, values have "
            f"{values.shape}; give both the same."
        )
    n_outside = values.nnz - sp.csr_array(values * mask).nnz
    if n_outside:
        raise ContextError(
            f"context {name!r}: {n_outside} values are where observed is false; "
            "remove them or mark them as observed."
        )
    return SparseValues(values, mask)


def unpack_matrix(layout: str, store: TensorStore, n_columns: int) -> tuple[Any, Any]:
    """Return the values and the mask that `MaskedMatrix.pack` stored, without checks.

    Parameters
    ----------
    layout : str
        What `MaskedMatrix.pack` returned.
    store : TensorStore
        Where the matrix is stored.
    n_columns : int
        Columns that it must have.

    Returns
    -------
    tuple
        Values, and a mask or None.
    """
    if layout == "dense":
        return store["values"], None
    mask = store.sparse("observed", n_columns) if layout == "masked" else None
    return store.sparse("values", n_columns), mask
