"""WordNet 3.0's nouns, from the files of Debian's `wordnet-base` or a user's folder.

A synset is named by its wnid: the letter `n` and its byte offset in `data.noun`, as
ImageNet names it. The format is that of the man page wndb(5WN).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from phcle.contexts.readers.delimited import read_text
from phcle.errors import FileError, UnknownLabelError, did_you_mean, some

__all__ = ["WORDNET_FOLDER", "WordNetNouns", "load_wordnet_nouns"]

WORDNET_FOLDER = Path("/usr/share/wordnet")
"""Where Debian's package `wordnet-base` puts the files."""
REMEDY = (
    "Get WordNet 3.0's files by apt-get install wordnet-base, or give the folder that "
    "holds data.noun and index.noun."
)
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

    def __repr__(self) -> str:
        return f"WordNetNouns({len(self)} synsets, {len(self.senses)} words)"

    def __len__(self) -> int:
        return len(self.lemmas)

    def __contains__(self, wnid: object) -> bool:
        return wnid in self.lemmas

    def name_of(self, wnid: str) -> str:
        """The first word of a synset, which other synsets may share.

        Parameters
        ----------
        wnid : str
            The synset.

        Returns
        -------
        str
            The word.
        """
        self._check([wnid])
        return self.lemmas[wnid][0]

    def definition_of(self, wnid: str) -> str:
        """The gloss of a synset without its examples.

        Parameters
        ----------
        wnid : str
            The synset.

        Returns
        -------
        str
            The definition.
        """
        self._check([wnid])
        return self.glosses[wnid].split('; "')[0]

    def senses_of(self, word: str, *, below: str | None = None) -> tuple[str, ...]:
        """Synsets of a word, the most frequent first.

        Parameters
        ----------
        word : str
            A noun, in any case, with blanks or underscores.
        below : str, optional
            Keep only senses at or under this synset.

        Returns
        -------
        tuple of str
            The synsets; empty if the word is not a noun.
        """
        plain = " ".join(word.replace("_", " ").split()).lower()
        found = self.senses.get(plain, ())
        if below is None:
            return found
        self._check([below])
        return tuple(wnid for wnid in found if below in self.closure([wnid]))

    def closure(self, wnids: Iterable[str]) -> tuple[str, ...]:
        """The synsets and all synsets above them.

        Parameters
        ----------
        wnids : iterable of str
            Where to start.

        Returns
        -------
        tuple of str
            The synsets in order of discovery.
        """
        found = dict.fromkeys(wnids)
        self._check(found)
        queue = list(found)
        for wnid in queue:  # grows while we walk it
            for parent in self.hypernyms[wnid]:
                if parent not in found:
                    found[parent] = None
                    queue.append(parent)
        return tuple(found)

    def edges(self, wnids: Iterable[str] | None = None) -> list[tuple[str, str]]:
        """Pairs (child, parent) of some synsets and all above them.

        Parameters
        ----------
        wnids : iterable of str, optional
            Where to start; by default all synsets.

        Returns
        -------
        list of (str, str)
            The pairs.
        """
        nodes = self.lemmas if wnids is None else self.closure(wnids)
        return [(child, parent) for child in nodes for parent in self.hypernyms[child]]

    def _check(self, wnids: Iterable[str]) -> None:
        """Refuse what is not a synset here."""
        unknown = [wnid for wnid in wnids if wnid not in self.lemmas]
        if unknown:
            raise UnknownLabelError(
                f"no noun synset {some(unknown)} in this WordNet; a wnid such as "
                "'n02084071' is needed, of version 3.0."
                f"{did_you_mean(unknown[0], self.senses.get(unknown[0], ()))}"
            )


def load_wordnet_nouns(path: str | Path | None = None) -> WordNetNouns:
    """Read WordNet's nouns from its own files, `data.noun` and `index.noun`.

    Parameters
    ----------
    path : str or Path, optional
        The folder of the files, or `data.noun` itself; by default the folder of
        Debian's package `wordnet-base`.

    Returns
    -------
    WordNetNouns
        All noun synsets.

    Raises
    ------
    FileError
        If a file is missing or damaged.
    """
    folder = WORDNET_FOLDER if path is None else Path(path)
    if folder.is_file():
        folder = folder.parent
    for name in ("data.noun", "index.noun"):
        if not (folder / name).is_file():
            raise FileError(f"{folder / name}: no such file. {REMEDY}")
    lemmas: dict[str, tuple[str, ...]] = {}
    hypernyms: dict[str, tuple[str, ...]] = {}
    parts: dict[str, tuple[str, ...]] = {}
    glosses: dict[str, str] = {}
    source = folder / "data.noun"
    for where, line in _lines(source):
        fields, _, gloss = line.partition(" | ")
        words = fields.split(" ")
        try:
            wnid = "n" + words[0]
            n_lemmas = int(words[3], 16)
            pointers = words[4 + 2 * n_lemmas :]
            n_links = int(pointers[0])
            links = [tuple(pointers[1 + 4 * i : 4 + 4 * i]) for i in range(n_links)]
            linked = [(kind, "n" + to, pos) for kind, to, pos in links]
        except (IndexError, ValueError) as error:
            raise FileError(
                f"{where}: is not a synset of WordNet: {line[:40]!r}. {REMEDY}"
            ) from error
        lemmas[wnid] = tuple(
            w.replace("_", " ") for w in words[4 : 4 + 2 * n_lemmas : 2]
        )
        above = (to for kind, to, _ in linked if kind in HYPERNYMS)
        hypernyms[wnid] = tuple(dict.fromkeys(above))
        own = tuple(
            to for kind, to, pos in linked if kind in PART_MERONYMS and pos == "n"
        )
        if own:
            parts[wnid] = own
        glosses[wnid] = gloss.strip()
    if not lemmas:
        raise FileError(f"{source}: has no synset. {REMEDY}")
    loose = [p for parents in hypernyms.values() for p in parents if p not in lemmas]
    if loose:
        raise FileError(
            f"{source}: names hypernyms that it lacks ({some(loose, 3)}), so it may be "
            f"cut off. {REMEDY}"
        )
    senses = _read_senses(folder / "index.noun", lemmas)
    return WordNetNouns(lemmas, hypernyms, parts, glosses, senses)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Lines and where they stand, without the licence at the top of the file."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line and not line.startswith("  "):
            yield f"{path}, line {number}", line


def _read_senses(
    path: Path, lemmas: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Words and their synsets, in the index's order: the most frequent sense first."""
    senses: dict[str, tuple[str, ...]] = {}
    for where, line in _lines(path):
        fields = line.split()
        is_counted = len(fields) > 2 and re.fullmatch(r"[0-9]{1,4}", fields[2])
        n_senses = int(fields[2]) if is_counted else 0
        found = tuple("n" + offset for offset in fields[-n_senses:])
        if n_senses == 0 or any(wnid not in lemmas for wnid in found):
            raise FileError(
                f"{where}: must be a word and offsets of synsets in data.noun. "
                f"Got {line[:40]!r} instead. {REMEDY}"
            )
        senses[fields[0].replace("_", " ")] = found
    return senses
