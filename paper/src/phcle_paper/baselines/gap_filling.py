"""Fill in the parts of a concatenation that some labels lack.

A part is a block of columns, one embedding. A label has a whole row of it or none. Two
ways to fill a missing row in are here, and a third is in `soft_impute`:

- "mean": the mean of the known rows of the part;
- "ridge": predicted from the other parts by ridge regression, learned on the labels
  that have all parts. The penalty is chosen by leave-one-out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts import as_labels
from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, some
from phcle_paper.baselines.reduction import Floats

__all__ = ["FILLS", "aligned_parts"]

PENALTIES = np.logspace(-3, 3, 13)
"""Penalties that leave-one-out chooses from. Rows have length one, so this reaches
from hardly any shrinkage to the mean of the part."""

FEWEST = 2
"""Labels with all parts that a regression needs; with fewer, the mean is taken."""


def aligned_parts(
    embeddings: Sequence[LabelEmbedding],
    labels: Iterable[Any] | None,
    *,
    normalize: bool = True,
) -> tuple[tuple[str, ...], list[Floats]]:
    """Labels, and the rows of each embedding, NaN for labels that it lacks.

    Parameters
    ----------
    embeddings
        The parts.
    labels
        Which labels, in which order; by default all that any part has.
    normalize
        Whether to scale every known row to length one.
    """
    everything = dict.fromkeys(x for e in embeddings for x in e.labels)
    kept = tuple(everything) if labels is None else as_labels(labels, "labels")
    nowhere = [label for label in kept if label not in everything]
    if nowhere or not kept:
        raise ContextError(
            f"no embedding has a vector for {some(nowhere) or 'any label'}; leave "
            "labels out that no part knows."
        )
    blocks = []
    for embedding in embeddings:
        known = [i for i, label in enumerate(kept) if label in embedding]
        part = embedding.select([kept[i] for i in known])
        block = np.full((len(kept), embedding.vectors.shape[1]), np.nan)
        block[known] = part.unit_vectors if normalize else part.vectors
        blocks.append(block)
    return kept, blocks


def fill_with_mean(blocks: Sequence[Floats]) -> list[Floats]:
    """Replace missing rows by the mean of the known rows of their block.

    >>> fill_with_mean([np.array([[1.0], [3.0], [np.nan]])])[0].ravel()
    array([1., 3., 2.])
    """
    filled = []
    for block in blocks:
        known = _is_known(block)
        filled.append(np.where(known[:, None], block, block[known].mean(axis=0)))
    return filled


def fill_by_ridge(blocks: Sequence[Floats]) -> list[Floats]:
    """Predict missing rows from the other blocks, whose own gaps are at the mean.

    >>> one = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> two = np.array([[0.0], [2.0], [4.0], [np.nan]])
    >>> fill_by_ridge([one, two])[1].ravel().round(1)
    array([0., 2., 4., 6.])
    """
    from sklearn.linear_model import RidgeCV

    means = fill_with_mean(blocks)
    complete = np.all([_is_known(block) for block in blocks], axis=0)
    if complete.sum() < FEWEST:
        return means
    filled = []
    for i, block in enumerate(blocks):
        gaps = ~_is_known(block)
        if not gaps.any():
            filled.append(block)
            continue
        others = np.hstack([other for j, other in enumerate(means) if j != i])
        model = RidgeCV(PENALTIES).fit(others[complete], block[complete])
        own = block.copy()
        own[gaps] = np.reshape(model.predict(others[gaps]), own[gaps].shape)
        filled.append(own)
    return filled


def _is_known(block: Floats) -> npt.NDArray[np.bool_]:
    """Which rows are known: (rows,)."""
    return np.asarray(~np.isnan(block).any(axis=1))


FILLS: Mapping[str, Callable[[Sequence[Floats]], list[Floats]]] = {
    "mean": fill_with_mean,
    "ridge": fill_by_ridge,
}
"""The ways to fill missing rows in, by name."""
