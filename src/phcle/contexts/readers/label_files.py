"""Files into contexts: one short function per sort of file.

A table is UTF-8 text with a header, separated by commas, or by tabs if its name ends
in `.tsv`; or a `.parquet` file. Columns are found by their name in any case, and
further columns are ignored.
Rows without a single filled cell are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.readers.delimited import (
    add_once,
    delimiter_hint,
    read_lines,
    read_mapping,
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
    """Pairs from the columns `child` and `parent`; a root needs no row of its own."""
    table = read_table(Path(path), ("child", "parent"))
    return [
        (row.filled("child"), row.filled("parent", "leave the row of a root out"))
        for row in table
    ]


def read_edges(path: str | Path) -> list[tuple[str, str, str]]:
    """Triples from the columns `source`, `target` and, if there is one, `weight`."""
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
    """Pairs from the columns `item` and `label`: one row for each label of an item."""
    table = read_table(Path(path), ("item", "label"))
    return [(row.filled("item"), row.filled("label")) for row in table]


def read_tags(path: str | Path) -> dict[str, list[str]]:
    """Tags from the columns `label` and `tag`: one row for each tag of a label.

    An empty tag says that the label is known to have none.
    """
    tags: dict[str, list[str]] = {}
    for row in read_table(Path(path), ("label", "tag")):
        own = tags.setdefault(row.filled("label"), [])
        if row.cells["tag"]:
            own.append(row.cells["tag"])
    return tags


def read_texts(path: str | Path) -> dict[str, str]:
    """Texts from the columns `label` and `text`; an empty text is unknown."""
    found = read_mapping(Path(path), "label", "text")
    return {label: text for label, text in found.items() if text}


def read_names(path: str | Path) -> dict[str, str]:
    """Readable names from the columns `label` and `name`; an empty one is left out."""
    found = read_mapping(Path(path), "label", "name")
    return {label: name for label, name in found.items() if name}


def read_attributes(path: str | Path, name: str | None = None) -> DescriptiveContext:
    """Attributes: the label in the first column, an empty cell for an unknown value.

    The context is called `name`, or else like the file.
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
    """One label per line, without a header; empty lines are skipped."""
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
    """Vectors from a word2vec or GloVe file, where words hold no spaces.

    `wanted` maps the labels to look for to their readable names. Each is looked up by
    its id and by its name, with underscores for spaces, as it is and in lower case.
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
    """Words under which a label may stand in a vector file, best first."""
    words = [label, name, label.replace(" ", "_"), name.replace(" ", "_")]
    return list(dict.fromkeys([*words, *(word.lower() for word in words)]))
