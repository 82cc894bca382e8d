"""LAD and ImNet: contexts that know some of the ImageNet labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phcle.contexts import DescriptiveContext
from phcle.errors import ContextError, FileError
from phcle_paper.datasets import (
    load_imnet_attributes,
    load_lad,
    match_lad,
    match_names,
    match_wnids,
)

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


def test_lad_matches_stay_in_their_group(lad, imagenet):
    found = match_lad(load_lad(lad))
    names = {label: imagenet.names[wnid] for label, wnid in found.wnids.items()}
    # Not the butterfly called ringlet, nor the bird called crane, nor a light switch.
    assert names == {"giant panda": "giant panda", "crane": "crane (lifting device)"}
    assert found.unmatched == ("ringlet", "switch")
    assert str(found) == "2 of 4 labels are ImageNet-1K labels"
    assert found.context.labels == tuple(found.wnids.values())


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("label_list.txt", "panda\n", "line 1: must start with an id such as Label_A"),
        ("label_list.txt", "", "is empty"),
        ("attribute_list.txt", "Attr_X_1, a, b\n", "must start with an id"),
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


def test_an_ambiguous_name_matches_nothing(imagenet):
    tags = {"crane": ["tall"], "Polar-Bear": ["white"], "giant panda": ["black"]}
    context = DescriptiveContext.from_tags(tags)
    found = match_names(context, imagenet=imagenet)
    assert found.wnids == {"giant panda": "n02510455"}  # WordNet says ice bear


def test_matching_nothing_is_refused():
    context = DescriptiveContext.from_tags({"thing": ["odd"]})
    with pytest.raises(ContextError, match="none of its 1 labels"):
        match_wnids(context)


def test_tags_of_wnids_come_from_one_file_or_from_both(tmp_path):
    path = tmp_path / "ImNet_A.json"
    path.write_text(json.dumps({"n02510455": ["thick_fur", "black"], "n1": ["odd"]}))
    (tmp_path / "ImNet_O.json").write_text(json.dumps({"n2": ["round"]}))
    assert load_imnet_attributes(path).columns == ("black", "odd", "thick fur")
    both = load_imnet_attributes(tmp_path)
    assert both.labels == ("n02510455", "n1", "n2")
    assert match_wnids(both).wnids == {"n02510455": "n02510455"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: is not JSON"),
        ("[]", "must be a JSON object"),
        ('{"n1": "round"}', "attributes of 'n1' must be a list"),
    ],
)
def test_malformed_tags_are_refused(tmp_path, text, message):
    path = tmp_path / "ImNet_A.json"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        load_imnet_attributes(path)


def test_partial_contexts_load_as_released(shared_data):
    lad = load_lad(shared_data / "lad")
    assert lad.attributes.values.shape == (230, 320)  # 359 with namesakes
    found = match_lad(lad)
    assert str(found) == "45 of 230 labels are ImageNet-1K labels"
    tags = match_wnids(load_imnet_attributes(shared_data / "imnet-attributes"))
    assert str(tags) == "38 of 115 labels are ImageNet-1K labels"
