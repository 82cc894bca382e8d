"""What takes long is found once, kept whole, and never used for another file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.atlas import Opened


@pytest.fixture
def embedding(rng):
    labels = tuple(f"label {i}" for i in range(30))
    return LabelEmbedding(labels, rng.standard_normal((30, 5)))


def prepared(embedding, file, told=None):
    """An opened embedding whose map is ready, and whether it was stored before."""
    told = [] if told is None else told
    opened = Opened(embedding, "x", file, told.append, told.append)
    was_stored = opened.map.status()["ready"]
    opened.map.wait()
    return opened, was_stored


def test_what_was_prepared_is_kept_beside_the_file_and_found_again(embedding, tmp_path):
    file = tmp_path / "labels.phcle"
    told = []
    first, was_stored = prepared(embedding, file, told)
    assert not was_stored
    assert told[-1] == "map ready"
    again, was_stored = prepared(embedding, file)
    assert was_stored
    assert np.array_equal(again.places, first.places)
    tables = [x.embedding.search.table for x in (again, first)]
    assert np.array_equal(tables[0].rows, tables[1].rows)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.phcle.explorer"]


def test_another_embedding_is_prepared_anew(embedding, tmp_path):
    file = tmp_path / "labels.phcle"
    moved = replace(embedding, vectors=embedding.vectors[::-1])
    renamed = replace(embedding, names={"label 0": "zero"})
    for other in (moved, renamed):
        prepared(embedding, file)
        assert not prepared(other, file)[1]


@pytest.mark.parametrize("damage", ["cut", "text", "empty"])
def test_a_damaged_file_is_prepared_anew(embedding, tmp_path, damage):
    file = tmp_path / "labels.phcle"
    prepared(embedding, file)
    (kept,) = tmp_path.iterdir()
    content = kept.read_bytes()
    broken = {"cut": content[:-100], "text": b"nonsense", "empty": b""}[damage]
    kept.write_bytes(broken)
    opened, was_stored = prepared(embedding, file)
    assert not was_stored
    assert opened.places.shape == (30, 2)
    assert prepared(embedding, file)[1]


def test_a_folder_that_cannot_be_written_is_told_and_does_no_harm(embedding, tmp_path):
    told = []
    opened, _ = prepared(embedding, tmp_path / "gone" / "labels.phcle", told)
    assert opened.places.shape == (30, 2)
    assert any("computed again at the next start" in message for message in told)


def test_a_first_map_is_a_sketch_that_says_so(embedding, client_of):
    from phcle.atlas import Workspace

    workspace = Workspace(Opened(embedding, "x"))
    workspace.start = lambda: None
    with client_of(workspace) as client:
        first = client.get("/api/map").json()
        assert not first["ready"]
        assert "until a better map is ready" in first["method"]
        assert not client.get("/api/info").json()["map"]["ready"]
        workspace.opened.map.wait()
        assert client.get("/api/info").json()["map"]["ready"]
        last = client.get("/api/map").json()
    assert last["ready"]
    assert last["x"] != first["x"]
