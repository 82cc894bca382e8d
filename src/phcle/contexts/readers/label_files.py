"""Files about labels: one short reader per kind of file.

A table is a UTF-8 text file with a header, separated by commas (by tabs in `.tsv`
files), or a `.parquet` file. Columns are found by name; the case of names does not
matter. Other columns and empty rows are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.readers.delimited import (
    add_once,
    delimiter_hint,
    read_lines,
    read_rows,
    read_table,
)
from phcle.contexts.readers.word_vectors import read_word_vectors
from phcle.errors import ContextError, FileError, some

__all__ = [
    "read_annotations",
    "read_attributes",
    "read_edges",
    "read_hierarchy_edges",
    "read_labels",
    "read_names",
    "read_tags",
    "read_texts",
    "read_vectors",
]


def read_hierarchy_edges(path: str | Path) -> list[tuple[str, str]]:
    """Read the edges of a taxonomy; roots need no row.

    Parameters
    ----------
    path : str or Path
        A table with the columns `child` and `parent`.

    Returns
    -------
    list of (str, str)
        Pairs of child and parent.
    """
    table = read_table(Path(path), ("child", "parent"))
    return [
        (row.filled("child"), row.filled("parent", "leave the row of a root out"))
        for row in table
    ]


def read_edges(path: str | Path) -> list[tuple[str, str, str]]:
    """Read the edges of a graph.

    Parameters
    ----------
    path : str or Path
        A table with the columns `source`, `target` and optionally `weight`.

    Returns
    -------
    list of (str, str, str)
        Source, target and weight as text; "1" without a column of weights.
    """
    table = read_table(Path(path), ("source", "target"), optional=("weight",))
    return [
        (
            row.filled("source"),
            row.filled("target"),
            row.filled("weight") if "weight" in row.cells else "1",
        )
        for row in table
    ]


def read_annotations(path: str | Path) -> list[tuple[str, str]]:
    """Read annotations: one row for each label of an item.

    Parameters
    ----------
    path : str or Path
        A table with the columns `item` and `label`.

    Returns
    -------
    list of (str, str)
        Pairs of item and label.
    """
    table = read_table(Path(path), ("item", "label"))
    return [(row.filled("item"), row.filled("label")) for row in table]


def read_tags(path: str | Path) -> dict[str, list[str]]:
    """Read tags: one row for each tag of a label.

    Parameters
    ----------
    path : str or Path
        A table with the columns `label` and `tag`. An empty tag says that the label
        has no tags.

    Returns
    -------
    dict
        List of tags by label.
    """
    tags: dict[str, list[str]] = {}
    for row in read_table(Path(path), ("label", "tag")):
        own = tags.setdefault(row.filled("label"), [])
        if row.cells["tag"]:
            own.append(row.cells["tag"])
    return tags


def read_texts(path: str | Path) -> dict[str, str]:
    """Read texts about labels.

    Parameters
    ----------
    path : str or Path
        A table with the columns `label` and `text`.

    Returns
    -------
    dict
        Text by label; labels with an empty text are left out.
    """
    return _filled_cells(Path(path), "text")


def read_names(path: str | Path) -> dict[str, str]:
    """Read readable names of labels.

    Parameters
    ----------
    path : str or Path
        A table with the columns `label` and `name`.

    Returns
    -------
    dict
        Name by label; labels with an empty name are left out.
    """
    return _filled_cells(Path(path), "name")


def _filled_cells(path: Path, column: str) -> dict[str, str]:
    """Cells of a column by label, without empty ones; a repeated label is refused."""
    lines: dict[str, int] = {}
    found: dict[str, str] = {}
    for row in read_table(path, ("label", column)):
        add_once(lines, row.cells["label"], path, row.line)
        if row.cells[column]:
            found[row.cells["label"]] = row.cells[column]
    return found


def read_attributes(path: str | Path, name: str | None = None) -> DescriptiveContext:
    """Read a table of attributes as a context.

    Parameters
    ----------
    path : str or Path
        A table with the labels in the first column, and one column per attribute. An
        empty cell is a missing value.
    name : str, optional
        Name of the context. By default it is named after the file.

    Returns
    -------
    DescriptiveContext
        The attributes.
    """
    path = Path(path)
    header, rows = read_rows(path)
    if len(header) < 2:
        raise FileError(
            f"{path}: a label column and at least one attribute were expected, but the "
            f"header has only {header[0]!r}.{delimiter_hint(path, header)}"
        )
    labels: dict[str, int] = {}
    columns: dict[str, list[str]] = {title: [] for title in header[1:]}
    for line, (label, *cells) in rows:
        add_once(labels, label, path, line)
        for title, cell in zip(columns, cells, strict=True):
            columns[title].append(cell)
    return DescriptiveContext.from_cells(tuple(labels), columns, name or path.stem)


def read_labels(path: str | Path) -> tuple[str, ...]:
    """Read a list of labels.

    Parameters
    ----------
    path : str or Path
        A text file with one label per line and no header. Empty lines are ignored.

    Returns
    -------
    tuple of str
        The labels in the order of the file.
    """
    path = Path(path)
    labels: dict[str, int] = {}
    for line, text in enumerate(read_lines(path), 1):
        if text.strip():
            add_once(labels, text.strip(), path, line)
    if not labels:
        raise FileError(f"{path}: is empty; give one label per line.")
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
