"""What takes long is found once, kept whole, and never used for another file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.explorer.preparation import Preparation
from phcle.explorer.prepared import load_prepared, prepared_file


@pytest.fixture
def embedding(rng):
    labels = tuple(f"label {i}" for i in range(30))
    return LabelEmbedding(labels, rng.standard_normal((30, 5)))


def test_what_was_prepared_is_kept_beside_the_file_and_found_again(embedding, tmp_path):
    file = tmp_path / "labels.phcle"
    told = []
    first = Preparation(embedding, file, told.append).wait()
    assert told[-1] == "map ready"
    assert prepared_file(file).exists()
    again = Preparation(embedding, file)
    assert again.status["ready"]
    assert np.array_equal(again.result.table.rows, first.table.rows)
    assert np.array_equal(again.result.table.cosines, first.table.cosines)
    assert again.result.cluster_names == first.cluster_names
    assert [path.name for path in tmp_path.iterdir()] == ["labels.phcle.explorer"]


def test_another_embedding_is_prepared_anew(embedding, tmp_path):
    file = tmp_path / "labels.phcle"
    Preparation(embedding, file).wait()
    moved = replace(embedding, vectors=embedding.vectors[::-1])
    renamed = replace(embedding, names={"label 0": "zero"})
    for other in (moved, renamed):
        assert load_prepared(prepared_file(file), other) is None


@pytest.mark.parametrize("damage", ["cut", "text", "empty"])
def test_a_damaged_file_is_prepared_anew(embedding, tmp_path, damage):
    file = tmp_path / "labels.phcle"
    Preparation(embedding, file).wait()
    kept = prepared_file(file)
    content = kept.read_bytes()
    broken = {"cut": content[:-100], "text": b"nonsense", "empty": b""}[damage]
    kept.write_bytes(broken)
    assert load_prepared(kept, embedding) is None
    assert Preparation(embedding, file).wait().places.shape == (30, 2)
    assert load_prepared(kept, embedding) is not None


def test_a_folder_that_cannot_be_written_is_told_and_does_no_harm(embedding, tmp_path):
    told = []
    file = tmp_path / "gone" / "labels.phcle"
    preparation = Preparation(embedding, file, told.append)
    assert preparation.wait().table.rows.shape == (30, 29)
    assert any("prepared again at the next start" in message for message in told)


def test_progress_with_many_labels_is_told_in_steps(embedding, monkeypatch):
    def slow(_embedding, progress):
        for done in range(0, 100_001, 500):
            progress("finding neighbours", done, 100_000)
        raise ValueError("enough")

    told = []
    monkeypatch.setattr("phcle.explorer.preparation.prepare", slow)
    monkeypatch.setattr("threading.excepthook", lambda _: None)
    preparation = Preparation(embedding, None, told.append)
    with pytest.raises(RuntimeError, match="has failed"):
        preparation.wait()
    assert told[0] == "finding neighbours (100,000 labels)"
    assert told[1:3] == ["finding neighbours: 10%", "finding neighbours: 20%"]
    assert told[-1] == "the map could not be prepared: enough"
    assert preparation.status["failed"]
    assert len(told) == 12
