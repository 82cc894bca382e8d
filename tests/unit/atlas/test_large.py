"""A large vocabulary: a sample on the map that says so, and all labels elsewhere."""

from __future__ import annotations

import base64

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from phcle.atlas import Opened, Workspace


def unpacked(text):
    kind, _, content = text.partition(":")
    return np.frombuffer(base64.b64decode(content), f"<{kind}")


@pytest.fixture(scope="module")
def large(patchy):
    """The embedding of 120 labels, of which the map can hold 40."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Opened, "most_on_map", 100)
        patch.setattr(Opened, "n_sampled", 40)
        made = Workspace(Opened(patchy, "large"))
        made.opened.map.wait()
        yield made


@pytest.fixture(scope="module")
def large_client(large, client_of):
    with client_of(large) as client:
        yield client


def test_the_map_is_a_sample_and_says_so(large_client, patchy):
    info = large_client.get("/api/info").json()
    assert info["labels"] == 120
    data = large_client.get("/api/map").json()
    assert len(data["names"]) == 40
    assert "a sample of 40 of 120 labels" in data["method"]
    rows = unpacked(data["rows"])
    labels = data["labels"] or data["names"]
    assert [patchy.labels[i] for i in rows] == labels


def test_every_label_is_found_and_has_neighbours_reasons_and_a_place(
    large_client, large, patchy
):
    gaps = {x.label for x in patchy.complete().cells}
    outside = next(x for x in gaps if x not in large.opened.shown)
    found = large_client.get("/api/search", params={"q": outside}).json()
    assert found["labels"][0]["label"] == outside
    page = large_client.get("/api/label", params={"label": outside}).json()
    near = [x["label"] for x in page["neighbours"]]
    assert near == [label for label, _ in patchy.nearest(outside, 15)]
    assert np.abs(page["place"]).max() <= 1
    inside = large_client.get(
        "/api/label", params={"label": large.opened.shown.labels[0]}
    )
    assert inside.json()["place"] is None  # the map has it
    row = large_client.get("/api/row", params={"label": outside}).json()
    why = {x["column"]: x["why"] for x in row["cells"] if not x["observed"]}
    assert why == {x.column: x.why for x in patchy.complete([outside]).cells}
    names = large_client.get("/api/names", params={"row": page["row"]}).json()
    assert names["labels"] == [outside]
