"""Rows of a table as contexts: one short reader for each kind of table.

Columns are found by `find_columns`; other columns and empty rows are ignored. All
faults of a file are raised together. What was guessed or changed is in the remarks of
the table.

Annotation tables may be larger than memory. Their query is written once, with Ibis.
DuckDB counts files inside this process: it reads them as a stream and uses the disk if
memory runs out. A table of another Ibis back end (Spark, BigQuery, Snowflake, …) is
counted there, and only the counts are transferred.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.contexts.counts import RelationalContext
from phcle.contexts.labels import normal
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.errors import ContextError, FileError, some
from phcle.files.reading import check_gzip, check_is_file, check_parquet, naming
from phcle.optional_imports import import_optional, is_installed
from phcle.tables.cells import cell_text, first_few, unknown_cells
from phcle.tables.columns import read_column
from phcle.tables.file_kinds import ROLES
from phcle.tables.reader import Table, labelled_rows, lineage_edges
from phcle.tables.sources import find_encoding, text_lines
from phcle.tables.word_vectors import read_word_vectors

MOST_ODD = 1000
"""Odd cells of a file that are listed; more are only counted."""

NEEDED = ("child", "item", "label", "synonym")
"""Roles of columns whose cells must not be empty."""

LARGE_FILE = 200_000_000
"""Annotation tables of more bytes are counted by DuckDB, if it is installed, because
they may not fit into memory."""


def _texts(
    table: Table, kind: str, at: Mapping[str, int] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Line and texts of the columns of a kind; empty ones that it needs are faults.

    Rows with a marker of the unknown for a tag or text are left out with a remark. The
    faults are raised after the last row.
    """
    at = at or table.columns_of(kind)
    roles, places = list(at), list(at.values())
    is_marker = table.reading.markers.is_marker
    has_markers = roles[-1] in ("tag", "text")
    needed = [role for role in roles if role in NEEDED]
    unknown: Counter[str] = Counter()
    for line, cells in table.rows():
        row = [cells[i] for i in places]
        if table.form is None:  # cells of text files are texts
            row = list(map(cell_text, row))
        if has_markers and is_marker(row[-1]):
            unknown[row[-1]] += 1
        elif "" not in row or not (
            empty := [x for x, text in zip(needed, row, strict=False) if not text]
        ):
            yield line, row
        else:
            table.fault(line, f"{empty[0]} is empty; fill it or remove the row.")
    table.raise_faults()
    if unknown:
        table.remarks.append(unknown_cells(unknown))


def _read_hierarchy(table: Table, name: str) -> Context:
    kind, role = table.reading.hierarchy_kind, table.reading.role
    edges = _edges_of_tree(table)
    return RelationalContext.from_hierarchy(edges, name=name, kind=kind, role=role)


def _edges_of_tree(table: Table) -> list[tuple[str, str]]:
    """Rows of child and parent, which is empty for roots.

    Or a lineage: one row for each label, with the nodes above it in further columns.
    """
    at = table.columns_of("hierarchy")
    rows = _texts(table, "hierarchy", at)
    if "child" not in at:
        return lineage_edges(row for _, row in rows)
    edges: dict[tuple[str, str], None] = {}
    n_roots = n_edges = 0
    own_parents: list[str] = []
    for line, (child, parent) in rows:
        if not parent:
            n_roots += 1
        elif child == parent:
            own_parents.append(f"{child!r} ({table.counted} {line})")
        else:
            edges[child, parent] = None
            n_edges += 1
    table.count(n_roots, "row{s} with an empty parent taken as root{s}")
    table.count(n_edges - len(edges), "identical row{s} dropped")
    if own_parents:
        table.remarks.append(f"dropped as their own parent: {first_few(own_parents)}")
    if n_roots and not edges:
        table.fault(None, "every parent is empty, so there is no taxonomy.")
        table.raise_faults()
    return list(edges)


def _read_edges(table: Table, name: str) -> Context:
    """Rows of source, target and perhaps weight, or of source, relation and target."""
    at = table.columns_of("edges")
    weight = at.pop("weight", None)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    weights: list[object] = []
    for line, cells in table.rows():
        row = {role: cell_text(cells[i]) for role, i in at.items()}
        for role in [role for role, text in row.items() if not text]:
            table.fault(line, f"{role} is empty; fill it or remove the row.")
        rows.append(tuple(row.values()))
        lines.append(line)
        weights.append(1.0 if weight is None else cells[weight])
    if "relation" in at:
        if weight is not None:
            table.remarks.append("weight is not used beside relation")
        table.raise_faults()
        return RelationalContext.from_triples(rows, name=name)
    if weight is not None:
        weights = _weights(table, table.header[weight], weights, lines)
    table.raise_faults()
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
        item, label = (table.header[i] for i in at.values())
        sign = None if table.form is None else table.form.delimiter
        return RelationalContext.from_annotations(
            table.path, name=name, item=item, label=label, delimiter=sign
        )
    # Most cells repeat, so one object for equal strings saves memory.
    pairs = [tuple(map(sys.intern, row)) for _, row in _texts(table, "annotations")]
    return RelationalContext.from_annotations(pairs, name=name)


def _counted_by_duckdb(table: Table) -> bool:
    """Whether DuckDB counts an annotation table: a Parquet file or a large one.

    It reads UTF-8 only; other files are read row by row.
    """
    path, form = table.path, table.form
    if not isinstance(path, Path) or form is None or table.first:
        return isinstance(path, Path) and path.suffix.lower() == ".parquet"
    is_plain = form.encoding == "utf-8" and not form.skip
    is_large = path.stat().st_size > LARGE_FILE
    return is_large and is_plain and is_installed("duckdb")


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
    table.summary.columns = context.source.summaries
    line_of = dict(zip(rows.labels, rows.lines, strict=True))
    for cell in context.source.odd[:MOST_ODD]:
        place = table.where(line_of[cell.label])
        table.summary.odd_cells.append(
            f"{place}: {cell.title!r}: {cell.text!r} {cell.why}."
        )
    return context


def _read_tags(table: Table, name: str) -> Context:
    """One row for each tag of a label; an empty tag says that it has none.

    A cell may list several tags with `|` or `;` between them.
    """
    tags: dict[str, dict[str, None]] = {}
    n_again = n_lists = 0
    for _, (label, tag) in _texts(table, "tags"):
        own = tags.setdefault(label, {})
        listed = [tag] if tag else []
        if "|" in tag or ";" in tag:
            listed = [x for x in map(str.strip, tag.replace(";", "|").split("|")) if x]
            n_lists += len(listed) > 1
        n_again += tag in own
        own.update(dict.fromkeys(listed))
    table.count(n_again, "identical row{s} dropped")
    table.count(n_lists, "cell{s} with several tags split at | or ;")
    listed_by_label = {label: list(own) for label, own in tags.items()}
    return DescriptiveContext.from_tags(listed_by_label, name=name)


def _read_texts(table: Table, name: str, encoder: str | None = None) -> Context:
    texts, fewest = read_cells(table, "texts"), table.reading.min_count
    return DescriptiveContext.from_texts(
        texts, name=name, encoder=encoder, min_count=fewest
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
    found: dict[str, str] = {}
    lines: dict[str, int] = {}
    other = []
    n_again = 0
    for line, (label, cell) in _texts(table, kind):
        first = found.setdefault(label, cell) if cell else ""
        if cell and cell != first:
            other.append(f"{label!r} ({table.counted}s {lines[label]} and {line})")
        elif cell:
            n_again += lines.setdefault(label, line) != line
    table.count(n_again, "identical row{s} dropped")
    if other:
        table.remarks.append(
            f"the first {ROLES[kind][1]} is taken of labels with several: "
            f"{first_few(other)}"
        )
    return found


def read_synonyms(table: Table) -> dict[str, str]:
    """Labels by synonym, such as `phcle fit` suggests them."""
    found: dict[str, str] = {}
    for line, (label, other) in _texts(table, "synonyms"):
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
    name, remark = find_encoding(path, encoding)
    lines = list(filter(None, map(str.strip, text_lines(path, name))))
    labels = dict.fromkeys(lines)
    if not labels:
        raise FileError(f"{path}: is empty; give one label per line.")
    n_again = len(lines) - len(labels)
    again = f"{n_again} repeated label{'s' if n_again > 1 else ''} dropped"
    return tuple(labels), tuple(filter(None, [remark, again * (n_again > 0)]))


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
    words = {}
    for both in wanted.items():
        spelled = [*both, *(x.replace(" ", "_") for x in both)]
        words[both[0]] = [*spelled, *map(str.lower, spelled)]
    found = read_word_vectors(path, set(chain.from_iterable(words.values())))
    known = {x: [word for word in own if word in found] for x, own in words.items()}
    vectors = {label: found[own[0]] for label, own in known.items() if own}
    if not vectors:
        raise ContextError(
            f"{path}: holds no vector for any of the {len(wanted)} labels "
            f"({some(wanted, 3)}); check that its words are labels or their names."
        )
    return DescriptiveContext.from_vectors(vectors, name=name)


ENDINGS = {".csv": ",", ".tsv": "\t", ".parquet": ""}
"""What separates cells, by the ending of a file that DuckDB reads, before any `.gz`."""


def count_annotation_table(
    source: Any, name: str, item: str, label: str, memory: str, delimiter: str | None
) -> tuple[tuple[str, ...], sp.csr_array]:
    """Count for every two labels the items that have both.

    Parameters
    ----------
    source : path or Ibis table
        A CSV, TSV or Parquet file, or a table of any Ibis back end.
    name : str
        What messages call the context.
    item : str
        The column of items.
    label : str
        The column of labels.
    memory : str
        How much memory DuckDB may use, such as "1GB".
    delimiter : str or None
        What separates the cells of a text file; None: the ending tells.

    Returns
    -------
    labels : tuple of str
        The labels in sorted order.
    counts : csr_array of shape (labels, labels)
        Symmetric counts without a diagonal.
    """
    with _opened(source, memory, delimiter) as table:
        import ibis
        import pyarrow as pa

        items, texts = _column(table, name, item)
        _, names = _column(table, name, label)
        # Whole numbers are joined faster than texts.
        rows = table.select(
            item=items if items.type().is_integer() else texts,
            label=names,
            is_empty=(texts == "") | (names == ""),
        )
        about = rows.group_by("label").aggregate(empty=rows.is_empty.sum()).to_pyarrow()
        if empty := sum(about["empty"].to_pylist()):
            raise ContextError(
                f"{name}: {empty} rows have an empty {item} or {label}; fill them."
            )
        labels = sorted(about["label"].to_pylist())
        if not labels:
            raise ContextError(f"{name}: the table has no rows.")
        if odd := [x for x in labels if normal(x) != x]:
            raise ContextError(
                f"{name}: labels must be in Unicode's form NFC; convert {some(odd)}."
            )
        # Labels become their positions before they are joined. A join of numbers needs
        # less memory than one of names, and names of 100 million pairs would not fit.
        at = np.arange(len(labels), dtype=np.int32)
        positions = ibis.memtable(pa.table({"label": labels, "at": at}))
        pairs = rows.join(positions, "label").select("item", "at").distinct()
        # Both sides must be the same query, or Spark sorts and sends the rows twice.
        others = pairs.view()
        is_pair = [pairs.item == others.item, pairs.at < others.at]
        joined = pairs.join(others, is_pair, rname="other_{name}")
        counts = joined.group_by(["at", "other_at"]).aggregate(n=joined.count())
        *ends, number = map(np.asarray, counts.to_pyarrow().columns)
        half = sp.coo_array((number.astype(np.float64), ends), (len(labels),) * 2)
        return tuple(labels), sp.csr_array(half + half.T)


@contextmanager
def _opened(source: Any, memory: str, delimiter: str | None) -> Iterator[Any]:
    """Open a file as a table of an embedded DuckDB with limited memory."""
    if hasattr(source, "get_backend"):
        yield source
        return
    path = Path(source)
    ending = Path(path.name.removesuffix(".gz")).suffix
    if ending not in ENDINGS and delimiter is None:
        raise FileError(
            f"{path}: must end in {', '.join(ENDINGS)} to be read as a table."
        )
    check_is_file(path)
    if path.suffix == ".gz":
        check_gzip(path)
    if ending == ".parquet":
        check_parquet(path)
    duckdb, ibis = (
        import_optional(x, extra="engine", purpose=f"counting {path}")
        for x in ("duckdb", "ibis")
    )
    with tempfile.TemporaryDirectory(prefix="phcle-") as spill:
        connection = ibis.duckdb.connect(temp_directory=spill, memory_limit=memory)
        try:
            with naming(path, "cannot be read", duckdb.Error):
                if ending == ".parquet":
                    yield connection.read_parquet(path)
                else:
                    delimiter = delimiter or ENDINGS[ending]
                    how = {"delim": delimiter, "header": True, "all_varchar": True}
                    yield connection.read_csv(path, **how)
        finally:
            connection.disconnect()


def _column(table: Any, name: str, title: str) -> tuple[Any, Any]:
    """A column whose title may have another case, and its texts; unknown are empty."""
    found = {column.lower(): column for column in table.columns}
    if title.lower() not in found:
        raise ContextError(
            f"{name}: the table has no column {title!r}; it has {some(table.columns)}."
        )
    column = table[found[title.lower()]]
    return column, column.cast("string").strip().fill_null("")
