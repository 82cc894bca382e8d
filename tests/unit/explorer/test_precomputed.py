"""What takes long is found once, kept whole, and never used for another file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.explorer.background_work import BackgroundWork
from phcle.explorer.precomputed import (
    load_precomputed,
    precomputed_file,
    stored_layout,
)


@pytest.fixture
def embedding(rng):
    labels = tuple(f"label {i}" for i in range(30))
    return LabelEmbedding(labels, rng.standard_normal((30, 5)))


def test_what_was_prepared_is_kept_beside_the_file_and_found_again(embedding, tmp_path):
    file = tmp_path / "labels.phcle"
    told = []
    first = BackgroundWork(embedding, file, told.append).wait()
    assert told[-1] == "map ready"
    assert precomputed_file(file).exists()
    again = BackgroundWork(embedding, file)
    assert again.status.ready
    assert np.array_equal(again.result.table.rows, first.table.rows)
    assert np.array_equal(again.result.table.cosines, first.table.cosines)
    assert again.result.cluster_names == first.cluster_names
    assert [path.name for path in tmp_path.iterdir()] == ["labels.phcle.explorer"]


def test_another_embedding_is_prepared_anew(embedding, tmp_path):
    file = tmp_path / "labels.phcle"
    BackgroundWork(embedding, file).wait()
    moved = replace(embedding, vectors=embedding.vectors[::-1])
    renamed = replace(embedding, names={"label 0": "zero"})
    for other in (moved, renamed):
        assert load_precomputed(precomputed_file(file), other) is None


@pytest.mark.parametrize("damage", ["cut", "text", "empty"])
def test_a_damaged_file_is_prepared_anew(embedding, tmp_path, damage):
    file = tmp_path / "labels.phcle"
    BackgroundWork(embedding, file).wait()
    kept = precomputed_file(file)
    content = kept.read_bytes()
    broken = {"cut": content[:-100], "text": b"nonsense", "empty": b""}[damage]
    kept.write_bytes(broken)
    assert load_precomputed(kept, embedding) is None
    assert BackgroundWork(embedding, file).wait().places.shape == (30, 2)
    assert load_precomputed(kept, embedding) is not None


def test_a_folder_that_cannot_be_written_is_told_and_does_no_harm(embedding, tmp_path):
    told = []
    file = tmp_path / "gone" / "labels.phcle"
    work = BackgroundWork(embedding, file, told.append)
    assert work.wait().table.rows.shape == (30, 29)
    assert any("computed again at the next start" in message for message in told)


def test_progress_with_many_labels_is_told_in_steps(embedding, monkeypatch):
    def slow(_embedding, progress):
        for done in range(0, 100_001, 500):
            progress("finding neighbours", done, 100_000)
        raise ValueError("enough")

    told = []
    monkeypatch.setattr("phcle.explorer.background_work.precompute", slow)
    monkeypatch.setattr("threading.excepthook", lambda _: None)
    work = BackgroundWork(embedding, None, told.append)
    with pytest.raises(RuntimeError, match="has failed"):
        work.wait()
    assert told[0] == "finding neighbours (100,000 labels)"
    assert told[1:3] == ["finding neighbours: 10%", "finding neighbours: 20%"]
    assert told[-1] == "the map could not be computed: enough"
    assert work.status.failed
    assert len(told) == 12


def test_a_report_shows_the_map_that_the_explorer_stored(
    embedding, tmp_path, monkeypatch
):
    from typer.testing import CliRunner

    from phcle.cli.app import app
    from phcle.report import embedding_report

    file = tmp_path / "labels.phcle"
    embedding.save(file)
    assert stored_layout(file, embedding) is None
    made = BackgroundWork(embedding, file).wait()
    assert np.array_equal(stored_layout(file, embedding).places, made.places)

    def never(*given, **named):
        raise AssertionError("computed again")

    monkeypatch.setattr(embedding_report, "lay_out", never)
    run = CliRunner().invoke(app, ["report", str(file), "--out", str(tmp_path / "out")])
    assert run.exit_code == 0, run.output
    assert (tmp_path / "out" / "report.html").is_file()
