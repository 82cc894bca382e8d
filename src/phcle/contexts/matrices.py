"""Matrices with named rows and columns: one form for all, checked against the names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.labels import refuse_half_characters
from phcle.errors import ContextError, some

__all__ = [
    "LARGEST",
    "as_csr",
    "check_axes",
    "csr_with_zeros",
    "keep_entries",
    "take_rows",
]

LARGEST = 1e100
"""Largest count or value allowed, so that sums of squares stay finite."""


def take_rows(
    matrix: sp.csr_array, rows: Sequence[int] | npt.NDArray[np.int64]
) -> sp.csr_array:
    """Rows of a sparse matrix by position; −1 gives an empty row."""
    wanted = np.asarray(rows, dtype=np.int64)
    if len(wanted) == matrix.shape[0] and (wanted == np.arange(len(wanted))).all():
        return matrix.copy()
    present = np.flatnonzero(wanted >= 0)
    pick = sp.csr_array(
        (np.ones(len(present)), (present, wanted[present])),
        shape=(len(wanted), matrix.shape[0]),
    )
    taken = sp.csr_array(pick @ matrix)
    taken.sort_indices()
    return taken


def as_csr(matrix: Any, name: str) -> sp.csr_array:
    """Any two-dimensional array as canonical CSR of float64 without stored zeros."""
    if (
        isinstance(matrix, sp.csr_array)
        and matrix.dtype == np.float64
        and matrix.has_canonical_format
        and matrix.data.all()
    ):
        return matrix
    sparse: Any = matrix if sp.issparse(matrix) else None
    try:
        converted = (
            sp.csr_array(sparse, dtype=np.float64, copy=True)
            if sparse is not None
            else sp.csr_array(np.atleast_2d(np.asarray(matrix, dtype=np.float64)))
        )
    except (TypeError, ValueError) as error:
        raise ContextError(
            f"context {name!r}: a two-dimensional array of numbers is needed ({error})."
        ) from error
    converted.sum_duplicates()
    converted.eliminate_zeros()
    return converted


def check_axes(
    name: str, labels: Sequence[str], columns: Sequence[str], shape: tuple[int, ...]
) -> None:
    """Refuse a shape that does not fit the names, and names that repeat."""
    if shape != (len(labels), len(columns)):
        raise ContextError(
            f"context {name!r}: the array has shape {shape}, but there are "
            f"{len(labels)} labels and {len(columns)} columns; give one row per label "
            "and one name per column."
        )
    for names, what in ((labels, "label"), (columns, "column")):
        if not "".join(names).isascii():  # quick to tell, as most are
            for text in names:
                refuse_half_characters(text, f"context {name!r}", what)
        if len(set(names)) < len(names):
            repeated = [x for x, count in Counter(names).items() if count > 1]
            raise ContextError(
                f"context {name!r}: the {what} {some(repeated)} occurs more than once; "
                "merge or rename."
            )


def csr_with_zeros(
    rows: npt.NDArray[np.integer[Any]],
    columns: npt.NDArray[np.integer[Any]],
    values: npt.NDArray[np.float64],
    shape: tuple[int, int],
) -> sp.csr_array:
    """CSR that keeps stored zeros: a value equal to its column's mean is known."""
    order = np.lexsort((columns, rows))
    indptr = np.searchsorted(rows[order], np.arange(shape[0] + 1))
    return sp.csr_array((values[order], columns[order], indptr), shape=shape)


def keep_entries(matrix: sp.csr_array, wanted: npt.NDArray[np.bool_]) -> sp.csr_array:
    """The entries where a mask (rows, 1) or (1, columns) is true; zeros stay stored."""
    entries = sp.coo_array(matrix)
    rows, columns = entries.coords
    inside = np.broadcast_to(wanted, matrix.shape)[rows, columns]
    return csr_with_zeros(
        rows[inside], columns[inside], entries.data[inside], matrix.shape
    )
