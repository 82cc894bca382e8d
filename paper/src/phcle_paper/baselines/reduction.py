"""Reduce dimensions by an uncentred SVD, in the same way for every baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError

__all__ = [
    "Floats",
    "Matrix",
    "as_dense",
    "check_dim",
    "left_singular",
    "reduce_dimensions",
    "reduce_embedding",
    "unit_rows",
    "with_spectrum",
]

Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = Floats | sp.csr_array

EXACT_LIMIT = 2_000
"""Up to this many rows or columns, the SVD of a dense matrix is exact."""

NEGLIGIBLE = 1e-10
"""Singular values below this share of the largest are treated as zero."""


def reduce_embedding(embedding: LabelEmbedding, dim: int) -> LabelEmbedding:
    """The embedding in at most `dim` dimensions; see `reduce_dimensions`.

    What the vectors were learned from does not fit the new space and is left out.
    """
    return replace(
        embedding,
        vectors=reduce_dimensions(np.asarray(embedding.vectors, np.float64), dim),
        contexts=(),
        options={**embedding.options, "dim": dim},
    )


def with_spectrum(embedding: LabelEmbedding, power: float) -> LabelEmbedding:
    """The embedding with strong or weak directions of the vectors counting more.

    With the singular value decomposition P·S·Qᵀ of the vectors, the new vectors are
    P·S^power·Qᵀ: 1 changes nothing, 0 whitens, above 1 strong directions count more.
    PHCLE splits the strength of each direction between labels and columns, so 2 gives
    similarities of the predicted values. Contexts do not fit the vectors any more.
    """
    if not np.isfinite(power) or power < 0:
        raise OptionError(f"power must be 0 or more. Got {power!r} instead.")
    left, strength, right = np.linalg.svd(
        np.asarray(embedding.vectors, np.float64), full_matrices=False
    )
    top = strength.max(initial=0.0)
    kept = strength > NEGLIGIBLE * top
    vectors = (left[:, kept] * (top * (strength[kept] / top) ** power)) @ right[kept]
    return replace(
        embedding,
        vectors=vectors.astype(embedding.vectors.dtype),
        contexts=(),
        penalties={},
    )


def reduce_dimensions(values: Matrix, dim: int | None) -> Floats:
    """The rows in at most `dim` dimensions that keep their inner products best.

    (rows, columns) becomes U·S (rows, min(dim, rows, columns)) of the SVD without
    centring. With `dim` None, or no smaller than the number of columns, the values stay
    as they are.

    >>> reduce_dimensions(np.array([[3.0, 4.0], [6.0, 8.0]]), 1)
    array([[ 5.],
           [10.]])
    """
    check_dim(dim)
    if dim is None or dim >= values.shape[1]:
        return as_dense(values)
    left, strength = left_singular(values, dim)
    return np.asarray(left * strength)


def as_dense(values: Matrix) -> Floats:
    """The values as a dense array."""
    if isinstance(values, np.ndarray):
        return values
    return np.asarray(values.toarray())


def left_singular(
    values: Matrix, dim: int, *, random_state: int = 0
) -> tuple[Floats, Floats]:
    """Left singular vectors (rows, d) and singular values (d,), d ≤ `dim`.

    Small dense matrices are decomposed exactly, others by scikit-learn's randomised
    SVD with a seed. Signs make the largest entry of every right vector positive.
    """
    n = min(dim, *values.shape)
    if sp.issparse(values) or min(values.shape) > EXACT_LIMIT:
        from sklearn.utils.extmath import randomized_svd

        left, strength, right = randomized_svd(
            values, n, n_iter=7, random_state=random_state
        )
    else:
        left, strength, right = np.linalg.svd(values, full_matrices=False)
        left, strength, right = left[:, :n], strength[:n], right[:n]
    sign = np.sign(right[np.arange(n), np.abs(right).argmax(axis=1)])
    sign[sign == 0] = 1.0
    return np.asarray(left * sign), np.asarray(strength)


def unit_rows(values: Matrix) -> Matrix:
    """Rows at length one; a zero row stays zero."""
    if isinstance(values, np.ndarray):
        length = np.linalg.norm(values, axis=1, keepdims=True)
        return np.asarray(values / np.where(length > 0, length, 1.0))
    length = np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
    scale = sp.diags_array(1 / np.where(length > 0, length, 1.0))
    return sp.csr_array(scale @ values)


def check_dim(dim: object, *, must_be_even: bool = False) -> None:
    """Refuse a `dim` that is neither None nor a whole number of 1 or more."""
    if dim is None and not must_be_even:
        return
    whole = isinstance(dim, (int, np.integer)) and not isinstance(dim, bool)
    if not whole or int(dim) < 1 or (must_be_even and int(dim) % 2):  # type: ignore[call-overload]
        raise OptionError(
            f"dim must be {'an even' if must_be_even else 'a'} whole number, "
            f"{2 if must_be_even else 1} or more. Got {dim!r} instead."
        )
