"""Files into contexts: `phcle.read_contexts`, and the reading of `phcle fit`.

A new kind of file needs a row in `FILE_KINDS`, a case in `_read` and an argument of
`read_contexts`. The command line makes its flags from `FILE_KINDS`.

Every file is hashed when it is read. A fit can therefore say what it was made from,
even if the files are changed or removed before it ends.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, overload

from phcle.contexts.readers.file_arguments import split_columns
from phcle.contexts.readers.file_summaries import FileSummary
from phcle.errors import ContextError, FileError, FileFaults
from phcle.files.writing import check_is_file, is_file
from phcle.optional_imports import is_installed

if TYPE_CHECKING:
    from phcle.contexts.base import Context
    from phcle.contexts.label_matching import LabelMatch
    from phcle.contexts.readers.table_files import Reading, TableFile
    from phcle.contexts.readers.thesaurus import Thesaurus

# Readers import NumPy, so they are imported where they are used: the command line
# needs this module to list its flags.

__all__ = [
    "FILE_KINDS",
    "THESAURI",
    "CollectedFaults",
    "ContextFile",
    "Files",
    "ReadContexts",
    "SourceFile",
    "errors_name",
    "list_files",
    "read_and_summarise",
    "read_context",
    "read_contexts",
    "read_files",
    "read_readable_names",
    "read_thesaurus",
    "recorded",
]

FILE_KINDS = {
    "hierarchy": "Taxonomy: columns child,parent.",
    "edges": "Graph: columns source,target and optionally weight.",
    "annotations": "Annotations: columns item,label; labels of one item co-occur.",
    "attributes": "Attributes: labels in the first column; empty cells are missing.",
    "tags": "Tags: columns label,tag, one row per tag; an empty tag means no tags.",
    "texts": "Texts: columns label,text; compared by their words (TF-IDF).",
    "sentences": "Texts: columns label,text; compared by a sentence encoder.",
    "vectors": "Vectors of another model: a word2vec or GloVe file.",
    "skos": "SKOS vocabulary (.ttl, .rdf, .jsonld, …): taxonomy, names and texts.",
    "owl": "OWL ontology (.owl, .ttl, .rdf, …): taxonomy, names and texts.",
}
"""Every kind of file that becomes a context, with its layout."""

THESAURI = ("skos", "owl")
"""Kinds with a taxonomy, names and texts: one file gives up to two contexts."""

LARGE_FILE = 200_000_000
"""Annotation tables of more bytes are counted by DuckDB, if it is installed, because
they may not fit into memory."""


@dataclass(frozen=True)
class ContextFile:
    """A file that is to become a context.

    Attributes
    ----------
    kind : str
        A key of `FILE_KINDS`.
    path : Path
        The file.
    given_name : str or None
        Name of the context; None names it after the file.
    columns : mapping
        Titles of columns by their role, such as `{"child": "job", "parent": "sector"}`;
        columns that are not named are found.
    """

    kind: str
    path: Path
    given_name: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the context.

        Returns
        -------
        str
            The given name, or else the file name without its ending.
        """
        return self.given_name or self.path.stem


Synonyms = str | Path | Mapping[str, str]
"""A file of synonyms, or labels by synonym."""

OneFile = str | Path | ContextFile
Files = OneFile | Sequence[OneFile] | Mapping[str, OneFile]
"""A path, several paths, or paths by the names of their contexts. A path may be
followed by its columns: `tree.csv:child=job,parent=sector`."""


@dataclass(frozen=True)
class SourceFile:
    """What was read: one file as it was at that moment.

    Attributes
    ----------
    kind : str
        A key of `FILE_KINDS`, or "labels" or "names".
    name : str
        Name of the context; "labels" and "names" for these two files.
    path : Path
        The file.
    sha256 : str
        SHA-256 of its bytes, in hexadecimal digits.
    size : int
        Its size in bytes.
    """

    kind: str
    name: str
    path: Path
    sha256: str
    size: int

    def to_dict(self) -> dict[str, str]:
        """Return what an embedding stores about the file.

        The folder is left out, because it may reveal more about a machine than its
        owner wants.

        Returns
        -------
        dict
            Flag of the command line, context name, file name and hash.
        """
        return {
            "flag": self.kind,
            "name": self.name,
            "file": self.path.name,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, eq=False)
class ReadContexts(Sequence["Context"]):
    """Contexts read from files: a sequence that `PHCLE.fit` takes as it is.

    Attributes
    ----------
    contexts : tuple of contexts
        One per file, or two for a vocabulary or ontology with texts.
    labels : tuple of str or None
        The labels of the file `labels`; None: embed every label.
    names : dict
        Readable names by label, from the file `names` and from vocabularies.
    sources : tuple of SourceFile
        What was read, with the hash of each file.
    summaries : tuple of FileSummary
        What each file was taken to be, and what was guessed or changed.
    match : LabelMatch or None
        Which labels of the files were joined; None if they were not compared.
    """

    contexts: tuple[Context, ...]
    labels: tuple[str, ...] | None = None
    names: dict[str, str] = field(default_factory=dict)
    sources: tuple[SourceFile, ...] = ()
    summaries: tuple[FileSummary, ...] = ()
    match: LabelMatch | None = None

    def __len__(self) -> int:
        return len(self.contexts)

    @overload
    def __getitem__(self, index: int) -> Context: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Context, ...]: ...
    def __getitem__(self, index: int | slice) -> Context | tuple[Context, ...]:
        return self.contexts[index]


def read_contexts(
    *,
    hierarchy: Files | None = None,
    edges: Files | None = None,
    annotations: Files | None = None,
    attributes: Files | None = None,
    tags: Files | None = None,
    texts: Files | None = None,
    sentences: Files | None = None,
    vectors: Files | None = None,
    skos: Files | None = None,
    owl: Files | None = None,
    labels: str | Path | None = None,
    names: str | Path | None = None,
    hierarchy_kind: str = "ancestors",
    role: str = "auto",
    language: str = "en",
    encoding: str | None = None,
    delimiter: str | None = None,
    na: Iterable[str] = (),
    keep_na: bool = False,
    label_words: bool = False,
    match: str = "safe",
    synonyms: Synonyms | None = None,
) -> ReadContexts:
    r"""Read files into contexts, as `phcle fit` does.

    Every argument for files takes a path, a list of paths, or a mapping from context
    names to paths. Without a name, a context is named after its file. Tables are CSV
    files with a header (any encoding and delimiter) or Parquet files (`.parquet`).
    Columns are found by name, or where it is certain by position; a path may name them,
    as in `"tree.csv:child=job,parent=sector"`. Other columns are ignored. Any file may
    lack any label. All faults of all files are raised together.

    Parameters
    ----------
    hierarchy : path, list of paths or mapping, optional
        Taxonomy: columns `child` and `parent`.
    edges : path, list of paths or mapping, optional
        Graph: columns `source`, `target` and optionally `weight`.
    annotations : path, list of paths or mapping, optional
        Annotations: columns `item` and `label`. Labels of one item co-occur.
    attributes : path, list of paths or mapping, optional
        Attributes: labels in the first column, one further column per attribute. Empty
        cells are missing values.
    tags : path, list of paths or mapping, optional
        Tags: columns `label` and `tag`, one row per tag. An empty tag says that the
        label has no tags.
    texts : path, list of paths or mapping, optional
        Texts: columns `label` and `text`, compared by their words (TF-IDF).
    sentences : path, list of paths or mapping, optional
        Texts: columns `label` and `text`, compared by a sentence encoder, which needs
        the extra `phcle[sentences]`.
    vectors : path, list of paths or mapping, optional
        Vectors of another model: a word2vec or GloVe file. Only labels that another
        file or `labels` names are taken from it.
    skos : path, list of paths or mapping, optional
        SKOS vocabulary: its taxonomy is one context, its texts are another.
    owl : path, list of paths or mapping, optional
        OWL ontology: its taxonomy is one context, its texts are another.
    labels : path, optional
        The labels to embed, one per line. By default every label is embedded.
    names : path, optional
        Readable names: columns `label` and `name`.
    hierarchy_kind : str, default "ancestors"
        How a taxonomy relates its labels; see `RelationalContext.from_hierarchy`.
    role : str, default "auto"
        What the fit makes of a taxonomy; see `RelationalContext.from_hierarchy`.
    language : str, default "en"
        Language of names and texts in `skos` and `owl` files.
    encoding : str, optional
        Encoding of all tables, such as "cp1252". By default it is found out.
    delimiter : str, optional
        What separates the cells of all tables, such as ";". By default it is found out.
    na : iterable of str, optional
        Further texts that mark a cell as unknown, beside `NA`, `n/a`, `-`, `?` and
        others.
    keep_na : bool, default False
        Take the usual markers, such as `NA`, for ordinary texts. Empty cells stay
        unknown.
    label_words : bool, default False
        Add the words of the labels' own names as a context; see
        `DescriptiveContext.from_label_names`.
    match : {"safe", "exact"}, default "safe"
        Join labels of different files that differ only in case, spaces or Unicode form;
        or only equal labels. The spelling of the first file is used.
    synonyms : path or mapping, optional
        Further labels to join: a table with the columns `label` and `synonym`, or
        labels by synonym.

    Returns
    -------
    ReadContexts
        A sequence of contexts, with the `labels` and `names` that were read, the hash
        of every file in `sources`, what was guessed in `summaries`, and which labels
        were joined in `match`.

    Examples
    --------
    >>> import tempfile, phcle
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "tree.csv").write_text(
    ...     "child,parent\ncat,felid\nlion,felid\ndog,canid\nwolf,canid\n"
    ... )
    >>> _ = (folder / "looks.csv").write_text("label,weight\ncat,4\nlion,190\n")
    >>> contexts = phcle.read_contexts(
    ...     hierarchy=folder / "tree.csv", attributes={"size": folder / "looks.csv"}
    ... )
    >>> [context.name for context in contexts]
    ['tree', 'size']
    >>> model = phcle.PHCLE(dim=2).fit(contexts)
    >>> model.embedding_.labels
    ('cat', 'lion', 'dog', 'wolf')
    """
    from phcle.contexts.match_report import warn_of_match
    from phcle.contexts.readers.table_files import Reading

    given = {
        "hierarchy": hierarchy,
        "edges": edges,
        "annotations": annotations,
        "attributes": attributes,
        "tags": tags,
        "texts": texts,
        "sentences": sentences,
        "vectors": vectors,
        "skos": skos,
        "owl": owl,
    }
    found = read_files(
        list_files({kind: files for kind, files in given.items() if files is not None}),
        labels=labels,
        names=names,
        hierarchy_kind=hierarchy_kind,
        role=role,
        language=language,
        reading=Reading(encoding, delimiter, tuple(na), keep_na),
        label_words=label_words,
        match=match,
        synonyms=synonyms,
    )
    if found.match is not None:
        warn_of_match(found.match, stacklevel=3)
    return found


def list_files(given: Mapping[str, Files]) -> list[ContextFile]:
    """List the files of every kind.

    Parameters
    ----------
    given : mapping
        For each kind of file a path, a list of paths, or a mapping from context names
        to paths.

    Returns
    -------
    list of ContextFile
        In the given order.
    """
    found: list[ContextFile] = []
    for kind, files in given.items():
        if kind not in FILE_KINDS:
            raise ContextError(
                f"a kind of file must be one of {', '.join(FILE_KINDS)}. Got {kind!r}."
            )
        if isinstance(files, Mapping):
            found += [
                _context_file(kind, file, str(name)) for name, file in files.items()
            ]
        elif isinstance(files, (str, Path, ContextFile)):
            found.append(_context_file(kind, files, None))
        else:
            found += [_context_file(kind, file, None) for file in files]
    return found


def _context_file(kind: str, file: OneFile, name: str | None) -> ContextFile:
    if isinstance(file, ContextFile):
        return replace(file, kind=kind, given_name=name or file.given_name)
    path, columns = split_columns(kind, file)
    return ContextFile(kind, path, name, columns)


def read_files(
    files: Iterable[ContextFile],
    *,
    labels: str | Path | None = None,
    names: str | Path | None = None,
    hierarchy_kind: str = "ancestors",
    role: str = "auto",
    language: str = "en",
    reading: Reading | None = None,
    label_words: bool = False,
    match: str = "safe",
    synonyms: Synonyms | None = None,
) -> ReadContexts:
    """Read a list of files into contexts; see `read_contexts`.

    Parameters
    ----------
    files : iterable of ContextFile
        At least one file.
    labels : path, optional
        The labels to embed, one per line.
    names : path, optional
        Readable names: columns `label` and `name`.
    hierarchy_kind : str, default "ancestors"
        How a taxonomy relates its labels.
    role : str, default "auto"
        What the fit makes of a taxonomy.
    language : str, default "en"
        Language of names and texts in vocabularies and ontologies.
    reading : Reading, optional
        How the user wants tables to be read.
    label_words : bool, default False
        Add the words of the labels' own names as a context.
    match : {"safe", "exact"}, default "safe"
        Whether labels that differ only in case, spaces or Unicode form are joined.
    synonyms : path or mapping, optional
        Further labels to join.

    Returns
    -------
    ReadContexts
        The contexts, labels, names, sources, summaries and joined labels.
    """
    from phcle.contexts.alignment import match_contexts
    from phcle.contexts.label_words import label_words_of
    from phcle.contexts.readers.label_files import read_vectors
    from phcle.contexts.readers.synonym_files import read_synonyms

    files = list(files)
    if not files:
        raise ContextError(
            f"no file was given; give at least one of {', '.join(FILE_KINDS)}."
        )
    _refuse_same_names(files)
    sources: list[SourceFile] = []
    lists: list[SourceFile] = []
    summaries: list[FileSummary] = []
    faults = CollectedFaults()
    asked: tuple[str, ...] | None = None
    readable: dict[str, str] = {}
    if labels is not None:
        file = ContextFile("labels", Path(labels), "labels")
        with faults.collected(), recorded(file, lists):
            asked, summary = _read_labels(file, reading)
            summaries.append(summary)
    if names is not None:
        file = ContextFile("names", Path(names), "names")
        with faults.collected(), recorded(file, lists):
            readable, summary = read_readable_names(file, reading)
            summaries.append(summary)
    if isinstance(synonyms, (str, Path)):
        file = ContextFile("synonyms", Path(synonyms), "synonyms")
        with faults.collected(), recorded(file, lists):
            synonyms, summary = read_synonyms(file.path, reading)
            summaries.append(summary)
    contexts: list[Context] = []
    given_names: dict[str, str] = {}
    titles = _titles(files, labels, names)
    for file in files:
        if file.kind == "vectors":
            continue
        with faults.collected(), recorded(file, sources):
            if file.kind in THESAURI:
                thesaurus = read_thesaurus(file, language)
                own = thesaurus.contexts(hierarchy_kind, role)
                titles.update({context.name: titles[file.name] for context in own})
                contexts += own
                given_names.update(thesaurus.names)
                summaries.append(FileSummary(file.path, file.kind))
            else:
                context, summary = read_and_summarise(
                    file, hierarchy_kind=hierarchy_kind, role=role, reading=reading
                )
                contexts.append(context)
                summaries.append(summary)
    faults.raise_all()
    found: LabelMatch | None = None
    if contexts:
        matched = match_contexts(
            contexts,
            labels=asked,
            names=readable,
            mode=match,
            synonyms=synonyms,
            titles=titles,
        )
        contexts, asked, found = list(matched.contexts), matched.labels, matched.match
        readable = matched.names
        for other, label in found.spellings.items():
            if other in given_names:
                given_names.setdefault(label, given_names[other])
    readable = {**given_names, **readable}
    # A file of word vectors is a whole dictionary: take the labels known otherwise.
    known = asked or tuple(
        dict.fromkeys(chain.from_iterable(context.labels for context in contexts))
    )
    wanted = {label: readable.get(label, label) for label in known} or None
    for file in files:
        if file.kind == "vectors":
            with faults.collected(), recorded(file, sources):
                contexts.append(read_vectors(file.path, file.name, wanted=wanted))
                summaries.append(FileSummary(file.path, file.kind))
    faults.raise_all()
    if label_words:
        contexts.append(label_words_of(contexts, asked, readable))
    return ReadContexts(
        tuple(contexts),
        asked,
        readable,
        (*sources, *lists),
        tuple(summaries),
        found,
    )


def _titles(
    files: Sequence[ContextFile],
    labels: str | Path | None,
    names: str | Path | None,
) -> dict[str, str]:
    """What reports call the file of each context: its name, or path if names repeat."""
    paths = {file.name: file.path for file in files}
    for name, path in (("labels", labels), ("names", names)):
        if path is not None:
            paths.setdefault(name, Path(path))
    n_called = Counter(path.name for path in paths.values())
    return {
        name: path.name if n_called[path.name] == 1 else str(path)
        for name, path in paths.items()
    }


def _read_labels(
    file: ContextFile, reading: Reading | None
) -> tuple[tuple[str, ...], FileSummary]:
    from phcle.contexts.readers.label_files import read_labels

    remarks: list[str] = []
    found = read_labels(file.path, reading, remarks)
    return found, FileSummary(
        file.path, file.kind, n_rows=len(found), remarks=tuple(remarks)
    )


def read_readable_names(
    file: ContextFile, reading: Reading | None = None
) -> tuple[dict[str, str], FileSummary]:
    """Read a file of readable names.

    Parameters
    ----------
    file : ContextFile
        The file.
    reading : Reading, optional
        How the user wants it to be read.

    Returns
    -------
    names : dict
        Name by label.
    summary : FileSummary
        What was read, and how.
    """
    from phcle.contexts.readers.label_files import read_names
    from phcle.contexts.readers.table_files import open_table

    table = open_table(file.path, reading, columns=file.columns)
    return read_names(table), table.summary("names")


def read_thesaurus(file: ContextFile, language: str) -> Thesaurus:
    """Read a SKOS vocabulary or OWL ontology.

    Parameters
    ----------
    file : ContextFile
        A file of a kind in `THESAURI`.
    language : str
        Language of names and texts.

    Returns
    -------
    Thesaurus
        Taxonomy, names and texts.
    """
    from phcle.contexts.readers.ontologies import from_owl, from_skos

    read = from_skos if file.kind == "skos" else from_owl
    return read(file.path, language=language, name=file.name)


def read_context(
    file: ContextFile,
    *,
    hierarchy_kind: str = "ancestors",
    role: str = "auto",
    min_count: int = 2,
    reading: Reading | None = None,
) -> Context:
    """Read one file as a context; see `read_and_summarise`.

    Parameters
    ----------
    file : ContextFile
        A file of a kind that gives one context, so none of `THESAURI`.
    hierarchy_kind : str, default "ancestors"
        How a taxonomy relates its labels.
    role : str, default "auto"
        What the fit makes of a taxonomy.
    min_count : int, default 2
        Words in fewer texts are left out.
    reading : Reading, optional
        How the user wants it to be read.

    Returns
    -------
    RelationalContext or DescriptiveContext
        The context. Errors name the file.
    """
    return read_and_summarise(
        file,
        hierarchy_kind=hierarchy_kind,
        role=role,
        min_count=min_count,
        reading=reading,
    )[0]


def read_and_summarise(
    file: ContextFile,
    *,
    hierarchy_kind: str = "ancestors",
    role: str = "auto",
    min_count: int = 2,
    reading: Reading | None = None,
) -> tuple[Context, FileSummary]:
    """Read one file as a context, and say how it was read.

    Parameters
    ----------
    file : ContextFile
        A file of a kind that gives one context, so none of `THESAURI`.
    hierarchy_kind : str, default "ancestors"
        How a taxonomy relates its labels.
    role : str, default "auto"
        What the fit makes of a taxonomy.
    min_count : int, default 2
        Words in fewer texts are left out.
    reading : Reading, optional
        How the user wants it to be read.

    Returns
    -------
    context : RelationalContext or DescriptiveContext
        The context. Errors name the file.
    summary : FileSummary
        What the file was taken to be, and what was guessed or changed.
    """
    from phcle.contexts.readers.label_files import read_vectors
    from phcle.contexts.readers.table_files import open_table

    with errors_name(file.path):
        if file.kind == "vectors":
            summary = FileSummary(file.path, file.kind)
            return read_vectors(file.path, file.name), summary
        table = open_table(file.path, reading, columns=file.columns)
        context = _read(file, table, hierarchy_kind, role, min_count)
        return context, table.summary(file.kind)


@contextmanager
def errors_name(source: object) -> Iterator[None]:
    """Put the name of a file before the errors of the contexts that are read from it.

    Parameters
    ----------
    source : object
        Path of the file. Anything else, such as a graph, has no name.

    Yields
    ------
    None
        Any `ContextError` of the `with` block names the file.

    Examples
    --------
    >>> with errors_name("tree.csv"):
    ...     raise ContextError("context 'tree' is empty.")
    Traceback (most recent call last):
    phcle.errors.ContextError: tree.csv: context 'tree' is empty.
    """
    try:
        yield
    except ContextError as error:
        if not isinstance(source, (str, Path)) or str(source) in str(error):
            raise
        raise ContextError(f"{source}: {error}") from error


def _read(
    file: ContextFile, table: TableFile, hierarchy_kind: str, role: str, min_count: int
) -> Context:
    from phcle.contexts import DescriptiveContext, RelationalContext
    from phcle.contexts.readers import label_files as read
    from phcle.contexts.readers.table_columns import find_columns

    name = file.name
    match file.kind:
        case "hierarchy":
            pairs = read.read_hierarchy_edges(table)
            return RelationalContext.from_hierarchy(
                pairs, name=name, kind=hierarchy_kind, role=role
            )
        case "edges":
            return RelationalContext.from_edges(read.read_edges(table), name=name)
        case "annotations" if _counted_by_duckdb(table):
            at = find_columns(table, "annotations")
            return RelationalContext.from_annotation_table(
                file.path,
                name=name,
                item=table.header[at["item"]],
                label=table.header[at["label"]],
                delimiter=table.delimiter,
            )
        case "annotations":
            rows = read.read_annotations(table)
            return RelationalContext.from_annotations(rows, name=name)
        case "attributes":
            return read.read_attributes(table, name)
        case "tags":
            return DescriptiveContext.from_tags(read.read_tags(table), name=name)
        case "texts":
            texts = read.read_texts(table)
            return DescriptiveContext.from_texts(texts, name=name, min_count=min_count)
        case _:
            texts = read.read_texts(table)
            return DescriptiveContext.from_texts(texts, name=name, encoder="sentences")


def _counted_by_duckdb(table: TableFile) -> bool:
    """Whether DuckDB counts an annotation table: a Parquet file or a large one.

    It reads UTF-8 only; other files are read row by row.
    """
    if ".parquet" in table.path.suffixes:
        return True
    is_large = is_file(table.path) and table.path.stat().st_size > LARGE_FILE
    is_plain = table.encoding == "utf-8" and not table.skip
    return is_large and is_plain and is_installed("duckdb")


class CollectedFaults:
    """The faults of several files, which are raised together."""

    def __init__(self) -> None:
        self.errors: list[ContextError | FileError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep an error of the `with` block for later.

        Yields
        ------
        None
            Errors of contexts and files are kept.
        """
        try:
            yield
        except (ContextError, FileError) as error:
            self.errors.append(error)

    def raise_all(self) -> None:
        """Raise one error as it is, and several as one."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            found = [
                e.faults if isinstance(e, FileFaults) else [str(e)] for e in self.errors
            ]
            n_more = sum(getattr(error, "n_more", 0) for error in self.errors)
            raise FileFaults(list(chain.from_iterable(found)), n_more)


@contextmanager
def recorded(file: ContextFile, sources: list[SourceFile]) -> Iterator[None]:
    """Record the hash of a file around its reading.

    A file that changes while it is read is refused, so the hash is always that of what
    was read.

    Parameters
    ----------
    file : ContextFile
        The file that is read inside the `with` block.
    sources : list of SourceFile
        Where the record is added.

    Returns
    -------
    context manager
        For the `with` block that reads the file.
    """
    path = file.path
    check_is_file(path)
    try:
        before = path.stat()
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
    yield
    check_is_file(path)
    after = path.stat()
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise FileError(f"{path}: changed while it was read; try again.")
    sources.append(SourceFile(file.kind, file.name, path, digest, before.st_size))


def _refuse_same_names(files: Sequence[ContextFile]) -> None:
    for name, count in Counter(file.name for file in files).items():
        if count > 1:
            paths = [str(file.path) for file in files if file.name == name]
            raise ContextError(
                f"{' and '.join(paths)} would both be the context {name!r}; name one "
                f"of them: NAME={paths[-1]}, or {{'NAME': {paths[-1]!r}}} in Python."
            )
