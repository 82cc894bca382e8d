"""Conversions and checks of matrices with named rows and columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.labels import index_of, refuse_half_characters
from phcle.errors import ContextError, some

LARGEST = 1e100
"""Largest count or value allowed. The square of 1e100 is far below the largest float64,
so sums of squares stay finite."""


def merging_matrix(names: Sequence[str]) -> sp.csr_array:
    """Return the matrix that adds up rows with the same name.

    Parameters
    ----------
    names : sequence of str
        Name of each row.

    Returns
    -------
    csr_array of shape (different names, names)
        Ones; the names are in order of first appearance.
    """
    place = index_of(dict.fromkeys(names))
    rows = [place[name] for name in names]
    return sp.csr_array(
        (np.ones(len(rows)), (rows, np.arange(len(rows)))),
        shape=(len(place), len(rows)),
    )


def take_rows(
    matrix: sp.csr_array, rows: Sequence[int] | npt.NDArray[np.int64]
) -> sp.csr_array:
    """Return rows of a sparse matrix by position.

    Parameters
    ----------
    matrix : csr_array
        The matrix.
    rows : sequence of int
        Positions of the rows; −1 stands for an empty row.

    Returns
    -------
    csr_array
        The rows, in this order.
    """
    wanted = np.asarray(rows, dtype=np.int64)
    found = matrix[wanted[wanted >= 0]]
    lengths = np.zeros(len(wanted), dtype=np.int64)
    lengths[wanted >= 0] = np.diff(found.indptr)
    places = found.indices, np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((found.data, *places), (len(wanted), matrix.shape[1]))


def take_columns(matrix: sp.csr_array, columns: npt.NDArray[np.int64]) -> sp.csr_array:
    """Return columns of a sparse matrix by position.

    Parameters
    ----------
    matrix : csr_array
        The matrix.
    columns : array of int
        Positions of the columns; −1 stands for an empty column.

    Returns
    -------
    csr_array
        The columns, in this order.
    """
    return sp.csr_array(take_rows(sp.csr_array(matrix.T), columns).T)


def as_csr(matrix: Any, name: str) -> sp.csr_array:
    """Convert any two-dimensional array to canonical CSR without stored zeros.

    Parameters
    ----------
    matrix : array or sparse matrix
        The numbers.
    name : str
        Name of the context, for error messages.

    Returns
    -------
    csr_array of float64
        The same numbers; `matrix` itself if it has this form.
    """
    if (
        isinstance(matrix, sp.csr_array)
        and matrix.dtype == np.float64
        and matrix.has_canonical_format
        and matrix.data.all()
    ):
        return matrix
    try:
        if not sp.issparse(matrix):
            matrix = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        converted = sp.csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ContextError(
            f"context {name!r}: a two-dimensional array of numbers is needed ({error})."
        ) from error
    converted.sum_duplicates()
    converted.eliminate_zeros()
    return converted


def stacked(parts: Iterable[Any], n_columns: int, name: str) -> sp.csr_array:
    """Put blocks of rows below each other, as `as_csr` converts them.

    Parameters
    ----------
    parts : iterable of array or sparse matrix of shape (rows, columns)
        The blocks, which may be made while they are asked for.
    n_columns : int
        Columns of every block.
    name : str
        Name of the context, for error messages.

    Returns
    -------
    csr_array of float64
        All rows.
    """
    blocks = [sp.csr_array((0, n_columns))]
    for number, part in enumerate(parts, 1):
        blocks.append(as_csr(part, name))
        if blocks[-1].shape[1] != n_columns:
            raise ContextError(
                f"context {name!r}: part {number} has {blocks[-1].shape[1]} columns, "
                f"but there are names for {n_columns}."
            )
    return sp.csr_array(sp.vstack(blocks))


def check_axes(
    name: str, labels: Sequence[str], columns: Sequence[str], shape: tuple[int, ...]
) -> None:
    """Refuse a shape that does not fit the names, and repeated names.

    Parameters
    ----------
    name : str
        Name of the context, for error messages.
    labels : sequence of str
        Names of the rows.
    columns : sequence of str
        Names of the columns.
    shape : tuple of int
        Shape of the array.
    """
    if shape != (len(labels), len(columns)):
        raise ContextError(
            f"context {name!r}: the array has shape {shape}, but there are "
            f"{len(labels)} labels and {len(columns)} columns; give one row per label "
            "and one name per column."
        )
    for names, what in ((labels, "label"), (columns, "column")):
        if not "".join(names).isascii():  # a fast test that most names pass
            for text in names:
                refuse_half_characters(text, f"context {name!r}", what)
        if len(set(names)) < len(names):
            repeated = [x for x, count in Counter(names).items() if count > 1]
            raise ContextError(
                f"context {name!r}: the {what} {some(repeated)} occurs more than once; "
                "merge or rename."
            )


def check_array(value: Any, shape: tuple[int, ...], what: str) -> None:
    """Refuse an array of another shape, or with anything but finite numbers.

    Parameters
    ----------
    value : array
        What came from the file.
    shape : tuple of int
        The shape it must have.
    what : str
        Its name in the error message.
    """
    if value.shape != shape or value.dtype.kind not in "fiu":
        raise ContextError(f"{what} must be numbers of shape {shape}")
    if not np.isfinite(value).all():
        raise ContextError(f"{what} must be finite")


def check_number(value: Any, what: str, *, most: float = 1e30) -> None:
    """Refuse what is no number, or too large to compute with; NaN, if there is a limit.

    Parameters
    ----------
    value : object
        What came from the file.
    what : str
        Its name in the error message.
    most : float
        Largest absolute value allowed.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ContextError(f"{what} must be a number")
    if abs(value) > most or (np.isnan(value) and np.isfinite(most)):
        raise ContextError(f"{what} must be a number of usual size")
