"""Damaged files of every kind: a short search here, a long one in tools/.

`tools/fuzz_readers.py` searches for minutes, guided by coverage. What it has found is
kept in tests/fixtures/faults and read again here, for ever.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reader_cases import READERS, asked, sealed, sealed_parts, small_embedding

from phcle import load
from phcle.errors import PhcleError, PhcleWarning

FAULTS = Path(__file__).parents[1] / "fixtures" / "faults"
SLOW = ("parquet", "texts", "toml")
QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def read_or_refuse(reader, data, folder):
    """Read bytes as a file; only an error of ours may come, and it names the file."""
    path = folder / reader.file
    path.write_bytes(reader.made(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", PhcleWarning)
        found = read_or_none(reader.read, path)
        # Numbers that are absurd but finite may overflow when they are used.
        warnings.simplefilter("ignore", RuntimeWarning)
        if found is not None:
            with contextlib.suppress(PhcleError):
                reader.use(found)
    return found


def read_or_none(read, path):
    """What a file holds; None if it is refused, by an error that names it."""
    try:
        return read(path)
    except PhcleError as error:
        refusal = str(error)
    assert path.name in refusal
    return None


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


TYPES = ("f4", "f8", "i4", "i8", "u1", "?")
CODES = ("F32", "F64", "I32", "I64", "U8", "BOOL")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["relational", "descriptive", "dense", "sparse", "masked"])
    | st.sampled_from(["words", "cells", "path"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(tree, path=()):
    """Every place in a tree of lists and objects."""
    found = [path]
    if isinstance(tree, dict):
        keys = list(tree)
    else:
        keys = list(range(len(tree))) if isinstance(tree, list) else []
    for key in keys:
        found += places(tree[key], (*path, key))
    return found


def put(tree, path, value):
    """The tree with another value at a place."""
    if not path:
        return value
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[path[0]] = put(copy[path[0]], path[1:], value)
    return copy


def test_a_strangers_content_with_a_true_checksum_is_refused_or_answers(tmp_path):
    whole, own, body = sealed_parts(READERS["embedding"].seeds()[0])
    content = json.loads(own["content"])

    @settings(QUICK, max_examples=120)
    @given(st.sampled_from(places(content)), JSON)
    def search(path, value):
        changed = json.dumps(put(content, path, value))
        file = tmp_path / "a.phcle"
        file.write_bytes(sealed(whole, {**own, "content": changed}, body))
        found = read_or_none(load, file)
        if found is not None:
            with contextlib.suppress(PhcleError):
                asked(found)

    search()


def test_a_strangers_tensors_with_a_true_checksum_are_refused_or_answer(tmp_path):
    whole, own, body = sealed_parts(READERS["embedding"].seeds()[0])
    names = [name for name in whole if name != "__metadata__"]
    shapes = st.lists(st.integers(0, 5), max_size=3)
    types = st.sampled_from(TYPES)
    codes = dict(zip(TYPES, CODES, strict=True))

    @settings(QUICK, max_examples=120)
    @given(st.sampled_from(names), shapes, types, st.integers(-3, 300))
    def search(name, shape, dtype, value):
        tensor = np.full(shape, value).astype(dtype)
        place = [len(body), len(body) + tensor.nbytes]
        entry = {"dtype": codes[dtype], "shape": shape, "data_offsets": place}
        spare = {**whole[name], "data_offsets": whole[name]["data_offsets"]}
        changed = {**whole, name: entry, "spare": spare}
        file = tmp_path / "a.phcle"
        file.write_bytes(sealed(changed, own, body + tensor.tobytes()))
        found = read_or_none(load, file)
        if found is not None:
            with contextlib.suppress(PhcleError):
                asked(found)

    search()
