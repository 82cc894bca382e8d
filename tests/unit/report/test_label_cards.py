"""What a report knows of each label."""

from __future__ import annotations

import base64
import html

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.report import label_cards as cards

SIZES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32}


def unpacked(text):
    kind, _, content = text.partition(":")
    return np.frombuffer(base64.b64decode(content), SIZES[kind])


def lists(part, prefix=""):
    """Names of the columns of each row."""
    ends = unpacked(part[f"{prefix}counts"]).astype(int).cumsum()
    parts = np.split(unpacked(part[f"{prefix}at"]), ends[:-1])
    return [[part["columns"][i] for i in own] for own in parts]


@pytest.fixture
def near(zoo_embedding):
    units = zoo_embedding.unit_vectors
    return np.argsort(-(units @ units.T), axis=1)[:, 1:4]


def test_facts_are_parents_and_tags(zoo_embedding, near):
    tree, looks = cards.label_cards(zoo_embedding, near)["facts"]
    row = zoo_embedding.labels.index
    assert lists(tree)[row("robin")] == ["bird"]
    above = {**tree["above"], "columns": tree["columns"]}
    assert lists(above)[tree["columns"].index("bird")] == ["animal"]
    assert sorted(lists(looks)[row("eagle")]) == ["claws", "wings"]
    assert lists(looks)[row("owl")] == []
    assert tree["verb"] == "are below"


def test_tags_are_predicted_for_labels_that_have_none():
    labels = [f"label {i}" for i in range(80)]
    tree = [(label, f"group {i % 8}") for i, label in enumerate(labels)]
    tree += [(f"group {i}", f"half {i % 2}") for i in range(8)]
    tags = {x: [f"tag {i % 8}", f"half {i % 2}"] for i, x in enumerate(labels[:56])}
    contexts = [
        RelationalContext.from_hierarchy(tree, name="tree"),
        DescriptiveContext.from_tags(tags, name="looks"),
    ]
    embedding = PHCLE(dim=8, backend="numpy").fit(contexts).embedding_
    near = np.zeros((80, 1), int)
    looks = cards.label_cards(embedding, near)["facts"][1]
    guesses = lists(looks, "guess_")
    assert not any(guesses[embedding.labels.index(x)] for x in labels[:56])
    right = [
        f"half {i % 2}" in guesses[embedding.row_of[f"label {i}"]]
        for i in range(56, 80)
    ]
    assert np.mean(right) > 0.8
    assert (unpacked(looks["guess_sure"]) >= 50).all()


def test_what_would_make_the_file_too_large_is_left_out(
    zoo_embedding, near, monkeypatch
):
    whole = cards.label_cards(zoo_embedding, near)
    monkeypatch.setattr(cards, "MOST_LETTERS", len(cards.compressed(whole["facts"][0])))
    small = cards.label_cards(zoo_embedding, near)
    assert [fact["context"] for fact in small["facts"]] == ["tree"]
    assert small["cosines"] == whole["cosines"]
    assert whole["left_out"] == []
    assert small["left_out"] == ["looks"]


def test_page_and_answer_name_what_is_left_out_and_the_remedy(
    zoo_embedding, tmp_path, monkeypatch
):
    from phcle.report import write_report

    monkeypatch.setattr(cards, "MOST_LETTERS", 0)
    made = write_report(zoo_embedding, tmp_path)
    page = html.unescape((tmp_path / "report.html").read_text("utf-8"))
    for said in ("leave out 'tree', 'looks'", "`phcle explore` shows them"):
        assert said in made.left_out
        assert said in page
    monkeypatch.undo()
    assert write_report(zoo_embedding, tmp_path).left_out == ""
