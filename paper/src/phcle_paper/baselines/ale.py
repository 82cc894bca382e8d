"""ALE, attribute label embedding: a label's vector is its row of attribute values.

Akata et al., "Label-embedding for attribute-based classification", CVPR 2013.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from phcle.contexts import DescriptiveContext
from phcle.embedding import LabelEmbedding
from phcle_paper.baselines.complete_contexts import known_values
from phcle_paper.baselines.reduction import as_dense, reduce_dimensions, unit_rows

__all__ = ["attribute_embedding"]


def attribute_embedding(
    context: DescriptiveContext,
    *,
    labels: Iterable[Any] | None = None,
    center: bool = False,
    normalize: bool = False,
    dim: int | None = None,
    names: Mapping[str, str] | None = None,
) -> LabelEmbedding:
    """ALE: the values of a descriptive context, in the user's units.

    Parameters
    ----------
    context
        Attributes; every value of every wanted label must be known.
    labels
        Which labels, in which order; by default all of the context.
    center
        Subtract from every column its mean over these labels.
    normalize
        Then scale every row to length one.
    dim
        Then reduce to this many dimensions; see `reduce_dimensions`.
    names
        Readable names of labels.

    Examples
    --------
    >>> from phcle import DescriptiveContext
    >>> tags = DescriptiveContext.from_tags({"cat": ["fur"], "fish": ["fins"]})
    >>> attribute_embedding(tags)["cat"]
    array([0., 1.])
    """
    kept, values = known_values(context, labels)
    if center:
        dense = as_dense(values)
        values = dense - dense.mean(axis=0)
    if normalize:
        values = unit_rows(values)
    return LabelEmbedding(
        kept,
        reduce_dimensions(values, dim),
        names=dict(names or {}),
        options={
            "method": "ALE",
            "context": context.name,
            "center": center,
            "normalize": normalize,
            "dim": dim,
        },
    )
