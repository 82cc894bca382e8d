"""Names of groups of labels."""

from __future__ import annotations

import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.uses.cluster_names import cluster_names

EDGES = [
    *((x, "felid") for x in ("cat", "lion", "tiger", "lynx")),
    *((x, "canid") for x in ("dog", "wolf", "fox")),
    *((x, "fish") for x in ("carp", "eel", "cod", "tuna")),
    *((x, "animal") for x in ("felid", "canid", "fish")),
    ("animal", "thing"),
]
TAGS = {
    "cat": {"pet"},
    "dog": {"pet", "guard"},
    "carp": {"pet"},
    "lion": {"wild"},
    "tiger": {"wild"},
    "wolf": {"wild"},
    "cod": {"wild"},
    "eel": {"wild"},
}


@pytest.fixture(scope="module")
def animals():
    contexts = [
        RelationalContext.from_hierarchy(EDGES, name="tree"),
        DescriptiveContext.from_tags(TAGS, name="uses"),
    ]
    names = {"felid": "cat family"}
    model = PHCLE(dim=4, choose=False, calibrate=False)
    return model.fit(contexts, names=names).embedding_


def test_the_nearest_common_node_is_the_name(animals):
    groups = [("cat", "lion", "tiger"), ("carp", "eel", "cod", "tuna"), ("dog", "wolf")]
    assert cluster_names(animals, groups) == ("cat family", "fish", "canid")


def test_a_node_above_all_labels_names_no_part_of_them(animals):
    groups = [("cat", "wolf", "carp"), ("lion", "dog", "eel")]
    for name in cluster_names(animals, groups):
        assert name not in ("animal", "thing")


def test_a_tag_names_labels_that_no_node_holds_together(animals):
    groups = [("cat", "dog", "carp"), ("lion", "wolf", "eel", "tiger", "cod")]
    assert cluster_names(animals, groups) == ("pet", "wild")


def test_labels_with_nothing_in_common_have_the_name_of_one_of_them(animals):
    group = ("cat", "wolf", "cod", "dog")
    name, other = cluster_names(animals, [group, ("lion", "carp", "fox")])
    assert name.removesuffix(" and others") in group
    assert other.endswith("and others")


def test_one_label_is_its_own_name_and_no_name_is_given_twice(animals):
    halves = [("cat", "lion"), ("tiger", "lynx")]
    others = [("tuna",), ("dog", "wolf", "fox"), ("carp", "eel", "cod")]
    names = cluster_names(animals, [*others, *halves])
    assert names[:3] == ("tuna", "canid", "fish")
    assert all(name.startswith("cat family such as ") for name in names[3:])
    assert len(set(names)) == 5
