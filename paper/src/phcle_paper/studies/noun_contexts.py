"""Attributes of AWA and LAD as tables, under the wnids of WordNet's nouns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from phcle.contexts import DescriptiveContext, has_sentence_encoder
from phcle_paper.context_values import dense_values
from phcle_paper.datasets import (
    WordNetNouns,
    load_awa,
    load_lad,
    load_wordnet_nouns,
    match_nouns,
)
from phcle_paper.datasets.lad import FALSE_FRIENDS, GROUPS
from phcle_paper.datasets.patchy_table import Field, PatchyTable

__all__ = ["noun_table"]

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
