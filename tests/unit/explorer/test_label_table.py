"""The table of all labels: filtered, sorted, paged, and exported as shown."""

from __future__ import annotations

import base64
import csv
import io
import json

import numpy as np
import pytest

SIZE = '["looks","size"]'
MASS = '["looks","mass"]'


def ask(client, path="/api/table", **given):
    filters = [json.dumps(x) for x in given.pop("filters", ())]
    response = client.get(path, params={"filter": filters, **given})
    assert response.status_code == 200, response.text
    return response.json() if "json" in response.headers["content-type"] else response


def known(patchy, title):
    table = patchy.predicting[0]
    at = next(x for x in table.fields if x.title == title).at.start
    return {x: table.observed_row(x)[at] for x in patchy.labels}


def test_every_label_has_a_row_and_observed_is_told_from_predicted(
    patchy_client, patchy
):
    answer = ask(patchy_client, size=500)
    assert [row["label"] for row in answer["rows"]] == list(patchy.labels)
    titles = [x["title"] for x in answer["columns"]]
    mass = known(patchy, "mass")
    for row in answer["rows"]:
        cell = row["cells"][titles.index("mass")]
        assert cell["observed"] == (not np.isnan(mass[row["label"]]))
        if cell["observed"]:
            assert cell["value"] == pytest.approx(mass[row["label"]], rel=1e-4)
            assert cell["how"] == "observed"
        else:
            assert cell["how"].startswith("predicted")
    assert answer["rows"][0]["parent"]["node"] == "g0"


def test_predictions_are_those_of_the_completion(patchy_client, patchy):
    rows = ask(patchy_client, size=500, column=[MASS, SIZE])["rows"]
    cells = {
        (row["label"], title): cell
        for row in rows
        for title, cell in zip(("mass", "size"), row["cells"], strict=True)
    }
    completed = patchy.complete(columns=["mass", "size"])
    assert len(completed) == sum(not x["observed"] for x in cells.values())
    for each in completed.cells:
        cell = cells[each.label, each.column]
        if each.kind == "number":
            assert cell["value"] == pytest.approx(each.value, rel=1e-4)
        else:
            assert cell["value"] == each.value
            assert cell["how"] == f"predicted {each.confidence:.0%}"


@pytest.mark.parametrize("descending", [False, True])
def test_rows_are_sorted_and_paged_on_the_server(patchy_client, descending):
    given = {"sort": MASS, "descending": descending, "column": [MASS]}
    whole = ask(patchy_client, size=500, **given)
    values = [row["cells"][0]["value"] for row in whole["rows"]]
    assert values == sorted(values, reverse=descending)
    second = ask(patchy_client, size=50, page=2, **given)
    assert second["pages"] == 3
    assert second["rows"] == whole["rows"][50:100]
    assert ask(patchy_client, size=50, page=99, **given)["page"] == 3


def test_names_sort_with_their_numbers(patchy_client):
    rows = ask(patchy_client, sort="name", size=12)["rows"]
    assert [row["name"] for row in rows] == [f"x{i}" for i in range(12)]


def test_filters_agree_with_each_other_and_with_the_facets(patchy_client, patchy):
    small = ["looks", "size", "in", ["small"]]
    heavy = ["looks", "mass", "range", 1, None]
    found = ask(patchy_client, filters=[small, heavy], size=500, column=[SIZE, MASS])
    assert 0 < found["n"] < found["total"] == len(patchy)
    for row in found["rows"]:
        size, mass = row["cells"]
        assert size["value"] == "small"
        assert mass["value"] >= 1
    counted = ask(patchy_client, "/api/facets", filters=[small, heavy])
    assert counted["n"] == found["n"]
    sizes = next(x for x in counted["facets"] if x["field"] == "size")
    by_value = {bar["value"]: bar for bar in sizes["bars"]}
    assert by_value["small"]["n"] == found["n"]
    only_heavy = ask(patchy_client, filters=[heavy])["n"]
    assert sum(bar["n"] for bar in sizes["bars"]) == only_heavy  # its own is left out
    masses = next(x for x in counted["facets"] if x["field"] == "mass")
    assert sum(bar["all"] for bar in masses["bars"]) == len(patchy)
    rows = ask(patchy_client, "/api/rows", filters=[small, heavy])
    positions = np.frombuffer(base64.b64decode(rows["rows"]), "<u4")
    labels = {patchy.labels[i] for i in positions}
    assert labels == {row["label"] for row in found["rows"]}


def test_predicted_values_can_be_left_out_of_filters(patchy_client, patchy):
    small = ["looks", "size", "in", ["small"]]
    observed = ["", "values", "in", ["observed"]]
    found = ask(patchy_client, filters=[small, observed], size=500, column=[SIZE])
    assert all(row["cells"][0]["observed"] for row in found["rows"])
    unknown = ["looks", "size", "in", [""]]
    gaps = ask(patchy_client, filters=[unknown, observed], size=500)
    assert gaps["n"] == sum(np.isnan(x) for x in known(patchy, "size").values())


def test_labels_are_filtered_by_branch_context_and_name(patchy_client):
    branch = ["", "branch", "in", ["g1"]]
    found = ask(patchy_client, filters=[branch], size=500)
    assert [row["label"] for row in found["rows"]] == [f"x{i}" for i in range(20, 40)]
    text = ["", "text", "has", "X3"]
    found = ask(patchy_client, filters=[branch, text], size=500)
    assert [row["label"] for row in found["rows"]] == [f"x{i}" for i in range(30, 40)]
    assert ask(patchy_client, filters=[["", "known in", "in", ["tree"]]])["n"] == 120


def test_tags_are_counted_and_filtered(client):
    counted = ask(client, "/api/facets")
    looks = next(x for x in counted["facets"] if x["title"] == "looks")
    wings = next(bar for bar in looks["bars"] if bar["value"] == "wings")
    assert wings["all"] == wings["n"] == 4
    filters = [["looks", "wings", "in", ["yes"]], ["", "values", "in", ["observed"]]]
    found = ask(client, filters=filters)
    assert {row["label"] for row in found["rows"]} == {"robin", "wren", "hawk", "eagle"}


def test_the_file_has_what_is_shown(patchy_client):
    given = {"sort": MASS, "column": [SIZE, MASS]}
    filters = [["looks", "wild", "in", ["yes"]]]
    shown = ask(patchy_client, filters=filters, size=500, **given)
    response = ask(patchy_client, filters=filters, format="csv", **given)
    assert "attachment" in response.headers["content-disposition"]
    lines = list(csv.reader(io.StringIO(response.text)))
    assert lines[0] == [
        *("label", "name", "size", "size: known", "mass", "mass: known"),
    ]
    assert [line[0] for line in lines[1:]] == [row["label"] for row in shown["rows"]]
    assert [line[2] for line in lines[1:]] == [
        row["cells"][0]["text"] for row in shown["rows"]
    ]
    assert lines[1][5] == shown["rows"][0]["cells"][1]["how"]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "x",
        '["looks","size","in","small"]',
        '["looks","size","in",[1]]',
        '["looks","mass","range","a",1]',
        '["looks","mass","range",true,1]',
        '["looks","mass","range",1e400,1]',
        '["","nothing","in",["x"]]',
        '["looks","none","in",["x"]]',
        '["none","size","in",["x"]]',
        '["","branch","in",["nowhere"]]',
        '["","known in","in",["nowhere"]]',
        "[" * 4000,
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(patchy_client, text):
    for path in ("/api/table", "/api/rows", "/api/facets"):
        assert patchy_client.get(path, params={"filter": text}).status_code == 400
    assert patchy_client.get("/table", params={"filter": text}).status_code == 400


def test_the_page_links_to_order_pages_files_and_map(patchy_client):
    asked = {"filter": '["","text","has","x"]', "column": [MASS]}
    page = patchy_client.get("/table", params=asked).text
    assert "120 labels" in page
    assert "page=2" in page
    assert "sort=name" in page
    assert 'href="/?filter=' in page
    assert "format=csv" in page
    nothing = patchy_client.get("/table", params={"filter": '["","text","has","zzz"]'})
    assert "No label passes" in nothing.text


def test_names_with_markup_are_escaped_on_new_pages(client, zoo_embedding):
    for path in ("/table", "/node?node=felid", "/complete", "/complete?label=lynx"):
        page = client.get(path).text
        for name in ("lynx", "jackal", "felid"):
            assert zoo_embedding.name_of(name) not in page, path
