"""Gaps of a label or a column to accept or reject, and suspicious known cells."""

from __future__ import annotations

from dataclasses import replace

import pytest


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
        assert sum(cell["probabilities"].values()) == pytest.approx(1, abs=1e-3)
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


@pytest.fixture(scope="module")
def old_client(patchy, client_of):
    """A client of an embedding whose fit predicted no gaps."""
    with client_of(replace(patchy, predictions={}, origin={})) as client:
        yield client


def test_gaps_that_the_fit_did_not_predict_have_values_without_confidence(old_client):
    for asked in ({"column": '["looks","size"]'}, {"label": "x5"}):
        cells = old_client.get("/api/gaps", params=asked).json()["cells"]
        assert cells
        assert all(x["value"] in ("small", "medium", "large") for x in cells[:1])
        assert {(x["confidence"], x["low"], x["high"]) for x in cells} == {(None,) * 3}
    page = old_client.get("/complete").text
    assert "The fit predicted no gaps" in page
    assert "not measured" in page


@pytest.mark.parametrize(
    "address",
    [
        *("/label?label=x7", "/table?sort=id", "/compare?label=x1&label=x2", "/about"),
        *('/match?has=["looks","wild"]', "/node?node=g0", "/api/describe?label=x7"),
        *("/api/colour?context=looks&column=mass", "/api/facets"),
        "/api/colour?context=looks&column=size%3Dlarge",
    ],
)
def test_every_page_answers_for_gaps_that_the_fit_did_not_predict(old_client, address):
    assert old_client.get(address).status_code == 200


def test_nothing_is_suspicious_without_predictions_and_it_is_said_why(old_client):
    answer = old_client.get("/api/suspicious").json()
    assert answer["cells"] == []
    assert "predicted no gaps" in answer["message"]
