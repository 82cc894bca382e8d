"""Damaged files of every kind: a short search here, a long one in tools/.

`tools/fuzz_readers.py` searches for minutes, guided by coverage. What it has found is
kept in tests/fixtures/faults and read again here, for ever.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from fuzz_readers import FORGED, forged, read_or_refuse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reader_cases import READERS, small_embedding

FAULTS = Path(__file__).parents[1] / "fixtures" / "faults"
SLOW = ("parquet", "texts", "toml")
QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize(
    "fault", json.loads((FAULTS / "index.json").read_text()), ids=lambda x: x["file"]
)
def test_what_the_long_search_found_is_refused_or_read(tmp_path, fault):
    data = (FAULTS / fault["file"]).read_bytes()
    read_or_refuse(READERS[fault["reader"]], data, tmp_path)


@st.composite
def damage(draw, whole: bytes):
    """A file with some bytes changed, cut out, doubled or put in."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        kind = draw(st.sampled_from(["set", "cut", "drop", "put", "double"]))
        if kind == "set" and data:
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at:]
        elif kind == "drop":
            del data[at : at + draw(st.integers(1, 16))]
        elif kind == "put":
            data[at:at] = draw(st.binary(min_size=1, max_size=8))
        else:
            data[at:at] = data[at : at + draw(st.integers(1, 64))]
    return bytes(data)


@pytest.mark.parametrize("name", list(READERS))
def test_a_damaged_file_is_refused_by_name_or_read(tmp_path, name):
    reader = READERS[name]

    @settings(QUICK, max_examples=8 if name in SLOW else 40)
    @given(st.sampled_from(reader.seeds()).flatmap(damage))
    def search(data):
        read_or_refuse(reader, data, tmp_path)

    search()


@pytest.mark.parametrize("name", list(READERS))
def test_any_bytes_at_all_are_refused_by_name_or_read(tmp_path, name):
    reader = READERS[name]

    @settings(QUICK, max_examples=4 if name in SLOW else 20)
    @given(st.binary(max_size=200))
    def search(data):
        read_or_refuse(reader, data, tmp_path)

    search()


def same(one, other):
    """Whether two embeddings hold the same."""
    return one.labels == other.labels and np.array_equal(one.vectors, other.vectors)


def test_damage_to_a_sealed_file_never_gives_other_numbers(tmp_path):
    reader = READERS["embedding"]
    whole = reader.seeds()[0]

    @settings(QUICK, max_examples=100)
    @given(damage(whole))
    def search(data):
        found = read_or_refuse(reader, data, tmp_path)
        assert found is None or same(found, small_embedding())

    search()


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_with_a_true_checksum_are_refused_or_answer(tmp_path, name):
    reader = READERS[name]
    whole = reader.seeds()[0]
    for i in range(120):
        data = forged(whole, random.Random(f"{name} {i}"))
        read_or_refuse(reader, data, tmp_path)
