"""Files into contexts: `phcle.read_contexts`, and the reading of `phcle fit`.

A new kind of file needs a row in `FILE_KINDS`, a case in `read_table` and an argument
of `read_contexts`. Every file is hashed when it is read. A fit can therefore say what
it was made from, even if the files are changed or removed before it ends.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, overload

from phcle.contexts import RelationalContext
from phcle.contexts.alignment import match_contexts
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.errors import ContextError, FileError, FileFaults
from phcle.files.reading import check_is_file, is_file, opened
from phcle.optional_imports import is_installed
from phcle.tables import rows as read
from phcle.tables.cells import first_few
from phcle.tables.columns import ColumnSummary
from phcle.tables.file_kinds import (
    FILE_KINDS,
    THESAURI,
    ContextFile,
    Files,
    is_newick,
    list_files,
    refuse_same_names,
)
from phcle.tables.matching import LabelMatch, warn_of_match
from phcle.tables.reader import (
    Reading,
    Table,
    errors_name,
    open_table,
)
from phcle.tables.text_tables import DELIMITERS

LARGE_FILE = 200_000_000
"""Annotation tables of more bytes are counted by DuckDB, if it is installed, because
they may not fit into memory."""

COLUMNS = 12
"""Columns whose reading the first lines of a fit tell; `phcle check` has all."""

Synonyms = str | Path | Mapping[str, str]
"""A file of synonyms, or labels by synonym."""


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


@dataclass(frozen=True)
class FileSummary:
    """What was read from one file, and how.

    Attributes
    ----------
    path : Path
        The file.
    kind : str or None
        What the file was read as, such as "hierarchy" or "attributes".
    encoding : str or None
        Encoding of a text file.
    delimiter : str or None
        What separates the cells of a table of text.
    n_rows : int or None
        Rows of a table, without its header; None if the file is no table.
    columns : tuple of ColumnSummary
        How each column was read.
    remarks : tuple of str
        What was guessed or changed, each as a short sentence without a full stop.
    odd_cells : tuple of str
        Cells that are not what nearly all others of their column are, with places.

    Examples
    --------
    >>> remarks = ("2 identical rows dropped",)
    >>> FileSummary(Path("looks.csv"), "attributes", "cp1252", ";", 9, {}, remarks).line
    'looks.csv: attributes, 9 rows, cp1252, semicolons; 2 identical rows dropped'
    """

    path: Path
    kind: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    n_rows: int | None = None
    columns: tuple[ColumnSummary, ...] = ()
    remarks: tuple[str, ...] = ()
    odd_cells: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, kind: str) -> FileSummary:
        """Say what was read from a table.

        Parameters
        ----------
        table : Table
            The table, of which all rows were read.
        kind : str
            What it was read as.

        Returns
        -------
        FileSummary
            The summary.
        """
        return cls(
            Path(table.path),
            kind,
            None if table.form is None else table.form.encoding.name,
            None if table.form is None else table.form.delimiter,
            table.n_rows,
            table.columns,
            tuple(table.remarks),
            tuple(table.odd_cells),
        )

    @property
    def column_line(self) -> str:
        """How the first columns were read, in one line.

        Returns
        -------
        str
            Each with two cells where text became a number, a date or a truth value;
            empty for a file without such columns.
        """
        said = []
        for column in self.columns:
            examples = f" ({', '.join(column.examples)})" if column.examples else ""
            said.append(f"{column.title}: {column.holds}{examples}")
        return f"{self.path.name}: {first_few(said, COLUMNS)}" if said else ""

    @property
    def line(self) -> str:
        """The summary in one line; UTF-8 and commas go without saying.

        Returns
        -------
        str
            File, kind, rows, encoding, delimiter and remarks.
        """
        parts = [str(self.kind)]
        if self.n_rows is not None:
            parts.append(f"{self.n_rows:,} row{'' if self.n_rows == 1 else 's'}")
        if self.encoding not in (None, "utf-8"):
            parts.append(str(self.encoding))
        if self.delimiter not in (None, ","):
            parts.append(DELIMITERS.get(self.delimiter or "", repr(self.delimiter)))
        return "; ".join([f"{self.path.name}: {', '.join(parts)}", *self.remarks])


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
    read_as: Mapping[str, str] | None = None,
    repeats: str = "mean",
    label_words: bool = False,
    match: str = "safe",
    synonyms: Synonyms | None = None,
) -> ReadContexts:
    r"""Read files into contexts, as `phcle fit` does.

    Every argument for files takes a path, a list of paths, or a mapping from context
    names to paths. Without a name, a context is named after its file. Tables are CSV
    files (any encoding and delimiter), Excel workbooks (`.xlsx`), JSON or Parquet
    files.
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
    read_as : mapping from str to str, optional
        How columns of attributes are to be read, by title, such as
        `{"zip": "text", "born": "date"}`; what can be read in two ways stays text
        without it. Values are "text", "number", "point" and "comma" (numbers with
        these decimals), "truth", "date", "day-first" and "month-first".
    repeats : {"mean", "first", "refuse"}, default "mean"
        What becomes of several rows of one label in a table of attributes: the mean of
        their numbers and the most frequent of their categories, the first row, or an
        error. Identical rows count once.
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
    reading = Reading(
        encoding,
        delimiter,
        tuple(na),
        keep_na,
        dict(read_as or {}),
        repeats,
        hierarchy_kind=hierarchy_kind,
        role=role,
        language=language,
    )
    found = collect_files(
        list_files({kind: files for kind, files in given.items() if files is not None}),
        labels=labels,
        names=names,
        reading=reading,
        label_words=label_words,
        match=match,
        synonyms=synonyms,
    ).whole()
    if found.match is not None:
        warn_of_match(found.match, stacklevel=3)
    return found


@dataclass
class CollectedFiles:
    """What could be read of some files, and what could not.

    Attributes
    ----------
    reading : Reading
        How the user wants files to be read.
    titles : dict
        What reports call the file of each context, by the name of the context.
    contexts : list of contexts
        The contexts, with labels that are spelled alike.
    labels : tuple of str or None
        The labels to embed.
    names : dict
        Readable names by label.
    synonyms : mapping
        Labels by other spellings of them.
    match : LabelMatch or None
        Which labels of the files were joined.
    sources : list of SourceFile
        The files that were read.
    summaries : list of FileSummary
        How they were read.
    errors : dict
        What is wrong, by file. The faults of a file do not stop the others.
    """

    reading: Reading = field(default_factory=Reading)
    titles: dict[str, str] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)
    labels: tuple[str, ...] | None = None
    names: dict[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    match: LabelMatch | None = None
    sources: list[SourceFile] = field(default_factory=list)
    summaries: list[FileSummary] = field(default_factory=list)
    errors: dict[Path, ContextError | FileError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names_in_thesauri: dict[str, str] = {}

    def take(
        self, file: ContextFile, read: Callable[[ContextFile], FileSummary]
    ) -> None:
        """Read a file, record its hash, and keep its errors for later.

        A file that changes while it is read is refused, so the hash is always that of
        what was read.

        Parameters
        ----------
        file : ContextFile
            The file.
        read : callable
            Reads it, and says how it was read.
        """
        path = file.path
        try:
            with opened(path) as content:
                before = path.stat()
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            summary = read(file)
            check_is_file(path)
            after = path.stat()
            size, time = before.st_size, before.st_mtime_ns
            if (after.st_size, after.st_mtime_ns) != (size, time):
                raise FileError(f"{path}: changed while it was read; try again.")
            self.sources.append(SourceFile(file.kind, file.name, path, digest, size))
            self.summaries.append(summary)
        except (ContextError, FileError) as error:
            self.errors[path] = error

    def take_names(self, names: str | Path | ContextFile | None) -> None:
        """Read readable names, if a file has any.

        Parameters
        ----------
        names : path or ContextFile, optional
            A table with the columns `label` and `name`.
        """
        if isinstance(names, (str, Path)):
            names = ContextFile("names", Path(names), "names")
        if names is not None:
            self.take(names, self._read_names)

    def take_synonyms(self, synonyms: Synonyms | None) -> None:
        """Read labels by other spellings of them, unless they are known already.

        Parameters
        ----------
        synonyms : path or mapping, optional
            A table with the columns `label` and `synonym`, or what it would hold.
        """
        if isinstance(synonyms, (str, Path)):
            file = ContextFile("synonyms", Path(synonyms), "synonyms")
            self.take(file, self._read_synonyms)
        elif synonyms:
            self.synonyms = synonyms

    def faults_of(self, path: Path) -> tuple[str, ...]:
        """Return all that is wrong with a file.

        Parameters
        ----------
        path : Path
            The file.

        Returns
        -------
        tuple of str
            The faults, each with its line; empty if there is none.
        """
        error = self.errors.get(path)
        return () if error is None else tuple(str(error).split("\n"))

    def whole(self) -> ReadContexts:
        """Return what was read; raise one error as it is, and several as one.

        Returns
        -------
        ReadContexts
            The contexts, labels, names, sources, summaries and joined labels.
        """
        if len(self.errors) == 1:
            raise next(iter(self.errors.values()))
        if self.errors:
            faults = map(self.faults_of, self.errors)
            raise FileFaults(list(chain.from_iterable(faults)))
        lists_last = sorted(self.sources, key=lambda x: x.kind not in FILE_KINDS)
        return ReadContexts(
            tuple(self.contexts),
            self.labels,
            self.names,
            tuple(lists_last),
            tuple(self.summaries),
            self.match,
        )

    def match_labels(self, mode: str) -> None:
        """Spell the labels of all files alike.

        Parameters
        ----------
        mode : {"safe", "exact"}
            Whether labels that differ only in case, spaces or Unicode form are joined.
        """
        if self.contexts:
            matched = match_contexts(
                self.contexts,
                labels=self.labels,
                names=self.names,
                mode=mode,
                synonyms=self.synonyms,
                titles=self.titles,
            )
            self.contexts, self.labels = list(matched.contexts), matched.labels
            self.names, self.match = matched.names, matched.match
            given = self._names_in_thesauri
            for other, label in matched.match.spellings.items():
                if other in given:
                    given.setdefault(label, given[other])
        self.names = {**self._names_in_thesauri, **self.names}

    def _read_labels(self, file: ContextFile) -> FileSummary:
        remarks: list[str] = []
        self.labels = read.read_labels(file.path, self.reading, remarks)
        n, said = len(self.labels), tuple(remarks)
        return FileSummary(file.path, "labels", n_rows=n, remarks=said)

    def _read_names(self, file: ContextFile) -> FileSummary:
        table = open_table(file.path, self.reading, columns=file.columns)
        self.names.update(read.read_cells(table, "names"))
        return FileSummary.of(table, "names")

    def _read_synonyms(self, file: ContextFile) -> FileSummary:
        table = open_table(file.path, self.reading)
        self.synonyms = read.read_synonyms(table)
        return FileSummary.of(table, "synonyms")

    def _read_context(self, file: ContextFile) -> FileSummary:
        if file.kind not in THESAURI:
            context, summary = read_file(file, self.reading)
            self.contexts.append(context)
            return summary
        from phcle.tables.trees import read_thesaurus

        thesaurus = read_thesaurus(file, self.reading.language)
        kind, role = self.reading.hierarchy_kind, self.reading.role
        own = thesaurus.contexts(kind=kind, role=role)
        title = self.titles[file.name]
        self.titles.update({context.name: title for context in own})
        self.contexts += own
        self._names_in_thesauri.update(thesaurus.names)
        return FileSummary(file.path, file.kind)

    def _read_vectors(self, file: ContextFile) -> FileSummary:
        """Take the vectors of the labels that are known by now."""
        known = self.labels or dict.fromkeys(
            chain.from_iterable(x.labels for x in self.contexts)
        )
        wanted = {label: self.names.get(label, label) for label in known} or None
        self.contexts.append(read.read_vectors(file.path, file.name, wanted=wanted))
        return FileSummary(file.path, file.kind)


def collect_files(
    files: Iterable[ContextFile],
    *,
    labels: str | Path | None = None,
    names: str | Path | ContextFile | None = None,
    reading: Reading | None = None,
    label_words: bool = False,
    match: str = "safe",
    synonyms: Synonyms | None = None,
) -> CollectedFiles:
    """Read what can be read of a list of files, and collect all faults.

    Parameters
    ----------
    files : iterable of ContextFile
        At least one file.
    labels : path, optional
        The labels to embed, one per line.
    names : path or ContextFile, optional
        Readable names: columns `label` and `name`.
    reading : Reading, optional
        How the user wants files to be read.
    label_words : bool, default False
        Add the words of the labels' own names as a context, if nothing is wrong.
    match : {"safe", "exact"}, default "safe"
        Whether labels that differ only in case, spaces or Unicode form are joined.
    synonyms : path or mapping, optional
        Further labels to join.

    Returns
    -------
    CollectedFiles
        What was read, and what is wrong.
    """
    files = list(files)
    if not files:
        raise ContextError(
            f"no file was given; give at least one of {', '.join(FILE_KINDS)}."
        )
    refuse_same_names(files)
    named = names.path if isinstance(names, ContextFile) else names
    found = CollectedFiles(reading or Reading(), _titles(files, labels, named))
    if labels is not None:
        found.take(ContextFile("labels", Path(labels), "labels"), found._read_labels)
    found.take_names(names)
    found.take_synonyms(synonyms)
    for file in files:
        if file.kind != "vectors":
            found.take(file, found._read_context)
    found.match_labels(match)
    # A file of word vectors is a whole dictionary: take the labels known by now.
    for file in files:
        if file.kind == "vectors":
            found.take(file, found._read_vectors)
    if label_words and not found.errors:
        own = label_words_of(found.contexts, found.labels, found.names)
        found.contexts.append(own)
    return found


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


def label_words_of(
    contexts: Iterable[Context],
    labels: Iterable[Any] | None,
    names: Mapping[str, str],
) -> DescriptiveContext:
    """Make a context from the names of the labels of other contexts.

    Parameters
    ----------
    contexts : iterable of Context
        The other contexts.
    labels : iterable of str or None
        The labels that are embedded; None for all labels of the contexts.
    names : mapping from str to str
        Readable names; a label without one is its own name.

    Returns
    -------
    DescriptiveContext
        As `DescriptiveContext.from_label_names` makes it.

    Examples
    --------
    >>> tags = DescriptiveContext.from_tags({"wine glass": ["red"], "glass": ["clear"]})
    >>> label_words_of([tags], None, {}).labels
    ('wine glass', 'glass')
    """
    if labels is None:
        labels = chain.from_iterable(context.labels for context in contexts)
    known = dict.fromkeys(map(str, labels))
    return DescriptiveContext.from_label_names({x: names.get(x, x) for x in known})


def read_file(file: ContextFile, reading: Reading) -> tuple[Context, FileSummary]:
    """Read one file as a context, and say how it was read.

    Parameters
    ----------
    file : ContextFile
        A file of a kind that gives one context, so none of `THESAURI`.
    reading : Reading
        How the user wants it to be read.

    Returns
    -------
    context : RelationalContext or DescriptiveContext
        The context. Errors name the file.
    summary : FileSummary
        What the file was taken to be, and what was guessed or changed.
    """
    with errors_name(file.path):
        if file.kind == "vectors":
            summary = FileSummary(file.path, file.kind)
            return read.read_vectors(file.path, file.name), summary
        if is_newick(file.path) and file.kind == "hierarchy":
            tree = RelationalContext.from_hierarchy(
                file.path,
                name=file.name,
                kind=reading.hierarchy_kind,
                role=reading.role,
            )
            return tree, FileSummary(file.path, file.kind)
        table = open_table(file.path, reading, columns=file.columns)
        context = read_table(file.kind, table, file.name)
        return context, FileSummary.of(table, file.kind)


def read_table(kind: str, table: Table, name: str) -> Context:
    """Read a table as a context.

    Parameters
    ----------
    kind : str
        A key of `FILE_KINDS` that is a table.
    table : Table
        The table of a file or of a data frame.
    name : str
        Name of the context.

    Returns
    -------
    RelationalContext or DescriptiveContext
        The context.
    """
    reading = table.reading
    match kind:
        case "hierarchy":
            pairs = read.read_hierarchy_edges(table)
            return RelationalContext.from_hierarchy(
                pairs, name=name, kind=reading.hierarchy_kind, role=reading.role
            )
        case "edges":
            are_triples, rows = read.read_edges(table)
            if are_triples:
                return RelationalContext.from_triples(rows, name=name)
            return RelationalContext.from_edges(rows, name=name)
        case "annotations" if _counted_by_duckdb(table):
            at = table.columns_of("annotations")
            return RelationalContext.from_annotation_table(
                Path(table.path),
                name=name,
                item=table.header[at["item"]],
                label=table.header[at["label"]],
                delimiter=None if table.form is None else table.form.delimiter,
            )
        case "annotations":
            pairs = read.read_annotations(table)
            return RelationalContext.from_annotations(pairs, name=name)
        case "attributes":
            return read.read_attributes(table, name)
        case "tags":
            return DescriptiveContext.from_tags(read.read_tags(table), name=name)
        case "texts":
            texts = read.read_cells(table, "texts")
            return DescriptiveContext.from_texts(
                texts, name=name, min_count=reading.min_count
            )
        case _:
            texts = read.read_cells(table, "texts")
            return DescriptiveContext.from_texts(texts, name=name, encoder="sentences")


def _counted_by_duckdb(table: Table) -> bool:
    """Whether DuckDB counts an annotation table: a Parquet file or a large one.

    It reads UTF-8 only; other files are read row by row.
    """
    if not isinstance(table.path, Path):
        return False
    if ".parquet" in table.path.suffixes:
        return True
    is_large = is_file(table.path) and table.path.stat().st_size > LARGE_FILE
    form = table.form
    is_plain = form is not None and form.encoding.name == "utf-8" and not form.skip
    return is_large and is_plain and not table.first and is_installed("duckdb")
