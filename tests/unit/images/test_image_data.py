"""Pictures as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.errors import ContextError
from phcle.images import ImageData


def make(**changes):
    parts = {
        "name": "pets",
        "features": np.arange(8.0).reshape(4, 2),
        "labels": np.array(["dog", "cat", "dog", "fish"]),
    }
    return ImageData(**{**parts, **changes})


def test_classes_are_in_order_of_appearance():
    data = make()
    assert data.classes == ("dog", "cat", "fish")
    assert data.features.dtype == np.float32


def test_selecting_classes_keeps_the_order_of_the_pictures():
    features, labels = make().select(["fish", "dog"])
    assert labels.tolist() == ["dog", "dog", "fish"]
    assert features[:, 0].tolist() == [0, 4, 6]


def test_labels_must_be_as_many_as_images():
    with pytest.raises(ContextError, match=r"\(4, 2\) and \(1,\)"):
        make(labels=np.array(["dog"]))


def test_features_must_be_numbers():
    with pytest.raises(ContextError, match=r"must be numbers\. Got <U"):
        make(features=np.full((4, 2), "1"))


def test_a_feature_that_is_not_finite_is_named_by_its_image():
    features = np.zeros((4, 2))
    features[1, 1] = np.nan
    with pytest.raises(ContextError, match=r"image 1 .*'cat'"):
        make(features=features)
