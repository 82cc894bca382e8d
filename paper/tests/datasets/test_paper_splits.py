"""The splits of the paper against its printed counts."""

from __future__ import annotations

import json
from itertools import combinations

from phcle_paper.datasets import (
    APY_PAPER,
    AWA_PAPER,
    load_apy,
    load_class_attributes,
    load_xlsa17,
)


def test_awa_wnids_are_imagenet_labels(imagenet):
    assert set(AWA_PAPER.wnids) == set(AWA_PAPER.classes)
    assert set(AWA_PAPER.wnids.values()) <= set(imagenet.labels)
    assert imagenet.names[AWA_PAPER.wnids["mole"]] == "breakwater"
    assert imagenet.names[AWA_PAPER.wnids["mouse"]] == "mouse"


def count(n_images, classes):
    return sum(n_images[name] for name in classes)


def test_awa_counts_are_those_of_the_paper(shared_data):
    data = load_xlsa17(shared_data / "xlsa17" / "AWA1", "bow300")
    assert len(data.select(AWA_PAPER.seen)[1]) == 11090
    assert len(data.select(AWA_PAPER.unseen)[1]) == 4019
    overlap = json.loads((shared_data / "overlap.json").read_text())["awa"]
    found = {name.replace("+", " "): row["wnid"] for name, row in overlap.items()}
    assert found == AWA_PAPER.wnids


def test_apy_counts_fit_no_other_choice_of_classes(shared_data):
    labels = load_apy(shared_data / "apy").labels.tolist()
    proposed = load_class_attributes(shared_data / "xlsa17" / "APY").splits
    n_images = {name: labels.count(name) for name in set(labels)}
    for split, size, total, expected in (
        ("seen", 17, 6925, APY_PAPER.seen),
        ("unseen", 5, 1333, APY_PAPER.unseen),
    ):
        fitting = [
            set(chosen)
            for chosen in combinations(proposed[split], size)
            if count(n_images, chosen) == total
        ]
        assert fitting == [set(expected)]
