"""PMI + SVD: the spectral embedding of a relational context.

Levy & Goldberg, "Neural word embedding as implicit matrix factorization", NIPS 2014.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.contexts import RelationalContext, as_labels
from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, ContextWarning, OptionError, some
from phcle_paper.baselines.reduction import NEGLIGIBLE, check_dim, left_singular

__all__ = ["pmi_svd_embedding", "shifted_pmi"]


def pmi_svd_embedding(
    context: RelationalContext,
    *,
    labels: Iterable[Any] | None = None,
    dim: int = 100,
    negatives: float = 1.0,
    power: float = 0.5,
    random_state: int = 0,
    names: Mapping[str, str] | None = None,
) -> LabelEmbedding:
    """Truncated SVD of the shifted positive pointwise mutual information.

    Parameters
    ----------
    context
        Counts D of labels with whatever they occur with.
    labels
        Which labels, in which order; by default all with counts. Their counts alone
        make up the chance level.
    dim
        Dimensions to keep; fewer if the rank is smaller.
    negatives
        k: entries are max(0, PMI − log k), so 1 is the plain positive PMI.
    power
        The vectors are U·S^power: 1 keeps the inner products of the rows, 0.5 shares
        them evenly between labels and columns, 0 gives all directions the same weight.
    random_state
        Seed of scikit-learn's randomised SVD.
    names
        Readable names of labels.

    Notes
    -----
    PMI_wc = log(D_wc · ΣΣD / (Σ_c D_wc · Σ_w D_wc)); where the count is 0, so is the
    entry.
    """
    _check(dim, negatives, power)
    kept, counts = _counted(context, labels)
    information = shifted_pmi(counts, negatives)
    _warn_of_blank_rows(kept, information, negatives)
    left, strength = left_singular(information, dim, random_state=random_state)
    strength = strength[strength > NEGLIGIBLE * strength[0]]
    return LabelEmbedding(
        kept,
        left[:, : max(len(strength), 1)] * (strength**power if len(strength) else 0.0),
        names=dict(names or {}),
        options={
            "method": "PMI+SVD",
            "context": context.name,
            "dim": dim,
            "negatives": negatives,
            "power": power,
            "random_state": random_state,
        },
    )


def shifted_pmi(counts: sp.csr_array, negatives: float = 1.0) -> sp.csr_array:
    """max(0, PMI − log k) of non-negative counts; zero counts stay zero."""
    entries = sp.coo_array(counts)
    row_mass = np.asarray(counts.sum(axis=1)).ravel()
    column_mass = np.asarray(counts.sum(axis=0)).ravel()
    rows, columns = entries.coords
    expected = row_mass[rows] * column_mass[columns] / counts.sum()
    ratio = np.maximum(np.log(entries.data / (negatives * expected)), 0.0)
    information = sp.csr_array((ratio, (rows, columns)), shape=counts.shape)
    information.eliminate_zeros()
    return information


def _check(dim: int, negatives: float, power: float) -> None:
    """Refuse options outside their range."""
    check_dim(dim)
    for option, value, must_be, is_good in (
        ("negatives", negatives, "above 0", negatives > 0),
        ("power", power, "0 or more", power >= 0),
    ):
        if not (np.isfinite(value) and is_good):
            raise OptionError(f"{option} must be {must_be}. Got {value!r} instead.")


def _warn_of_blank_rows(
    labels: tuple[str, ...], information: sp.csr_array, negatives: float
) -> None:
    """Warn about labels that get a zero vector."""
    blank = np.flatnonzero(np.diff(information.indptr) == 0)
    if len(blank):
        warnings.warn(
            f"{len(blank)} of {len(labels)} labels occur with nothing more often than "
            f"{negatives:g} times chance and get a zero vector: "
            f"{some(labels[i] for i in blank)}.",
            ContextWarning,
            stacklevel=3,
        )


def _counted(
    context: RelationalContext, labels: Iterable[Any] | None
) -> tuple[tuple[str, ...], sp.csr_array]:
    """The wanted labels, all of which must have counts, and their counts."""
    if labels is None:
        kept = context.observed_labels
        return kept, context.rows_for(kept)
    kept = as_labels(labels, "labels")
    context = context.naming_also(kept)
    counts = context.rows_for(kept)
    empty = [kept[i] for i in np.flatnonzero(np.diff(counts.indptr) == 0)]
    if empty or not kept:
        raise ContextError(
            f"context {context.name!r} has no count for {some(empty) or 'no label'}; "
            "leave them out of labels=."
        )
    return kept, counts
