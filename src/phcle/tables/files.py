"""Files into contexts: `phcle.read_contexts`, and the reading of `phcle fit`.

A new kind of file needs a row in `FILE_KINDS`, a case in `read_table` and an
argument of `read_contexts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from phcle.contexts import RelationalContext
from phcle.contexts.alignment import match_contexts
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.errors import ContextError
from phcle.files.reading import is_file
from phcle.optional_imports import is_installed
from phcle.tables import rows as read
from phcle.tables.file_kinds import (
    FILE_KINDS,
    THESAURI,
    ContextFile,
    Files,
    list_files,
    refuse_same_names,
)
from phcle.tables.matching import LabelMatch, warn_of_match
from phcle.tables.newick import is_newick
from phcle.tables.reader import Reading, Table, open_table
from phcle.tables.sources import (
    CollectedFaults,
    FileSummary,
    SourceFile,
    errors_name,
    recorded,
)

if TYPE_CHECKING:
    from phcle.tables.ontologies import Thesaurus

LARGE_FILE = 200_000_000
"""Annotation tables of more bytes are counted by DuckDB, if it is installed, because
they may not fit into memory."""

Synonyms = str | Path | Mapping[str, str]
"""A file of synonyms, or labels by synonym."""


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
    found = collect_files(
        list_files({kind: files for kind, files in given.items() if files is not None}),
        labels=labels,
        names=names,
        hierarchy_kind=hierarchy_kind,
        role=role,
        language=language,
        reading=Reading(
            encoding, delimiter, tuple(na), keep_na, dict(read_as or {}), repeats
        ),
        label_words=label_words,
        match=match,
        synonyms=synonyms,
    ).whole()
    if found.match is not None:
        warn_of_match(found.match, stacklevel=3)
    return found


@dataclass(frozen=True)
class CollectedFiles:
    """What could be read of some files, and what could not.

    Attributes
    ----------
    read : ReadContexts
        The contexts, with labels that are spelled alike.
    titles : dict
        What reports call the file of each context, by the name of the context.
    faults : CollectedFaults
        What is wrong, by file.
    """

    read: ReadContexts
    titles: dict[str, str]
    faults: CollectedFaults

    def whole(self) -> ReadContexts:
        """Return what was read, or raise all faults together.

        Returns
        -------
        ReadContexts
            The contexts, labels, names, sources, summaries and joined labels.
        """
        self.faults.raise_all()
        return self.read


def collect_files(
    files: Iterable[ContextFile],
    *,
    labels: str | Path | None = None,
    names: str | Path | ContextFile | None = None,
    hierarchy_kind: str = "ancestors",
    role: str = "auto",
    language: str = "en",
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
    hierarchy_kind : str, default "ancestors"
        How a taxonomy relates its labels.
    role : str, default "auto"
        What the fit makes of a taxonomy.
    language : str, default "en"
        Language of names and texts in vocabularies and ontologies.
    reading : Reading, optional
        How the user wants tables to be read.
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
    if isinstance(names, (str, Path)):
        names = ContextFile("names", Path(names), "names")
    reader = _Reader(hierarchy_kind, role, language, reading)
    reader.titles = _titles(files, labels, None if names is None else names.path)
    if labels is not None:
        reader.read_labels(Path(labels))
    if names is not None:
        reader.read_names(names)
    if isinstance(synonyms, (str, Path)):
        synonyms = reader.read_synonyms(Path(synonyms))
    for file in files:
        if file.kind != "vectors":
            reader.read_context(file)
    reader.match_labels(match, synonyms)
    # A file of word vectors is a whole dictionary: take the labels known by now.
    for file in files:
        if file.kind == "vectors":
            reader.read_vectors(file)
    if label_words and not reader.faults.errors:
        own = label_words_of(reader.contexts, reader.labels, reader.names)
        reader.contexts.append(own)
    return CollectedFiles(reader.result(), reader.titles, reader.faults)


@dataclass
class _Reader:
    """What was read so far. The faults of a file do not stop the others."""

    hierarchy_kind: str
    role: str
    language: str
    reading: Reading | None
    titles: dict[str, str] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)
    labels: tuple[str, ...] | None = None
    names: dict[str, str] = field(default_factory=dict)
    names_in_thesauri: dict[str, str] = field(default_factory=dict)
    match: LabelMatch | None = None
    sources: list[SourceFile] = field(default_factory=list)
    lists: list[SourceFile] = field(default_factory=list)
    summaries: list[FileSummary] = field(default_factory=list)
    faults: CollectedFaults = field(default_factory=CollectedFaults)

    def read_labels(self, path: Path) -> None:
        file = ContextFile("labels", path, "labels")
        with self.faults.collected(file.path), recorded(file, self.lists):
            remarks: list[str] = []
            self.labels = read.read_labels(path, self.reading, remarks)
            n, said = len(self.labels), tuple(remarks)
            self.summaries.append(FileSummary(path, file.kind, n_rows=n, remarks=said))

    def read_names(self, file: ContextFile) -> None:
        with self.faults.collected(file.path), recorded(file, self.lists):
            self.names, summary = read_readable_names(file, self.reading)
            self.summaries.append(summary)

    def read_synonyms(self, path: Path) -> dict[str, str]:
        found: dict[str, str] = {}
        file = ContextFile("synonyms", path, "synonyms")
        with self.faults.collected(path), recorded(file, self.lists):
            found, summary = read.read_synonyms(path, self.reading)
            self.summaries.append(summary)
        return found

    def read_context(self, file: ContextFile) -> None:
        with self.faults.collected(file.path), recorded(file, self.sources):
            if file.kind in THESAURI:
                thesaurus = read_thesaurus(file, self.language)
                own = thesaurus.contexts(self.hierarchy_kind, self.role)
                title = self.titles[file.name]
                self.titles.update({context.name: title for context in own})
                self.contexts += own
                self.names_in_thesauri.update(thesaurus.names)
                self.summaries.append(FileSummary(file.path, file.kind))
                return
            context, summary = read_and_summarise(
                file,
                hierarchy_kind=self.hierarchy_kind,
                role=self.role,
                reading=self.reading,
            )
            self.contexts.append(context)
            self.summaries.append(summary)

    def match_labels(self, mode: str, synonyms: Mapping[str, str] | None) -> None:
        """Spell the labels of all files alike."""
        if self.contexts:
            matched = match_contexts(
                self.contexts,
                labels=self.labels,
                names=self.names,
                mode=mode,
                synonyms=synonyms,
                titles=self.titles,
            )
            self.contexts, self.labels = list(matched.contexts), matched.labels
            self.names, self.match = matched.names, matched.match
            given = self.names_in_thesauri
            for other, label in matched.match.spellings.items():
                if other in given:
                    given.setdefault(label, given[other])
        self.names = {**self.names_in_thesauri, **self.names}

    def read_vectors(self, file: ContextFile) -> None:
        known = self.labels or tuple(
            dict.fromkeys(chain.from_iterable(x.labels for x in self.contexts))
        )
        wanted = {label: self.names.get(label, label) for label in known} or None
        with self.faults.collected(file.path), recorded(file, self.sources):
            self.contexts.append(read.read_vectors(file.path, file.name, wanted=wanted))
            self.summaries.append(FileSummary(file.path, file.kind))

    def result(self) -> ReadContexts:
        return ReadContexts(
            tuple(self.contexts),
            self.labels,
            self.names,
            (*self.sources, *self.lists),
            tuple(self.summaries),
            self.match,
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
    table = open_table(file.path, reading, columns=file.columns)
    return read.read_cells(table, "names"), FileSummary.of(table, "names")


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
    from phcle.tables.ontologies import from_owl, from_skos

    from_file = from_skos if file.kind == "skos" else from_owl
    return from_file(file.path, language=language, name=file.name)


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
    context: Context
    with errors_name(file.path):
        if file.kind == "vectors":
            summary = FileSummary(file.path, file.kind)
            return read.read_vectors(file.path, file.name), summary
        if file.kind == "hierarchy" and is_newick(file.path):
            context = RelationalContext.from_hierarchy(
                file.path, name=file.name, kind=hierarchy_kind, role=role
            )
            return context, FileSummary(file.path, file.kind)
        table = open_table(file.path, reading, columns=file.columns)
        context = read_table(
            file.kind,
            table,
            file.name,
            hierarchy_kind=hierarchy_kind,
            role=role,
            min_count=min_count,
        )
        return context, FileSummary.of(table, file.kind)


def read_table(
    kind: str,
    table: Table,
    name: str,
    *,
    hierarchy_kind: str = "ancestors",
    role: str = "auto",
    min_count: int = 2,
) -> Context:
    """Read a table as a context.

    Parameters
    ----------
    kind : str
        A key of `FILE_KINDS` that is a table.
    table : Table
        The table of a file or of a data frame.
    name : str
        Name of the context.
    hierarchy_kind : str, default "ancestors"
        How a taxonomy relates its labels.
    role : str, default "auto"
        What the fit makes of a taxonomy.
    min_count : int, default 2
        Words in fewer texts are left out.

    Returns
    -------
    RelationalContext or DescriptiveContext
        The context.
    """
    match kind:
        case "hierarchy":
            pairs = read.read_hierarchy_edges(table)
            return RelationalContext.from_hierarchy(
                pairs, name=name, kind=hierarchy_kind, role=role
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
                delimiter=table.delimiter,
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
            return DescriptiveContext.from_texts(texts, name=name, min_count=min_count)
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
    is_plain = table.encoding == "utf-8" and not (table.skip or table.first)
    return is_large and is_plain and is_installed("duckdb")
