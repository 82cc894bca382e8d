"""Pages of taxonomy nodes: labels, what they share, what is odd among them."""

from __future__ import annotations

import numpy as np
import pytest
from patchy_table import WRONG


def test_a_node_has_its_labels_children_and_place(client):
    page = client.get("/api/node", params={"node": "carnivore"}).json()
    assert [x["node"] for x in page["path"]] == ["animal", "carnivore"]
    assert {x["node"]: x["n_labels"] for x in page["children"]} == {
        "felid": 4,
        "canid": 4,
    }
    assert page["n_labels"] == 8
    assert {x["label"] for x in page["labels"]} == {
        *("cat", "lion", "tiger", "lynx", "dog", "wolf", "fox", "jackal")
    }


def test_what_the_labels_share_is_common_here_and_rare_elsewhere(client):
    page = client.get("/api/node", params={"node": "bird"}).json()
    (wings,) = [x for x in page["shared"] if x["column"] == "wings"]
    assert wings["inside"] == 1
    assert wings["outside"] == 0
    assert wings["n_known"] == 4
    assert client.get("/api/node", params={"node": "animal"}).json()["shared"] == []


def test_the_wrong_cell_is_odd_in_its_group(patchy_client, patchy):
    label, column = WRONG
    page = patchy_client.get("/api/node", params={"node": "g0"}).json()
    first = page["odd_cells"][0]
    assert (first["label"], first["column"], first["value"]) == (label, column, "large")
    assert first["usual"] == "small"
    size = next(x for x in page["shared"] if x["column"] == "size")
    assert size["value"] == "small"
    table = patchy.predicting[0]
    at = table.columns.index("size=small")
    own = [table.observed_row(f"x{i}")[at] for i in range(20)]
    assert size["inside"] == pytest.approx(np.nanmean(own))


def test_breadcrumbs_lead_to_nodes_and_nodes_to_map_and_table(client):
    page = client.get("/label", params={"label": "cat"}).text
    for node in ("animal", "carnivore", "felid"):
        assert f'href="/node?node={node}"' in page
    page = client.get("/node", params={"node": "felid"})
    assert page.status_code == 200
    assert "cats &amp; &lt;b&gt;co&lt;/b&gt;" in page.text
    branch = "%5B%22%22%2C%22branch%22%2C%22in%22%2C%5B%22felid%22%5D%5D"
    assert f'href="/?filter={branch}"' in page.text
    assert f'href="/table?filter={branch}"' in page.text
    assert 'href="/node?node=animal"' in page.text


def test_a_node_is_found_by_its_name_and_an_unknown_one_leads_on(client):
    page = client.get("/api/node", params={"node": "cats & <b>co</b>"}).json()
    assert page["node"] == "felid"
    wrong = client.get("/node", params={"node": "carnivor"})
    assert wrong.status_code == 404
    assert 'href="/node?node=carnivore"' in wrong.text
