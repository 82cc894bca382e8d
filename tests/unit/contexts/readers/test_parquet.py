"""Tables are read row by row, from text and from Parquet alike."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

from phcle.contexts.readers import label_files as readers
from phcle.contexts.readers.table_files import open_table
from phcle.errors import FileError

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")


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


TABLES = [
    (readers.read_hierarchy_edges, {"child": ["cat", "dog"], "parent": ["pet", "pet"]}),
    (readers.read_edges, {"source": ["a"], "target": ["b"], "weight": [2.5]}),
    (readers.read_annotations, {"item": [1, 1, 2], "label": ["a", "b", "a"]}),
    (readers.read_tags, {"label": ["a", "a", "b"], "tag": ["red", "blue", None]}),
    (readers.read_texts, {"label": ["a", "b"], "text": ["furry thing", None]}),
    (readers.read_names, {"label": ["a"], "name": ["é"]}),
]


@pytest.mark.parametrize(
    ("read", "columns"), TABLES, ids=[read.__name__ for read, _ in TABLES]
)
def test_a_parquet_file_reads_as_the_same_table_in_text_does(write, read, columns):
    text, parquet = write("table", columns)
    assert read(parquet) == read(text)


def test_attributes_in_parquet_keep_numbers_words_and_holes(write):
    columns = {
        "label": ["cat", "dog", "fish"],
        "size": [0.1, None, 0.25],
        "wet": [False, False, True],
        "coat": ["fur", "fur", None],
    }
    text, parquet = write("looks", columns)
    one, other = readers.read_attributes(text), readers.read_attributes(parquet)
    assert (one.labels, one.columns) == (other.labels, other.columns)
    assert np.array_equal(one.values, other.values, equal_nan=True)


def test_errors_in_parquet_name_the_row(write):
    _, parquet = write("tree", {"child": ["a", "b", None], "parent": ["r", "r", "r"]})
    with pytest.raises(FileError, match=r"tree\.parquet, row 3: child is empty"):
        readers.read_hierarchy_edges(parquet)
    _, parquet = write("names", {"label": ["a", "b", "a"], "name": ["x", "y", "z"]})
    table = open_table(parquet)
    assert readers.read_names(table) == {"a": "x", "b": "y"}
    assert "'a' (rows 1 and 3)" in table.remarks[0]


def test_cells_that_hold_lists_are_refused_with_their_column(tmp_path):
    path = tmp_path / "tags.parquet"
    pq.write_table(pa.table({"label": ["a"], "tag": [["red", "blue"]]}), path)
    with pytest.raises(FileError, match=r"column 'tag' holds list values"):
        readers.read_tags(path)


def test_a_parquet_file_without_rows_or_columns_says_so(tmp_path):
    path = tmp_path / "empty.parquet"
    pq.write_table(pa.table({"label": pa.array([], pa.string()), "tag": []}), path)
    with pytest.raises(FileError, match="a header but no rows"):
        readers.read_tags(path)
    pq.write_table(pa.table({}), path)
    with pytest.raises(FileError, match="is empty"):
        readers.read_tags(path)


def test_parquet_without_pyarrow_says_what_to_install(write, monkeypatch):
    _, parquet = write("names", {"label": ["a"], "name": ["x"]})
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(FileError, match=r"phcle\[parquet\]"):
        readers.read_names(parquet)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_reading_needs_little_more_memory_than_what_is_kept(write, ending):
    n = 60_000
    columns = {
        "label": [f"label{i % 100}" for i in range(n)],
        "tag": [f"tag{i % 50}" for i in range(n)],
        "ignored": [f"some words about row {i} that nobody reads" for i in range(n)],
    }
    path = next(x for x in write("tags", columns) if x.suffix == f".{ending}")
    readers.read_tags(path)  # imports
    tracemalloc.start()
    tags = readers.read_tags(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, tags.values())) == 100
    # A list of all rows alone would take ten times as much.
    assert peak < 8_000_000


def test_an_odd_byte_far_into_a_file_is_found(tmp_path):
    path = tmp_path / "tags.csv"
    good = b"label,tag\n" + b"a,red\n" * 30_000
    path.write_bytes(good + b"b,bl\xffue\n" + b"c,red\n" * 10)
    table = open_table(path)
    assert readers.read_tags(table)["b"] == ["bl\xffue"]
    assert "read as cp1252, such as 'bl\xffue'" in table.remarks[0]
    path.write_bytes(good + b"b,bl\0ue\n")
    with pytest.raises(FileError, match="line 30002: holds a NUL"):
        readers.read_tags(path)
