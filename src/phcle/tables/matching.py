"""Labels of several files, joined where only their writing differs.

`BABYGROWS` in one file and `Babygrows` in another are one label. Labels are joined that
differ only in case, in spaces, or in Unicode form: é as one character or two, ﬁ as one
letter, a full-width Ｃ, ’ for '. Two labels of one file are never joined, because its
author tells them apart, and neither are labels with two candidates. Labels that differ
in punctuation, number or a few letters are only suggested: the user writes those that
are right into a file of synonyms.

The work is a few dictionary lookups per label, so a million labels take a second.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any

from phcle.contexts.labels import normal
from phcle.errors import GuessWarning
from phcle.files.csv_text import csv_lines

MATCH_MODES = ("safe", "exact")
"""Join labels that differ in case, spaces or Unicode form; or only equal labels."""

SYNONYM_TITLES = ("label", "synonym")
"""Columns of a file of synonyms: the spelling to use, and the one that it replaces."""

SHOWN_SUGGESTIONS = 10
"""Lines of suggestions that are printed; more would hide what else a command says."""

SHOWN = 4
"""Examples in a sentence."""

EXAMPLES = 5
"""Labels of a file that a report names."""

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

SAME_LETTER = str.maketrans(
    {
        **dict.fromkeys("‘’‛ʼ", "'"),
        **dict.fromkeys("“”„‟", '"'),
        **dict.fromkeys("\u2010\u2011", "-"),  # hyphens; dashes stay what they are
        **dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufeff", None),  # invisible
    }
)
"""Characters that are typed or printed in several ways, and characters without ink.
Joiners (U+200C, U+200D) stay, because some scripts spell with them."""


FORMS = ("<wide>", "<narrow>", "<noBreak>", "<initial>", "<medial>", "<final>")
"""Compatibility forms of Unicode that are the same letter in another shape. Without
superscripts, fractions and letters of mathematics: 10² is not 102, and ℝ is not R."""

Found = dict[str, tuple[tuple[str, ...], str]]
"""Labels that a label may be, and in what they differ, by the label."""


def match_key(label: str) -> str:
    """Return what labels have in common that are joined.

    Case, spaces and Unicode form do not make another label: é as one character or two,
    ﬁ as one letter, a full-width Ｃ, ’ for '.

    Parameters
    ----------
    label : str
        A label.

    Returns
    -------
    str
        The label in lower case, in one Unicode form, with single spaces.

    Examples
    --------
    >>> match_key("Café  TABLES") == match_key("Cafe\u0301 tables")
    True
    >>> match_key("résumé") == match_key("resume")
    False
    """
    if label.isascii() and label.isprintable() and "  " not in label:
        return label.strip().lower()
    return _lower(_spaced(_formed(label)))


def _lower(text: str) -> str:
    """Lower case that keeps words apart: no ss for ß (Maße, Masse), no i for ı or İ."""
    return normal(text).lower().replace("ς", "σ").replace("ſ", "s")


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _formed(text: str) -> str:
    """The usual form of each letter, composed."""
    if text.isascii():
        return text
    plain = "".join(x if x.isascii() else _plain_letter(x) for x in text)
    return unicodedata.normalize("NFC", plain.translate(SAME_LETTER))


def _plain_letter(letter: str) -> str:
    form, _, codes = unicodedata.decomposition(letter).partition(" ")
    if form in (*FORMS, "<isolated>", "<vertical>", "<compat>"):
        plain = "".join(chr(int(code, 16)) for code in codes.split())
        # Of the many characters called <compat>, only letters: ﬁ, ĳ, µ, Ⅳ.
        if form != "<compat>" or plain.isalpha():
            return "".join(map(_plain_letter, plain))  # a form of a form
    return letter


PARTS = {"case": _lower, "spaces": _spaced, "Unicode form": _formed}
"""What `match_key` undoes, by what a report calls it."""


def differences(a: str, b: str) -> tuple[str, ...]:
    """Say in what two labels with the same key differ.

    Parameters
    ----------
    a : str
        A label.
    b : str
        Another label.

    Returns
    -------
    tuple of str
        Some of "case", "spaces" and "Unicode form".

    Examples
    --------
    >>> differences("BABY  grows", "Baby grows")
    ('case', 'spaces')
    """
    found = []
    for part in PARTS:
        left, right = a, b
        # The form comes first in `match_key`, because it may bring spaces and capitals.
        for name, undo in reversed(PARTS.items()):
            if name != part:
                left, right = undo(left), undo(right)
        if left != right:
            found.append(part)
    return tuple(found)


@dataclass(frozen=True)
class LabelSource:
    """A file, or a context, that names labels.

    Attributes
    ----------
    name : str
        How a report calls it, such as "looks.csv".
    labels : sequence of str
        Its labels, each once.
    nodes : sequence of str
        For a taxonomy all its nodes, each once, because another file may name any.
    role : {"context", "labels", "names"}
        What it gives: knowledge about labels, the labels to embed, or their readable
        names.
    """

    name: str
    labels: Sequence[str]
    nodes: Sequence[str] = ()
    role: str = "context"

    @property
    def names(self) -> Sequence[str]:
        """All names that a label of another file can mean.

        Returns
        -------
        sequence of str
            The nodes, or else the labels.
        """
        return self.nodes or self.labels


Names = tuple[LabelSource, Sequence[str]]
"""A file, and its names after joining."""


@dataclass(frozen=True)
class JoinedLabel:
    """A spelling that is replaced by that of an earlier file.

    Attributes
    ----------
    source : str
        The file with this spelling.
    spelling : str
        The spelling in that file.
    label : str
        The label that it is joined with.
    first : str
        The first file that has the label.
    differs : tuple of str
        In what the two differ: "case", "spaces", "Unicode form".
    """

    source: str
    spelling: str
    label: str
    first: str
    differs: tuple[str, ...]


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
class OwnLabels:
    """Labels of a file that no other file has.

    Attributes
    ----------
    source : str
        The file.
    count : int
        How many labels only this file has.
    total : int
        How many labels it has.
    examples : tuple of str
        The first few of them.
    """

    source: str
    count: int
    total: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class LabelMatch:
    """What was joined, what may be joined, and what matches nothing.

    Attributes
    ----------
    joined : tuple of JoinedLabel
        Spellings that were replaced.
    synonyms : dict
        The user's synonyms that occur: label by spelling.
    unused_synonyms : tuple of str
        Synonyms of the user that no file has.
    suggestions : tuple of Suggestion
        Pairs that may be one label, for the user to decide.
    near_are_complete : bool
        Whether near spellings were searched. They are not among very many labels.
    own_labels : tuple of OwnLabels
        For each context, labels that no other context has; for a file of names, labels
        that no context has.
    """

    joined: tuple[JoinedLabel, ...] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)
    unused_synonyms: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    near_are_complete: bool = True
    own_labels: tuple[OwnLabels, ...] = ()

    @property
    def spellings(self) -> dict[str, str]:
        """The label that each replaced spelling stands for.

        Returns
        -------
        dict
            Label by spelling.
        """
        found = {each.spelling: each.label for each in self.joined}
        return {
            **found,
            **{other: found.get(x, x) for other, x in self.synonyms.items()},
        }

    def after(self, before: LabelMatch) -> LabelMatch:
        """Add what was joined earlier.

        Parameters
        ----------
        before : LabelMatch
            The match that gave the labels of this one.

        Returns
        -------
        LabelMatch
            This match, with all spellings that stand for its labels.
        """
        now = self.spellings
        joined = (replace(x, label=now.get(x.label, x.label)) for x in before.joined)
        synonyms = {other: now.get(x, x) for other, x in before.synonyms.items()}
        return replace(
            self,
            joined=(*joined, *self.joined),
            synonyms={**synonyms, **self.synonyms},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the match as plain values, for JSON.

        Returns
        -------
        dict
            All that was joined, suggested and left over.
        """
        return asdict(self)


def match_labels(
    sources: Sequence[LabelSource],
    *,
    mode: str = "safe",
    synonyms: Mapping[str, str] | None = None,
) -> LabelMatch:
    """Match the labels of several files.

    Parameters
    ----------
    sources : sequence of LabelSource
        The files; the spelling of the first one wins.
    mode : {"safe", "exact"}, default "safe"
        Join labels that differ in case, spaces or Unicode form, or only equal ones.
        "exact" suggests nothing, either.
    synonyms : mapping from str to str, optional
        Labels by other spellings of them. These are joined in any case, even in one
        file.

    Returns
    -------
    LabelMatch
        What was joined, what may be joined, and what matches nothing.

    Examples
    --------
    >>> tree = LabelSource("tree.csv", ["Babygrows", "Bibs", "C", "C++"])
    >>> looks = LabelSource("looks.csv", ["BABYGROWS", "Bib", "C#"])
    >>> found = match_labels([tree, looks])
    >>> found.spellings
    {'BABYGROWS': 'Babygrows'}
    >>> [(x.spelling, x.candidates, x.reason) for x in found.suggestions]
    [('Bib', ('Bibs',), 'plural')]
    """
    meaning = _resolved(synonyms or {})
    names = [source.names for source in sources]
    given = set().union(*names) if meaning else set()
    used = {other: label for other, label in meaning.items() if other in given}
    unused = tuple(other for other in meaning if other not in used)
    names = _renamed(names, used)
    if all(tuple(own) == tuple(names[0]) for own in names):
        # The usual case of a clean fit: equal labels everywhere.
        return LabelMatch((), used, unused)
    is_safe = mode == "safe"
    joined, undecided = _joined(sources, names) if is_safe else ((), ())
    spelled = {each.spelling: each.label for each in joined}
    files = list(zip(sources, _renamed(names, spelled), strict=True))
    of_contexts = [own for source, own in files if source.role == "context"]
    n_contexts = Counter(chain.from_iterable(of_contexts))
    near: list[Suggestion] = []
    are_complete = True
    if is_safe:
        decided = {each.spelling for each in undecided}
        near, are_complete = _near_spellings(files, decided, n_contexts)
    spelled |= {other: spelled.get(label, label) for other, label in used.items()}
    labels = _renamed([source.labels for source in sources], spelled)
    files = list(zip(sources, labels, strict=True))
    return LabelMatch(
        joined,
        used,
        unused,
        (*undecided, *near),
        are_complete,
        _own_labels(files, n_contexts),
    )


def _renamed(
    names: Sequence[Sequence[str]], spellings: Mapping[str, str]
) -> list[Sequence[str]]:
    """The labels of each file, with spellings replaced."""
    return [
        own
        if spellings.keys().isdisjoint(own)
        else tuple(dict.fromkeys(spellings.get(x, x) for x in own))
        for own in names
    ]


def _resolved(synonyms: Mapping[str, str]) -> dict[str, str]:
    """Synonyms of synonyms; a cycle ends at the label that it began with."""
    found = {}
    for other in synonyms:
        label, seen = other, set[str]()
        while label in synonyms and label not in seen:
            seen.add(label)
            label = synonyms[label]
        if label != other:
            found[other] = label
    return found


def _joined(
    sources: Sequence[LabelSource], names: Sequence[Sequence[str]]
) -> tuple[tuple[JoinedLabel, ...], tuple[Suggestion, ...]]:
    """Join spellings of one key; suggest those that have rivals in their file."""
    key_of = {x: match_key(x) for x in dict.fromkeys(chain.from_iterable(names))}
    n_spellings = Counter(key_of.values())
    groups: dict[str, list[str]] = defaultdict(list)
    for x, key in key_of.items():
        if n_spellings[key] > 1:
            groups[key].append(x)
    files = list(map(set, names)) if groups else []
    joined, undecided = [], []
    for group in groups.values():
        first = {x: next(i for i, own in enumerate(files) if x in own) for x in group}
        labels = tuple(x for x in group if first[x] == first[group[0]])
        has_rivals = any(len(own.intersection(group)) > 1 for own in files)
        before = sources[first[group[0]]].name
        for x in group[len(labels) :]:
            source, differs = sources[first[x]].name, differences(x, labels[0])
            if has_rivals:
                undecided.append(Suggestion(source, x, labels, " and ".join(differs)))
            else:
                joined.append(JoinedLabel(source, x, labels[0], before, differs))
    order = {x: place for place, x in enumerate(key_of)} if groups else {}
    joined.sort(key=lambda each: order[each.spelling])
    undecided.sort(key=lambda each: order[each.spelling])
    return tuple(joined), tuple(undecided)


def _own_labels(
    files: Sequence[Names], n_contexts: Mapping[str, int]
) -> tuple[OwnLabels, ...]:
    """Labels that no other context has; of a file of names, that no context has."""
    roles = [source.role for source, _ in files]
    found = []
    for source, labels in files:
        is_context = source.role == "context"
        if not is_context or roles.count("context") > 1:
            own = [x for x in labels if n_contexts.get(x, 0) <= is_context]
            found.append(
                OwnLabels(source.name, len(own), len(labels), tuple(own[:EXAMPLES]))
            )
    return tuple(found)


def _near_spellings(
    files: Sequence[Names], decided: Collection[str], n_contexts: Mapping[str, int]
) -> tuple[list[Suggestion], bool]:
    """Labels of later files with those that they may be, and whether all were compared.

    A file may have both, if they differ in punctuation or number, and another file has
    one of them. Files of names and lists come last.
    """
    known: dict[str, None] = {}
    suggestions: list[Suggestion] = []
    are_complete = True
    for source, own in sorted(files, key=lambda x: x[0].role != "context"):
        is_context = source.role == "context"
        alone = [x for x in own if known and n_contexts.get(x, 0) <= is_context]
        alone = [x for x in alone if x not in decided]
        found = _alike(alone, known)
        rest = [x for x in alone if x not in found]
        others = known.keys() - set(own) if rest else ()
        # Only labels with the same first letter are compared.
        n_letters = len({name[:1].lower() for name in others})
        if len(rest) * len(others) <= MOST_PAIRS * max(n_letters, 1):
            found |= _close(rest, list(filter(others.__contains__, known)))
        else:
            are_complete = False
        suggestions += [
            Suggestion(source.name, x, *found[x]) for x in alone if x in found
        ]
        if is_context:
            known |= dict.fromkeys(own)
    return suggestions, are_complete


def _alike(alone: Sequence[str], known: Iterable[str]) -> Found:
    """Labels that differ from known ones in punctuation, accents or number."""
    asked = {name: _forms(name) for name in alone}
    wanted = set(chain.from_iterable(asked.values()))
    by_form: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in known if wanted else ():
        for form in wanted.intersection(_forms(name)):
            by_form[form].append(name)
    found: Found = {}
    for name, forms in asked.items():
        for form in forms:
            same = [x for x in by_form.get(form, ()) if x != name]
            before, reason = found.get(name, ((), form[0]))
            if same and reason == form[0]:
                found[name] = tuple(dict.fromkeys((*before, *same))), reason
    return found


def _forms(name: str) -> list[tuple[str, str]]:
    """What a label has in common with near ones, by what these differ in."""
    key = match_key(name)
    bare = plain = _without_punctuation(key) or key
    if not bare.isascii():
        plain = unicodedata.normalize("NFD", bare.casefold()).translate(ACCENTS)
    forms = [("punctuation", bare), ("accents", plain), ("plural", plain)]
    if plain.endswith("s") and not plain.endswith("ss") and len(plain) >= SHORTEST:
        forms += [
            ("plural", plain.removesuffix(plural) + singular)
            for plural, singular in PLURALS
            if plain.endswith(plural)
        ]
    return forms


def _without_punctuation(key: str) -> str:
    bare = key.translate(PUNCTUATION)
    if bare.isascii():
        return bare
    return "".join(x for x in bare if unicodedata.category(x)[0] not in "PZ")


def _close(names: Sequence[str], known: Sequence[str]) -> Found:
    """The known labels that differ from each name in the fewest letters, if few.

    Both begin with the same letter and have the same digits: Model 3 is not Model 5.
    """
    if not (names and known):
        return {}
    # Imported here, because most fits have nothing to compare.
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    blocks: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in known:
        key = match_key(name)
        blocks[_block(key)][key].append(name)
    found: Found = {}
    for name in names:
        key = match_key(name)
        block = blocks.get(_block(key), {})
        if len(key) < SHORTEST:
            continue
        near = process.extract(
            key, block.keys(), scorer=OSA.distance, score_cutoff=2, limit=9
        )
        near = [x for x in near if x[1] == 1 or len(key) + len(x[0]) >= LONG]
        best = [x for other, d, _ in near if d == near[0][1] for x in block[other]]
        if best:
            found[name] = tuple(best), "spelling"
    return found


def _block(key: str) -> str:
    """First letter and digits."""
    return key[:1] + "".join(filter(str.isdigit, key))


def match_lines(match: LabelMatch) -> list[str]:
    """Say what was joined and what matches nothing, without the suggestions.

    Parameters
    ----------
    match : LabelMatch
        What was found.

    Returns
    -------
    list of str
        One sentence for each finding.

    Examples
    --------
    >>> tree = LabelSource("tree.csv", ["Babygrows", "Bibs"])
    >>> looks = LabelSource("looks.csv", ["BABYGROWS", "Bibs", "Sofas"])
    >>> for line in match_lines(match_labels([tree, looks])):
    ...     print(line)
    1 label of looks.csv differs from tree.csv only in case: BABYGROWS → Babygrows
    labels that no other file has: 1 of 3 in looks.csv (Sofas)
    """
    lines = []
    groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for x in match.joined:
        groups[x.source, x.first, x.differs].append(f"{x.spelling} → {x.label}")
    for (source, first, differs), own in groups.items():
        lines.append(
            f"{_labels(len(own))} of {source} differ{'s' * (len(own) == 1)} from "
            f"{first} only in {' and '.join(differs)}: {_few(own)}"
        )
    if match.synonyms:
        examples = _few([f"{other} → {x}" for other, x in match.synonyms.items()])
        lines.append(f"{_labels(len(match.synonyms))} joined by synonyms: {examples}")
    if match.unused_synonyms:
        lines.append(f"synonyms that no file has: {_few(match.unused_synonyms)}")
    counts = ", ".join(
        f"{x.count} of {x.total} in {x.source} ({_few(x.examples, x.count)})"
        for x in match.own_labels
        if x.count
    )
    if counts:
        lines.append(f"labels that no other file has: {counts}")
    return lines


def synonym_lines(match: LabelMatch) -> list[str]:
    """Write the suggestions as the lines of a file of synonyms.

    Parameters
    ----------
    match : LabelMatch
        What was found.

    Returns
    -------
    list of str
        A header and a line for each suggestion; empty if there is none. Of several
        candidates, the first is written.
    """
    if not match.suggestions:
        return []
    rows = [(x.candidates[0], x.spelling) for x in match.suggestions]
    return [line.rstrip("\n") for line in csv_lines([SYNONYM_TITLES, *rows])]


def suggestion_lines(match: LabelMatch) -> list[str]:
    """Say which labels may be misspelled, with lines to copy, which are indented.

    Parameters
    ----------
    match : LabelMatch
        What was found.

    Returns
    -------
    list of str
        The lines; none if there is nothing to suggest.
    """
    said = []
    if not match.near_are_complete:
        said.append("too many labels for a search of misspelled ones.")
    header, *lines = synonym_lines(match) or [""]
    if lines:
        said.append(
            f"possible misspellings: {len(lines)}. Write those that are into "
            "synonyms.csv, and add --synonyms synonyms.csv:"
        )
        said += [f"  {text}" for text in (header, *lines[:SHOWN_SUGGESTIONS])]
    if len(lines) > SHOWN_SUGGESTIONS:
        said.append(
            f"  … and {len(lines) - SHOWN_SUGGESTIONS} more; "
            "phcle check FILES --write-synonyms synonyms.csv writes all of them"
        )
    return said


def warn_of_match(match: LabelMatch, *, stacklevel: int) -> None:
    """Warn in Python of joined labels, and of labels that may be one.

    Parameters
    ----------
    match : LabelMatch
        What was found.
    stacklevel : int
        How far up the caller of the user's function is, as for `warnings.warn`.
    """
    said = []
    if match.joined:
        lines = "; ".join(match_lines(LabelMatch(joined=match.joined)))
        said.append(f"{lines}. They are joined; match='exact' keeps them apart.")
    if match.suggestions:
        pairs = [f"{x.spelling!r}: {x.candidates[0]!r}" for x in match.suggestions]
        said.append(
            f"{_labels(len(pairs))} may be misspelled, and not joined with a label of "
            f"another context. To join them: synonyms={{{_few(pairs)}}}; `match_` or "
            "`match` has all `suggestions`."
        )
    for text in said:
        warnings.warn(text, GuessWarning, stacklevel=stacklevel + 1)


def _labels(n: int) -> str:
    return "1 label" if n == 1 else f"{n} labels"


def _few(examples: Sequence[str], n: int | None = None) -> str:
    total = len(examples) if n is None else n
    shown = ", ".join(examples[:SHOWN])
    return shown if total <= SHOWN else f"{shown}, …"
