"""Images drawn around a linear map of class vectors, and the shared real features."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.images import ZeroShotTask

SHARED = Path(__file__).parents[3].parent / "shared"


def planted(seed=0, *, n_classes=30, n_images=12, dim=6, n_features=20, noise=0.7):
    """Class vectors, and images whose features are a linear map of them."""
    random = np.random.default_rng(seed)
    labels = tuple(f"class{i:02d}" for i in range(n_classes))
    vectors = random.normal(size=(n_classes, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    y = np.repeat(labels, n_images)
    means = vectors @ random.normal(size=(dim, n_features))
    X = np.repeat(means, n_images, axis=0)
    X = X + noise * random.normal(size=X.shape)
    task = ZeroShotTask("planted", X, y, seen=labels[:24], unseen=labels[24:])
    return LabelEmbedding(labels, vectors), task


@pytest.fixture(scope="session")
def planted_problem():
    return planted()


@pytest.fixture(scope="session")
def tiny_imagenet():
    folder = SHARED / "data" / "tiny-imagenet"
    if not (folder / "features.npz").exists():
        pytest.skip("shared/data/tiny-imagenet is not beside the checkout")
    stored = np.load(folder / "features.npz", allow_pickle=False)
    split = json.loads((folder / "split.json").read_text())
    return ZeroShotTask(
        "tiny-imagenet",
        stored["features"],
        stored["wnids"][stored["labels"]],
        seen=split["train"] + split["val"],
        unseen=split["test"],
        validation=split["val"],
    )
