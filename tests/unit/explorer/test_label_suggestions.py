"""Suggestions: the best first, slips forgiven, never a failure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phcle import LabelEmbedding

NAMES = ["coffeepot", "coffee mug", "teapot", "golden retriever", "polar bear", "bear"]
NAMES_OF = {f"n{i}": name for i, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def suggested(client_of):
    """The names that are suggested for what is typed."""
    embedding = LabelEmbedding(tuple(NAMES_OF), np.eye(len(NAMES)), names=NAMES_OF)
    with client_of(embedding) as client:

        def suggested(typed, limit=10):
            asked = {"q": typed, "limit": limit}
            found = client.get("/api/search", params=asked).json()
            return [NAMES_OF[x["label"]] for x in found["labels"]]

        yield suggested


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("bear", "bear"),
        ("COFFEEPOT", "coffeepot"),
        ("n3", "golden retriever"),
        ("coffe", "coffeepot"),
        ("retr", "golden retriever"),
        ("retreiver", "golden retriever"),
        ("cofepot", "coffeepot"),
        ("polra bear", "polar bear"),
        ("teapto", "teapot"),
        ("apot", "teapot"),
    ],
)
def test_the_meant_label_comes_first(suggested, typed, first):
    assert suggested(typed)[0] == first


def test_nothing_is_suggested_for_nothing(suggested):
    assert suggested("  ") == []
    assert suggested("xyzzy") == []


@given(st.one_of(st.text(max_size=200), st.just("co")), st.integers(1, 5))
def test_any_text_may_be_typed_and_the_limit_holds(suggested, typed, limit):
    found = suggested(typed, limit)
    assert len(found) == len(set(found)) <= limit


@given(st.sampled_from([x for x in NAMES if len(x) > 4]), st.data())
def test_one_swapped_pair_of_letters_is_forgiven(suggested, name, data):
    at = data.draw(st.integers(0, len(name) - 2))
    typed = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    assert name in suggested(typed)


def test_other_spellings_are_found(client_of):
    spellings = {"BABY beds": "Cots"}
    embedding = LabelEmbedding(("Beds", "Cots"), np.eye(2), spellings=spellings)
    with client_of(embedding) as client:
        asked = {"q": "baby Beds", "limit": 1}
        (found,) = client.get("/api/search", params=asked).json()["labels"]
    assert found["label"] == "Cots"
