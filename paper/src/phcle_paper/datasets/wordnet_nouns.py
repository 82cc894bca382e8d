"""WordNet 3.0's nouns, from the files of Debian's `wordnet-base` or a user's folder.

A synset is named by its wnid: the letter `n` and its byte offset in `data.noun`, as
ImageNet names it. The format is that of the man page wndb(5WN).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from phcle.errors import FileError

__all__ = ["WORDNET_FOLDER", "WordNetNouns", "load_wordnet_nouns"]

WORDNET_FOLDER = Path("/usr/share/wordnet")
"""Where Debian's package `wordnet-base` puts the files."""
HYPERNYMS = ("@", "@i")  # of a kind, of an instance
PART_MERONYMS = ("%p", "%s")  # parts, and substances a thing is made of


@dataclass(frozen=True, eq=False)
class WordNetNouns:
    """The noun synsets of WordNet by wnid, in the order of the file.

    Attributes
    ----------
    lemmas : dict of str to tuple of str
        Words of each synset, the usual one first.
    hypernyms : dict of str to tuple of str
        Parents of each synset.
    parts : dict of str to tuple of str
        Parts and substances of the few synsets that have any.
    glosses : dict of str to str
        Definition of each synset, then examples in quotation marks.
    senses : dict of str to tuple of str
        Synsets of each word in lower case, the most frequent first.
    """

    lemmas: dict[str, tuple[str, ...]]
    hypernyms: dict[str, tuple[str, ...]]
    parts: dict[str, tuple[str, ...]]
    glosses: dict[str, str]
    senses: dict[str, tuple[str, ...]]

    def name_of(self, wnid: str) -> str:
        """The first word of a synset, which other synsets may share."""
        return self.lemmas[wnid][0]

    def definition_of(self, wnid: str) -> str:
        """The gloss of a synset without its examples."""
        return self.glosses[wnid].split('; "')[0]

    def senses_of(self, word: str, *, below: str | None = None) -> tuple[str, ...]:
        """Synsets of a word, the most frequent first; those at or under `below`."""
        plain = " ".join(word.replace("_", " ").split()).lower()
        found = self.senses.get(plain, ())
        if below is None:
            return found
        return tuple(wnid for wnid in found if below in self.closure([wnid]))

    def closure(self, wnids: Iterable[str]) -> tuple[str, ...]:
        """The synsets and all synsets above them, in order of discovery."""
        found = dict.fromkeys(wnids)
        queue = list(found)
        for wnid in queue:  # grows while we walk it
            for parent in self.hypernyms[wnid]:
                if parent not in found:
                    found[parent] = None
                    queue.append(parent)
        return tuple(found)

    def edges(self, wnids: Iterable[str]) -> list[tuple[str, str]]:
        """Pairs (child, parent) of some synsets and all above them."""
        return [
            (child, parent)
            for child in self.closure(wnids)
            for parent in self.hypernyms[child]
        ]


def load_wordnet_nouns(folder: Path = WORDNET_FOLDER) -> WordNetNouns:
    """Read WordNet's nouns from its own files, `data.noun` and `index.noun`."""
    nouns = WordNetNouns({}, {}, {}, {}, {})
    for line in _lines(folder / "data.noun"):
        fields, _, gloss = line.partition(" | ")
        words = fields.split(" ")
        wnid, n_lemmas = "n" + words[0], int(words[3], 16)
        pointers = words[4 + 2 * n_lemmas :]
        links = [pointers[1 + 4 * i : 4 + 4 * i] for i in range(int(pointers[0]))]
        nouns.lemmas[wnid] = tuple(
            word.replace("_", " ") for word in words[4 : 4 + 2 * n_lemmas : 2]
        )
        above = ("n" + to for kind, to, _ in links if kind in HYPERNYMS)
        nouns.hypernyms[wnid] = tuple(dict.fromkeys(above))
        own = tuple(
            "n" + to for kind, to, pos in links if kind in PART_MERONYMS and pos == "n"
        )
        if own:
            nouns.parts[wnid] = own
        nouns.glosses[wnid] = gloss.strip()
    for line in _lines(folder / "index.noun"):
        entry = line.split()
        found = tuple("n" + offset for offset in entry[-int(entry[2]) :])
        nouns.senses[entry[0].replace("_", " ")] = found
    return nouns


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file, without the licence at its top."""
    if not path.is_file():
        raise FileError(
            f"{path}: no such file. Get WordNet 3.0's files by apt-get install "
            "wordnet-base, or give the folder that holds data.noun and index.noun."
        )
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("  "):
            yield line
