"""How near all labels are to labels that contexts describe, computed in steps.

Predictions of attributes are surer near described labels. For many labels this takes
seconds to minutes, so whoever asks can show how far it is, and stop in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import support_of

__all__ = ["Supports", "fill_supports"]

ROWS_AT_ONCE = 10_000
"""Labels of a step: a fraction of a second."""

Supports = dict[str, npt.NDArray[np.float64]]


def fill_supports(
    embedding: LabelEmbedding,
    supports: Supports,
    *,
    whole: LabelEmbedding | None = None,
) -> Iterator[tuple[int, int]]:
    """Compute the supports of all calibrated contexts that are not there yet.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    supports : dict from str to array
        Supports by name of the context; new ones are put into it when they are whole.
        Labels of contexts that describe no label have a support of zero.
    whole : LabelEmbedding or None, default None
        The embedding that this one is a sample of, if any; its described labels count.

    Yields
    ------
    tuple of (int, int)
        Labels done and all labels of the present context, before each step.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> tags = {"cat": ["fur"], "dog": ["fur"], "carp": ["fins"], "eel": ["fins"]}
    >>> tags = DescriptiveContext.from_tags(tags, name="looks")
    >>> supports: Supports = {}
    >>> embedding = PHCLE(dim=2).fit([tags]).embedding_
    >>> list(fill_supports(embedding, supports)), sorted(supports)
    ([], [])
    """
    n, done = len(embedding), dict[tuple[str, ...], str]()
    for context in embedding.predicting:
        if context.calibration is None:
            continue
        described = tuple(context.observed_labels)
        if context.name not in supports:
            if described in done:  # tables of the same labels have the same support
                supports[context.name] = supports[done[described]]
                continue
            found = np.zeros(n)
            for start in range(0, n, ROWS_AT_ONCE):
                yield start, n
                part = slice(start, start + ROWS_AT_ONCE)
                own = support_of(
                    embedding if whole is None else whole,
                    context,
                    embedding.vectors[part],
                    embedding.labels[part],
                )
                if own is not None:
                    found[part] = own
            supports[context.name] = found
        done[described] = context.name
