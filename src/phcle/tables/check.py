"""Look at files before a fit: what they are, what is wrong, and how they overlap.

`guess_files` reads the beginning of every table and compares the tables with each
other; see `kinds`. Nothing is guessed in silence: each file says why.
`check_files` reads every file whole, as a fit would, so a fit that follows finds no new
faults.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phcle.errors import FileError
from phcle.tables.file_kinds import (
    LISTS,
    NEWICK,
    ContextFile,
    FileSummary,
    named_file,
    with_lists,
)
from phcle.tables.files import CollectedFiles, collect_files
from phcle.tables.kinds import TableSample, guess_kinds
from phcle.tables.matching import LabelMatch
from phcle.tables.reader import Reading, open_table

TABLES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".xlsx", ".json", ".jsonl")
NO_TABLES = {
    **dict.fromkeys(NEWICK, "hierarchy"),
    **dict.fromkeys((".vec", ".w2v", ".bin"), "vectors"),
    **dict.fromkeys((".owl", ".ttl", ".rdf", ".nt", ".n3", ".jsonld", ".xml"), "owl"),
}
"""Kinds by the endings of files that are no tables; RDF may also be a vocabulary."""

IN_FOLDERS = {*TABLES, *NO_TABLES} - {".bin", ".xml"}
"""Endings of files of a folder that are read; these two may mean anything."""

SKOS_SIGN = b"skos/core#"

FIRST = ("hierarchy", "skos", "owl")
"""Kinds that come first, because their spelling of the labels wins."""


@dataclass(frozen=True)
class GuessedFiles:
    """What files are taken to be.

    Attributes
    ----------
    files : tuple of ContextFile
        The files with their kinds: taxonomies first, lists last.
    faults : dict
        Files that cannot be read or told, with the reason.
    ignored : tuple of Path
        Files of a folder whose ending says that they are something else.
    """

    files: tuple[ContextFile, ...] = ()
    faults: Mapping[Path, str] = field(default_factory=dict)
    ignored: tuple[Path, ...] = ()

    def command(self, out: str = "labels.phcle") -> str:
        """Write the command that fits an embedding to these files.

        Parameters
        ----------
        out : str, default "labels.phcle"
            Where it writes the embedding.

        Returns
        -------
        str
            The command, quoted for a shell.
        """
        words = ["phcle", "fit"]
        for file in self.files:
            columns = ",".join(f"{role}={x}" for role, x in file.columns.items())
            words += [
                f"--{file.kind}",
                f"{file.path}:{columns}" if columns else str(file.path),
            ]
        return shlex.join([*words, "--out", out])


def _kind_of_ending(path: Path) -> str | None:
    """The kind of a file that is no table; the beginning of RDF files is read."""
    kind = NO_TABLES.get(path.suffix.lower()) if path.is_file() else None
    if kind == "owl" and path.suffix.lower() != ".owl":
        with path.open("rb") as file:
            return "skos" if SKOS_SIGN in file.read(100_000) else "owl"
    return kind


def _listed(
    given: Iterable[str | Path | ContextFile],
) -> tuple[dict[Path, ContextFile], list[Path]]:
    """Files, those of a folder by name; and the files of folders that are not read."""
    files: list[ContextFile] = []
    ignored: list[Path] = []
    for each in given:
        file = each if isinstance(each, ContextFile) else named_file("", each)
        if file.table is not None or not file.path.is_dir():
            files.append(file)
            continue
        for path in sorted(file.path.iterdir()):
            if path.is_file() and not path.name.startswith((".", "~$")):
                if path.suffix.lower() in IN_FOLDERS:
                    files.append(ContextFile("", path))
                else:
                    ignored.append(path)
    return {file.path: file for file in files}, ignored


def guess_files(
    paths: Iterable[str | Path | ContextFile], reading: Reading | None = None
) -> GuessedFiles:
    r"""Guess what every file is.

    Parameters
    ----------
    paths : iterable of str, Path or ContextFile
        Files and folders, or data frames that were opened.
    reading : Reading, optional
        How the user wants tables to be read.

    Returns
    -------
    GuessedFiles
        The files with their kinds, and the reasons.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "jobs.csv").write_text(
    ...     "job;sector\nnurse;health\nsurgeon;health\nbaker;food\n"
    ... )
    >>> [file] = guess_files([folder]).files
    >>> file.kind, dict(file.columns)
    ('hierarchy', {'child': 'job', 'parent': 'sector'})
    """
    given, ignored = _listed(paths)
    if not given:
        raise FileError("no file was found; name files, or a folder with tables.")
    files: list[ContextFile] = []
    faults: dict[Path, str] = {}
    samples: dict[Path, TableSample] = {}
    for path, file in given.items():
        try:
            if file.table is None and (kind := _kind_of_ending(path)):
                why = f"its ending is {path.suffix}"
                files.append(replace(file, kind=kind, why=why))
            elif file.table and file.table.given_columns:
                files.append(replace(file, kind="attributes"))
            else:
                table = file.table or open_table(path, reading, columns=file.columns)
                samples[path] = table.sample()
        except OSError as error:
            faults[path] = str(error)
    for path, guess in guess_kinds(samples).items():
        file, sample = given[path], samples[path]
        others = [x for x in samples.values() if x is not sample]
        first = next((x.path for x in files if x.kind == guess.kind in LISTS), None)
        if guess.kind is None:
            faults[path] = f"{path}: {guess.way_out(is_file=file.table is None)}"
        elif guess.kind == "labels" and not (file.table or _lists(sample, others)):
            ignored.append(path)
        elif first is not None:
            faults[path] = f"{path}: seems to be --{guess.kind}, as {first} is; choose."
        else:
            columns = guess.columns if file.table else guess.unusual(sample.header[0])
            files.append(
                replace(
                    file,
                    kind=guess.kind,
                    columns={**columns, **file.columns},
                    why=guess.why,
                )
            )
    places = list(given)
    order = {kind: at for at, kind in enumerate((*FIRST, "", *LISTS))}
    files.sort(key=lambda x: (order.get(x.kind, len(FIRST)), places.index(x.path)))
    return GuessedFiles(tuple(files), faults, tuple(ignored))


def _lists(sample: TableSample, others: Sequence[TableSample]) -> bool:
    """Whether the lines of a text are labels of other files, and no notes."""
    lines = sample.plain_cells
    cells = frozenset().union(*(other.plain_cells for other in others))
    return 2 * len(lines & cells) >= len(lines)


@dataclass(frozen=True)
class CheckedFiles:
    """What was found out about several files.

    Attributes
    ----------
    files : tuple of FileSummary
        The files, taxonomies first.
    shared_labels : dict
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

    files: tuple[FileSummary, ...]
    shared_labels: Mapping[str, Mapping[str, int]]
    match: LabelMatch
    command: str | None
    ignored: tuple[Path, ...]
    shared_words: float

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
            **vars(self),
            "files": [file.to_dict() for file in self.files],
            "ignored": list(map(str, self.ignored)),
            "match": self.match.to_dict(),
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
    files = with_lists(guessed.files, synonyms=synonyms)
    found = collect_files(files, reading, match=match)
    places = [file.path for file in files]
    checked = sorted(found.summaries, key=lambda x: places.index(x.path))
    checked += [FileSummary(x, faults=[fault]) for x, fault in guessed.faults.items()]
    is_ready = found.contexts and not any(file.faults for file in checked)
    return CheckedFiles(
        tuple(checked),
        _shared(found),
        found.match or LabelMatch(),
        replace(guessed, files=tuple(files)).command() if is_ready else None,
        guessed.ignored,
        _shared_words(found),
    )


def _shared(found: CollectedFiles) -> dict[str, dict[str, int]]:
    """How many labels the files share, once they are spelled alike."""
    labels: dict[str, set[str]] = defaultdict(set)
    nodes: dict[str, set[str]] = defaultdict(set)
    for context in found.contexts:
        file = found.titles[context.name]
        labels[file].update(context.labels)
        nodes[file].update(context.labels, context.nodes)
    return {x: {y: len(own & nodes[y]) for y in labels} for x, own in labels.items()}


def _shared_words(found: CollectedFiles) -> float:
    """Share of the labels with a word that another label has too."""
    words: dict[str, set[str]] = defaultdict(set)
    labels = {label for context in found.contexts for label in context.labels}
    for label in labels:
        for word in found.names.get(label, label).lower().split():
            words[word].add(label)
    several = set().union(*(own for own in words.values() if len(own) > 1))
    return len(several) / max(len(labels), 1)
