"""Files of completed cells, one row a cell."""

from __future__ import annotations

import json
import tracemalloc
from types import SimpleNamespace

import pytest

from phcle.tables import write_cells

COLUMNS = ("label", "column", "value", "confidence", "low", "high", "family", "why")
WITH_ALL = (*COLUMNS, "probabilities")


def cell(**changed):
    """A completed cell with the fields that are not of interest left alone."""
    fields = {
        "label": "lion",
        "context": "looks",
        "column": "size",
        "value": "large",
        "confidence": 0.8766,
        "low": None,
        "high": None,
        "family": "small",
        "why": "relatives tiger, puma; diet=meat",
        "probabilities": {"small": 0.1234, "large": 0.8766},
    }
    return SimpleNamespace(**(fields | changed))


CELLS = [
    cell(),
    cell(column="wild", value=True, family=None, probabilities=None),
    cell(
        column="weight",
        value=187.65432,
        confidence=None,
        low=120.0,
        high=251.6,
        family=200.25,
        why='near "King, of Beasts"',
        probabilities=None,
    ),
]


def test_csv_has_exactly_the_promised_columns_and_readable_numbers(tmp_path):
    path = tmp_path / "filled.csv"
    write_cells(CELLS, path, ("label", "probabilities"))  # the largest first
    assert path.read_text().splitlines()[1:] == [
        "lion,large 0.877; small 0.123",
        *["lion,"] * 2,
    ]
    assert write_cells(CELLS, path) == 3
    assert path.read_text().splitlines() == [
        "label,column,value,confidence,low,high,family,why",
        'lion,size,large,0.877,,,small,"relatives tiger, puma; diet=meat"',
        'lion,wild,yes,0.877,,,,"relatives tiger, puma; diet=meat"',
        'lion,weight,188,,120,252,200,"near ""King, of Beasts"""',
    ]


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_json_has_plain_values_and_all_digits(tmp_path, ending):
    path = tmp_path / f"filled{ending}"
    write_cells(CELLS, path, WITH_ALL)
    text = path.read_text()
    lines = text.splitlines()
    found = json.loads(text) if ending == ".json" else list(map(json.loads, lines))
    assert [x["value"] for x in found] == ["large", True, 187.65432]
    assert found[0]["probabilities"] == {"small": 0.1234, "large": 0.8766}
    assert list(found[0]) == ["label", "context", *WITH_ALL[1:]]


def test_parquet_has_numbers_where_a_column_has_only_numbers(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "filled.parquet"
    write_cells(CELLS, path, WITH_ALL)
    table = parquet.read_table(path).to_pydict()
    assert tuple(table) == WITH_ALL
    assert table["value"] == ["large", "yes", "187.65432"]
    assert table["low"] == [None, None, 120.0]
    assert table["confidence"] == [0.8766, 0.8766, None]
    assert table["family"] == ["small", None, "200.25"]


def test_memory_does_not_grow_with_the_number_of_cells(tmp_path):
    path = tmp_path / "filled.json"
    write_cells(CELLS, path)  # imports
    tracemalloc.start()
    write_cells((cell(label=f"label {i}") for i in range(20_000)), path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000
