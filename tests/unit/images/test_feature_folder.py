"""Features of one's own pictures, and pictures as numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phcle.errors import ContextError, FileError
from phcle.images import ImageData, load_feature_folder

FEATURES = np.arange(12, dtype=np.float16).reshape(4, 3)
LABELS = ["cat", "dog", "cat", "fish"]


def test_numbered_labels_count_into_the_classes(tmp_path):
    for key in ("wnids", "classes"):
        path = tmp_path / "features.npz"
        names = np.array(["n1", "n2"])
        np.savez(path, features=FEATURES, labels=[0, 1, 1, 0], **{key: names})
        for source in (path, tmp_path):
            data = load_feature_folder(source)
            assert data.labels.tolist() == ["n1", "n2", "n2", "n1"]
            assert data.features.dtype == np.float32
            assert data.name == tmp_path.name


def test_labels_may_be_text(tmp_path):
    np.savez(tmp_path / "features.npz", features=FEATURES, labels=LABELS)
    assert load_feature_folder(tmp_path, name="pets").labels.tolist() == LABELS


def test_numbers_without_classes_are_labels_themselves(tmp_path):
    np.savez(tmp_path / "features.npz", features=FEATURES, labels=[3, 3, 5, 5])
    assert load_feature_folder(tmp_path).classes == ("3", "5")


def test_splits_get_the_names_of_image_data(tmp_path):
    np.savez(tmp_path / "features.npz", features=FEATURES, labels=LABELS)
    lists = {"train": ["cat"], "val": ["dog"], "test": ["fish"]}
    (tmp_path / "split.json").write_text(json.dumps(lists))
    assert load_feature_folder(tmp_path).splits == {
        "train": ("cat",),
        "validation": ("dog",),
        "unseen": ("fish",),
        "seen": ("cat", "dog"),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"test": ["fish"}', "line 1: is not JSON"),
        ('["fish"]', "must be an object of lists"),
        ('{"test": "fish"}', "must be an object of lists"),
        ('{"test": ["bird"]}', "1 classes that have no images: 'bird'"),
    ],
)
def test_malformed_splits_are_refused(tmp_path, text, message):
    np.savez(tmp_path / "features.npz", features=FEATURES, labels=LABELS)
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(FileError, match=message):
        load_feature_folder(tmp_path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": FEATURES}, r"needs the arrays 'features' and 'labels', but has 'X'"),
        ({"features": FEATURES[0], "labels": LABELS}, r"Got \(3,\) and \(4,\)"),
        ({"features": FEATURES, "labels": LABELS[:3]}, r"Got \(4, 3\) and \(3,\)"),
        ({"features": FEATURES.astype(str), "labels": LABELS}, "must be numbers"),
        ({"features": FEATURES, "labels": np.ones(4)}, "Got float64"),
        (
            {"features": FEATURES, "labels": [0, 1, 2, 3], "classes": ["a", "b"]},
            "2 classes, from 0 to 1. Got 0 to 3",
        ),
        ({"features": FEATURES, "labels": np.array(LABELS, "S")}, "must be one row of"),
    ],
)
def test_malformed_archives_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "features.npz", **arrays)
    with pytest.raises(FileError, match=message):
        load_feature_folder(tmp_path)


def test_a_folder_without_features_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"features\.npz: no such file"):
        load_feature_folder(tmp_path)
    (tmp_path / "b.txt").write_text("not features")
    with pytest.raises(FileError, match="is damaged, or not a NumPy file"):
        load_feature_folder(tmp_path / "b.txt")


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
