"""Labels of a context under the wnids of WordNet's nouns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from phcle.contexts import DescriptiveContext
from phcle.errors import ContextError, some
from phcle_paper.datasets.wordnet_nouns import WordNetNouns

__all__ = ["match_nouns"]


def match_nouns(
    context: DescriptiveContext,
    nouns: WordNetNouns,
    *,
    below: Mapping[str, Iterable[str]],
    senses: Mapping[str, str | None] | None = None,
) -> DescriptiveContext:
    """Rename labels to the wnids of nouns with that name; leave out the others.

    `below` says for a label under which synsets it must lie; a label it lacks is left
    out. Of several senses the first that is chiefly called so counts, or else the
    first. `senses` settles single labels, None leaving one out.
    """
    found: dict[str, str] = {}  # wnid -> label
    for label in context.labels:
        fit = [
            x
            for root in below.get(label, ())
            for x in nouns.senses_of(label, below=root)
        ]
        own = [x for x in fit if nouns.name_of(x).lower() == label.lower()]
        wnid = next(iter([*own, *fit]), None)
        if senses is not None and label in senses:
            wnid = senses[label]
        if wnid is not None and wnid not in found:
            found[wnid] = label
    if not found:
        raise ContextError(
            f"context {context.name!r}: none of its {len(context.labels)} labels "
            f"({some(context.labels, 3)}) is a noun below the given synsets."
        )
    return replace(context.rows_for(list(found.values())), labels=tuple(found))
