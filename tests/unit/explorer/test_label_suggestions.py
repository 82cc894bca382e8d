"""Suggestions: the best first, slips forgiven, never a failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rapidfuzz", reason="rapidfuzz is not installed")

from phcle.explorer.label_suggestions import Suggestions

NAMES = ["coffeepot", "coffee mug", "teapot", "golden retriever", "polar bear", "bear"]
IDS = [f"n{i}" for i in range(len(NAMES))]


@pytest.fixture(scope="module")
def suggestions():
    return Suggestions(IDS, NAMES)


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
def test_the_meant_label_comes_first(suggestions, typed, first):
    assert NAMES[suggestions.find(typed)[0]] == first


def test_nothing_is_suggested_for_nothing(suggestions):
    assert suggestions.find("  ") == []
    assert suggestions.find("xyzzy") == []
    assert suggestions.find("bear", 0) == []


def test_the_limit_holds_and_nobody_comes_twice(suggestions):
    found = suggestions.find("co", 2)
    assert len(found) == len(set(found)) == 2


@given(st.text(max_size=200), st.integers(1, 5))
def test_any_text_may_be_typed(typed, limit):
    found = Suggestions(IDS, NAMES).find(typed, limit)
    assert len(found) == len(set(found)) <= limit
    assert all(0 <= i < len(NAMES) for i in found)


@given(st.sampled_from(NAMES), st.data())
def test_one_swapped_pair_of_letters_is_forgiven(name, data):
    at = data.draw(st.integers(0, len(name) - 2))
    typed = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    if len(name) > 4:
        assert name in [NAMES[i] for i in Suggestions(IDS, NAMES).find(typed)]


def test_other_spellings_are_found():
    found = Suggestions(["Beds", "Cots"], ["Beds", "Cots"], {"BABY beds": "Cots"})
    assert found.find("baby Beds", 1) == [1]
    assert found.exactly("Baby beds") == [1]
