"""Tables are read row by row, from text and from Parquet alike."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from phcle.errors import FileError
from phcle.tables import read_contexts


@pytest.fixture
def write(tmp_path):
    """One table as CSV and as Parquet."""

    def write(name, columns):
        table = pa.table(columns)
        parquet, text = tmp_path / f"{name}.parquet", tmp_path / f"{name}.csv"
        pq.write_table(table, parquet)
        lines = [",".join(columns)]
        for row in zip(*columns.values(), strict=True):
            lines.append(",".join("" if x is None else str(x) for x in row))
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return text, parquet

    return write


TABLES = {
    "hierarchy": {"child": ["cat", "dog"], "parent": ["pet", "pet"]},
    "edges": {"source": ["a"], "target": ["b"], "weight": [2.5]},
    "tags": {"label": ["a", "a", "b"], "tag": ["red", "blue", None]},
    "attributes": {
        "label": ["cat", "dog", "fish"],
        "size": [0.1, None, 0.25],
        "wet": [False, False, True],
        "coat": ["fur", "fur", None],
    },
    "texts": {"label": ["a", "b", "é"], "text": ["furry thing", None, "thing"]},
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_parquet_file_reads_as_the_same_table_in_text_does(write, kind):
    files = write("table", TABLES[kind])
    one, other = (read_contexts(**{kind: path})[0] for path in files)
    assert (one.labels, one.columns) == (other.labels, other.columns)
    part = "counts" if hasattr(one, "counts") else "values"
    a, b = (getattr(x, part) for x in (one, other))
    if kind == "attributes":
        np.testing.assert_array_equal(a, b)
    else:
        assert (a != b).nnz == 0


def test_errors_in_parquet_name_the_row(write):
    _, parquet = write("tree", {"child": ["a", "b", None], "parent": ["r", "r", "r"]})
    with pytest.raises(FileError, match=r"tree\.parquet, row 3: child is empty"):
        read_contexts(hierarchy=parquet)
    texts = {"label": ["a", "b", "a"], "text": ["red", "red", "blue"]}
    _, parquet = write("texts", texts)
    (summary,) = read_contexts(texts=parquet).summaries
    assert "'a' (rows 1 and 3)" in summary.remarks[0]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_reading_needs_little_more_memory_than_what_is_kept(write, ending):
    n = 60_000
    columns = {
        "label": [f"label{i % 100}" for i in range(n)],
        "tag": [f"tag{i % 50}" for i in range(n)],
        "ignored": [f"some words about row {i} that nobody reads" for i in range(n)],
    }
    path = next(x for x in write("tags", columns) if x.suffix == f".{ending}")
    read_contexts(tags=path)  # imports
    tracemalloc.start()
    (tags,) = read_contexts(tags=path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert tags.values.nnz == 100
    # A list of all rows alone would take ten times as much.
    assert peak < 8_000_000
