"""Look at files before a fit: what they are, what is wrong, and how they overlap.

`guess_files` reads the beginning of every table and compares the tables with each
other; see `kinds`. Nothing is guessed in silence: `GuessedFiles.guesses` says why.
`check_files` reads every file whole, as a fit would, so a fit that follows finds no new
faults.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from phcle.contexts.protocol import Context
from phcle.errors import FileError
from phcle.tables.file_kinds import (
    LEVELS,
    NEWICK,
    ROLES,
    ContextFile,
    split_columns,
)
from phcle.tables.files import CollectedFiles, FileSummary, collect_files
from phcle.tables.kinds import Guess, TableSample, guess_kinds, plain_title
from phcle.tables.matching import LabelMatch
from phcle.tables.reader import Reading, open_table

NO_TABLES = {
    **{".owl": "owl", ".bin": "vectors", ".vec": "vectors", ".w2v": "vectors"},
    **dict.fromkeys(NEWICK, "hierarchy"),
}

RDF_ENDINGS = (".ttl", ".rdf", ".nt", ".n3", ".xml", ".jsonld")
"""Files that may hold a SKOS vocabulary or an OWL ontology; their beginning tells."""

SKOS_SIGN = b"skos/core#"


def kind_of_ending(path: Path) -> str | None:
    """Guess the kind of a file that is no table.

    Parameters
    ----------
    path : Path
        The file. The beginning of RDF files is read.

    Returns
    -------
    str or None
        "skos", "owl", "vectors" or "hierarchy"; None for tables.

    Examples
    --------
    >>> kind_of_ending(Path("wine.owl")), kind_of_ending(Path("wine.csv"))
    ('owl', None)
    """
    suffix = path.suffix.lower()
    if suffix not in RDF_ENDINGS:
        return NO_TABLES.get(suffix)
    with path.open("rb") as file:
        return "skos" if SKOS_SIGN in file.read(100_000) else "owl"


ENDINGS = (
    *(".csv", ".tsv", ".tab", ".txt", ".parquet", ".xlsx", ".json", ".jsonl"),
    *(".owl", ".ttl", ".rdf", ".nt", ".n3", ".jsonld", ".vec", ".w2v"),
    *NEWICK,
)
"""Endings of files in a folder that are read: tables, vocabularies, vectors, trees."""


@dataclass(frozen=True)
class GuessedFiles:
    """What files are taken to be.

    Attributes
    ----------
    files : tuple of ContextFile
        Files that become contexts: taxonomies first, because their spelling of the
        labels wins.
    labels : Path or None
        The list of labels to embed.
    names : Path or None
        The table of readable names.
    synonyms : Path or None
        The table of labels that files spell differently.
    guesses : dict
        Why, by path.
    faults : dict
        Files that cannot be read or told, with the reason.
    ignored : tuple of Path
        Files of a folder whose ending says that they are something else.
    tables : dict
        Guesses for the further tables, by name.
    """

    files: tuple[ContextFile, ...] = ()
    labels: Path | None = None
    names: Path | None = None
    synonyms: Path | None = None
    guesses: Mapping[Path, Guess] = field(default_factory=dict)
    faults: Mapping[Path, str] = field(default_factory=dict)
    ignored: tuple[Path, ...] = ()
    tables: Mapping[str, Guess] = field(default_factory=dict)

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
            words += [f"--{file.kind}", _argument(file)]
        for flag in ("labels", "names", "synonyms"):
            path = getattr(self, flag)
            words += [] if path is None else [f"--{flag}", str(path)]
        return shlex.join([*words, "--out", out])


def _argument(file: ContextFile) -> str:
    columns = ",".join(f"{role}={title}" for role, title in file.columns.items())
    return f"{file.path}:{columns}" if columns else str(file.path)


def list_paths(paths: Iterable[str | Path]) -> tuple[list[Path], list[Path]]:
    """List files; a folder stands for the files in it that can be read.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.

    Returns
    -------
    files : list of Path
        The files, those of a folder in the order of their names.
    ignored : list of Path
        Other files of folders.
    """
    files: list[Path] = []
    ignored: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            files.append(path)
            continue
        for each in sorted(path.iterdir()):
            if each.name.startswith((".", "~$")) or not each.is_file():
                continue
            known = each.suffix.lower() in ENDINGS
            (files if known else ignored).append(each)
    return list(dict.fromkeys(files)), ignored


def guess_files(
    paths: Iterable[str | Path],
    reading: Reading | None = None,
    *,
    beside: Mapping[str, TableSample] | None = None,
) -> GuessedFiles:
    r"""Guess what every file is.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    reading : Reading, optional
        How the user wants tables to be read.
    beside : mapping from str to TableSample, optional
        Further tables by name, such as data frames, which are compared with the files.

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
    paths = list(paths)
    listed, ignored = list_paths(paths)
    if not listed and (paths or not beside):
        raise FileError("no file was found; name files, or a folder with tables.")
    guesses: dict[Path, Guess] = {}
    faults: dict[Path, str] = {}
    samples: dict[str, TableSample] = {}
    sheets = dict(split_columns("", path) for path in listed)
    for path, sheet in sheets.items():
        try:
            kind = kind_of_ending(path) if path.is_file() else None
            if kind is None:
                samples[str(path)] = open_table(path, reading, columns=sheet).sample()
            else:
                guesses[path] = Guess(kind, {}, f"its ending is {path.suffix}")
        except OSError as error:
            faults[path] = str(error)
    found = guess_kinds({**samples, **(beside or {})})
    for name, guess in found.items():
        if name not in samples:
            continue
        path, sample = Path(name), samples.pop(name)
        if guess.kind == "labels" and not _lists_labels(sample, samples.values()):
            ignored.append(path)
        else:
            columns = {**_unusual(guess, sample.header), **sheets[path]}
            guesses[path] = replace(guess, columns=columns)
        samples[name] = sample
        if guess.kind is None:
            faults[path] = f"{name}: {guess.why}"
    tables = {name: found[name] for name in beside or {}}
    return replace(_sorted(list(sheets), guesses, faults, ignored), tables=tables)


def _lists_labels(sample: TableSample, others: Iterable[TableSample]) -> bool:
    """Whether the lines of a text are labels of other files, and no notes."""
    lines = {
        plain_title(str(x))
        for x in (*sample.header, *sample.first, *chain(*sample.rows))
        if x
    }
    cells = {plain_title(str(x)) for other in others for x in chain(*other.rows)}
    return 2 * len(lines & cells) >= len(lines)


def _unusual(guess: Guess, header: Sequence[str]) -> dict[str, str]:
    """The columns that a reader does not find by their titles."""
    if guess.kind == "attributes" and guess.columns.get("label") == header[0]:
        return {}
    expected = (LEVELS, *ROLES.get(guess.kind or "", ()))
    found = {role: x for role, x in guess.columns.items() if role in expected}
    return found if any(plain_title(x) != role for role, x in found.items()) else {}


def _sorted(
    listed: Sequence[Path],
    guesses: Mapping[Path, Guess],
    faults: dict[Path, str],
    ignored: Sequence[Path],
) -> GuessedFiles:
    """Split contexts from lists; a second list of one kind is a fault."""
    files: list[ContextFile] = []
    lists: dict[str, Path] = {}
    for path in listed:
        kind = guesses[path].kind if path in guesses else None
        if kind in ("labels", "names", "synonyms"):
            first = lists.setdefault(kind, path)
            if first != path:
                faults[path] = f"{path}: seems to be --{kind}, as {first} is; choose."
        elif kind is not None:
            files.append(ContextFile(kind, path, columns=guesses[path].columns))
    order = ("hierarchy", "skos", "owl")
    files.sort(key=lambda x: order.index(x.kind) if x.kind in order else len(order))
    return GuessedFiles(
        tuple(files),
        lists.get("labels"),
        lists.get("names"),
        lists.get("synonyms"),
        guesses,
        faults,
        tuple(ignored),
    )


@dataclass(frozen=True)
class CheckedFile(FileSummary):
    """What was found out about one file, and how it was read, if it could be.

    Attributes
    ----------
    why : str
        The reason for its kind, which is None if that is open.
    labels : int
        Its labels.
    faults : tuple of str
        All that is wrong, with lines.
    """

    why: str = ""
    labels: int = 0
    faults: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON.

        Returns
        -------
        dict
            The file, its rows, and all other fields.
        """
        plain = asdict(self)
        file, n_rows = str(plain.pop("path")), plain.pop("n_rows")
        return {"file": file, "rows": n_rows, **plain}


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
            "files": [file.to_dict() for file in self.files],
            "ignored": [str(path) for path in self.ignored],
            "shared_labels": {one: dict(all_) for one, all_ in self.shared.items()},
            "match": self.match.to_dict(),
            "shared_words": self.shared_words,
            "command": self.command,
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
        return CheckedFiles(
            _checked(guessed, CollectedFiles()), ignored=guessed.ignored
        )
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
        found.match or LabelMatch(),
        None if any(file.faults for file in files) else guessed.command(),
        guessed.ignored,
        _shared_words(found),
    )


def _checked(guessed: GuessedFiles, found: CollectedFiles) -> tuple[CheckedFile, ...]:
    """What was found out about each file, those that become contexts first."""
    lists = {x: getattr(guessed, x) for x in ("labels", "names", "synonyms")}
    kinds = {file.path: file.kind for file in guessed.files}
    kinds |= {path: kind for kind, path in lists.items() if path is not None}
    summaries = {x.path: x for x in found.summaries}
    files = []
    for path in dict.fromkeys((*kinds, *guessed.faults)):
        faults = found.faults_of(path)
        if path in guessed.faults:
            faults = (guessed.faults[path], *faults)
        summary = replace(summaries.get(path, FileSummary(path)), kind=kinds.get(path))
        own = _contexts_of(path, found)
        n_labels = len({label for context in own for label in context.labels})
        if not own:
            n_labels = summary.n_rows or 0
        why = guessed.guesses[path].why if path in guessed.guesses else ""
        how = vars(summary)
        files.append(CheckedFile(**how, why=why, labels=n_labels, faults=faults))
    return tuple(files)


def _contexts_of(path: Path, found: CollectedFiles) -> list[Context]:
    """The contexts that a file gave."""
    titles = (path.name, str(path))
    return [x for x in found.contexts if found.titles.get(x.name) in titles]


def _shared(found: CollectedFiles) -> dict[str, dict[str, int]]:
    """How many labels the files share, once they are spelled alike."""
    labels: dict[str, set[str]] = {}
    nodes: dict[str, set[str]] = {}
    for context in found.contexts:
        file = found.titles[context.name]
        labels.setdefault(file, set()).update(context.labels)
        nodes.setdefault(file, set()).update(context.labels, context.nodes)
    return {
        one: {other: len(labels[one] & nodes[other]) for other in labels}
        for one in labels
    }


def _shared_words(found: CollectedFiles) -> float:
    """Share of the labels with a word that another label has too."""
    labels = {label for context in found.contexts for label in context.labels}
    words: dict[str, set[str]] = {}
    for label in labels:
        for word in found.names.get(label, label).lower().split():
            words.setdefault(word, set()).add(label)
    several = [own for own in words.values() if len(own) > 1]
    return len(set().union(*several)) / len(labels) if several else 0.0
