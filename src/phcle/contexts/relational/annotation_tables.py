"""Co-occurrence counts of annotation tables that may be larger than memory.

The query is written once, with Ibis. DuckDB counts files inside this process: it reads
them as a stream and uses the disk if memory runs out. A table of another Ibis back end
(Spark, BigQuery, Snowflake, …) is counted there, and only the counts are transferred.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.contexts.labels import normal
from phcle.errors import ContextError, FileError, some
from phcle.files.reading import check_gzip, check_is_file
from phcle.tables.reader import check_parquet

Counts = tuple[tuple[str, ...], sp.csr_array]

ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
"""Endings of files that DuckDB reads, with or without a further `.gz`."""


def count_annotation_table(
    source: Any,
    *,
    name: str,
    item: str,
    label: str,
    memory: str,
    delimiter: str | None = None,
) -> Counts:
    """Count for every two labels the items that have both.

    Parameters
    ----------
    source : path or Ibis table
        A CSV, TSV or Parquet file, or a table of any Ibis back end.
    name : str
        Name of the context, for messages.
    item : str
        The column of items.
    label : str
        The column of labels.
    memory : str
        How much memory DuckDB may use, such as "1GB".
    delimiter : str, optional
        What separates the cells of a text file; by default the ending tells.

    Returns
    -------
    labels : tuple of str
        The labels in sorted order.
    counts : csr_array of shape (labels, labels)
        Symmetric counts without a diagonal.
    """
    if isinstance(source, (str, Path)):
        with _opened(Path(source), memory, delimiter) as table:
            return _count(table, name, item, label)
    if not hasattr(source, "get_backend"):
        raise ContextError(
            f"context {name!r}: a file or a table of Ibis is needed. "
            f"Got {type(source).__name__} instead."
        )
    return _count(source, name, item, label)


@contextmanager
def _opened(path: Path, memory: str, delimiter: str | None) -> Iterator[Any]:
    """Open a file as a table of an embedded DuckDB with limited memory."""
    ending = ENDINGS.get(Path(path.name.removesuffix(".gz")).suffix)
    if ending is None and delimiter is not None:
        ending = "csv"  # whatever it is called
    if ending is None:
        raise FileError(
            f"{path}: must end in {', '.join(ENDINGS)} to be read as a table."
        )
    check_is_file(path)
    if path.suffix == ".gz":
        check_gzip(path)
    try:
        import duckdb
        import ibis
    except ImportError:
        raise ContextError(
            f"{path}: counting in an engine needs: pip install 'phcle[engine]'"
        ) from None
    if ending == "parquet":
        check_parquet(path)
    with tempfile.TemporaryDirectory(prefix="phcle-") as spill:
        connection = ibis.duckdb.connect(temp_directory=spill, memory_limit=memory)
        try:
            if ending == "parquet":
                table = connection.read_parquet(path)
            else:
                table = connection.read_csv(
                    path,
                    header=True,
                    all_varchar=True,
                    delim=delimiter or ("\t" if ending == "tsv" else ","),
                )
            yield table
        except duckdb.Error as error:
            reason = str(error).splitlines()[0][:200]
            raise FileError(f"{path}: cannot be read ({reason}).") from error
        finally:
            connection.disconnect()


def _count(table: Any, name: str, item: str, label: str) -> Counts:
    """Run the query and return its answer as a symmetric matrix."""
    rows = _pairs_of(table, name, item, label)
    is_empty = _is_empty(rows.item) | _is_empty(rows.label)
    empty = rows.filter(is_empty).count().to_pyarrow().as_py()
    if empty:
        raise ContextError(
            f"context {name!r}: {empty} rows have an empty {item} or {label}; fill "
            "them in, or leave the rows out."
        )
    labels = sorted(rows.select("label").distinct().to_pyarrow()["label"].to_pylist())
    if not labels:
        raise ContextError(f"context {name!r}: the table has no rows.")
    odd = [x for x in labels if normal(x) != x]
    if odd:
        raise ContextError(
            f"context {name!r}: the labels {some(odd)} are not in Unicode's normal "
            "form C, which labels must have; convert them in the table."
        )
    half = _pair_counts(rows, labels)
    return tuple(labels), sp.csr_array(half + half.T)


def _pair_counts(rows: Any, labels: list[str]) -> sp.csr_array:
    """Count items for every two labels, as the half above the diagonal.

    Labels become their positions before they are joined. A join of numbers needs less
    memory than one of names, and names of a hundred million pairs would not fit into
    this process.
    """
    import ibis
    import pyarrow as pa

    at = pa.array(range(len(labels)), pa.int32())
    positions = ibis.memtable(pa.table({"label": labels, "at": at}))
    pairs = rows.join(positions, "label").select("item", "at").distinct()
    # Both sides must be the same query, or Spark sorts and sends the rows twice.
    others = pairs.view()
    found = (
        pairs.join(
            others,
            [pairs.item == others.item, pairs.at < others.at],
            rname="other_{name}",
        )
        .group_by(["at", "other_at"])
        .aggregate(n=lambda joined: joined.count())
        .to_pyarrow()
    )
    first, second, number = (found[x].to_numpy() for x in ("at", "other_at", "n"))
    shape = (len(labels), len(labels))
    return sp.csr_array((number.astype(np.float64), (first, second)), shape=shape)


def _pairs_of(table: Any, name: str, item: str, label: str) -> Any:
    """Select the two columns as text; the case of their names does not matter."""
    found = {column.lower(): column for column in table.columns}
    for wanted in (item, label):
        if wanted.lower() not in found:
            raise ContextError(
                f"context {name!r}: the table has no column {wanted!r}; it has "
                f"{', '.join(map(repr, table.columns))}."
            )
    return table.select(
        item=_text(table[found[item.lower()]], keep_numbers=True),
        label=_text(table[found[label.lower()]]),
    )


def _text(column: Any, *, keep_numbers: bool = False) -> Any:
    """A column as text without spaces around it; whole numbers are joined faster."""
    if keep_numbers and column.type().is_integer():
        return column
    return column.cast("string").strip()


def _is_empty(column: Any) -> Any:
    if column.type().is_integer():
        return column.isnull()
    return column.isnull() | (column == "")
