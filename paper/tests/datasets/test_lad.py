"""LAD: classes in groups, each with attributes of its own."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.errors import FileError
from phcle_paper.datasets import load_lad

LAD_FILES = {
    "label_list.txt": "Label_A_01, giant_panda, 熊\nLabel_H_01, ringlet, 卷\n"
    "Label_V_01, crane, 车\nLabel_E_01, switch, 机\n",
    "attribute_list.txt": "Attr_A_001, color: is black, 黑\nAttr_A_002, eats, all, 吃\n"
    "Attr_V_001, color: is black, 黑\nAttr_H_001, is long, 长\n"
    "Attr_E_001, has keys, 键\n",
    "attributes_per_class.txt": "Label_A_01, [ 0.50 1.00 0.00 0.00 0.00 ]\n"
    "Label_H_01, [ 0.00 0.00 0.00 0.75 0.00 ]\n"
    "Label_V_01, [ 0.00 0.00 0.25 0.00 0.00 ]\n"
    "Label_E_01, [ 0.00 0.00 0.00 0.00 1.00 ]\n",
}


@pytest.fixture
def lad(tmp_path):
    for name, text in LAD_FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_attributes_of_other_groups_are_unknown_and_namesakes_are_one(lad):
    data = load_lad(lad)
    assert data.classes == ("giant panda", "ringlet", "crane", "switch")
    assert data.attributes.columns == (
        "color: is black",
        "eats, all",
        "is long",
        "has keys",
    )
    no = np.nan
    np.testing.assert_equal(
        data.attributes.values,
        [[0.5, 1, no, no], [no, no, 0.75, no], [0.25, no, no, no], [no, no, no, 1]],
    )
    assert data.splits["animals"] == ("giant panda",)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("label_list.txt", "panda\n", "line 1: must start with an id such as Label_A"),
        ("attributes_per_class.txt", "Label_A_01, [ 1 ]\n", "must have the 4 ids"),
        (
            "attributes_per_class.txt",
            LAD_FILES["attributes_per_class.txt"].replace("1.00 ]", "]"),
            "the line of Label_E_01 must have 5 finite numbers",
        ),
    ],
)
def test_malformed_lad_files_are_refused(lad, name, text, message):
    (lad / name).write_text(text)
    with pytest.raises(FileError, match=message):
        load_lad(lad)


def test_lad_loads_as_released(shared_data):
    lad = load_lad(shared_data / "lad")
    assert lad.attributes.values.shape == (230, 320)  # 359 with namesakes
