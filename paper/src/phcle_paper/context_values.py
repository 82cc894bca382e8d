"""Values of a context as one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext

__all__ = ["Floats", "column_means", "dense_values"]

Floats = npt.NDArray[np.float64]


def column_means(values: Floats) -> Floats:
    """Means of the columns over known values, NaN where no value is known."""
    n_known = (~np.isnan(values)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=0) / n_known)


def dense_values(context: DescriptiveContext, labels: Sequence[str]) -> Floats:
    """Values of some labels (labels, columns), NaN where missing.

    A label that the context lacks has missing values only.
    """
    dense = np.full((len(labels), len(context.columns)), np.nan)
    for i, label in enumerate(labels):
        if label in context.index:
            dense[i] = context.matrix.row(context.index[label])
    return dense
