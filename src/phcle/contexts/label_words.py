"""The words of all labels' names as one more context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from phcle.contexts.base.context import Context
from phcle.contexts.descriptive.data import DescriptiveContext

__all__ = ["label_words_of"]


def label_words_of(
    contexts: Iterable[Context],
    labels: Iterable[Any] | None,
    names: Mapping[str, str],
) -> DescriptiveContext:
    """Make a context from the names of the labels of other contexts.

    Parameters
    ----------
    contexts : iterable of Context
        The other contexts.
    labels : iterable of str or None
        The labels that are embedded; None for all labels of the contexts.
    names : mapping from str to str
        Readable names; a label without one is its own name.

    Returns
    -------
    DescriptiveContext
        As `DescriptiveContext.from_label_names` makes it.

    Examples
    --------
    >>> tags = DescriptiveContext.from_tags({"wine glass": ["red"], "glass": ["clear"]})
    >>> label_words_of([tags], None, {}).labels
    ('wine glass', 'glass')
    """
    if labels is None:
        labels = chain.from_iterable(context.labels for context in contexts)
    known = dict.fromkeys(map(str, labels))
    return DescriptiveContext.from_label_names({x: names.get(x, x) for x in known})
