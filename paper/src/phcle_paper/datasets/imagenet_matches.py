"""Match the labels of a context with ImageNet-1K; the result is a partial context.

A name may mean something else there: ImageNet's mouse is a computer mouse. So a match
by name can be held to a part of the hierarchy, and a name that stays ambiguous matches
nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from phcle.contexts import DescriptiveContext
from phcle.datasets import ImageNet1K, load_imagenet1k
from phcle.errors import ContextError, some

__all__ = ["ImageNetMatch", "match_names", "match_wnids"]


@dataclass(frozen=True, eq=False)
class ImageNetMatch:
    """A context over wnids, and how its labels were matched."""

    context: DescriptiveContext
    wnids: dict[str, str]  # label of the source -> wnid
    unmatched: tuple[str, ...]  # labels of the source that ImageNet-1K lacks

    def __str__(self) -> str:
        n = len(self.wnids)
        return f"{n} of {n + len(self.unmatched)} labels are ImageNet-1K labels"


def match_wnids(
    context: DescriptiveContext, imagenet: ImageNet1K | None = None
) -> ImageNetMatch:
    """Keep the labels that are wnids of ImageNet-1K."""
    known = set((imagenet or load_imagenet1k()).labels)
    return _renamed(context, {x: x for x in context.labels if x in known})


def match_names(
    context: DescriptiveContext,
    *,
    below: Mapping[str, str | None] | None = None,
    imagenet: ImageNet1K | None = None,
) -> ImageNetMatch:
    """Rename labels to the wnids of the ImageNet-1K labels with the same name.

    `below` says for a label which wnid of the hierarchy it must lie under, or None if
    it cannot be in ImageNet-1K at all; a label left out may lie anywhere.
    """
    imagenet = imagenet or load_imagenet1k()
    wnids = defaultdict(list)
    for wnid in imagenet.labels:
        wnids[_plain(imagenet.names[wnid])].append(wnid)
    parents = defaultdict(list)
    for child, parent in imagenet.edges:
        parents[child].append(parent)
    found: dict[str, str] = {}
    for label in context.labels:
        candidates = wnids.get(_plain(label), [])
        if below is not None and label in below:
            root = below[label]
            candidates = [x for x in candidates if root in _above(x, parents)]
        if len(candidates) == 1 and candidates[0] not in found.values():
            found[label] = candidates[0]
    return _renamed(context, found)


def _plain(name: str) -> str:
    """A name in lower case, without hyphens and bracketed remarks."""
    name = re.sub(r"\s*\(.*\)$", "", name.lower())
    return " ".join(re.sub(r"[-_+]", " ", name).split())


def _above(wnid: str, parents: Mapping[str, Iterable[str]]) -> set[str]:
    """A node and everything above it."""
    found: set[str] = set()
    ahead = [wnid]
    while ahead:
        node = ahead.pop()
        if node not in found:
            found.add(node)
            ahead.extend(parents.get(node, ()))
    return found


def _renamed(context: DescriptiveContext, wnids: dict[str, str]) -> ImageNetMatch:
    if not wnids:
        raise ContextError(
            f"context {context.name!r}: none of its {len(context.labels)} labels "
            f"({some(context.labels, 3)}) is an ImageNet-1K label."
        )
    kept = replace(context.rows_for(tuple(wnids)), labels=tuple(wnids.values()))
    unmatched = tuple(label for label in context.labels if label not in wnids)
    return ImageNetMatch(kept, wnids, unmatched)
