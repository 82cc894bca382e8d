"""Clusters of labels, and their names."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from command_line import call

from phcle import PHCLE, LabelEmbedding, RelationalContext

EDGES = [
    *((x, "felid") for x in ("cat", "lion", "tiger", "lynx")),
    *((x, "canid") for x in ("dog", "wolf", "fox")),
    *((x, "fish") for x in ("carp", "eel", "cod", "tuna")),
    *((x, "animal") for x in ("felid", "canid", "fish")),
    ("animal", "thing"),
]


@pytest.fixture(scope="module")
def animals():
    tree = RelationalContext.from_hierarchy(EDGES, name="tree")
    model = PHCLE(dim=4, choose=False)
    return model.fit(tree, names={"felid": "cat family"}).embedding_


@pytest.fixture
def named(animals, tmp_path):
    """Move labels so that they form these groups; give the names of the clusters."""

    def named(*groups):
        moved = np.zeros_like(animals.vectors)
        moved[:, 2] = 0.1
        for i, group in enumerate(groups):
            angle = 2 * np.pi * i / len(groups)
            for label in group:
                row = animals.labels.index(label)
                moved[row, :2] = np.cos(angle), np.sin(angle)
        replace(animals, vectors=moved).save(tmp_path / "moved.phcle")
        labels = [label for group in groups for label in group]
        out = tmp_path / "clusters.csv"
        count = ("--count", len(groups), "--out", out)
        call("clusters", tmp_path / "moved.phcle", *labels, *count)
        with out.open(newline="") as file:
            of = {row["label"]: row["cluster_name"] for row in csv.DictReader(file)}
        found = [{of[label] for label in group} for group in groups]
        assert all(len(names) == 1 for names in found)
        return [name for names in found for name in names]

    return named


def test_the_nearest_common_node_is_the_name(named):
    groups = [("cat", "lion", "tiger"), ("carp", "eel", "cod", "tuna"), ("dog", "wolf")]
    assert named(*groups) == ["cat family", "fish", "canid"]


def test_a_node_above_all_labels_names_no_part_of_them(named):
    for name in named(("cat", "wolf", "carp"), ("lion", "dog", "eel")):
        assert name not in ("animal", "thing")


def test_one_label_is_its_own_name_and_no_name_is_given_twice(named):
    halves = [("cat", "lion"), ("tiger", "lynx")]
    others = [("tuna",), ("dog", "wolf", "fox"), ("carp", "eel", "cod")]
    names = named(*others, *halves)
    assert names[:3] == ["tuna", "canid", "fish"]
    assert all(name.startswith("cat family such as ") for name in names[3:])
    assert len(set(names)) == 5


def test_more_labels_than_memory_holds_are_refused(tmp_path, rng):
    labels = tuple(f"label {i}" for i in range(5_001))
    file = tmp_path / "many.phcle"
    LabelEmbedding(labels, rng.normal(size=(5_001, 2))).save(file)
    assert "at most 5,000 labels" in call("clusters", file, code=2).stderr
