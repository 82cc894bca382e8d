"""A large vocabulary: a sample on the map that says so, and all labels elsewhere."""

from __future__ import annotations

import base64

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from phcle.explorer import Opened, Workspace


@pytest.fixture(scope="module")
def large(patchy):
    """The embedding of 120 labels, of which the map can hold 40."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Opened, "most_on_map", 100)
        patch.setattr(Opened, "n_sampled", 40)
        made = Workspace(Opened(patchy, "large"))
        made.opened.on_map.background.wait()
        yield made


@pytest.fixture(scope="module")
def large_client(large, client_of):
    with client_of(large) as client:
        yield client


def test_the_map_is_a_sample_and_says_so(large_client, large):
    data = large_client.get("/api/map").json()
    assert len(data["names"]) == 40
    assert "a sample of 40 of 120 labels" in data["method"]
    assert data["ready"]
    assert large_client.get("/api/status").json()["labels"]["ready"]
    colour = large_client.get(
        "/api/colour", params={"context": "looks", "column": "wild"}
    )
    assert colour.status_code == 200


def test_every_label_is_found_and_has_neighbours_and_a_place(
    large_client, large, patchy
):
    outside = next(x for x in patchy.labels if x not in large.opened.on_map.embedding)
    found = large_client.get("/api/search", params={"q": outside}).json()
    assert found["labels"][0]["label"] == outside
    near = large_client.get("/api/nearest", params={"label": outside, "k": 5}).json()
    assert [x["label"] for x in near["neighbours"]] == [
        label for label, _ in patchy.nearest(outside, 5)
    ]
    place = large_client.get("/api/place", params={"label": outside}).json()
    assert -1 <= place["x"] <= 1
    assert -1 <= place["y"] <= 1
    assert large_client.get("/label", params={"label": outside}).status_code == 200


def test_a_label_on_the_map_has_the_place_that_is_drawn(large):
    opened = large.opened
    label = opened.on_map.embedding.labels[3]
    assert np.allclose(opened.places_of([label]), opened.on_map.places[3], atol=0.3)


def test_the_table_has_all_labels_and_the_map_its_own(large_client, large):
    filters = '["looks","size","in",["small"]]'
    table = large_client.get("/api/table", params={"filter": filters, "size": 500})
    assert table.json()["total"] == 120
    rows = large_client.get("/api/rows", params={"filter": filters}).json()
    assert rows["n"] == table.json()["n"]
    shown = np.frombuffer(base64.b64decode(rows["rows"]), "<u4")
    names = {large.opened.on_map.embedding.labels[i] for i in shown}
    assert names < {row["label"] for row in table.json()["rows"]}


def test_predictions_of_the_sample_are_those_of_the_whole(large):
    opened = large.opened
    whole, part = (x.columns.get("looks", "size") for x in (opened, opened.on_map))
    assert np.nanmax(part.confidence) <= 1
    expected = whole.confidence[opened.sample]
    assert np.array_equal(part.confidence, expected, equal_nan=True)


def test_a_label_outside_the_sample_is_pinned_on_the_map(
    browser, serving, large, patchy
):
    outside = next(x for x in patchy.labels if x not in large.opened.on_map.embedding)
    complaints = []
    with serving(large) as address:
        page = browser.new_page(reduced_motion="reduce")
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{address}?label={outside}")
        page.wait_for_selector("#map[data-ready=yes]")
        name = page.locator(".map-panel h2")
        assert name.inner_text() == patchy.name_of(outside)
        assert "Not among the labels on the map" in page.inner_text(".map-panel")
        assert page.evaluate("Phcle.map.pinned")[2] == patchy.name_of(outside)
        page.locator(".map-panel .neighbours button").first.click()
        page.wait_for_function(
            "outside => Phcle.map.chosen_label() !== outside", arg=outside
        )
        page.close()
    assert complaints == []
