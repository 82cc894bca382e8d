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
from phcle.files.reading import check_gzip, check_is_file, check_parquet, naming
from phcle.optional_imports import import_optional

DELIMITERS = {".csv": ",", ".tsv": "\t", ".parquet": ""}
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
    usual = DELIMITERS.get(Path(path.name.removesuffix(".gz")).suffix)
    if usual is None and delimiter is None:
        raise FileError(
            f"{path}: must end in {', '.join(DELIMITERS)} to be read as a table."
        )
    check_is_file(path)
    if path.suffix == ".gz":
        check_gzip(path)
    duckdb = import_optional("duckdb", extra="engine", purpose=f"counting {path}")
    ibis = import_optional("ibis", extra="engine", purpose=f"counting {path}")
    if usual == "":
        check_parquet(path)
    with tempfile.TemporaryDirectory(prefix="phcle-") as spill:
        connection = ibis.duckdb.connect(temp_directory=spill, memory_limit=memory)
        try:
            with naming(path, "cannot be read", duckdb.Error):
                if usual == "":
                    yield connection.read_parquet(path)
                else:
                    own = {"header": True, "all_varchar": True}
                    yield connection.read_csv(path, delim=delimiter or usual, **own)
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
