from __future__ import annotations

import json

import numpy as np
import pytest

from phcle import LabelEmbedding


@pytest.fixture
def images(zoo):
    """Features of the animals by readable name, and an embedding of their ids."""
    rng = np.random.default_rng(0)
    ids = [f"n{i}" for i in range(8)]
    names = {x: f"Animal {x[1:]}" for x in ids}
    vectors = rng.standard_normal((8, 4))
    LabelEmbedding(tuple(ids), vectors, names=names).save(zoo / "animals.phcle")
    folder = zoo / "images"
    folder.mkdir()
    y = np.repeat([names[x].lower() for x in ids] + ["unicorn"], 5)
    X = np.repeat(np.vstack([vectors, vectors[:1]]), 5, axis=0)
    X += 0.01 * rng.standard_normal(X.shape)
    np.savez(folder / "features.npz", features=X, labels=y)
    return folder


def test_evaluate_matches_classes_by_readable_name(phcle, images):
    result = phcle(
        *("evaluate", "animals.phcle", "--features", images),
        *("--classifier", "eszsl", "--splits", 3, "--json"),
    )
    answer = json.loads(result.stdout)
    assert answer["left_out"] == ["unicorn"]
    assert "unicorn" in result.stderr
    assert (answer["seen"], answer["unseen"], answer["splits"]) == (6, 2, 3)
    assert answer["classifiers"][0]["accuracy"] > answer["chance"]


def test_evaluate_takes_the_split_of_the_folder(phcle, images):
    lists = {
        "train": [f"animal {i}" for i in range(6)],
        "test": ["animal 6", "animal 7"],
    }
    (images / "split.json").write_text(json.dumps(lists))
    result = phcle("evaluate", "animals.phcle", "--features", images)
    assert "the split of split.json" in result.stdout
    for name in ("eszsl", "conse", "sje"):
        assert name in result.stdout


def test_evaluate_refuses_features_of_other_classes(phcle, images):
    others = [f"x{i % 9}" for i in range(45)]
    features = np.load(images / "features.npz")["features"]
    np.savez(images / "features.npz", features=features, labels=others)
    result = phcle("evaluate", "animals.phcle", "--features", images, code=2)
    assert "0 of its 9 classes have a vector" in result.stderr
    result = phcle("evaluate", "animals.phcle", "--features", "none", code=2)
    assert "none" in result.stderr


def test_evaluation_among_all_classes_is_shown_and_written(phcle, zoo, images):
    command = ("evaluate", "animals.phcle", "--features", images, "--generalised")
    command += ("--classifier", "eszsl", "--splits", 2)
    shown = phcle(*command).stdout
    assert "harmonic mean" in shown
    assert "unseen, among all" in shown
    phcle(*command, "--out", "found.json")
    (row,) = json.loads((zoo / "found.json").read_text())["classifiers"]
    assert 0 <= row["harmonic"] <= max(row["seen"], row["unseen"])
    phcle(*command, "--out", "found.csv")
    titles, cells = (zoo / "found.csv").read_text().splitlines()
    assert dict(zip(titles.split(","), cells.split(","), strict=True)) == {
        title: str(value) for title, value in row.items()
    }
