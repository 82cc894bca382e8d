"""What was matched, in sentences and as lines for a file of synonyms."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

from phcle.contexts.label_matching import JoinedLabel, LabelMatch
from phcle.errors import GuessWarning
from phcle.files.csv_text import csv_lines

SYNONYM_TITLES = ("label", "synonym")
"""Columns of a file of synonyms: the spelling to use, and the one that it replaces."""

SHOWN = 4
"""Examples in a sentence."""


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
    >>> from phcle.contexts.label_matching import LabelSource, match_labels
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
