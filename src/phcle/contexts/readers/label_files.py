"""Files about labels: one short reader per kind of file.

A table is any file that `open_table` opens. Columns are found by name, by synonym or by
position (`find_columns`); other columns and empty rows are ignored. All faults of a
file are raised together. What was guessed or changed is in the remarks of the table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from phcle.contexts.column_titles import is_title_of, plain_title
from phcle.contexts.data_frames import lineage_edges
from phcle.contexts.descriptive.cell_encoding import CellFaults, unknown_cells
from phcle.contexts.descriptive.column_reading import as_number, read_column
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.sources import Cells
from phcle.contexts.readers.delimited import text_lines
from phcle.contexts.readers.file_arguments import ROLES
from phcle.contexts.readers.kind_guessing import TRIPLE
from phcle.contexts.readers.merged_rows import LabelledRows, merge_rows
from phcle.contexts.readers.source_files import first_few
from phcle.contexts.readers.table_columns import find_columns, find_levels, label_column
from phcle.contexts.readers.table_files import Reading, TableFile
from phcle.contexts.readers.text_encodings import find_encoding
from phcle.errors import ContextError, FileError, some
from phcle.tables.word_vectors import read_word_vectors

TRIPLES_SEEN = 10_000
"""Rows in which the relation of the first triple occurs again."""

LISTED = re.compile(r"[|;]")
"""What stands between several tags in one cell."""


def read_hierarchy_edges(table: TableFile) -> list[tuple[str, str]]:
    """Read the edges of a taxonomy; roots need no row.

    Parameters
    ----------
    table : TableFile
        A table with the columns `child` and `parent`. An empty parent marks a root. Or
        a lineage: one row for each label, with the nodes above it in further columns.

    Returns
    -------
    list of (str, str)
        Pairs of child and parent.
    """
    levels = find_levels(table)
    if levels is not None:
        rows = [[cells[i] for i in levels] for _, cells in table.rows()]
        table.raise_faults()
        return lineage_edges(rows)
    at = find_columns(table, "hierarchy")
    edges: dict[tuple[str, str], None] = {}
    n_roots = n_again = 0
    own_parents: list[str] = []
    for line, cells in table.rows():
        child, parent = cells[at["child"]], cells[at["parent"]]
        if not child:
            table.fault(line, "child is empty; fill it or remove the row.")
        elif not parent:
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


def titled_edges(table: TableFile) -> TableFile:
    """Put a header on the triples of a knowledge graph, which mostly have none.

    Parameters
    ----------
    table : TableFile
        The edges of a graph.

    Returns
    -------
    TableFile
        The table, with the columns of triples if its first line is one: its cells are
        no titles, and the middle one occurs again below.
    """
    header = table.header
    has_title = any(
        is_title_of(role, plain_title(title))
        for role in ROLES["edges"]
        for title in header
    )
    if table.given_columns or len(header) != 3 or has_title:
        return table
    rows = islice(table.rows(), TRIPLES_SEEN)
    if not any(relation == header[1] for _, (_, relation, _) in rows):
        return table
    table.remarks.append("no header; taken as head, relation, tail")
    return table.titled(TRIPLE)


def read_triples(table: TableFile) -> list[tuple[str, str, str]] | None:
    """Read the triples of a knowledge graph.

    Parameters
    ----------
    table : TableFile
        A table with the columns `source`, `relation` and `target`.

    Returns
    -------
    list of (str, str, str) or None
        Head, relation and tail; None if the table has no column of relations.
    """
    at = find_columns(table, "edges", optional=("weight", "relation"))
    if "relation" not in at:
        return None
    if "weight" in at:
        table.remarks.append("weight is not used beside relation")
    triples = []
    for line, cells in table.rows():
        head, relation, tail = (cells[at[role]] for role in TRIPLE)
        for role in TRIPLE:
            if not cells[at[role]]:
                table.fault(line, f"{role} is empty; fill it or remove the row.")
        triples.append((head, relation, tail))
    table.raise_faults()
    return triples


def read_edges(table: TableFile) -> list[tuple[str, str, str]]:
    """Read the edges of a graph.

    Parameters
    ----------
    table : TableFile
        A table with the columns `source`, `target` and optionally `weight`.

    Returns
    -------
    list of (str, str, str)
        Source, target and weight as text; "1" without a column of weights.
    """
    at = find_columns(table, "edges", optional=("weight", "relation"))
    ends: list[tuple[str, str]] = []
    lines: list[int] = []
    weights: list[str] = []
    for line, cells in table.rows():
        source, target = cells[at["source"]], cells[at["target"]]
        for role, cell in (("source", source), ("target", target)):
            if not cell:
                table.fault(line, f"{role} is empty; fill it or remove the row.")
        ends.append((source, target))
        weights.append(cells[at["weight"]] if "weight" in at else "1")
        lines.append(line)
    column = read_column(weights, table.reading.markers)
    table.remarks.extend(f"weight: {remark}" for remark in column.remarks)
    for row, (wrong, remedy) in column.faults.items():
        table.fault(lines[row], f"weight {wrong}; {remedy}.")
    for row, weight in enumerate(weights):
        if table.reading.markers.is_unknown(weight):
            table.fault(lines[row], "weight is unknown; fill it or remove the row.")
    table.raise_faults()
    if column.kind == "category":
        for row, weight in enumerate(weights):
            if as_number(weight) is None:
                table.fault(lines[row], f"weight must be a number. Got {weight!r}.")
        table.raise_faults()
        return [(*pair, weight) for pair, weight in zip(ends, weights, strict=True)]
    plain = [
        text if as_number(text) == number else repr(number)
        for text, number in zip(weights, column.numbers, strict=True)
    ]
    return [(*pair, weight) for pair, weight in zip(ends, plain, strict=True)]


def read_annotations(table: TableFile) -> list[tuple[str, str]]:
    """Read annotations: one row for each label of an item.

    Parameters
    ----------
    table : TableFile
        A table with the columns `item` and `label`.

    Returns
    -------
    list of (str, str)
        Pairs of item and label.
    """
    at = find_columns(table, "annotations")
    same, found = _Same(), []
    for line, cells in table.rows():
        item, label = same[cells[at["item"]]], same[cells[at["label"]]]
        if item and label:
            found.append((item, label))
        else:
            role = "label" if item else "item"
            table.fault(line, f"{role} is empty; fill it or remove the row.")
    table.raise_faults()
    return found


def read_tags(table: TableFile) -> dict[str, list[str]]:
    """Read tags: one row for each tag of a label.

    Parameters
    ----------
    table : TableFile
        A table with the columns `label` and `tag`. An empty tag says that the label
        has no tags. A cell may list several tags with `|` or `;` between them.

    Returns
    -------
    dict
        List of tags by label.
    """
    at = find_columns(table, "tags")
    tags: dict[str, dict[str, None]] = {}
    n_again = n_lists = 0
    unknown: Counter[str] = Counter()
    is_marker = table.reading.markers.is_marker
    for line, cells in table.rows():
        label, tag = cells[at["label"]], cells[at["tag"]]
        if not label:
            table.fault(line, "label is empty; fill it or remove the row.")
            continue
        if is_marker(tag):
            unknown[tag] += 1
            continue
        own = tags.setdefault(label, {})
        listed = [x for x in map(str.strip, LISTED.split(tag)) if x]
        n_lists += len(listed) > 1
        n_again += tag in own
        own.update(dict.fromkeys(listed))
    table.count(n_again, "identical row{s} dropped")
    table.count(n_lists, "cell{s} with several tags split at | or ;")
    _remark_unknown(table, unknown)
    table.raise_faults()
    return {label: list(own) for label, own in tags.items()}


def read_cells(table: TableFile, kind: str) -> dict[str, str]:
    """Read texts about labels, or their readable names; the first of several counts.

    Parameters
    ----------
    table : TableFile
        A table with the columns `label` and `text`, or `label` and `name`.
    kind : {"texts", "names"}
        Which of the two.

    Returns
    -------
    dict
        Text or name by label; labels with an empty one are left out.
    """
    at = find_columns(table, kind)
    role = ROLES[kind][1]
    found: dict[str, tuple[int, str]] = {}
    other = []
    n_again = 0
    unknown: Counter[str] = Counter()
    is_marker = table.reading.markers.is_marker
    for line, cells in table.rows():
        label, cell = cells[at["label"]], cells[at[role]]
        if not label:
            table.fault(line, "the label is empty; fill it or remove the row.")
        elif role == "text" and is_marker(cell):
            unknown[cell] += 1
        elif cell and label not in found:
            found[label] = line, cell
        elif cell == found.get(label, (0, ""))[1]:
            n_again += bool(cell)
        elif cell:
            other.append(f"{label!r} ({table.counted}s {found[label][0]} and {line})")
    table.count(n_again, "identical row{s} dropped")
    _remark_unknown(table, unknown)
    if other:
        table.remarks.append(
            f"the first {role} is taken of labels with several: {first_few(other)}"
        )
    table.raise_faults()
    return {label: cell for label, (_, cell) in found.items()}


def _remark_unknown(table: TableFile, markers: Counter[str]) -> None:
    if markers:
        table.remarks.append(unknown_cells(markers))


class _Same(dict[str, str]):
    """Returns one object for equal strings, which saves memory: most cells repeat."""

    def __missing__(self, text: str) -> str:
        self[text] = text
        return text


def read_attributes(table: TableFile, name: str) -> DescriptiveContext:
    """Read a table of attributes as a context.

    Parameters
    ----------
    table : TableFile
        A table with the labels in the first column, and one column per attribute. An
        empty cell is a missing value.
    name : str
        Name of the context.

    Returns
    -------
    DescriptiveContext
        The attributes.
    """
    if len(table.header) < 2:
        raise FileError(
            f"{table.path}: a label column and at least one attribute were expected, "
            f"but the header has only {table.header[0]!r}."
        )
    at = label_column(table)
    titles = [title for i, title in enumerate(table.header) if i != at]
    rows = LabelledRows([], [], {title: [] for title in titles})
    for line, cells in table.rows():
        if not cells[at]:
            table.fault(line, "the label is empty; fill it or remove the row.")
            continue
        rows.labels.append(cells[at])
        rows.lines.append(line)
        for title, cell in zip(titles, cells[:at] + cells[at + 1 :], strict=True):
            rows.cells[title].append(cell)
    if len(set(titles)) < len(titles):
        table.raise_faults()
    rows = merge_rows(table, rows, table.header[at])
    reading = table.reading
    try:
        context = DescriptiveContext.from_cells(
            tuple(rows.labels),
            rows.cells,
            name,
            na=reading.na,
            keep_na=reading.keep_na,
        )
    except ContextError as error:
        for row, text in error.faults if isinstance(error, CellFaults) else ():
            table.fault(rows.lines[row], text)
        table.raise_faults()
        raise
    table.raise_faults()
    table.remarks.extend(context.remarks)
    if isinstance(context.source, Cells):
        table.column_types.update(context.source.kinds)
    return context


def read_labels(
    path: str | Path, reading: Reading | None = None, remarks: list[str] | None = None
) -> tuple[str, ...]:
    """Read a list of labels.

    Parameters
    ----------
    path : str or Path
        A text file with one label per line and no header. Empty lines are ignored.
    reading : Reading, optional
        How the user wants it to be read.
    remarks : list of str, optional
        Where to add what was guessed or changed.

    Returns
    -------
    tuple of str
        The labels in the order of the file.
    """
    path = Path(path)
    encoding = find_encoding(path, (reading or Reading()).encoding)
    lines = [text.strip() for text in text_lines(path, encoding)]
    labels = dict.fromkeys(filter(None, lines))
    if not labels:
        raise FileError(f"{path}: is empty; give one label per line.")
    said = [encoding.remark] if encoding.remark else []
    n_again = sum(map(bool, lines)) - len(labels)
    if n_again:
        said.append(f"{n_again} repeated label{'s' if n_again > 1 else ''} dropped")
    if remarks is not None:
        remarks.extend(said)
    return tuple(labels)


def read_vectors(
    path: str | Path,
    name: str | None = None,
    *,
    wanted: Mapping[str, str] | None = None,
) -> DescriptiveContext:
    """Read vectors from a word2vec or GloVe file as a context.

    Parameters
    ----------
    path : str or Path
        The file; files that end in `.bin` are binary.
    name : str, optional
        Name of the context. By default it is named after the file.
    wanted : mapping, optional
        Readable names of the labels to read. Each label is looked up by its id and by
        its name, also with underscores for spaces and in lower case. By default every
        word of the file is a label.

    Returns
    -------
    DescriptiveContext
        The vectors.
    """
    path = Path(path)
    name = name or path.stem
    if wanted is None:
        return DescriptiveContext.from_vectors(path, name=name)
    words = {label: _spellings(label, readable) for label, readable in wanted.items()}
    found = read_word_vectors(path, {word for own in words.values() for word in own})
    vectors = {
        label: next(found[word] for word in own if word in found)
        for label, own in words.items()
        if any(word in found for word in own)
    }
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
