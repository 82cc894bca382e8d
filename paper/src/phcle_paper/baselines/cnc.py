"""CNC, concatenation: the vectors of several embeddings side by side.

Akata et al., "Evaluation of output embeddings for fine-grained image classification",
CVPR 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from phcle.embedding import LabelEmbedding
from phcle_paper.baselines.complete_contexts import joined_names, shared_labels
from phcle_paper.baselines.reduction import reduce_dimensions

__all__ = ["concatenated_embedding"]


def concatenated_embedding(
    embeddings: Sequence[LabelEmbedding],
    *,
    labels: Iterable[Any] | None = None,
    normalize: bool = True,
    dim: int | None = None,
) -> LabelEmbedding:
    """CNC: the embeddings' vectors of a label, one after the other.

    Parameters
    ----------
    embeddings
        Embeddings of d1, d2, … dimensions; the result has d1 + d2 + ….
    labels
        Which labels, in which order; by default those that all embeddings hold.
    normalize
        Scale a label's vector of each embedding to length one first, so that all
        embeddings weigh the same for every label. False takes them as they are.
    dim
        Then reduce to this many dimensions; see `reduce_dimensions`.

    Examples
    --------
    >>> one = LabelEmbedding(("cat", "dog"), np.array([[2.0], [5.0]]))
    >>> two = LabelEmbedding(("dog", "cat"), np.array([[3.0, 4.0], [0.0, 9.0]]))
    >>> concatenated_embedding([one, two])["dog"]
    array([1. , 0.6, 0.8])
    """
    given = list(embeddings)
    kept = shared_labels(given, labels)
    parts = [embedding.select(kept) for embedding in given]
    vectors = [part.unit_vectors if normalize else part.vectors for part in parts]
    return LabelEmbedding(
        kept,
        reduce_dimensions(np.hstack(vectors).astype(np.float64), dim),
        names=joined_names(given),
        options={
            "method": "CNC",
            "normalize": normalize,
            "dim": dim,
            "parts": [dict(embedding.options) for embedding in given],
        },
    )
