"""Gaps of a label or a column to accept or reject, and suspicious known cells."""

from __future__ import annotations

import time

import pytest
from patchy_table import WRONG


def test_the_gaps_of_a_column_are_those_of_complete_the_surest_first(
    patchy_client, patchy
):
    expected = {x.label: x for x in patchy.complete(columns=["size"]).cells}
    asked = {"column": '["looks","size"]'}
    answer = patchy_client.get("/api/gaps", params=asked).json()
    assert answer["n"] == len(expected)
    assert answer["cells"]
    sure = [cell["confidence"] for cell in answer["cells"]]
    assert sure == sorted(sure, reverse=True)
    for cell in answer["cells"]:
        own = expected[cell["label"]]
        assert (cell["value"], cell["why"]) == (own.value, own.why)
        assert cell["family"] == own.family
        assert sum(cell["probabilities"].values()) == pytest.approx(1)
    assert answer["skill"]["column"] == "size"
    asked |= {"least_sure_first": "true"}
    reverse = patchy_client.get("/api/gaps", params=asked).json()
    assert reverse["cells"][0]["confidence"] <= min(sure)


def test_numbers_with_narrow_intervals_come_first(patchy_client):
    asked = {"column": '["looks","mass"]'}
    cells = patchy_client.get("/api/gaps", params=asked).json()["cells"]
    ratio = [cell["high"] / cell["low"] for cell in cells]  # mass has a log scale
    assert ratio == pytest.approx(sorted(ratio), rel=1e-3)
    assert all(cell["interval"] for cell in cells)


def test_the_gaps_of_a_label_are_all_of_its_unknown_cells(patchy_client, patchy):
    label = next(x.label for x in patchy.complete().cells)
    expected = {x.column for x in patchy.complete(labels=[label]).cells}
    answer = patchy_client.get("/api/gaps", params={"label": label}).json()
    assert {cell["column"] for cell in answer["cells"]} == expected
    assert answer["label"]["label"] == label


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 400),
        ({"label": "nobody"}, 404),
        ({"column": "x"}, 400),
        ({"column": '["looks","none"]'}, 400),
        ({"column": '["none","size"]'}, 400),
    ],
)
def test_gaps_of_nothing_are_refused(patchy_client, asked, status):
    assert patchy_client.get("/api/gaps", params=asked).status_code == status


def test_the_page_lists_columns_with_gaps_and_their_skill(patchy_client):
    page = patchy_client.get("/complete").text
    for column in ("mass", "length", "size", "wild"):
        assert f"<bdi>{column}</bdi>" in page
    assert "the family" in page or "the usual" in page or "the nearest" in page


def test_the_page_of_a_column_lists_its_gaps_with_reasons(patchy_client, patchy):
    n = len(patchy.complete(columns=["size"]).cells)
    page = patchy_client.get("/complete", params={"column": '["looks","size"]'}).text
    assert page.count('class="gap"') == n
    assert page.count("why:") == n
    assert "family:" in page


def test_an_embedding_without_gaps_says_so(bare_client):
    page = bare_client.get("/complete")
    assert page.status_code == 200
    assert "no table with gaps that can be predicted" in page.text
    assert 'id="gaps-column"' not in page.text


def test_a_label_without_gaps_says_so(patchy_client, patchy):
    has_gaps = {x.label for x in patchy.complete().cells}
    label = next(x for x in patchy.labels if x not in has_gaps)
    page = patchy_client.get("/complete", params={"label": label}).text
    assert "Every cell is known" in page
    assert 'class="gap"' not in page


def test_suspicious_cells_are_looked_for_on_request_only(fresh_patchy_client):
    client = fresh_patchy_client
    assert client.get("/api/suspicious").json()["state"] == "waiting"
    assert client.get("/api/suspicious/start").status_code == 405
    assert client.post("/api/suspicious/start").json()["state"] == "running"
    while True:
        answer = client.get("/api/suspicious").json()
        if answer["state"] != "running":
            break
        time.sleep(0.1)
    assert answer["state"] == "done"
    found = [(x["label"], x["column"]) for x in answer["cells"]]
    assert WRONG in found[:5]
