"""Read one file as a context. A new kind of file needs a case in `_read`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.base.context import Context
from phcle.contexts.readers import label_files as read
from phcle.contexts.readers.context_files import ContextFile
from phcle.contexts.readers.source_files import FileSummary, errors_name
from phcle.contexts.readers.table_columns import find_columns
from phcle.contexts.readers.table_files import Reading, TableFile, open_table
from phcle.files.reading import is_file
from phcle.optional_imports import is_installed
from phcle.tables.newick import is_newick

if TYPE_CHECKING:
    from phcle.tables.ontologies import Thesaurus


LARGE_FILE = 200_000_000
"""Annotation tables of more bytes are counted by DuckDB, if it is installed, because
they may not fit into memory."""


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
    return read.read_cells(table, "names"), table.summary("names")


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
        if file.kind == "edges":
            table = read.titled_edges(table)
        context = _read(file, table, hierarchy_kind, role, min_count)
        return context, table.summary(file.kind)


def _read(
    file: ContextFile, table: TableFile, hierarchy_kind: str, role: str, min_count: int
) -> Context:
    name = file.name
    match file.kind:
        case "hierarchy":
            pairs = read.read_hierarchy_edges(table)
            return RelationalContext.from_hierarchy(
                pairs, name=name, kind=hierarchy_kind, role=role
            )
        case "edges":
            triples = read.read_triples(table)
            if triples is not None:
                return RelationalContext.from_triples(triples, name=name)
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
            texts = read.read_cells(table, "texts")
            return DescriptiveContext.from_texts(texts, name=name, min_count=min_count)
        case _:
            texts = read.read_cells(table, "texts")
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
