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


def write_xlsa17(folder, classes, n_attributes, features="res101"):
    """Classes that lie where their attributes say, so that there is a little to find"""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    attributes = rng.random((n_attributes, len(classes)))
    labels = np.repeat(np.arange(len(classes)), EACH)
    images = attributes[:, labels] + 0.1 * rng.standard_normal(
        (n_attributes, len(labels))
    )
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
    if features:
        content = {"features": images, "labels": labels[:, None] + 1}
        scipy.io.savemat(folder / f"{features}.mat", content)


@pytest.fixture(scope="session")
def small_data(tmp_path_factory):
    """AWA, aPY and tiny-imagenet with four images a class."""
    folder = tmp_path_factory.mktemp("data")
    write_xlsa17(folder / "xlsa17" / "AWA1", AWA_PAPER.classes, 12)
    write_xlsa17(folder / "xlsa17" / "APY", APY_PAPER.classes, 64)
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
