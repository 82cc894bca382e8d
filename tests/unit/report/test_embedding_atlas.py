"""The table for Embedding Atlas has the columns and the form that it documents."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import call

from phcle import LabelEmbedding
from phcle.report import write_atlas

pd = pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture
def animals(rng):
    vectors = np.repeat(rng.normal(size=(6, 5)), 5, axis=0)
    vectors += 0.05 * rng.normal(size=vectors.shape)
    labels = tuple(f"n{i:02d}" for i in range(30))
    return LabelEmbedding(labels, vectors, names={"n03": "Šárka's dog"})


def test_neighbours_are_rows_from_zero_with_distances(animals, tmp_path):
    write_atlas(animals, tmp_path / "animals.parquet", k=4)
    found = pd.read_parquet(tmp_path / "animals.parquet")
    assert list(found.columns) == ["label", "name", "x", "y", "neighbors"]
    assert tuple(found["label"]) == animals.labels
    assert found["name"][3] == "Šárka's dog"
    assert np.isfinite(found[["x", "y"]].to_numpy()).all()
    for i, (label, near) in enumerate(
        zip(found["label"], found["neighbors"], strict=True)
    ):
        assert set(near) == {"ids", "distances"}
        assert near["ids"][0] == i  # the Atlas has the row itself among them
        assert near["distances"][0] == 0
        ours = animals.nearest(label, k=4)
        assert [found["label"][j] for j in near["ids"][1:]] == [x for x, _ in ours]
        np.testing.assert_allclose(
            near["distances"][1:], [1 - cosine for _, cosine in ours], atol=1e-12
        )


def test_the_command_writes_it_and_never_over_its_input(animals, tmp_path):
    animals.save(tmp_path / "animals.phcle")

    file, out = tmp_path / "animals.phcle", tmp_path / "animals.parquet"
    call("export", file, "--format", "atlas", "--out", out)
    assert "neighbors" in pd.read_parquet(out).columns
    call("export", file, "--format", "atlas", "--out", file, code=2)
    told = call("export", file, "--format", "atlass", "--out", out, code=2)
    assert "Did you mean 'atlas'" in told.stderr
