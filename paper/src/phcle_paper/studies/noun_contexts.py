"""Attributes of AWA and LAD as tables, under the wnids of WordNet's nouns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from phcle.contexts import DescriptiveContext, has_sentence_encoder
from phcle.errors import ContextError, some
from phcle_paper.context_values import dense_values
from phcle_paper.datasets import WordNetNouns, load_awa, load_lad, load_wordnet_nouns
from phcle_paper.datasets.lad import FALSE_FRIENDS, GROUPS
from phcle_paper.datasets.patchy_table import Field, PatchyTable

__all__ = ["match_nouns", "noun_table"]

ANIMAL = "n00015388"

# LAD's devices and vehicles, where the first sense of the word is something else.
LAD_SENSES = {
    "coach": "n02924116",  # a bus, not drawn by horses
    "keyboard": "n03085013",  # of a computer, not of a piano
    "television": "n04405907",  # the set, not the broadcast
    "tram": "n04335435",  # on rails, not on cables
    "van": "n04520170",  # on the road, not on rails
}


def _awa(nouns: WordNetNouns, data: Path) -> DescriptiveContext:
    """AWA's animals under the synsets of animals."""
    attributes = load_awa(data / "awa")
    below = dict.fromkeys(attributes.labels, (ANIMAL,))
    return match_nouns(attributes, nouns, below=below)


def _lad(nouns: WordNetNouns, data: Path) -> DescriptiveContext:
    """LAD's classes under the synsets of their group."""
    lad = load_lad(data / "lad")
    below = {
        name: (root,)
        for title, root in GROUPS.values()
        if root is not None
        for name in lad.splits[title]
        if name not in FALSE_FRIENDS
    }
    found = match_nouns(lad.attributes, nouns, below=below, senses=LAD_SENSES)
    return replace(found, name="attributes")


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


ATTRIBUTES: Mapping[str, Callable[[WordNetNouns, Path], DescriptiveContext]] = {
    "AWA": _awa,
    "LAD": _lad,
}
"""Attributes of a data set in a folder of all data, under wnids."""


def noun_table(name: str, data: Path) -> PatchyTable:
    """Attributes of a data set as a table, with hierarchy and sentence vectors."""
    nouns = load_wordnet_nouns()
    attributes = ATTRIBUTES[name](nouns, data)
    # Words of the glosses stand in for sentence vectors where no encoder is installed.
    sentences = DescriptiveContext.from_texts(
        {x: f"{nouns.name_of(x)}: {nouns.definition_of(x)}" for x in attributes.labels},
        name="sentences",
        encoder="sentences" if has_sentence_encoder() else None,
    )
    return PatchyTable(
        attributes.name,
        attributes.labels,
        tuple(map(Field, attributes.columns)),
        dense_values(attributes, attributes.labels),
        tuple(nouns.edges(attributes.labels)),
        (sentences,),
    )
