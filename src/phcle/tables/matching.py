"""Labels of several files, joined where only their writing differs.

`BABYGROWS` in one file and `Babygrows` in another are one label. Labels are joined that
differ only in case, in spaces, or in Unicode form: é as one character or two, ﬁ as one
letter, a full-width Ｃ, ’ for '. Two labels of one file are never joined, because its
author tells them apart, and neither are labels with two candidates. Labels that differ
in punctuation, number or a few letters are only suggested; see `near_spellings`.

The work is a few dictionary lookups per label, so a million labels take a second.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from phcle.contexts.labels import same_names
from phcle.errors import GuessWarning
from phcle.files.csv_text import csv_lines
from phcle.tables.match_keys import differences, match_key
from phcle.tables.near_spellings import NearSpellings, Suggestion, find_near_spellings

MATCH_MODES = ("safe", "exact")
"""Join labels that differ in case, spaces or Unicode form; or only equal labels."""

SYNONYM_TITLES = ("label", "synonym")
"""Columns of a file of synonyms: the spelling to use, and the one that it replaces."""

SHOWN = 4
"""Examples in a sentence."""

EXAMPLES = 5
"""Labels of a file that a report names."""


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
    mode : {"safe", "exact"}
        Whether labels were joined.
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
    left_out : dict
        How many labels of each context are not among the labels to embed.
    """

    mode: str = "safe"
    joined: tuple[JoinedLabel, ...] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)
    unused_synonyms: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    near_are_complete: bool = True
    own_labels: tuple[OwnLabels, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

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

    @property
    def worst(self) -> OwnLabels | None:
        """The file whose labels match the others least.

        The first file gives the spelling, so it is named only if the others match.

        Returns
        -------
        OwnLabels or None
            The file with the largest share of labels that no other file has.
        """
        found = [each for each in self.own_labels if each.count]
        later = [each for each in found if each is not self.own_labels[0]]
        return max(later or found, key=lambda x: x.count / x.total, default=None)

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
        worst = self.worst
        return {**asdict(self), "worst": None if worst is None else worst.source}


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
    used: dict[str, str] = {}
    if meaning:
        given = set().union(*names)
        used = {other: label for other, label in meaning.items() if other in given}
        names = _renamed(names, used)
    if all(same_names(own, names[0]) for own in names):
        # The usual case of a clean fit: equal labels everywhere.
        return LabelMatch(mode, (), used, _unused(meaning, used))
    joined, undecided = _joined(sources, names) if mode == "safe" else ((), ())
    spelled = {each.spelling: each.label for each in joined}
    names = _renamed(names, spelled)
    n_contexts: Counter[str] = Counter()
    for source, own in zip(sources, names, strict=True):
        if source.role == "context":
            n_contexts.update(own)
    near = NearSpellings()
    if mode == "safe":
        decided = {each.spelling for each in undecided}
        files: list[tuple[str, Sequence[str]]] = []
        lists: list[tuple[str, Sequence[str]]] = []
        for source, own in zip(sources, names, strict=True):
            (files if source.role == "context" else lists).append((source.name, own))
        near = find_near_spellings(files, lists, match_key, n_contexts, decided)
    matched = {**spelled, **{o: spelled.get(x, x) for o, x in used.items()}}
    return LabelMatch(
        mode,
        joined,
        used,
        _unused(meaning, used),
        (*undecided, *near.suggestions),
        near.are_complete,
        _own_labels(sources, n_contexts, matched),
        _left_out(sources, matched),
    )


def _renamed(
    names: Sequence[Sequence[str]], spellings: Mapping[str, str]
) -> list[Sequence[str]]:
    """The labels of each file, with spellings replaced."""
    if not spellings:
        return list(names)
    return [
        own
        if spellings.keys().isdisjoint(own)
        else tuple(dict.fromkeys(spellings.get(x, x) for x in own))
        for own in names
    ]


def _unused(meaning: Mapping[str, str], used: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(other for other in meaning if other not in used)


def _resolved(synonyms: Mapping[str, str]) -> dict[str, str]:
    """Synonyms of synonyms; a cycle ends at the label that it began with."""
    found = {}
    for other, label in synonyms.items():
        seen = {other}
        while label in synonyms and label not in seen:
            seen.add(label)
            label = synonyms[label]
        if label != other:
            found[other] = label
    return found


def _joined(
    sources: Sequence[LabelSource],
    names: Sequence[Sequence[str]],
) -> tuple[tuple[JoinedLabel, ...], tuple[Suggestion, ...]]:
    """Join spellings of one key; suggest those that have rivals in their file."""
    spellings = set().union(*names)
    keys = list(map(match_key, spellings))
    if len(set(keys)) == len(keys):
        return (), ()
    several = {key for key, count in Counter(keys).items() if count > 1}
    groups: dict[str, list[str]] = {}
    for key, spelling in zip(keys, spellings, strict=True):
        if key in several:
            groups.setdefault(key, []).append(spelling)
    key_of = {x: key for key, group in groups.items() for x in group}
    rivals = _rivals(names, key_of)
    first: dict[str, int] = {}
    for i, own in enumerate(names):
        for x in own:
            if x in key_of:
                first.setdefault(x, i)
    place = {x: i for i, x in enumerate(first)}
    joined, undecided = [], []
    for key, unordered in groups.items():
        group = sorted(unordered, key=place.__getitem__)
        earliest = min(first[x] for x in group)
        labels = tuple(x for x in group if first[x] == earliest)
        for x in group:
            if x in labels:
                continue
            differs = differences(x, labels[0])
            source = sources[first[x]].name
            if key in rivals:
                reason = " and ".join(differs)
                undecided.append(Suggestion(source, x, labels, reason))
            else:
                before = sources[earliest].name
                joined.append(JoinedLabel(source, x, labels[0], before, differs))

    def order(each: JoinedLabel | Suggestion) -> int:
        return place[each.spelling]

    return tuple(sorted(joined, key=order)), tuple(sorted(undecided, key=order))


def _rivals(names: Sequence[Sequence[str]], key_of: Mapping[str, str]) -> set[str]:
    """Keys of which one file has two spellings."""
    found: set[str] = set()
    for own in names:
        counts = Counter(key_of[x] for x in own if x in key_of)
        found.update(key for key, count in counts.items() if count > 1)
    return found


def _own_labels(
    sources: Sequence[LabelSource],
    n_contexts: Mapping[str, int],
    spellings: Mapping[str, str],
) -> tuple[OwnLabels, ...]:
    """Labels that no other context has; of a file of names, that no context has."""
    is_one = sum(source.role == "context" for source in sources) < 2
    found = []
    for source in sources:
        if source.role == "context" and is_one:
            continue
        most = 1 if source.role == "context" else 0
        (labels,) = _renamed([source.labels], spellings)
        own = [x for x in labels if n_contexts.get(x, 0) <= most]
        examples = tuple(own[:EXAMPLES])
        found.append(OwnLabels(source.name, len(own), len(labels), examples))
    return tuple(found)


def _left_out(
    sources: Sequence[LabelSource], spellings: Mapping[str, str]
) -> dict[str, int]:
    """How many labels of each context are not among the labels to embed."""
    wanted: set[str] | None = None
    for source in sources:
        if source.role == "labels":
            wanted = set(_renamed([source.labels], spellings)[0])
    if wanted is None:
        return {}
    counts = {
        source.name: len(set(_renamed([source.labels], spellings)[0]) - wanted)
        for source in sources
        if source.role == "context"
    }
    return {name: count for name, count in counts.items() if count}


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
    groups: dict[tuple[str, str, tuple[str, ...]], list[JoinedLabel]] = {}
    for each in match.joined:
        groups.setdefault((each.source, each.first, each.differs), []).append(each)
    for (source, first, differs), own in groups.items():
        examples = _few([f"{x.spelling} → {x.label}" for x in own])
        verb = "differs" if len(own) == 1 else "differ"
        lines.append(
            f"{_labels(len(own))} of {source} {verb} from {first} only in "
            f"{' and '.join(differs)}: {examples}"
        )
    if match.synonyms:
        examples = _few([f"{other} → {x}" for other, x in match.synonyms.items()])
        lines.append(f"{_labels(len(match.synonyms))} joined by synonyms: {examples}")
    if match.unused_synonyms:
        lines.append(f"synonyms that no file has: {_few(match.unused_synonyms)}")
    lines += _own_lines(match)
    if match.left_out:
        counts = [f"{n} of {source}" for source, n in match.left_out.items()]
        lines.append(f"labels that are left out, because not asked for: {_all(counts)}")
    return lines


def _own_lines(match: LabelMatch) -> list[str]:
    """How many labels of each file no other file has, and which file is worst."""
    found = [each for each in match.own_labels if each.count]
    if not found:
        return []
    counts = [
        f"{x.count} of {x.total} in {x.source} ({_few(x.examples, x.count)})"
        for x in found
    ]
    line = f"labels that no other file has: {_all(counts)}"
    worst = match.worst
    if worst is not None and len(found) > 1:
        line += f"; {worst.source} matches the others least"
    return [line]


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


def warn_of_match(match: LabelMatch, *, stacklevel: int) -> None:
    """Warn in Python of joined labels, and of labels that may be one.

    Parameters
    ----------
    match : LabelMatch
        What was found.
    stacklevel : int
        How far up the caller of the user's function is, as for `warnings.warn`.
    """
    if match.joined:
        only = LabelMatch(joined=match.joined)
        lines = "; ".join(match_lines(only))
        warnings.warn(
            f"{lines}. They are joined; match='exact' keeps them apart.",
            GuessWarning,
            stacklevel=stacklevel + 1,
        )
    if match.suggestions:
        pairs = [f"{x.spelling!r}: {x.candidates[0]!r}" for x in match.suggestions]
        warnings.warn(
            f"{_labels(len(pairs))} may be misspelled, and not joined with a label of "
            f"another context. To join them: synonyms={{{_few(pairs)}}}; `match_` or "
            "`match` has all `suggestions`.",
            GuessWarning,
            stacklevel=stacklevel + 1,
        )


def _labels(n: int) -> str:
    return "1 label" if n == 1 else f"{n} labels"


def _few(examples: Sequence[str], n: int | None = None) -> str:
    total = len(examples) if n is None else n
    shown = ", ".join(examples[:SHOWN])
    return shown if total <= SHOWN else f"{shown}, …"


def _all(parts: Iterable[str]) -> str:
    return ", ".join(parts)
