"""Images drawn around a linear map of class vectors, and the shared real features."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.images import ZeroShotTask


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
