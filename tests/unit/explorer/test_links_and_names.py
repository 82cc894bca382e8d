"""Names with any signs survive links, tables and files; a wrong one leads on."""

from __future__ import annotations

import csv
import html
import io
import re

import numpy as np
import pytest
from command_line import live_formulas

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext

ODD = [
    "name",
    "label",
    "a::b",
    "c: d",
    "=1+1",
    "@sum",
    "-minus",
    "+plus",
    "\tab",
    "٢شاي",
]


@pytest.fixture(scope="module")
def odd_client(client_of):
    labels = [*(x.strip() for x in ODD), *(f"thing {i}" for i in range(12))]
    tags = {x: ["x::y", "p: q"] if i % 2 else ["r"] for i, x in enumerate(labels)}
    edges = [(x, "even" if i % 2 else "odd") for i, x in enumerate(labels)]
    edges += [("even", "all"), ("odd", "all")]
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_tags(tags, name="k::v"),
    ]
    model = PHCLE(dim=3, backend="numpy", random_state=0)
    embedding = model.fit(contexts, names={"thing 3": "=HYPERLINK(1)"}).embedding_
    with client_of(embedding) as client:
        yield client


def lines_of(response):
    return list(csv.reader(io.StringIO(response.text)))


def test_similarities_are_right_for_labels_called_name_and_label(odd_client):
    asked = {"label": ["name", "label", "thing 1"]}
    answer = odd_client.get("/api/compare", params=asked).json()
    lines = lines_of(odd_client.get("/api/compare", params=asked | {"format": "csv"}))
    assert lines[0] == ["label", "name", "name", "label", "thing 1"]
    numbers = np.array([[float(x) for x in line[2:]] for line in lines[1:]])
    assert np.allclose(numbers, answer["similarities"])


@pytest.mark.parametrize("label", ["=1+1", "@sum", "-minus", "+plus"])
def test_no_cell_of_a_file_is_a_formula(odd_client, label):
    asked = {"label": [label, "thing 3"], "format": "csv"}
    lines = lines_of(odd_client.get("/api/compare", params=asked))
    cells = [cell for line in lines for cell in line]
    assert f"'{label}" in cells
    assert "'=HYPERLINK(1)" in cells
    assert list(live_formulas(cells)) == []


def test_attributes_with_colons_survive_their_links(odd_client):
    page = odd_client.get("/match").text
    links = [html.unescape(x) for x in re.findall(r'href="(/match\?[^"]+)"', page)]
    shown = [odd_client.get(link) for link in links]
    assert [x.status_code for x in shown] == [200] * 3
    assert any('<th scope="col"><bdi>x::y</bdi></th>' in x.text for x in shown)
    downloads = re.search(r'href="(/api/match\?[^"]+format=json)"', shown[0].text)
    assert odd_client.get(html.unescape(downloads[1])).status_code == 200
    asked = {"has": '["k::v","p: q"]'}
    found = odd_client.get("/api/match", params=asked).json()
    assert found["wanted"] == [{"context": "k::v", "name": "p: q", "present": True}]


@pytest.mark.parametrize("has", ['["k"]', '["k",1]', "[" * 5_000, "none"])
def test_what_is_no_attribute_is_refused(odd_client, has):
    response = odd_client.get("/api/match", params={"has": has})
    assert response.status_code == 400
    assert "must be given as" in response.json()["error"]["message"]


def test_names_stand_in_their_own_direction(odd_client):
    page = odd_client.get("/label", params={"label": "٢شاي"}).text
    assert "<h1><bdi>٢شاي</bdi></h1>" in page


def test_did_you_mean_is_a_link_to_the_same_page(client):
    page = client.get("/label", params={"label": "tigre"})
    assert page.status_code == 404
    assert 'href="/label?label=tiger"' in page.text
    page = client.get("/compare", params={"label": ["cat", "eagel"]})
    assert 'href="/compare?label=cat&amp;label=eagle"' in page.text


def test_a_ninth_label_is_left_out_and_the_others_stay(client, zoo_embedding):
    labels = zoo_embedding.labels[:9]
    page = client.get("/compare", params={"label": labels})
    assert page.status_code == 200
    assert page.text.count('class="chip"') == 8
    assert "left out" in page.text
    assert 'id="another"' not in page.text
    assert client.get("/compare", params={"label": labels[:7]}).text.count("another")


def test_the_list_of_differences_goes_on(client_of, rng):
    from phcle.explorer import Opened, Workspace

    labels = tuple(f"thing {i}" for i in range(113))
    one, other = (
        Opened(LabelEmbedding(labels, rng.standard_normal((113, 3))), title)
        for title in ("one", "other")
    )
    for each in (one, other):
        each.background.wait()
    with client_of(Workspace(one, other)) as client:
        first = client.get("/embeddings").text
        last = client.get("/embeddings?start=100").text
    assert "1 to 50 of 113" in first
    assert 'href="/embeddings?start=50"' in first
    assert "101 to 113 of 113" in last
    assert "Next" not in last
