"""Files into contexts: `phcle.read_contexts`, and the reading of `phcle fit`.

A new kind of file needs a row in `FILE_KINDS`, a reader in `rows` and an argument
of `read_contexts`. Every file is hashed when it is read. A fit can therefore say what
it was made from, even if the files are changed or removed before it ends.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from phcle.contexts import RelationalContext
from phcle.contexts.alignment import match_contexts
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.errors import ContextError, FileError, FileFaults
from phcle.files.reading import opened
from phcle.tables import rows as read
from phcle.tables.file_kinds import (
    FILE_KINDS,
    LISTS,
    THESAURI,
    ContextFile,
    Files,
    FileSummary,
    is_newick,
    list_files,
    with_lists,
)
from phcle.tables.matching import LabelMatch, LabelSource, warn_of_match
from phcle.tables.reader import Reading, errors_name, open_table

Synonyms = str | Path | Mapping[str, str]
"""A file of synonyms, or labels by synonym."""


@dataclass(frozen=True, eq=False)
class ReadContexts:
    """Contexts read from files, one after the other, which `PHCLE.fit` takes.

    Attributes
    ----------
    contexts : tuple of contexts
        One per file, or two for a vocabulary or ontology with texts.
    labels : tuple of str or None
        The labels of the file `labels`; None: embed every label.
    names : dict
        Readable names by label, from the file `names` and from vocabularies.
    summaries : tuple of FileSummary
        What each file was taken to be, its hash, and what was guessed or changed.
    match : LabelMatch or None
        Which labels of the files were joined; None if they were not compared.
    """

    contexts: tuple[Context, ...]
    labels: tuple[str, ...] | None = None
    names: dict[str, str] = field(default_factory=dict)
    summaries: tuple[FileSummary, ...] = ()
    match: LabelMatch | None = None

    def __len__(self) -> int:
        return len(self.contexts)

    def __iter__(self) -> Iterator[Context]:
        return iter(self.contexts)

    def __getitem__(self, index: int) -> Context:
        return self.contexts[index]

    @property
    def sources(self) -> list[dict[str, Any]]:
        """What an embedding stores about the files; lists come last, frames nowhere.

        Folders are left out, because they may reveal more about a machine than its
        owner wants.

        Returns
        -------
        list of dict
            Flag of the command line, context name, file name and hash.
        """
        return [
            {"flag": x.kind, "name": x.name, "file": x.path.name, "sha256": x.sha256}
            for x in sorted(self.summaries, key=lambda x: x.kind in LISTS)
            if x.sha256
        ]


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
    label_words: bool = False,
    match: str = "safe",
    synonyms: Synonyms | None = None,
    **reading: Any,
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
    label_words : bool, default False
        Add the words of the labels' own names as a context; see
        `DescriptiveContext.from_label_names`.
    match : {"safe", "exact"}, default "safe"
        Join labels of different files that differ only in case, spaces or Unicode form;
        or only equal labels. The spelling of the first file is used.
    synonyms : path or mapping, optional
        Further labels to join: a table with the columns `label` and `synonym`, or
        labels by synonym.
    **reading : dict
        How files are to be read, if that is not to be found out: what `Reading` takes,
        such as `encoding="cp1252"`, `delimiter=";"`, `na=["-99"]`, `keep_na=True`,
        `read_as={"zip": "text"}`, `repeats="first"`, `hierarchy_kind="path"`,
        `role="family"` or `language="de"`.

    Returns
    -------
    ReadContexts
        A sequence of contexts, with the `labels` and `names` that were read, the hash
        of every file and what was guessed in `summaries`, and which labels were joined
        in `match`.

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
    own = locals()
    given = {kind: own[kind] for kind in FILE_KINDS if own[kind] is not None}
    if not given:
        raise ContextError(
            f"no file was given; give at least one of {', '.join(FILE_KINDS)}."
        )
    found = collect_files(
        with_lists(list_files(given), labels=labels, names=names, synonyms=synonyms),
        Reading(**reading),
        label_words=label_words,
        match=match,
        synonyms=synonyms if isinstance(synonyms, Mapping) else None,
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
    synonyms : mapping
        Labels by other spellings of them.
    labels : tuple of str or None
        The labels to embed.
    names, node_names : dict
        Readable names by label, from a file of names and from vocabularies.
    contexts : list of contexts
        The contexts, with labels that are spelled alike.
    files : dict
        The file of each context or list, by the name of the context or the kind.
    match : LabelMatch or None
        Which labels of the files were joined.
    wanted : tuple of str
        Labels whose vectors are read; empty: those of all words.
    summaries : list of FileSummary
        How the files were read.
    errors : list
        What is wrong with files. The faults of one do not stop the others.
    """

    reading: Reading
    synonyms: Mapping[str, str]
    labels: tuple[str, ...] | None
    names: dict[str, str]
    node_names: dict[str, str] = field(default_factory=dict)
    contexts: list[Context] = field(default_factory=list)
    files: dict[str, ContextFile] = field(default_factory=dict)
    match: LabelMatch | None = None
    wanted: tuple[str, ...] = ()
    summaries: list[FileSummary] = field(default_factory=list)
    errors: list[ContextError | FileError] = field(default_factory=list)

    def take(self, file: ContextFile) -> None:
        """Read a file with its hash, and keep its errors for later.

        A file that changes while it is read is refused, so the hash is always that of
        what was read.
        """
        path = file.path
        try:
            digest = "" if file.table else _digest(path)
            with errors_name(path):
                contexts, summary = self._read(file)
            if digest and _digest(path) != digest:
                raise FileError(f"{path}: changed while it was read; try again.")
        except (ContextError, FileError) as error:
            self.errors.append(error)
            summary = FileSummary(path, faults=str(error).split("\n"))
            contexts, digest = [], ""
        else:
            names = [context.name for context in contexts] or [file.kind]
            self.files |= dict.fromkeys(names, file)
        self.contexts += contexts
        n_labels = len({label for context in contexts for label in context.labels})
        summary.kind, summary.name, summary.why = file.kind, file.name, file.why
        summary.labels, summary.sha256 = n_labels or summary.n_rows or 0, digest
        self.summaries.append(summary)

    def _read(self, file: ContextFile) -> tuple[list[Context], FileSummary]:
        """The contexts of a file, and how it was read; lists are kept as they are."""
        path, reading, said = file.path, self.reading, FileSummary(file.path)
        if file.kind in THESAURI:
            from phcle.tables.trees import from_owl, from_skos

            from_file = from_skos if file.kind == "skos" else from_owl
            found = from_file(path, language=reading.language, name=file.name)
            self.node_names.update(found.names)
            how = {"kind": reading.hierarchy_kind, "role": reading.role}
            return found.contexts(**how, min_count=reading.min_count), said
        if file.kind == "vectors":
            wanted = {label: self.names.get(label, label) for label in self.wanted}
            return [read.read_vectors(path, file.name, wanted=wanted or None)], said
        if file.kind == "hierarchy" and is_newick(path):
            tree = RelationalContext.from_hierarchy(
                path, name=file.name, kind=reading.hierarchy_kind, role=reading.role
            )
            return [tree], said
        if file.kind == "labels" and file.table is None:
            labels, remarks = read.read_labels(path, reading.encoding)
            self.labels = self.labels or labels
            said.n_rows, said.remarks = len(labels), list(remarks)
            return [], said
        if (table := file.table) is None:
            table = open_table(path, reading, columns=file.columns)
        elif not table.given_columns:
            table.given_columns = file.columns
        contexts = []
        if file.kind == "names":
            self.names = {**read.read_cells(table, "names"), **self.names}
        elif file.kind == "synonyms":
            self.synonyms = {**read.read_synonyms(table), **self.synonyms}
        elif file.kind == "labels":
            self.labels = self.labels or tuple(cells[0] for _, cells in table.texts())
        else:
            contexts = [read.READERS[file.kind](table, file.name)]
        return contexts, table.summary

    @property
    def embedded(self) -> tuple[str, ...]:
        """The labels to embed: those that the user gave, or of all contexts."""
        every = chain.from_iterable(context.labels for context in self.contexts)
        return self.labels or tuple(dict.fromkeys(every))

    @property
    def titles(self) -> dict[str, str]:
        """What reports call each file: its name, or its path if names repeat."""
        n_called = Counter(path.name for path in {x.path for x in self.files.values()})
        return {
            name: file.path.name if n_called[file.path.name] == 1 else str(file.path)
            for name, file in self.files.items()
        }

    def whole(self) -> ReadContexts:
        """What was read; one error is raised as it is, and several as one."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            lines = chain.from_iterable(str(error).split("\n") for error in self.errors)
            raise FileFaults(list(lines))
        return ReadContexts(
            tuple(self.contexts),
            self.labels,
            {**self.node_names, **self.names},
            tuple(self.summaries),
            self.match,
        )

    def match_labels(self, mode: str, known: LabelSource | None = None) -> None:
        """Spell the labels of all files alike, and like those that are known."""
        matched = match_contexts(
            self.contexts,
            labels=self.labels,
            names=self.names,
            mode=mode,
            synonyms=self.synonyms,
            titles=self.titles,
            known=known,
        )
        self.contexts, self.labels = list(matched.contexts), matched.labels
        self.names, self.match = matched.names, matched.match
        for other, label in matched.match.spellings.items():
            if other in self.node_names:
                self.node_names.setdefault(label, self.node_names[other])


def _digest(path: Path) -> str:
    with opened(path) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def collect_files(
    files: Iterable[ContextFile],
    reading: Reading | None = None,
    *,
    label_words: bool = False,
    match: str = "safe",
    synonyms: Mapping[str, str] | None = None,
    labels: tuple[str, ...] | None = None,
    names: Mapping[str, str] | None = None,
    beside: Iterable[Context] = (),
    known: LabelSource | None = None,
) -> CollectedFiles:
    """Read what can be read of a list of files, and collect all faults.

    Parameters
    ----------
    files : iterable of ContextFile
        The files; at most one list of each kind.
    reading : Reading, optional
        How the user wants files to be read.
    label_words : bool, default False
        Add the words of the labels' own names as a context, if nothing is wrong.
    match : {"safe", "exact"}, default "safe"
        Whether labels that differ only in case, spaces or Unicode form are joined.
    synonyms : mapping from str to str, optional
        Further labels to join.
    labels : tuple of str, optional
        The labels to embed, in the place of those of a file.
    names : mapping from str to str, optional
        Readable names, before those of a file.
    beside : iterable of Context, optional
        Contexts that are no files.
    known : LabelSource, optional
        Labels that the files add to; their spelling wins.

    Returns
    -------
    CollectedFiles
        What was read, and what is wrong.
    """
    # A file of word vectors is a whole dictionary: take the labels known from others.
    order = (*LISTS, "", *(["vectors"] if known is None else []))
    files = sorted(files, key=lambda x: order.index(x.kind if x.kind in order else ""))
    named: dict[str, ContextFile] = {}
    for file in files:
        if not file.is_list and (one := named.setdefault(file.name, file)) is not file:
            raise ContextError(
                f"{one.path} and {file.path} would both be the context {file.name!r}; "
                f"name one of them: NAME={file.path}, or "
                f"{{'NAME': {str(file.path)!r}}} in Python."
            )
    found = CollectedFiles(
        reading or Reading(), synonyms or {}, labels, dict(names or {})
    )
    last = [file for file in files if file.kind == order[-1]]
    for file in files[: len(files) - len(last)]:
        found.take(file)
    found.contexts += beside
    if found.contexts:
        found.match_labels(match, known)
    found.wanted = found.embedded
    for file in last:
        found.take(file)
    if label_words and not found.errors:
        names = {label: found.names.get(label, label) for label in found.embedded}
        found.contexts.append(DescriptiveContext.from_label_names(names))
    return found
