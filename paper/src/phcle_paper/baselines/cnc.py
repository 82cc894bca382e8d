"""CNC: several embeddings of the same labels, concatenated.

Akata et al., "Evaluation of output embeddings for fine-grained image classification",
CVPR 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError, check_choice
from phcle_paper.baselines.complete_contexts import joined_names, shared_labels
from phcle_paper.baselines.gap_filling import FILLS, aligned_parts
from phcle_paper.baselines.reduction import Floats, reduce_dimensions

__all__ = ["concatenated_embedding", "part_weights"]


def concatenated_embedding(
    embeddings: Sequence[LabelEmbedding],
    *,
    labels: Iterable[Any] | None = None,
    normalize: bool = True,
    weights: Sequence[float] | None = None,
    gaps: str | None = None,
    dim: int | None = None,
) -> LabelEmbedding:
    """CNC: the embeddings' vectors of a label, one after the other.

    Parameters
    ----------
    embeddings
        Embeddings of d1, d2, … dimensions; the result has d1 + d2 + ….
    labels
        Which labels, in which order; by default those that all embeddings hold, or with
        `gaps` those that any holds.
    normalize
        Scale a label's vector of each embedding to length one first, so that all
        embeddings weigh the same for every label. False takes them as they are.
    weights
        Then multiply the vectors of each embedding by its weight; by default by 1.
    gaps
        How to fill in the vector of a label that an embedding does not hold: "mean" or
        "ridge", see `gap_filling`. By default such labels are left out, or refused if
        `labels` names them.
    dim
        Then reduce to this many dimensions; see `reduce_dimensions`.

    Examples
    --------
    >>> one = LabelEmbedding(("cat", "dog"), np.array([[2.0], [5.0]]))
    >>> two = LabelEmbedding(("dog", "cat"), np.array([[3.0, 4.0], [0.0, 9.0]]))
    >>> concatenated_embedding([one, two])["dog"]
    array([1. , 0.6, 0.8])
    >>> concatenated_embedding([one, two], weights=[2, 1])["dog"]
    array([2. , 0.6, 0.8])
    """
    given = list(embeddings)
    scales = part_weights(weights, len(given))
    if gaps is None:
        kept = shared_labels(given, labels)
        parts = [embedding.select(kept) for embedding in given]
        blocks: list[Floats] = [
            np.asarray(part.unit_vectors if normalize else part.vectors, np.float64)
            for part in parts
        ]
    else:
        check_choice("gaps", gaps, FILLS)
        kept, blocks = aligned_parts(given, labels, normalize=normalize)
        blocks = FILLS[gaps](blocks)
    weighted = [scale * block for scale, block in zip(scales, blocks, strict=True)]
    return LabelEmbedding(
        kept,
        reduce_dimensions(np.hstack(weighted), dim),
        names=joined_names(given),
        options={
            "method": "CNC",
            "normalize": normalize,
            "weights": list(scales),
            "gaps": gaps,
            "dim": dim,
            "parts": [dict(embedding.options) for embedding in given],
        },
    )


def part_weights(weights: Sequence[float] | None, n_parts: int) -> tuple[float, ...]:
    """One weight above 0 for each part; all 1 if none are given.

    Parameters
    ----------
    weights
        The weights, or None.
    n_parts
        How many parts there are.

    Examples
    --------
    >>> part_weights(None, 2)
    (1.0, 1.0)
    """
    if weights is None:
        return (1.0,) * n_parts
    found = tuple(float(x) for x in weights)
    if len(found) != n_parts or not all(np.isfinite(x) and x > 0 for x in found):
        raise OptionError(
            f"weights must be {n_parts} numbers above 0, one for each part. "
            f"Got {list(weights)!r} instead."
        )
    return found
