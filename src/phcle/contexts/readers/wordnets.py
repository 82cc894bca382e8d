"""Wordnets of any language, through the libraries NLTK and `wn`.

Both libraries have synsets with hypernyms, words and definitions. Neither is imported
here: the user passes their objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from phcle.contexts.readers.thesaurus import Thesaurus
from phcle.errors import ContextError

__all__ = ["from_nltk", "from_wn"]


def from_nltk(
    reader: Any,
    synsets: Iterable[Any] | None = None,
    *,
    language: str = "eng",
    name: str = "wordnet",
) -> Thesaurus:
    """Read synsets, and all hypernyms above them, from NLTK.

    Parameters
    ----------
    reader : WordNetCorpusReader
        `nltk.corpus.wordnet`, or a reader of another folder.
    synsets : iterable of synsets or str, optional
        Synsets or their names ("dog.n.01"). By default all nouns.
    language : str, default "eng"
        Language of names and texts. Synsets without words in it get English words;
        definitions are English.
    name : str, default "wordnet"
        Name of the thesaurus.

    Returns
    -------
    Thesaurus
        Nodes are named like synsets.
    """
    given = reader.all_synsets("n") if synsets is None else synsets
    found = [reader.synset(x) if isinstance(x, str) else x for x in given]

    def words(synset: Any) -> list[str]:
        return list(synset.lemma_names(language)) or list(synset.lemma_names())

    return _collect(
        found,
        key=lambda synset: str(synset.name()),
        above=lambda synset: [*synset.hypernyms(), *synset.instance_hypernyms()],
        words=words,
        name=name,
    )


def from_wn(
    wordnet: Any, synsets: Iterable[Any] | None = None, *, name: str = "wordnet"
) -> Thesaurus:
    """Read synsets, and all hypernyms above them, from the library `wn`.

    Parameters
    ----------
    wordnet : wn.Wordnet
        A wordnet of any lexicon and language.
    synsets : iterable of synsets or str, optional
        Synsets or their ids. By default all nouns.
    name : str, default "wordnet"
        Name of the thesaurus.

    Returns
    -------
    Thesaurus
        A node is named by its inter-lingual index, so that wordnets of several
        languages share their nodes. A synset without an index is named by its id.
    """
    given = wordnet.synsets(pos="n") if synsets is None else synsets
    found = [wordnet.synset(x) if isinstance(x, str) else x for x in given]

    def key(synset: Any) -> str:
        index = synset.ili
        return str(getattr(index, "id", index) or synset.id)

    return _collect(
        found,
        key=key,
        above=lambda synset: (
            synset.hypernyms() + synset.get_related("instance_hypernym")
        ),
        words=lambda synset: list(synset.lemmas()),
        name=name,
    )


def _collect(
    synsets: Iterable[Any],
    *,
    key: Callable[[Any], str],
    above: Callable[[Any], Iterable[Any]],
    words: Callable[[Any], list[str]],
    name: str,
) -> Thesaurus:
    """Walk up from the synsets and collect edges, names and texts."""
    first = {key(synset): synset for synset in synsets}
    if not first:
        raise ContextError(f"{name!r}: no synset was given, so there is no taxonomy.")
    queue, seen = list(first.items()), set(first)
    edges: dict[tuple[str, str], None] = {}
    names: dict[str, str] = {}
    texts: dict[str, str] = {}
    for own, synset in queue:  # grows while we walk it
        spoken = [word.replace("_", " ") for word in words(synset)]
        if spoken:
            names[own] = spoken[0]
        said = [", ".join(spoken), synset.definition() or ""]
        text = ": ".join(part for part in said if part)
        if text:
            texts[own] = text
        for parent in above(synset):
            edges[own, key(parent)] = None
            if key(parent) not in seen:
                seen.add(key(parent))
                queue.append((key(parent), parent))
    return Thesaurus(name, tuple(edges), names, texts)
