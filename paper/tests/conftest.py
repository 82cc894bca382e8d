"""A small copy of each data set, in the layout of the real ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from phcle.datasets import load_imagenet1k
from phcle_paper.datasets import APY_PAPER, AWA_PAPER

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
EACH = 4  # images of a class

SMALL_TABLE = """
table = "table2"
dataset = "apy"
title = "A small table"
caveats = ["made up"]
[splits]
random = 2
n_unseen = 5
n_validation = 1
[classifiers.eszsl]
class_ridge = [1.0]
[classifiers.sje]
epochs = [1]
[embeddings.ALE]
[embeddings.WLE]
[embeddings.PHCLE]
options = { contexts = ["hierarchy", "attributes", "words"], max_iter = 3 }
variants = [{ dim = 5 }]
[paper.ALE]
eszsl = 52.60
"""


@pytest.fixture
def small_table():
    """Settings of a table with two classifiers and three embeddings."""
    return SMALL_TABLE


def write_small(folder, classes, n_attributes):
    """Classes that lie where their attributes say, so that there is a little to find"""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    attributes = rng.random((n_attributes, len(classes)))
    labels = np.repeat(np.arange(len(classes)), EACH)
    noise = rng.standard_normal((n_attributes, len(labels)))
    images = attributes[:, labels] + 0.1 * noise
    unseen = labels >= len(classes) - 4
    rows = np.arange(1, len(labels) + 1)
    names = np.array([[name.replace(" ", "+")] for name in classes], dtype=object)
    scipy.io.savemat(
        folder / "att_splits.mat",
        {
            "allclasses_names": names,
            "att": attributes,
            "original_att": attributes,
            "trainval_loc": rows[~unseen][:, None],
            "test_unseen_loc": rows[unseen][:, None],
        },
    )
    content = {"features": images, "labels": labels[:, None] + 1}
    scipy.io.savemat(folder / "res101.mat", content)


@pytest.fixture(name="write_xlsa17")
def _write_xlsa17():
    return write_small


@pytest.fixture(scope="session")
def small_data(tmp_path_factory):
    """AWA, aPY and tiny-imagenet with four images a class."""
    folder = tmp_path_factory.mktemp("data")
    write_small(folder / "xlsa17" / "AWA1", AWA_PAPER.classes, 12)
    write_small(folder / "xlsa17" / "APY", APY_PAPER.classes, 64)
    (folder / "awa").mkdir()
    names = np.array([[x.replace(" ", "+")] for x in AWA_PAPER.classes], dtype=object)
    vectors = np.random.default_rng(1).standard_normal((7, len(names)))
    scipy.io.savemat(
        folder / "awa" / "att_splits_with_wv.mat",
        {"allclasses_names": names, "wv": vectors},
    )
    tiny = folder / "tiny-imagenet"
    tiny.mkdir()
    wnids = np.array(load_imagenet1k().labels[::80])  # 13 classes
    labels = np.repeat(wnids, EACH)
    rng = np.random.default_rng(2)
    np.savez(
        tiny / "features.npz", features=rng.random((len(labels), 6)), labels=labels
    )
    lists = {"train": wnids[:6], "val": wnids[6:9], "test": wnids[9:]}
    (tiny / "split.json").write_text(
        json.dumps({key: own.tolist() for key, own in lists.items()})
    )
    return folder


@pytest.fixture(scope="session")
def shared_data():
    if not SHARED.is_dir():
        pytest.skip("shared/data is not beside the checkout")
    return SHARED


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def imagenet():
    return load_imagenet1k()
