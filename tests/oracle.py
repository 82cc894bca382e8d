"""The objective once more, written densely from the formula, for small problems.

It shares no code with the package: counts and values are scaled here by hand.
"""

from __future__ import annotations

import numpy as np

UNITS = 100.0


def dense_counts(context, labels):
    """D over all labels, scaled to 100 per observed label; the used columns only."""
    D = np.zeros((len(labels), len(context.columns)))
    for i, label in enumerate(labels):
        if label in context.labels:
            D[i] = context.counts.toarray()[context.labels.index(label)]
    D = D[:, D.sum(axis=0) > 0]
    return D * UNITS * (D.sum(axis=1) > 0).sum() / D.sum()


def dense_values(context, labels):
    """A over all labels, centred and scaled; NaN where unknown."""
    values = context.values
    values = values if isinstance(values, np.ndarray) else values.toarray()
    A = np.full((len(labels), len(context.columns)), np.nan)
    for i, label in enumerate(labels):
        if label in context.labels:
            A[i] = values[context.labels.index(label)]
    centred = A - np.nanmean(A, axis=0)
    return centred / np.sqrt(np.nanmean(centred**2) * A.shape[1] / UNITS)


def objective(relational, descriptive, labels, W, C, U, weights, lam):
    """Equation 6 with the corrections, term by term."""
    total = lam.ridge / 2 * (W**2).sum()
    for context, c in zip(relational, C, strict=True):
        D = dense_counts(context, labels)
        B = lam.negatives * np.outer(D.sum(1), D.sum(0)) / D.sum()
        x = W @ c.T
        loss = (B + D) * np.log1p(np.exp(x)) - D * x
        total += (
            weights[context.name] * loss.sum() + lam.context_ridge / 2 * (c**2).sum()
        )
    for context, u in zip(descriptive, U, strict=True):
        A = dense_values(context, labels)
        observed = ~np.isnan(A)
        error = ((np.where(observed, A, 0) - W @ u.T) * observed) ** 2
        total += weights[context.name] * lam.descriptive / 2 * error.sum()
        total += lam.sparsity * np.abs(u).sum() + lam.ridge / 2 * (u**2).sum()
    return total
