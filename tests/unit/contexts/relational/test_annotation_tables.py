"""Annotation tables counted by an engine: as in memory, and on a real Spark."""

from __future__ import annotations

import importlib.util
import shutil

import pandas as pd
import pytest
from problems import cells

from phcle import read_contexts
from phcle.contexts import RelationalContext
from phcle.errors import ContextError, FileError

ibis = pytest.importorskip("ibis", reason="Ibis is not installed")

# What Ibis asks of DuckDB has another name by now.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")

ROWS = [
    ("i1", "cat"), ("i1", "dog"), ("i2", "cat"), ("i2", "dog"), ("i2", "cow"),
    ("i3", "ant"), ("i4", "dog"), ("i4", "cow"), ("10", "cat"), ("10", "cow"),
]  # fmt: skip


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "seen.csv"
    lines = ["Item,label,by", *(f"{i},{x},me" for i, x in ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return path


def count(source, **options):
    return cells(RelationalContext.from_annotations(source, **options))


def test_a_file_is_counted_as_in_memory(table):
    assert count(table) == count(ROWS)


def test_parquet_and_other_column_names_are_read(tmp_path):
    path = tmp_path / "seen.parquet"
    pd.DataFrame(ROWS, columns=["photo", "what"]).to_parquet(path)
    assert count(path, item="photo", label="what") == count(ROWS)


def test_rows_that_an_engine_counts_are_not_told(tmp_path):
    path = tmp_path / "seen.parquet"
    pd.DataFrame(ROWS, columns=["item", "label"]).to_parquet(path)
    (summary,) = read_contexts(annotations=path).summaries
    assert summary.line == "seen.parquet: annotations"


def test_a_number_that_is_missing_is_refused(tmp_path):
    path = tmp_path / "seen.parquet"
    item = pd.array([1, None, 2], dtype="Int64")
    pd.DataFrame({"item": item, "label": ["a", "b", "c"]}).to_parquet(path)
    with pytest.raises(ContextError, match="1 rows have an empty item or label"):
        count(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,label\ni1,\n", "1 rows have an empty item or label"),
        ("photo,label\ni1,cat\n", "no column 'item'; it has 'photo', 'label'"),
        ("item,label\n", "no rows"),
    ],
)
def test_bad_tables_are_refused(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ContextError, match=message):
        count(path)


def test_bad_sources_are_named(tmp_path):
    with pytest.raises(FileError, match=r"must end in \.csv"):
        count(tmp_path / "seen.xlsx")
    with pytest.raises(FileError, match=r"none\.csv: no such file"):
        count(tmp_path / "none.csv")


@pytest.mark.filterwarnings("default")  # Spark's own
@pytest.mark.skipif(
    shutil.which("java") is None or importlib.util.find_spec("pyspark") is None,
    reason="pyspark is not installed" if shutil.which("java") else "there is no Java",
)
def test_the_same_query_runs_on_spark(table):
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    try:
        rows = session.createDataFrame(ROWS, ["item", "label"])
        rows.createOrReplaceTempView("seen")
        seen = ibis.pyspark.connect(session).table("seen")
        assert count(seen) == count(ROWS)
    finally:
        session.stop()
