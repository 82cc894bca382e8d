from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.io

from phcle import LabelEmbedding
from phcle_paper.datasets import APY_PAPER
from phcle_paper.tables.settings import TABLES
from phcle_paper.studies.registry import STUDIES

CONFIG = """
table = "table2"
dataset = "apy"
title = "A small table"
[splits]
n_unseen = 5
n_validation = 1
[classifiers.eszsl]
class_ridge = [1.0]
[[embeddings]]
name = "ALE"
[[embeddings]]
name = "PHCLE"
options = { contexts = ["hierarchy", "attributes"], dim = 5 }
"""


@pytest.fixture
def apy(zoo):
    """The shape of aPY: 22 classes, 64 attributes, four images a class."""
    folder = zoo / "data" / "xlsa17" / "APY"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(1, 23), 4)
    attributes = rng.random((64, 22))
    rows = np.arange(1, len(labels) + 1)[:, None]
    names = np.array([[name] for name in APY_PAPER.classes], dtype=object)
    scipy.io.savemat(
        folder / "att_splits.mat",
        {
            "allclasses_names": names,
            "att": attributes,
            "original_att": attributes,
            "trainval_loc": rows[:68],
            "test_unseen_loc": rows[68:],
        },
    )
    scipy.io.savemat(
        folder / "res101.mat",
        {"features": rng.random((9, len(labels))), "labels": labels[:, None]},
    )
    return zoo / "data"


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
    np.save(folder / "X.npy", X + 0.01 * rng.standard_normal(X.shape))
    (folder / "labels.txt").write_text("\n".join(y))
    return folder


def test_a_table_is_made_from_a_config(phcle, apy, zoo):
    (zoo / "small.toml").write_text(CONFIG)
    result = phcle(
        *("reproduce", "table2", "--data", apy, "--out", zoo / "out"),
        *("--config", zoo / "small.toml", "--splits", 2, "--json"),
    )
    (table,) = json.loads(result.stdout)
    assert table["n_splits"] == 2
    assert "--splits 2" in table["command"]
    assert (zoo / "out" / "table2-apy.md").is_file()
    again = phcle(
        *("reproduce", "table2", "--data", apy, "--out", zoo / "out"),
        *("--config", zoo / "small.toml", "--splits", 2),
    )
    assert "6 of 6 cells are finished already" in again.stderr
    assert "Random class splits, 2 of them" in again.stdout


def test_table1_takes_the_data_sets_that_are_there(phcle, apy, zoo):
    result = phcle("reproduce", "table1", "--data", apy, "--out", zoo / "out")
    assert "aPY, 22 classes" in result.stdout
    assert "table1-awa: left out" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel2"], "Did you mean 'table2'"),
        (["table2", "--dataset", "awa3"], "Did you mean 'awa'"),
        (["table2", "--dataset", "awa"], "xlsa17/AWA1"),
        (["table2", "--config", "none.toml"], "no such file of settings"),
    ],
)
def test_reproduce_says_what_is_wrong(phcle, apy, arguments, message):
    result = phcle("reproduce", *arguments, "--data", apy, "--out", "o", code=2)
    assert message in result.stderr


def test_reproduce_needs_data(phcle, zoo):
    result = phcle("reproduce", "table2", "--data", "none", code=2)
    assert "no such folder" in result.stderr
    (zoo / "empty").mkdir()
    result = phcle("reproduce", "table2", "--data", "empty", code=2)
    assert "holds no data set with features" in result.stderr


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
    (images / "labels.txt").write_text("\n".join(f"x{i % 9}" for i in range(45)))
    result = phcle("evaluate", "animals.phcle", "--features", images, code=2)
    assert "0 of its 9 classes have a vector" in result.stderr
    result = phcle("evaluate", "animals.phcle", "--features", "none", code=2)
    assert "none" in result.stderr


def test_evaluate_suggests_the_nearest_classifier(phcle, images):
    result = phcle(
        *("evaluate", "animals.phcle", "--features", images, "--classifier", "eszl"),
        code=2,
    )
    assert "Did you mean 'eszsl'" in result.stderr


def test_evaluation_among_all_classes_is_written_to_files(phcle, zoo, images):
    result = phcle(
        *("evaluate", "animals.phcle", "--features", images, "--generalised"),
        *("--classifier", "eszsl", "--splits", 2, "--out", "found"),
    )
    assert "harmonic mean" in result.stdout
    page = (zoo / "found" / "evaluation.md").read_text()
    assert "| classifier | mean per-class accuracy |" in page
    (row,) = json.loads((zoo / "found" / "evaluation.json").read_text())["rows"]
    assert 0 <= row["harmonic"] <= max(row["seen"], row["unseen"])
    assert "unseen, balanced" in result.stdout
    assert "| seen, balanced | unseen, balanced |" in page
    assert 0 <= row["balanced_harmonic"] <= 1


def test_help_names_every_table_and_study(phcle):
    text = " ".join(phcle("reproduce", "--help").stdout.split())
    for name in (*TABLES, *STUDIES, "all"):
        assert name in text
