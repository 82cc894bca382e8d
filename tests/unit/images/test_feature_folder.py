"""Features of one's own pictures, and pictures as numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phcle.errors import FileError
from phcle.images import load_feature_folder

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


@pytest.mark.parametrize("labels", [LABELS, [3, 3, 5, 5]])
def test_labels_are_texts_or_numbers_of_no_classes(tmp_path, labels):
    np.savez(tmp_path / "features.npz", features=FEATURES, labels=labels)
    data = load_feature_folder(tmp_path, name="pets")
    assert data.name == "pets"
    assert data.labels.tolist() == list(map(str, labels))
    assert data.classes == tuple(dict.fromkeys(map(str, labels)))


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
        ({"features": FEATURES * np.nan, "labels": LABELS}, r"image 0 .*'cat'"),
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
