"""WordNets in any language, through the readers that people use: NLTK's, and `wn`.

Both give synsets with hypernyms, words and definitions; neither is imported here, for
what is needed comes with the objects that they hand out.
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
    """Synsets of NLTK's `WordNetCorpusReader` and all above them.

    Parameters
    ----------
    reader
        `nltk.corpus.wordnet`, or a reader of a folder of one's own.
    synsets
        Synsets or their names ("dog.n.01"); left out, all nouns.
    language
        Of names and texts, where the reader has words in it; definitions are English.
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
        definition=lambda synset: synset.definition(),
        name=name,
    )


def from_wn(
    wordnet: Any, synsets: Iterable[Any] | None = None, *, name: str = "wordnet"
) -> Thesaurus:
    """Synsets of the library `wn` and all above them.

    Parameters
    ----------
    wordnet
        A `wn.Wordnet`, of any lexicon and language.
    synsets
        Synsets or their ids; left out, all nouns.

    Notes
    -----
    A node is called by its inter-lingual index where it has one, so that readings in
    several languages name the same nodes alike, and else by its id.
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
        definition=lambda synset: synset.definition(),
        name=name,
    )


def _collect(
    synsets: Iterable[Any],
    *,
    key: Callable[[Any], str],
    above: Callable[[Any], Iterable[Any]],
    words: Callable[[Any], list[str]],
    definition: Callable[[Any], str | None],
    name: str,
) -> Thesaurus:
    """Walk up from the synsets, and keep what each says."""
    queue = {key(synset): synset for synset in synsets}
    if not queue:
        raise ContextError(f"{name!r}: no synset was given, so there is no taxonomy.")
    waiting = list(queue.items())
    edges: dict[tuple[str, str], None] = {}
    names: dict[str, str] = {}
    texts: dict[str, str] = {}
    for own, synset in waiting:  # grows while we walk it
        spoken = [word.replace("_", " ") for word in words(synset)]
        if spoken:
            names[own] = spoken[0]
        said = [", ".join(spoken), definition(synset) or ""]
        text = ": ".join(part for part in said if part)
        if text:
            texts[own] = text
        for parent in above(synset):
            edges[own, key(parent)] = None
            if key(parent) not in queue:
                queue[key(parent)] = parent
                waiting.append((key(parent), parent))
    return Thesaurus(name, tuple(edges), names, texts)
