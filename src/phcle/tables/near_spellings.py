"""Pairs of labels that may be one: plural and singular, punctuation, a typing error.

None of these is certain, so they are shown to the user, who writes those that are right
into a file of synonyms.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST_PAIRS = 20_000_000
"""Pairs of labels that are compared letter by letter at most, which takes a second or
two. Of more labels, only punctuation and plurals are compared."""

PUNCTUATION = str.maketrans("", "", " !\"'()*,-./:;?[]_`{}")
"""Signs that may be left out. Others make another label: C, C++ and C#, AT&T."""

PLURALS = (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", ""))
"""English endings of plurals, and of their singulars."""

SHORTEST = 4
"""Labels with fewer letters have no near spellings: most words of three letters are one
letter from another word."""

LONG = 16
"""Two labels with this many letters together may differ in two letters, shorter ones in
one."""

ACCENTS = dict.fromkeys(range(0x300, 0x370))
"""Accents of decomposed letters."""


@dataclass(frozen=True)
class Suggestion:
    """A label of one file that may be a label of an earlier file.

    Attributes
    ----------
    source : str
        The file with this spelling.
    spelling : str
        The spelling in that file.
    candidates : tuple of str
        The labels that it may be. A single one can be taken as it is.
    reason : str
        In what they differ: "punctuation", "accents", "plural", "spelling", or what
        `JoinedLabel` lists if they could not be joined.
    """

    source: str
    spelling: str
    candidates: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class NearSpellings:
    """Suggestions, and whether all near spellings were compared.

    Attributes
    ----------
    suggestions : tuple of Suggestion
        Labels that may be one, by file.
    are_complete : bool
        Whether labels were compared letter by letter.
    """

    suggestions: tuple[Suggestion, ...] = ()
    are_complete: bool = True


@dataclass(frozen=True)
class _Form:
    """What a label is compared by."""

    bare: str
    singulars: tuple[str, ...] = ()


def find_near_spellings(
    files: Sequence[tuple[str, Sequence[str]]],
    lists: Sequence[tuple[str, Sequence[str]]],
    key_of: Callable[[str], str],
    n_files: Mapping[str, int],
    decided: Collection[str] = (),
) -> NearSpellings:
    """Find labels of one file alone that may be labels of another.

    Parameters
    ----------
    files : sequence of (str, sequence of str)
        Names of the files, and their labels after joining.
    lists : sequence of (str, sequence of str)
        The same of files that tell nothing about labels, such as their readable names.
    key_of : callable
        Gives labels that differ in case and the like the same key.
    n_files : mapping from str to int
        How many of `files` have each label.
    decided : collection of str
        Labels that need no suggestion.

    Returns
    -------
    NearSpellings
        Labels of later files with those that they may be. A file may have both, if they
        differ in punctuation or number, and another file has one of them.
    """
    known: dict[str, None] = {}
    suggestions: list[Suggestion] = []
    are_complete = True
    n_known = 0  # files whose labels are in `known`
    for i, (source, own) in enumerate((*files, *lists)):
        most = 0 if i >= len(files) else 1
        alone = [x for x in own if n_files.get(x, 0) <= most and x not in decided]
        if i and alone:
            for _, before in files[n_known:i]:
                known.update(dict.fromkeys(before))
            n_known = i
            found = _alike(alone, known, key_of)
            rest = [x for x in alone if x not in found]
            here = set(own)
            others = [x for x in known if x not in here]
            if len(rest) * len(others) <= MOST_PAIRS * _n_first_letters(others):
                found.update(_close(rest, others, key_of))
            else:
                are_complete = False
            suggestions += [
                Suggestion(source, name, *found[name])
                for name in alone
                if name in found
            ]
    return NearSpellings(tuple(suggestions), are_complete)


def _n_first_letters(names: Iterable[str]) -> int:
    """Only labels with the same first letter are compared."""
    return max(1, len({name[:1].lower() for name in names}))


def _alike(
    alone: Sequence[str], known: Iterable[str], key_of: Callable[[str], str]
) -> dict[str, tuple[tuple[str, ...], str]]:
    """Labels that differ from known ones in punctuation or number."""
    asked = {name: _form(key_of(name)) for name in alone}
    wanted = {x for form in asked.values() for x in (form.bare, *form.singulars)}
    by_bare: dict[str, list[str]] = {}
    by_singular: dict[str, list[str]] = {}
    for name in known:
        form = _form(key_of(name))
        if form.bare in wanted:
            by_bare.setdefault(form.bare, []).append(name)
        for singular in form.singulars:
            if singular in wanted:
                by_singular.setdefault(singular, []).append(name)
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for name, form in asked.items():
        same = [x for x in by_bare.get(form.bare, ()) if x != name]
        plural = [x for y in form.singulars for x in by_bare.get(y, ())]
        plural += by_singular.get(form.bare, [])
        if same:
            bare, other = (_without_punctuation(key_of(x)) for x in (name, same[0]))
            reason = "punctuation" if bare == other else "accents"
            found[name] = tuple(same), reason
        elif plural:
            found[name] = tuple(dict.fromkeys(plural)), "plural"
    return found


def _form(key: str) -> _Form:
    bare = _without_punctuation(key)
    if not bare.isascii():
        bare = unicodedata.normalize("NFD", bare.casefold()).translate(ACCENTS)
    if not bare.endswith("s") or bare.endswith("ss") or len(bare) < SHORTEST:
        return _Form(bare or key)
    singulars = (
        bare.removesuffix(plural) + singular
        for plural, singular in PLURALS
        if bare.endswith(plural)
    )
    return _Form(bare, tuple(singulars))


def _without_punctuation(key: str) -> str:
    bare = key.translate(PUNCTUATION)
    if bare.isascii():
        return bare
    return "".join(x for x in bare if unicodedata.category(x)[0] not in "PZ")


def _close(
    names: Sequence[str], known: Sequence[str], key_of: Callable[[str], str]
) -> dict[str, tuple[tuple[str, ...], str]]:
    """The known labels that differ from each name in the fewest letters, if few.

    Both begin with the same letter and have the same digits: Model 3 is not Model 5.
    """
    blocks: dict[str, dict[str, list[str]]] = {}
    for name in known:
        key = key_of(name)
        blocks.setdefault(_block(key), {}).setdefault(key, []).append(name)
    asked = [(name, key_of(name)) for name in names]
    asked = [
        (name, key)
        for name, key in asked
        if len(key) >= SHORTEST and _block(key) in blocks
    ]
    if not asked:
        return {}
    # Imported here, because most fits have nothing to compare.
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for name, key in asked:
        block = blocks[_block(key)]
        most = 2 if 2 * len(key) + 2 >= LONG else 1
        near = process.extract(
            key, block.keys(), scorer=OSA.distance, score_cutoff=most, limit=9
        )
        near = [x for x in near if x[1] == 1 or len(key) + len(x[0]) >= LONG]
        least = min((distance for _, distance, _ in near), default=0)
        best = [x for other, d, _ in near if d == least for x in block[other]]
        if best:
            found[name] = tuple(best), "spelling"
    return found


def _block(key: str) -> str:
    """First letter and digits."""
    return key[:1] + "".join(filter(str.isdigit, key))
