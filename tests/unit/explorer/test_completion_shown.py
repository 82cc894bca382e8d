"""Intervals of predicted numbers, and how good the completion is, on the pages."""

from __future__ import annotations

import re

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext

INTERVAL = re.compile(r"-?[\d.]+ \(-?[\d.]+ to -?[\d.]+\)")


@pytest.fixture(scope="module")
def number(patchy):
    """A label with a predicted number, and the number."""
    for label in patchy.labels:
        for attribute in patchy.describe(label).predicted:
            if attribute.low is not None:
                return label, attribute
    raise AssertionError("no number is predicted")


def shown_number(before, text):
    """A number and its interval behind some words of a page."""
    number = r"(-?[\d.]+)"
    interval = rf"{number}\D+?{number} to {number}"
    return [float(x) for x in re.search(re.escape(before) + interval, text).groups()]


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def test_about_shows_the_scores_of_every_column(patchy_client, patchy):
    text = text_of(patchy_client.get("/about"))
    assert "How good is the completion? Completion of 5 columns on hidden" in text
    skill = patchy_client.get("/api/info").json()["completion"]
    assert [x["column"] for x in skill["columns"]] == [
        *("mass", "length", "noise", "size", "wild")
    ]
    for x in skill["columns"]:
        scores = [x["score"], x["usual"], x["family"]]
        shown = " ".join("–" if y is None else f"{y:.2f}" for y in scores)
        row = f"{x['column']} looks {x['cells']} {x['measure']} {shown}"
        assert f"{row} {x['whole_rows']:.0%} {x['verdict']}" in text


def test_the_page_of_a_label_shows_intervals_of_numbers(patchy_client, number):
    label, attribute = number
    text = text_of(patchy_client.get("/label", params={"label": label}))
    assert shown_number(f"{attribute.name} predicted ", text) == pytest.approx(
        (attribute.value, attribute.low, attribute.high), rel=0.05
    )


def test_the_page_of_a_label_has_its_whole_row(patchy_client, patchy):
    table = patchy.predicting[0]
    for label in patchy.labels[:10]:
        page = patchy_client.get("/api/label", params={"label": label}).json()
        cells = {x["column"]: x for x in page["cells"]}
        assert list(cells) == ["mass", "length", "noise", "size", "wild"]
        known = table.observed_row(label)
        for field in table.fields:
            cell = cells[field.title]
            assert cell["observed"] is not bool(np.isnan(known[field.at.start]))
            if field.kind == "category":
                assert cell["text"] in ("small", "medium", "large")
            if field.kind == "truth":
                assert cell["text"] in ("yes", "no")
            if field.kind != "number" and not cell["observed"]:
                assert 0.3 < cell["confidence"] <= 1
        text = text_of(patchy_client.get("/label", params={"label": label}))
        assert "size=" not in text


def test_compared_numbers_have_intervals(patchy_client, number):
    label, attribute = number
    other = "x1" if label == "x0" else "x0"
    params = {"label": [label, other]}
    answer = patchy_client.get("/api/compare", params=params).json()
    (row,) = [x for x in answer["attributes"] if x["name"] == attribute.name]
    assert row["cells"][0] == {
        **{"value": pytest.approx(attribute.value), "observed": False},
        "confidence": None,
        "low": pytest.approx(attribute.low, rel=1e-5),  # in single precision
        "high": pytest.approx(attribute.high, rel=1e-5),
    }
    text = text_of(patchy_client.get("/compare", params=params))
    assert shown_number("", text) == pytest.approx(
        (attribute.value, attribute.low, attribute.high), rel=0.05
    )


def test_a_new_label_has_intervals_of_numbers(
    patchy_workspace, serving, browser, number
):
    label, attribute = number
    group = f"g{int(label[1:]) // 20}"
    with serving(patchy_workspace) as address:
        page = browser.new_page()
        page.goto(f"{address.rstrip('/')}/add?label=new&parent={group}")
        row = page.locator(".attributes.predicted li", has_text=attribute.name)
        assert INTERVAL.fullmatch(row.locator(".interval").inner_text())
        page.close()


def test_an_observed_zero_of_a_number_is_shown_as_zero(client_of):
    labels = [f"x{i}" for i in range(12)]
    cells = {
        "legs": ["0" if i % 3 else "4" for i in range(12)],
        "flies": ["no" if i % 2 else "yes" for i in range(12)],
    }
    cells["legs"][2] = "2.5"
    table = DescriptiveContext.from_cells(labels, cells, "looks")
    embedding = PHCLE(dim=2, completion="none").fit(table).embedding_
    params = {"label": ["x0", "x1"]}
    with client_of(embedding) as client:
        answer = client.get("/api/compare", params=params).json()
        page = text_of(client.get("/compare", params=params))
    is_number = {x["name"]: x["is_number"] for x in answer["attributes"]}
    assert is_number == {"legs": True, "flies": False}
    assert "legs looks 4 0 " in page
    assert "flies looks yes no " in page
