"""The relational term in plain NumPy and double precision, as a reference.

Σ_wc [ Q softplus(x) − D x ],  x = W Cᵀ,  Q = B + D,  B = k · rows · columns / total
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

__all__ = ["deviances", "relational_loss", "saturated_floor", "softplus"]

Floats = npt.NDArray[np.floating[Any]]

TILE = 4_000_000
"""Most numbers of W Cᵀ in memory at once: 32 MB."""

ENTRIES = 100_000
"""Known entries computed at once, so that their vectors fit into the cache."""


def softplus(x: Floats) -> Floats:
    """Compute log(1 + eˣ) without overflow.

    Parameters
    ----------
    x : array
        Any numbers.

    Returns
    -------
    array
        Of the same shape.
    """
    return np.logaddexp(x, 0.0)


def relational_loss(
    counts: sp.csr_array, row_rate: Floats, column_mass: Floats, W: Floats, C: Floats
) -> float:
    """Compute Σ_wc [ Q softplus(x) − D x ] in tiles.

    Parameters
    ----------
    counts : csr_array of shape (labels, columns)
        D.
    row_rate : array of shape (labels,)
        k times the mass of a row over the total, so that B = rate · massᵀ.
    column_mass : array of shape (columns,)
        Mass of every column.
    W : array of shape (labels, dim)
        Label vectors.
    C : array of shape (columns, dim)
        Vectors of the columns.

    Returns
    -------
    float
        The loss.
    """
    W, C = np.asarray(W, np.float64), np.asarray(C, np.float64)
    height = max(1, TILE // max(1, len(C)))
    total = 0.0
    for start in range(0, len(W), height):
        rows = slice(start, start + height)
        total += float(row_rate[rows] @ (softplus(W[rows] @ C.T) @ column_mass))
    D = sp.coo_array(counts)
    for start in range(0, D.nnz, ENTRIES):
        part = slice(start, start + ENTRIES)
        x = np.einsum("ij,ij->i", W[D.coords[0][part]], C[D.coords[1][part]])
        total += float(D.data[part] @ (softplus(x) - x))
    return total


def saturated_floor(
    counts: sp.csr_array, row_rate: Floats, column_mass: Floats
) -> float:
    """Compute the loss of the best x for each pair: a lower bound for any model.

    Parameters
    ----------
    counts : csr_array of shape (labels, columns)
        D.
    row_rate : array of shape (labels,)
        k times the mass of a row over the total, so that B = rate · massᵀ.
    column_mass : array of shape (columns,)
        Mass of every column.

    Returns
    -------
    float
        The lower bound.
    """
    D = sp.coo_array(counts)
    B = row_rate[D.coords[0]] * column_mass[D.coords[1]]
    Q = B + D.data
    # The loss at its minimum in entropy form. Pairs without a count add zero, and so
    # does B where it is so small that it rounds to zero.
    return float(np.sum(xlogy(Q, Q) - xlogy(D.data, D.data) - xlogy(B, B)))


def deviances(
    counts: sp.csr_array,
    row_rate: Floats,
    column_mass: Floats,
    x: Floats,
    negatives: float,
    trusts: Sequence[float],
) -> Floats:
    """Compute the loss of each label above the saturated floor, for every trust in x.

    Without any association x = −log k: then D = B, as for independent labels and
    columns.

    Parameters
    ----------
    counts : csr_array of shape (labels, columns)
        D. It is made dense, so it should have few rows.
    row_rate : array of shape (labels,)
        k times the mass of a row over the total, so that B = rate · massᵀ.
    column_mass : array of shape (columns,)
        Mass of every column.
    x : array of shape (labels, columns)
        Predictions.
    negatives : float
        k.
    trusts : sequence of float
        From 0 (no association) to 1 (x itself).

    Returns
    -------
    array of shape (trusts, labels)
        The losses.
    """
    B = np.outer(row_rate, column_mass)
    D = counts.toarray()
    Q = B + D
    with np.errstate(divide="ignore", invalid="ignore"):
        floor = np.where(D > 0, Q * np.log(Q) - D * np.log(D) - B * np.log(B), 0.0)
    nothing = -np.log(negatives)
    return np.array(
        [
            (Q * softplus(trusted) - D * trusted - floor).sum(axis=1)
            for trusted in (nothing + trust * (x - nothing) for trust in trusts)
        ]
    )
