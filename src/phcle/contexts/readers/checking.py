"""Look at files before a fit: what they are, what is wrong, and how they overlap.

Every file is read whole, as a fit would, so a fit that follows finds no new faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.alignment import match_contexts
from phcle.contexts.base import Context
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.encoding import Cells
from phcle.contexts.label_matching import LabelMatch
from phcle.contexts.readers.file_summaries import FileSummary
from phcle.contexts.readers.files_to_contexts import (
    THESAURI,
    ContextFile,
    read_and_summarise,
    read_readable_names,
    read_thesaurus,
)
from phcle.contexts.readers.guessed_files import GuessedFiles, guess_files
from phcle.contexts.readers.label_files import read_labels, read_vectors
from phcle.contexts.readers.synonym_files import read_synonyms
from phcle.contexts.readers.table_files import Reading
from phcle.errors import FileFaults, PhcleError

__all__ = ["CheckedColumn", "CheckedFile", "CheckedFiles", "check_files"]


@dataclass(frozen=True)
class CheckedColumn:
    """A column of a table of attributes.

    Attributes
    ----------
    title : str
        Its title.
    holds : str
        What it holds, such as "number" or "category".
    known : int
        Labels with a known cell.
    """

    title: str
    holds: str
    known: int


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
    columns : tuple of CheckedColumn
        The columns of a table of attributes.
    faults : tuple of str
        All that is wrong, with lines.
    """

    path: Path
    kind: str | None
    why: str = ""
    summary: FileSummary | None = None
    labels: int = 0
    columns: tuple[CheckedColumn, ...] = ()
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
        "columns": [vars(column) for column in file.columns],
        "remarks": [] if read is None else list(read.remarks),
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
    read = _Read(reading)
    for file in guessed.files:
        if file.kind != "vectors":
            read.context(file, guessed)
    if guessed.names is not None:
        read.names(guessed.names, guessed)
    if guessed.labels is not None:
        read.labels(guessed.labels, guessed)
    if guessed.synonyms is not None:
        read.synonyms(guessed.synonyms)
    for file in guessed.files:
        if file.kind == "vectors":  # a whole dictionary: take the labels known by now
            read.context(file, guessed)
    for path, fault in guessed.faults.items():
        if path not in read.files:
            read.files[path] = CheckedFile(
                path, None, _why(path, guessed), faults=(fault,)
            )
    files = tuple(read.files.values())
    is_whole = not any(file.faults for file in files) and read.contexts
    return CheckedFiles(
        files,
        **_overlap(read, match),
        command=guessed.command() if is_whole else None,
        ignored=guessed.ignored,
        shared_words=_shared_words(read),
    )


@dataclass
class _Read:
    """Files that were read so far; their faults do not stop the others."""

    reading: Reading | None
    files: dict[Path, CheckedFile] = field(default_factory=dict)
    contexts: dict[str, list[Context]] = field(default_factory=dict)
    readable: dict[str, str] = field(default_factory=dict)
    asked: tuple[str, ...] | None = None
    other_spellings: dict[str, str] = field(default_factory=dict)

    def context(self, file: ContextFile, guessed: GuessedFiles) -> None:
        with self._collected(file.path, file.kind, _why(file.path, guessed)) as found:
            found.update(self._read_context(file))

    def _read_context(self, file: ContextFile) -> dict[str, Any]:
        if file.kind in THESAURI:
            thesaurus = read_thesaurus(file, "en")
            contexts = thesaurus.contexts("ancestors", "auto")
            self.readable.update(thesaurus.names)
            summary = FileSummary(file.path, file.kind)
        elif file.kind == "vectors":
            known = [x for own in self.contexts.values() for c in own for x in c.labels]
            wanted = {x: self.readable.get(x, x) for x in known} or None
            contexts = [read_vectors(file.path, file.name, wanted=wanted)]
            summary = FileSummary(file.path, file.kind)
        else:
            context, summary = read_and_summarise(file, reading=self.reading)
            contexts = [context]
        self.contexts[file.path.name] = list(contexts)
        labels = {x for context in contexts for x in context.labels}
        columns = _columns(contexts[0], summary) if file.kind == "attributes" else ()
        return {"summary": summary, "labels": len(labels), "columns": columns}

    def names(self, path: Path, guessed: GuessedFiles) -> None:
        with self._collected(path, "names", _why(path, guessed)) as found:
            columns = guessed.guesses[path].columns
            file = ContextFile("names", path, "names", columns)
            names, found["summary"] = read_readable_names(file, self.reading)
            self.readable = {**self.readable, **names}
            found["labels"] = len(names)

    def labels(self, path: Path, guessed: GuessedFiles) -> None:
        with self._collected(path, "labels", _why(path, guessed)) as found:
            remarks: list[str] = []
            self.asked = read_labels(path, self.reading, remarks)
            n = found["labels"] = len(self.asked)
            found["summary"] = FileSummary(
                path, "labels", n_rows=n, remarks=tuple(remarks)
            )

    def synonyms(self, path: Path) -> None:
        with self._collected(path, "synonyms", "it has labels and their synonyms") as x:
            self.other_spellings, x["summary"] = read_synonyms(path, self.reading)

    @contextmanager
    def _collected(self, path: Path, kind: str, why: str) -> Iterator[dict[str, Any]]:
        """Keep what is found out about a file, or all that is wrong with it."""
        found: dict[str, Any] = {}
        try:
            yield found
        except FileFaults as error:
            more = (f"and {error.n_more} more faults.",) if error.n_more else ()
            found = {"faults": (*error.faults, *more)}
        except PhcleError as error:
            found = {"faults": (str(error),)}
        self.files[path] = CheckedFile(path, kind, why, **found)


def _why(path: Path, guessed: GuessedFiles) -> str:
    return guessed.guesses[path].why if path in guessed.guesses else ""


def _columns(context: Context, summary: FileSummary) -> tuple[CheckedColumn, ...]:
    """What each column of a table of attributes holds, and for how many labels."""
    assert isinstance(context, DescriptiveContext)
    assert isinstance(context.source, Cells)
    cells: dict[str, npt.NDArray[np.float64]] = {}
    for i, title in enumerate(context.source.titles):
        if title not in cells:  # all columns of a category are known together
            own = context.values[:, i]
            cells[title] = own[np.isfinite(own)]
    found = []
    for title, holds in summary.columns.items():
        if title in cells:
            is_truth = holds == "number" and set(cells[title]) <= {0, 1}
            holds = "truth" if is_truth else holds
            found.append(CheckedColumn(title, holds, len(cells[title])))
    left_out = context.left_out.items()
    return (*found, *(CheckedColumn(x, f"left out: {why}", 0) for x, why in left_out))


def _overlap(read: _Read, mode: str) -> dict[str, Any]:
    """How many labels the files share, once they are spelled alike."""
    given = [context for own in read.contexts.values() for context in own]
    if not given:
        return {}
    titles = {c.name: file for file, own in read.contexts.items() for c in own}
    matched = match_contexts(
        given,
        labels=read.asked,
        names=read.readable,
        mode=mode,
        synonyms=read.other_spellings,
        titles=titles,
    )
    labels: dict[str, set[str]] = {}
    nodes: dict[str, set[str]] = {}
    for context in matched.contexts:
        file = titles[context.name]
        labels.setdefault(file, set()).update(context.labels)
        nodes.setdefault(file, set()).update(context.labels, context.nodes)
    shared = {
        one: {other: len(labels[one] & nodes[other]) for other in labels}
        for one in labels
    }
    return {"shared": shared, "match": matched.match}


def _shared_words(read: _Read) -> float:
    """Share of the labels with a word that another label has too."""
    labels = {x for own in read.contexts.values() for c in own for x in c.labels}
    words: dict[str, set[str]] = {}
    for label in labels:
        for word in read.readable.get(label, label).lower().split():
            words.setdefault(word, set()).add(label)
    several = [own for own in words.values() if len(own) > 1]
    return len(set().union(*several)) / len(labels) if several else 0.0
