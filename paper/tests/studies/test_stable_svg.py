"""Names in a figure do not depend on the last digits of its layout."""

from __future__ import annotations

import re

import pytest

from phcle_paper.studies.stable_svg import svg_of, with_counted_names

figure = pytest.importorskip("matplotlib.figure", reason="extra figures is missing")


def drawn(shift):
    made = figure.Figure(figsize=(2, 1))
    axes = made.add_axes([0.1 + shift, 0.2, 0.8, 0.7])
    axes.plot([0, 1], [1, 0], "o-")
    return svg_of(made)


def test_figures_that_differ_by_rounding_are_the_same_bytes():
    assert drawn(0) == drawn(1e-15)
    assert drawn(0) != drawn(0.01)


def test_every_reference_has_its_target():
    svg = drawn(0)
    named = set(re.findall(r'\bid="([^"]+)"', svg))
    used = set(re.findall(r"#([\w.-]+-\d+)\b", svg))
    assert len(used) > 1
    assert used <= named


def test_names_of_two_figures_do_not_meet_on_a_page():
    one, two = drawn(0), drawn(0.01)
    ids = [set(re.findall(r'\bid="(f\w+-\d+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_words_that_look_like_names_stay():
    text = "<text>deed0123456789 and p0123456789</text>"
    assert with_counted_names(text) == text
