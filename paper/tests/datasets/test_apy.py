"""aPascal and aYahoo."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.errors import FileError
from phcle_paper.datasets import load_apy, load_apy_objects, load_class_attributes

FILES = {
    "attribute_names.txt": "Round\nVert Cyl\n",
    "class_names.txt": "dog\nmug\nbus\n",
    "apascal_train.txt": "1.jpg dog 1 2 30 40 0 0\n1.jpg mug 5 6 7 8 1 1\n",
    "apascal_test.txt": "2.jpg mug 1 1 9 9 1 0\n",
    "ayahoo_test.txt": "3.jpg dog 1 1 9 9 0 1\n",
}


@pytest.fixture
def folder(tmp_path):
    below = tmp_path / "attribute_data"
    below.mkdir()
    for name, text in FILES.items():
        (below / name).write_text(text)
    return tmp_path


def test_objects_keep_class_and_attributes(folder):
    data = load_apy(folder)
    assert data.labels.tolist() == ["dog", "mug", "mug", "dog"]
    assert data.attributes.tolist() == [[0, 0], [1, 1], [1, 0], [0, 1]]


def test_class_means_leave_out_classes_without_objects(folder):
    means = load_apy(folder / "attribute_data").class_means()
    assert means.labels == ("dog", "mug")
    assert means.columns == ("Round", "Vert Cyl")
    assert means.values.tolist() == [[0.0, 0.5], [1.0, 0.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2.jpg\n", "line 1: must be a picture, a class"),
        ("2.jpg mug 1 1 9 9 1\n", "Got 5 words after the class"),
        ("2.jpg mug 1 1 9 x 1 0\n", "4 numbers of a box"),
        ("\n2.jpg mugs 1 1 9 9 1 0\n", "line 2: 'mugs' is not .*Did you mean 'mug'"),
    ],
)
def test_malformed_lines_are_refused(folder, text, message):
    (folder / "attribute_data" / "apascal_test.txt").write_text(text)
    with pytest.raises(FileError, match=message):
        load_apy(folder)


def write_objects(folder, *, features=3, attributes=(3, 2), rows=3):
    np.save(folder / "voc2008_objects.npy", np.ones((features, 4), np.float16))
    np.save(folder / "voc2008_attributes.npy", np.eye(*attributes, dtype=np.uint8))
    table = [
        "apascal_train\t1.jpg\tdog\t1,2,30,40",
        "apascal_test\t2.jpg\tmug\t1,1,9,9",
    ]
    table.append("apascal_train\t1.jpg\tmug\t5,6,7,8")
    (folder / "voc2008_objects.tsv").write_text("\n".join(table[:rows]) + "\n")


def test_objects_have_features_and_attributes_of_their_own(folder):
    write_objects(folder)
    data = load_apy_objects(folder)
    assert data.labels.tolist() == ["dog", "mug", "mug"]
    assert data.item_attributes.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert data.attributes.values.tolist() == [[1, 0], [0, 0.5]]


def test_object_files_must_have_the_same_rows(folder):
    write_objects(folder, rows=2)
    with pytest.raises(FileError, match="Got 3, 2 and 3 rows"):
        load_apy_objects(folder)
    write_objects(folder, attributes=(3, 5))
    with pytest.raises(FileError, match="must have 2 columns"):
        load_apy_objects(folder)


def test_class_means_equal_the_attributes_of_xlsa17(shared_data):
    means = load_apy(shared_data / "apy").class_means()
    released = load_class_attributes(
        shared_data / "xlsa17" / "APY", attributes="original_att"
    ).attributes.rows_for(means.labels)
    assert released.labels == means.labels
    np.testing.assert_allclose(released.values, means.values, atol=1e-12)
