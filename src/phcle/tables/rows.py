"""Rows of a table as contexts: one short reader for each kind of table.

Columns are found by `find_columns`; other columns and empty rows are ignored. All
faults of a file are raised together. What was guessed or changed is in the remarks of
the table.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from phcle.contexts.counts import RelationalContext
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.errors import ContextError, FileError, some
from phcle.files.reading import is_file
from phcle.optional_imports import is_installed
from phcle.tables.cells import cell_text, first_few, unknown_cells
from phcle.tables.columns import read_column
from phcle.tables.file_kinds import ROLES
from phcle.tables.kinds import TRIPLE
from phcle.tables.reader import Table, labelled_rows, lineage_edges
from phcle.tables.sources import find_encoding, text_lines
from phcle.tables.word_vectors import read_word_vectors

LISTED = re.compile(r"[|;]")
"""What stands between several tags in one cell."""

MOST_ODD = 1000
"""Odd cells of a file that are listed; more are only counted."""

LARGE_FILE = 200_000_000
"""Annotation tables of more bytes are counted by DuckDB, if it is installed, because
they may not fit into memory."""


def read_table(kind: str, table: Table, name: str) -> Context:
    """Read a table as a context.

    Parameters
    ----------
    kind : str
        A key of `READERS`.
    table : Table
        The table of a file or of a data frame.
    name : str
        Name of the context.

    Returns
    -------
    RelationalContext or DescriptiveContext
        The context.
    """
    return READERS[kind](table, name)


def _texts(
    table: Table,
    kind: str,
    *needed: str,
    markers: bool = False,
    at: Mapping[str, int] | None = None,
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Line and texts of the two columns of a kind; empty ones that it needs are faults.

    Rows with a marker of the unknown in the second column are left out with a remark,
    if `markers` says so. The faults are raised after the last row.
    """
    at = at or table.columns_of(kind)
    roles = ROLES[kind][:2]
    one, other = (at[role] for role in roles)
    may_lack = [role not in needed for role in roles]
    is_marker = table.reading.markers.is_marker
    unknown: Counter[str] = Counter()
    as_text = table.as_text
    for line, cells in table.rows():
        first, last = as_text(cells[one]), as_text(cells[other])
        if markers and is_marker(last):
            unknown[last] += 1
        elif (first or may_lack[0]) and (last or may_lack[1]):
            yield line, (first, last)
        else:
            wrong = roles[1] if first or may_lack[0] else roles[0]
            table.fault(line, f"{wrong} is empty; fill it or remove the row.")
    table.raise_faults()
    if unknown:
        table.remarks.append(unknown_cells(unknown))


def _read_hierarchy(table: Table, name: str) -> Context:
    reading = table.reading
    return RelationalContext.from_hierarchy(
        _edges_of_tree(table),
        name=name,
        kind=reading.hierarchy_kind,
        role=reading.role,
    )


def _edges_of_tree(table: Table) -> list[tuple[str, str]]:
    """Rows of child and parent, which is empty for roots.

    Or a lineage: one row for each label, with the nodes above it in further columns.
    """
    at = table.columns_of("hierarchy")
    if "child" not in at:
        rows = [[cells[i] for i in at.values()] for _, cells in table.texts()]
        table.raise_faults()
        return lineage_edges(rows)
    edges: dict[tuple[str, str], None] = {}
    n_roots = n_again = 0
    own_parents: list[str] = []
    for line, (child, parent) in _texts(table, "hierarchy", "child", at=at):
        if not parent:
            n_roots += 1
        elif child == parent:
            own_parents.append(f"{child!r} ({table.counted} {line})")
        elif (child, parent) in edges:
            n_again += 1
        else:
            edges[child, parent] = None
    table.count(n_roots, "row{s} with an empty parent taken as root{s}")
    table.count(n_again, "identical row{s} dropped")
    if own_parents:
        table.remarks.append(f"dropped as their own parent: {first_few(own_parents)}")
    if n_roots and not edges:
        table.fault(None, "every parent is empty, so there is no taxonomy.")
        table.raise_faults()
    return list(edges)


def _read_edges(table: Table, name: str) -> Context:
    """Rows of source, target and perhaps weight, or of source, relation and target."""
    at = table.columns_of("edges")
    roles = TRIPLE if "relation" in at else ("source", "target")
    rows: list[list[str]] = []
    lines: list[int] = []
    weights: list[object] = []
    for line, cells in table.rows():
        row = [cell_text(cells[at[role]]) for role in roles]
        for role, cell in zip(roles, row, strict=True):
            if not cell:
                table.fault(line, f"{role} is empty; fill it or remove the row.")
        rows.append(row)
        lines.append(line)
        weights.append(cells[at["weight"]] if "weight" in at else 1.0)
    are_triples = "relation" in at
    if are_triples and "weight" in at:
        table.remarks.append("weight is not used beside relation")
    elif "weight" in at:
        weights = _weights(table, table.header[at["weight"]], weights, lines)
    table.raise_faults()
    if are_triples:
        return RelationalContext.from_triples(map(tuple, rows), name=name)
    weighted = [(*row, weight) for row, weight in zip(rows, weights, strict=True)]
    return RelationalContext.from_edges(weighted, name=name)


def _weights(
    table: Table, title: str, cells: Sequence[object], lines: Sequence[int]
) -> list[object]:
    """The weights of edges, each of which must be a number."""
    markers = table.reading.markers
    column = read_column(cells, markers, how=table.reading.read_as.get(title))
    if column.doubt and column.ways == ("point", "comma"):
        ways = " or ".join(f"--read {title}={way}" for way in column.ways)
        table.fault(None, f"the weight {column.doubt}; say {ways}.")
        table.raise_faults()
    if column.words:
        column = read_column(cells, markers, how="number")
    table.remarks.extend(f"weight: {remark}" for remark in column.remarks)
    for row, cell in enumerate(cells):
        if markers.is_unknown(cell):
            table.fault(lines[row], "weight is unknown; fill it or remove the row.")
        elif row in column.odd:
            table.fault(lines[row], f"weight must be a number. Got {cell!r}.")
    return list(map(float, column.array(len(cells))))


def _read_annotations(table: Table, name: str) -> Context:
    """One row for each label of an item; a large file is counted where it lies."""
    if _counted_by_duckdb(table):
        at = table.columns_of("annotations")
        return RelationalContext.from_annotations(
            Path(table.path),
            name=name,
            item=table.header[at["item"]],
            label=table.header[at["label"]],
            delimiter=None if table.form is None else table.form.delimiter,
        )
    rows = _texts(table, "annotations", "item", "label")
    # Most cells repeat, so one object for equal strings saves memory.
    pairs = [(sys.intern(item), sys.intern(label)) for _, (item, label) in rows]
    return RelationalContext.from_annotations(pairs, name=name)


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


def read_attributes(table: Table, name: str, **options: Any) -> DescriptiveContext:
    """Read a table of attributes as a context.

    Parameters
    ----------
    table : Table
        A table with a column of labels, and one column per attribute. An empty cell is
        a missing value.
    name : str
        Name of the context.
    **options : dict
        `standardize` and `log` of `DescriptiveContext.from_cells`.

    Returns
    -------
    DescriptiveContext
        The attributes.
    """
    if len(table.header) < 2 and table.is_file:
        raise FileError(
            f"{table.path}: a label column and at least one attribute were expected, "
            f"but the header has only {table.header[0]!r}."
        )
    rows = labelled_rows(table)
    reading = table.reading
    context = DescriptiveContext.from_cells(
        tuple(rows.labels),
        rows.cells,
        name,
        na=reading.na,
        keep_na=reading.keep_na,
        read_as=reading.read_as,
        **options,
    )
    table.remarks.extend(context.remarks)
    table.columns = context.source.summaries
    line_of = dict(zip(rows.labels, rows.lines, strict=True))
    for cell in context.source.odd[:MOST_ODD]:
        place = table.where(line_of[cell.label])
        table.odd_cells.append(f"{place}: {cell.title!r}: {cell.text!r} {cell.why}.")
    return context


def _read_tags(table: Table, name: str) -> Context:
    """One row for each tag of a label; an empty tag says that it has none.

    A cell may list several tags with `|` or `;` between them.
    """
    tags: dict[str, dict[str, None]] = {}
    n_again = n_lists = 0
    for _, (label, tag) in _texts(table, "tags", "label", markers=True):
        own = tags.setdefault(label, {})
        listed = [tag] if tag else []
        if LISTED.search(tag):
            listed = [x for x in map(str.strip, LISTED.split(tag)) if x]
        n_lists += len(listed) > 1
        n_again += tag in own
        own.update(dict.fromkeys(listed))
    table.count(n_again, "identical row{s} dropped")
    table.count(n_lists, "cell{s} with several tags split at | or ;")
    listed_by_label = {label: list(own) for label, own in tags.items()}
    return DescriptiveContext.from_tags(listed_by_label, name=name)


def _read_texts(table: Table, name: str, encoder: str | None = None) -> Context:
    return DescriptiveContext.from_texts(
        read_cells(table, "texts"),
        name=name,
        encoder=encoder,
        min_count=table.reading.min_count,
    )


READERS: Mapping[str, Callable[[Table, str], Context]] = {
    "hierarchy": _read_hierarchy,
    "edges": _read_edges,
    "annotations": _read_annotations,
    "attributes": read_attributes,
    "tags": _read_tags,
    "texts": _read_texts,
    "sentences": partial(_read_texts, encoder="sentences"),
}
"""The reader of every kind of table."""


def read_cells(table: Table, kind: str) -> dict[str, str]:
    """Read texts about labels, or their readable names; the first of several counts.

    Parameters
    ----------
    table : Table
        A table with the columns `label` and `text`, or `label` and `name`.
    kind : {"texts", "names"}
        Which of the two.

    Returns
    -------
    dict
        Text or name by label; labels with an empty one are left out.
    """
    role = ROLES[kind][1]
    found: dict[str, tuple[int, str]] = {}
    other = []
    n_again = 0
    markers = role == "text"
    for line, (label, cell) in _texts(table, kind, "label", markers=markers):
        if cell and label not in found:
            found[label] = line, cell
        elif cell == found.get(label, (0, ""))[1]:
            n_again += bool(cell)
        elif cell:
            other.append(f"{label!r} ({table.counted}s {found[label][0]} and {line})")
    table.count(n_again, "identical row{s} dropped")
    if other:
        table.remarks.append(
            f"the first {role} is taken of labels with several: {first_few(other)}"
        )
    return {label: cell for label, (_, cell) in found.items()}


def read_synonyms(table: Table) -> dict[str, str]:
    """Labels by synonym, such as `phcle fit` suggests them."""
    found: dict[str, str] = {}
    for line, (label, other) in _texts(table, "synonyms", "label", "synonym"):
        if found.setdefault(other, label) != label:
            table.fault(
                line,
                f"{other!r} is a synonym of {found[other]!r} already; remove one.",
            )
    return found


def read_labels(
    path: str | Path, encoding: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read a list of labels: one per line, without a header.

    Parameters
    ----------
    path : str or Path
        A text file. Empty lines are ignored.
    encoding : str, optional
        Its encoding; by default it is found out.

    Returns
    -------
    labels : tuple of str
        The labels in the order of the file.
    remarks : tuple of str
        What was guessed or changed.
    """
    path = Path(path)
    found = find_encoding(path, encoding)
    lines = [text.strip() for text in text_lines(path, found)]
    labels = dict.fromkeys(filter(None, lines))
    if not labels:
        raise FileError(f"{path}: is empty; give one label per line.")
    remarks = [found.remark] if found.remark else []
    n_again = sum(map(bool, lines)) - len(labels)
    if n_again:
        remarks.append(f"{n_again} repeated label{'s' if n_again > 1 else ''} dropped")
    return tuple(labels), tuple(remarks)


def read_vectors(
    path: Path, name: str, *, wanted: Mapping[str, str] | None
) -> DescriptiveContext:
    """Read vectors from a word2vec or GloVe file as a context.

    Parameters
    ----------
    path : Path
        The file; files that end in `.bin` are binary.
    name : str
        Name of the context.
    wanted : mapping or None
        Readable names of the labels to read. Each label is looked up by its id and by
        its name, also with underscores for spaces and in lower case. None: every word
        of the file is a label.

    Returns
    -------
    DescriptiveContext
        The vectors.
    """
    if wanted is None:
        return DescriptiveContext.from_vectors(path, name=name)
    words = {label: _spellings(label, readable) for label, readable in wanted.items()}
    found = read_word_vectors(path, set(chain.from_iterable(words.values())))
    known = {
        x: [found[word] for word in own if word in found] for x, own in words.items()
    }
    vectors = {label: own[0] for label, own in known.items() if own}
    if not vectors:
        raise ContextError(
            f"{path}: holds no vector for any of the {len(wanted)} labels "
            f"({some(wanted, 3)}); check that its words are labels or their names."
        )
    return DescriptiveContext.from_vectors(vectors, name=name)


def _spellings(label: str, name: str) -> list[str]:
    """Words for a label in a vector file, in order of preference."""
    words = [label, name, label.replace(" ", "_"), name.replace(" ", "_")]
    return list(dict.fromkeys([*words, *(word.lower() for word in words)]))
