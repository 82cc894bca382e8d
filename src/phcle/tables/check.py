"""Look at files before a fit: what they are, what is wrong, and how they overlap.

Every file is read whole, as a fit would, so a fit that follows finds no new faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phcle.contexts.protocol import Context
from phcle.tables.file_kinds import ContextFile
from phcle.tables.files import CollectedFiles, collect_files
from phcle.tables.folders import GuessedFiles, guess_files
from phcle.tables.matching import LabelMatch
from phcle.tables.reader import Reading
from phcle.tables.sources import FileSummary


@dataclass(frozen=True)
class CheckedFile:
    """What was found out about one file.

    Attributes
    ----------
    path : Path
        The file.
    kind : str or None
        What it is taken to be; None if that is open.
    why : str
        The reason.
    summary : FileSummary or None
        How it was read; None if it could not be.
    labels : int
        Its labels.
    faults : tuple of str
        All that is wrong, with lines.
    """

    path: Path
    kind: str | None
    why: str = ""
    summary: FileSummary | None = None
    labels: int = 0
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckedFiles:
    """What was found out about several files.

    Attributes
    ----------
    files : tuple of CheckedFile
        The files, taxonomies first.
    shared : dict
        How many labels of one file another one has, by the names of both files.
    match : LabelMatch
        Labels that are spelled differently, and labels that match nothing.
    command : str or None
        The `fit` command to run next; None if there is something to repair before.
    ignored : tuple of Path
        Files of a folder that are something else.
    shared_words : float
        Share of the labels that have a word in common with another label.
    """

    files: tuple[CheckedFile, ...]
    shared: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    match: LabelMatch = field(default_factory=LabelMatch)
    command: str | None = None
    ignored: tuple[Path, ...] = ()
    shared_words: float = 0.0

    @property
    def faults(self) -> tuple[str, ...]:
        """All that is wrong in any file.

        Returns
        -------
        tuple of str
            Each with its file and line.
        """
        return tuple(fault for file in self.files for fault in file.faults)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON.

        Returns
        -------
        dict
            Files, shared labels, matches and the next command.
        """
        return {
            "files": [_plain(file) for file in self.files],
            "ignored": [str(path) for path in self.ignored],
            "shared_labels": {one: dict(all_) for one, all_ in self.shared.items()},
            "match": self.match.to_dict(),
            "shared_words": self.shared_words,
            "command": self.command,
        }


def _plain(file: CheckedFile) -> dict[str, Any]:
    read = file.summary
    return {
        "file": str(file.path),
        "kind": file.kind,
        "why": file.why,
        "encoding": None if read is None else read.encoding,
        "delimiter": None if read is None else read.delimiter,
        "rows": None if read is None else read.n_rows,
        "labels": file.labels,
        "columns": [] if read is None else [vars(column) for column in read.columns],
        "remarks": [] if read is None else list(read.remarks),
        "odd_cells": [] if read is None else list(read.odd_cells),
        "faults": list(file.faults),
    }


def check_files(
    *paths: str | Path,
    reading: Reading | None = None,
    match: str = "safe",
    synonyms: str | Path | None = None,
) -> CheckedFiles:
    r"""Look at files before a fit; see also the command `phcle check`.

    Parameters
    ----------
    *paths : str or Path
        Files, or a folder. What each file is, is guessed.
    reading : Reading, optional
        How tables are to be read.
    match : {"safe", "exact"}, default "safe"
        Join labels that differ in case, spaces or Unicode form, or only equal ones.
    synonyms : path, optional
        Labels that files spell differently: columns `label` and `synonym`. By default
        a file with such columns among `paths` is taken.

    Returns
    -------
    CheckedFiles
        What each file is taken to be, all faults, how the labels overlap, and the
        command to run next.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "jobs.csv").write_text(
    ...     "job;sector\nnurse;health\nsurgeon;health\nbaker;food\n"
    ... )
    >>> _ = (folder / "pay.csv").write_text("job,pay\nNURSE,30\nbaker,25\n")
    >>> found = check_files(folder)
    >>> [(file.path.name, file.kind, file.labels) for file in found.files]
    [('jobs.csv', 'hierarchy', 3), ('pay.csv', 'attributes', 2)]
    >>> found.match.spellings
    {'NURSE': 'nurse'}
    """
    guessed = guess_files(paths, reading)
    if synonyms is not None:
        guessed = replace(guessed, synonyms=Path(synonyms))
    if not guessed.files:
        return CheckedFiles(_checked(guessed, None), ignored=guessed.ignored)
    names = guessed.names
    found = collect_files(
        guessed.files,
        labels=guessed.labels,
        names=names
        and ContextFile("names", names, "names", guessed.guesses[names].columns),
        reading=reading,
        match=match,
        synonyms=guessed.synonyms,
    )
    files = _checked(guessed, found)
    return CheckedFiles(
        files,
        _shared(found),
        found.read.match or LabelMatch(),
        None if any(file.faults for file in files) else guessed.command(),
        guessed.ignored,
        _shared_words(found),
    )


def _checked(
    guessed: GuessedFiles, found: CollectedFiles | None
) -> tuple[CheckedFile, ...]:
    """What was found out about each file, those that become contexts first."""
    lists = {"labels": guessed.labels, "names": guessed.names}
    lists["synonyms"] = guessed.synonyms
    kinds = {file.path: file.kind for file in guessed.files}
    kinds |= {path: kind for kind, path in lists.items() if path is not None}
    summaries = {} if found is None else {x.path: x for x in found.read.summaries}
    files = []
    for path in dict.fromkeys((*kinds, *guessed.faults)):
        summary = summaries.get(path)
        faults = () if found is None else found.faults.of(path)
        if path in guessed.faults:
            faults = (guessed.faults[path], *faults)
        own = [] if found is None else _contexts_of(path, found)
        labels = {label for context in own for label in context.labels}
        n_listed = summary.n_rows if summary is not None and not own else None
        files.append(
            CheckedFile(
                path,
                kinds.get(path),
                guessed.guesses[path].why if path in guessed.guesses else "",
                summary,
                len(labels) or n_listed or 0,
                faults,
            )
        )
    return tuple(files)


def _contexts_of(path: Path, found: CollectedFiles) -> list[Context]:
    """The contexts that a file gave."""
    titles = (path.name, str(path))
    return [x for x in found.read if found.titles.get(x.name) in titles]


def _shared(found: CollectedFiles) -> dict[str, dict[str, int]]:
    """How many labels the files share, once they are spelled alike."""
    labels: dict[str, set[str]] = {}
    nodes: dict[str, set[str]] = {}
    for context in found.read:
        file = found.titles[context.name]
        labels.setdefault(file, set()).update(context.labels)
        nodes.setdefault(file, set()).update(context.labels, context.nodes)
    return {
        one: {other: len(labels[one] & nodes[other]) for other in labels}
        for one in labels
    }


def _shared_words(found: CollectedFiles) -> float:
    """Share of the labels with a word that another label has too."""
    labels = {label for context in found.read for label in context.labels}
    words: dict[str, set[str]] = {}
    for label in labels:
        for word in found.read.names.get(label, label).lower().split():
            words.setdefault(word, set()).add(label)
    several = [own for own in words.values() if len(own) > 1]
    return len(set().union(*several)) / len(labels) if several else 0.0
