"""Folders in the layout of xlsa17, written here in small."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io

from phcle.errors import FileError, OptionError
from phcle_paper.datasets import load_class_attributes, load_xlsa17

CLASSES = ["killer+whale", "ox", "art_gallery"]


def cells(names):
    return np.array([[name] for name in names], dtype=object)


def splits(**changes):
    return {
        "allclasses_names": cells(CLASSES),
        "att": np.array([[0.6, 0.0, 1.0], [0.8, -0.1, 0.0]]),
        "original_att": np.array([[30.0, 10.0, 5.0], [40.0, -1.0, 0.0]]),
        "trainval_loc": np.array([[1], [2], [3]], dtype=np.uint16),
        "test_seen_loc": np.array([[4]]),
        "test_unseen_loc": np.array([[5], [6]]),
        **changes,
    }


def pictures(**changes):
    return {
        "features": np.arange(24.0).reshape(4, 6),
        "labels": np.array([[1], [1], [2], [2], [3], [3]], dtype=np.uint8),
        **changes,
    }


def write(folder, *, att=None, res=None, name="res101"):
    scipy.io.savemat(folder / "att_splits.mat", splits() if att is None else att)
    if res is not False:
        scipy.io.savemat(folder / f"{name}.mat", pictures() if res is None else res)
    return folder


def test_features_labels_and_split_come_together(tmp_path):
    data = load_xlsa17(write(tmp_path))
    assert data.features.shape == (6, 4)
    assert data.features[1].tolist() == [1, 7, 13, 19]
    names = ["killer whale", "ox", "art gallery"]
    assert data.labels.tolist() == np.repeat(names, 2).tolist()
    assert data.splits == {"seen": ("killer whale", "ox"), "unseen": ("art gallery",)}
    assert data.locations["test_unseen"].tolist() == [4, 5]  # counted from 0
    assert data.name == tmp_path.name


def test_minus_one_is_unknown_in_both_kinds_of_attributes(tmp_path):
    write(tmp_path)
    for kind in ("att", "original_att"):
        context = load_xlsa17(tmp_path, attributes=kind).attributes
        assert np.argwhere(np.isnan(context.values)).tolist() == [[1, 1]]
        assert not context.readable


def test_attributes_can_be_named(tmp_path):
    write(tmp_path)
    data = load_xlsa17(tmp_path, attribute_names=["fins", "horns"])
    assert data.attributes.columns == ("fins", "horns")
    with pytest.raises(OptionError, match="must be 2 names"):
        load_xlsa17(tmp_path, attribute_names=["fins"])


def test_the_only_feature_file_is_found_and_several_must_be_chosen_from(tmp_path):
    write(tmp_path, name="bow300")
    assert "bow300" in load_xlsa17(tmp_path).note
    write(tmp_path)
    with pytest.raises(FileError, match=r"'bow300.mat', 'res101.mat'; choose one"):
        load_xlsa17(tmp_path)
    assert "res101" in load_xlsa17(tmp_path, "res101").note


def test_class_attributes_need_no_features(tmp_path):
    write(tmp_path, res=False)
    (tmp_path / "testclasses.txt").write_text("art_gallery\n")
    data = load_class_attributes(tmp_path)
    assert data.classes == ("killer whale", "ox", "art gallery")
    assert data.splits == {"unseen": ("art gallery",)}
    with pytest.raises(FileError, match="load_class_attributes reads the rest"):
        load_xlsa17(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.ones((6, 4))}, r"'features' must be features × 6 .*transpos"),
        ({"features": np.full((4, 6), np.nan)}, "all finite. Got NaN"),
        ({"features": np.full((4, 6), 1j)}, "Got 'complex'"),
        ({"features": {"a": 1}}, "must be features × 6 images. Got 'struct'"),
        ({"labels": np.array([[0]] * 6)}, "whole numbers from 1 to 3. Got 0"),
        ({"labels": np.array([[1.5]] * 6)}, r"Got 1\.5"),
        ({"labels": np.ones((2, 3))}, r"one class number per image. Got shape \(2, 3"),
    ],
)
def test_malformed_features_and_labels_are_refused(tmp_path, changes, message):
    write(tmp_path, res=pictures(**changes))
    with pytest.raises(FileError, match=message):
        load_xlsa17(tmp_path)


def test_a_file_of_version_7_3_comes_with_the_remedy(tmp_path):
    write(tmp_path)
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "res101.mat").write_bytes(header.ljust(512, b"\0") + b"\x89HDF\r\n")
    with pytest.raises(FileError, match=r"7\.3 \(HDF5\).*'-v7'"):
        load_xlsa17(tmp_path)


def test_awa1_loads_as_released(shared_data):
    data = load_xlsa17(shared_data / "xlsa17" / "AWA1", "bow300")
    assert data.features.shape == (30475, 300)
    assert [len(data.splits[x]) for x in ("seen", "unseen")] == [40, 10]
    assert np.isnan(data.attributes.values).sum() == 4
    assert "killer whale" in data.classes
    rows = data.locations["test_unseen"]
    assert set(data.labels[rows]) == set(data.splits["unseen"])
