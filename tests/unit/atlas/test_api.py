"""The API answers as the embedding does, and says what is wrong."""

from __future__ import annotations

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from patchy_table import WRONG

from phcle import suspicious_cells

TYPES = {"f4": "<f4", "u4": "<u4", "u2": "<u2", "u1": "<u1"}
OBSERVED, UNSAID = 255, 254


def unpacked(text):
    kind, _, content = text.partition(":")
    return np.frombuffer(base64.b64decode(content), TYPES[kind])


def asked(client, path, **params):
    response = client.get(f"/api/{path}", params=params)
    assert response.status_code == 200, response.text
    return response.json()


def refusal(client, path, status, **params):
    response = client.get(f"/api/{path}", params=params)
    assert response.status_code == status, response.text
    return response.json()["error"]


# -- All labels


def test_info_says_what_can_be_asked(client, zoo_embedding):
    found = asked(client, "info")
    assert found["labels"] == len(zoo_embedding)
    assert found["title"] == "zoo"
    assert found["hierarchy"] == "tree"
    assert found["compared_with"] == "noise"
    assert {x["context"] for x in found["attributes"]} == {"looks", "sizes", "words"}
    assert not found["is_report"]
    assert found["objective"] == zoo_embedding.history[-1]["objective"]
    assert found["map"]["ready"]


def test_the_map_holds_every_label_with_groups_and_named_parts(client, zoo_embedding):
    found = asked(client, "map")
    assert found["ready"]
    assert found["labels"] == list(zoo_embedding.labels)
    assert found["names"] == [zoo_embedding.name_of(x) for x in zoo_embedding.labels]
    assert [x["title"] for x in found["colourings"]] == ["branch", "cluster"]
    near = unpacked(found["neighbours"]).reshape(len(zoo_embedding), -1)
    for row, label in enumerate(zoo_embedding.labels):
        expected = [x for x, _ in zoo_embedding.nearest(label, near.shape[1])]
        assert [zoo_embedding.labels[i] for i in near[row]] == expected
    for way in found["colourings"][:2]:
        present = {way["groups"][code] for code in unpacked(way["codes"])} - {"other"}
        named = {x["name"] for x in found["regions"] if x["of"] == way["title"]}
        assert named == present
    places = np.array([unpacked(found["x"]), unpacked(found["y"])])
    assert np.abs(places).max() == pytest.approx(1)


def test_a_column_holds_what_the_embedding_knows_and_predicts(patchy_client, patchy):
    gaps = {(x.label, x.column): x for x in patchy.complete().cells}
    table = patchy.predicting[0]
    titles = [x["title"] for x in asked(patchy_client, "columns")["columns"]]
    assert titles == [field.title for field in table.fields]
    for field in table.fields:
        found = asked(patchy_client, "column", context="looks", column=field.title)
        how = unpacked(found["how"])
        for row, label in enumerate(patchy.labels):
            cell = gaps.get((label, field.title))
            assert (how[row] == OBSERVED) == (cell is None)
            known = table.observed_row(label)[field.at]
            if field.kind == "number":
                numbers = {x: unpacked(found[x])[row] for x in ("low", "high")}
                value = unpacked(found["numbers"])[row]
                assert value == pytest.approx(known[0] if cell is None else cell.value)
                if cell is not None:
                    ends = cell.low, cell.high
                    assert tuple(numbers.values()) == pytest.approx(ends, rel=1e-6)
                continue
            code = unpacked(found["codes"])[row]
            if cell is not None:
                value = {True: "yes", False: "no"}.get(cell.value, cell.value)
                assert found["values"][code] == value
                assert how[row] == pytest.approx(100 * cell.confidence, abs=0.51)
            elif field.values:
                assert code == known.argmax()
            else:
                assert code == (known[0] > 0.5)


def test_profiles_count_cells_and_say_how_well_gaps_are_predicted(
    patchy_client, patchy
):
    cells = patchy.complete().cells
    completion = asked(patchy_client, "info")["completion"]
    skills = {x["column"]: x for x in completion["columns"]}
    for column in asked(patchy_client, "columns")["columns"]:
        n_gaps = sum(x.column == column["title"] for x in cells)
        assert column["known"] == len(patchy) - n_gaps
        own = skills[column["title"]]
        assert {key: column["skill"][key] for key in own} == own
        assert column["skill"]["words"].startswith(own["verdict"])
        weights = [x["weight"] for x in column["readers"]]
        assert weights == sorted(weights, reverse=True)
        assert 0.7 < sum(weights) <= 1.001


def test_the_chance_of_a_value_is_known_or_predicted(patchy_client, patchy):
    found = asked(
        patchy_client, "column", context="looks", column="size", value="small"
    )
    chance, how = unpacked(found["chance"]), unpacked(found["how"])
    gaps = {x.label: x for x in patchy.complete(columns=["size"]).cells}
    small = found["values"].index("small")
    codes = unpacked(found["codes"])
    for row, label in enumerate(patchy.labels):
        if label not in gaps:
            assert how[row] == OBSERVED
            assert chance[row] == (codes[row] == small)
        elif codes[row] == small:
            assert chance[row] == pytest.approx(gaps[label].confidence, abs=1e-3)
        else:
            assert chance[row] < 0.5


def test_tags_hold_what_labels_have(client, zoo_embedding):
    assert asked(client, "columns")["tags"] == [{"context": "looks"}]
    found = asked(client, "column", context="looks")
    starts = np.append(0, unpacked(found["counts"]).astype(int).cumsum())
    own = {
        label: {found["columns"][i] for i in unpacked(found["at"])[a:b]}
        for label, a, b in zip(
            zoo_embedding.labels, starts[:-1], starts[1:], strict=True
        )
    }
    assert own["cat"] == {"claws", "purr"}
    assert own["wren"] == {"wings"}
    assert own["owl"] == set()
    claws = asked(client, "column", context="looks", column="claws")
    assert claws["kind"] == "tag"
    has_it = unpacked(claws["codes"]) == 1
    known = unpacked(claws["how"]) == OBSERVED
    for row, label in enumerate(zoo_embedding.labels):
        assert not known[row] or has_it[row] == ("claws" in own[label])


def test_the_hierarchy_leads_from_labels_to_all_nodes_above(client, zoo_embedding):
    found = asked(client, "hierarchy")

    def lists(part):
        ends = unpacked(part["counts"]).cumsum()[:-1]
        return np.split(unpacked(part["at"]), ends)

    parents, above = lists(found), lists(found["above"])
    for row, label in enumerate(zoo_embedding.labels):
        nodes, reached = list(parents[row]), set()
        while nodes:
            node = nodes.pop()
            reached.add(found["nodes"][node])
            nodes += list(above[node])
        page = asked(client, "label", label=label)["taxonomy"]
        assert reached == {x["node"] for x in page["path"][:-1]}


def test_known_cells_that_are_unlikely_are_those_of_the_embedding(
    patchy_client, patchy
):
    found = asked(patchy_client, "suspicious")["cells"]
    expected = [x.to_dict() for x in suspicious_cells(patchy)]
    assert found == expected
    assert (found[0]["label"], found[0]["column"]) == WRONG


# -- Some labels


def test_a_label_has_neighbours_attributes_and_relatives(client, zoo_embedding):
    page = asked(client, "label", label="cat")
    (near,) = zoo_embedding.neighbours(["cat"], 15)
    assert page["neighbours"] == [x.to_dict() for x in near.neighbours]
    described = zoo_embedding.describe("cat", 12)
    row = asked(client, "row", label="cat")
    assert row["observed"] == [x.to_dict() for x in described.observed]
    assert row["predicted"] == [x.to_dict() for x in described.predicted]
    path = [x["node"] for x in page["taxonomy"]["path"]]
    assert path == ["animal", "carnivore", "felid", "cat"]
    siblings = {x["node"] for x in page["taxonomy"]["siblings"]}
    assert siblings == {"lion", "tiger", "lynx"}


def test_the_row_of_a_label_has_reasons_of_what_is_predicted(patchy_client, patchy):
    label = next(x.label for x in patchy.complete().cells)
    gaps = {x.column: x for x in patchy.complete([label], probabilities=True).cells}
    page = asked(patchy_client, "row", label=label)
    assert len(page["cells"]) == len(patchy.predicting[0].fields)
    for cell in page["cells"]:
        assert cell["observed"] == (cell["column"] not in gaps)
        if not cell["observed"]:
            own = gaps[cell["column"]].to_dict()
            assert cell == {key: own[key] for key in cell}
            assert cell["why"]


def test_a_label_is_found_by_its_name_and_a_wrong_one_leads_on(client):
    name = "<img src=x onerror=alert(1)>"
    assert asked(client, "label", label=name)["label"] == "lynx"
    error = refusal(client, "label", 404, label="tigre")
    assert "Did you mean 'tiger'?" in error["message"]
    assert error["near"][0] == {"label": "tiger", "name": "tiger"}
    error = refusal(client, "node", 404, node="carnivor")
    assert error["near"][0]["label"] == "carnivore"


def test_an_explanation_is_that_of_the_embedding(client, zoo_embedding):
    found = asked(client, "explain", a="dog", b="wolf")
    assert found == zoo_embedding.explain("dog", "wolf").to_dict()


def test_a_label_is_compared_with_those_that_are_named(client, zoo_embedding):
    near = asked(client, "label", label="cat", among=["owl", "cat", "dog"])
    found = {x["label"]: x["similarity"] for x in near["neighbours"]}
    assert set(found) == {"owl", "dog"}
    cosine = zoo_embedding.explain("cat", "dog").similarity
    assert found["dog"] == pytest.approx(cosine, abs=1e-6)
    assert refusal(client, "label", 422, label="cat", among=["dog"] * 9)
    assert refusal(client, "label", 404, label="cat", among=["unicorn"])


def test_a_node_has_its_labels_children_and_what_they_share(client):
    page = asked(client, "node", node="carnivore")
    assert [x["node"] for x in page["path"]] == ["animal", "carnivore"]
    sizes = {x["node"]: x["n_labels"] for x in page["children"]}
    assert sizes == {"felid": 4, "canid": 4}
    assert page["n_labels"] == len(page["labels"]) == 8
    page = asked(client, "node", node="bird")
    (wings,) = [x for x in page["shared"] if x["column"] == "wings"]
    assert (wings["inside"], wings["outside"], wings["n_known"]) == (1, 0, 4)
    assert asked(client, "node", node="animal")["shared"] == []
    assert asked(client, "node", node="cats & <b>co</b>")["node"] == "felid"


def test_a_set_of_labels_shares_what_its_node_does(patchy_client, patchy):
    page = asked(patchy_client, "node", node="g0")
    size = next(x for x in page["shared"] if x["column"] == "size")
    own = patchy.predicting[0]
    at = own.columns.index("size=small")
    known = [own.observed_row(f"x{i}")[at] for i in range(20)]
    assert size["inside"] == pytest.approx(np.nanmean(known))
    rows = [patchy.row_of[f"x{i}"] for i in range(20)]
    same = patchy_client.post("/api/shared", json={"rows": rows}).json()
    assert {key: page[key] for key in same} == same
    for wrong in ([], [0, len(patchy)], [-1, 2], [1, 1], [0, 10**30]):
        answer = patchy_client.post("/api/shared", json={"rows": wrong})
        assert answer.status_code == 400


def test_search_finds_labels_and_nodes_despite_slips(client):
    found = asked(client, "search", q="egale")
    assert found["labels"][0] == {"label": "eagle", "name": "eagle"}
    (node,) = asked(client, "search", q="felid")["nodes"][:1]
    assert (node["node"], node["above"]) == ("felid", ["carnivore"])
    found = asked(client, "names", text="OWL")
    assert found["labels"] == ["owl"]
    assert unpacked(asked(client, "names", row=[3, 0])["rows"]).tolist() == [0, 3]
    assert refusal(client, "names", 400, row=[10**6])


# -- New labels and pictures


def test_a_new_label_lands_by_its_parent(client):
    body = {"label": "puma", "parents": ["felid"]}
    answer = client.post("/api/add", json=body).json()
    near = [x["label"] for x in answer["neighbours"][:4]]
    assert set(near) & {"lion", "tiger", "lynx"}
    assert len(answer["why"]) == 3
    assert all(-1.5 <= x <= 1.5 for x in answer["place"])


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ({"label": "cat", "parents": ["felid"]}, "already"),
        ({"label": "CAT", "parents": ["felid"]}, "already, as 'cat'"),
        ({"label": "puma"}, "nothing is known"),
        ({"label": " ", "parents": ["felid"]}, "needs an id"),
        ({"label": "felid", "parents": ["animal"]}, "a node of the hierarchy already"),
        ({"label": "puma", "parents": ["felidae"]}, "no node 'felidae'"),
        ({"label": "x", "texts": {"looks": "claws"}}, "takes no text"),
        (
            {"label": "x", "values": [{"context": "looks", "column": "tusks"}]},
            "no column 'tusks'",
        ),
    ],
)
def test_a_new_label_that_cannot_be_added_is_refused(client, body, given):
    response = client.post("/api/add", json=body)
    assert response.status_code == 400, response.text
    assert given in response.json()["error"]["message"]


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "given"),
    [
        (b"", "empty"),
        (b"GIF89a", "learned from features, not from photos"),
        (b"\x93NUMPY nonsense", "damaged"),
        (npy(np.zeros(7)), "4 features"),
        (npy(np.array([object()])), "Object arrays cannot be loaded"),
        (npy(np.zeros(4)).replace(b"(4,)", b"(9,)"), "is damaged, or not a NumPy file"),
        (npy(np.full(4, np.inf)), "finite"),
        (npy(np.zeros((1, 2, 2))), "one row per image"),
        (npy(np.array(["text"])), "finite numbers"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused(client, content, given):
    response = client.post("/api/understand", content=content)
    assert response.status_code == 400
    message = response.json()["error"]["message"]
    assert given in message
    assert "/tmp" not in message


def test_without_a_map_of_pictures_the_remedy_is_told(patchy_client):
    response = patchy_client.post("/api/understand", content=npy(np.zeros(4)))
    assert "start the explorer with --model" in response.json()["error"]["message"]


def test_pictures_are_understood_with_the_network_of_a_map(
    zoo_embedding, tmp_path, rng, client_of
):
    pytest.importorskip("transformers", reason="transformers is not installed")
    from picture_networks import save_network
    from PIL import Image

    from phcle.atlas import Opened, Workspace
    from phcle.images import FeatureNetwork, ImageMap

    folder = str(save_network(tmp_path / "net"))
    network = FeatureNetwork.open(folder)
    pictures = [
        Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8))
        for _ in range(6)
    ]
    features = network.features(pictures)
    labels = ["cat", "dog", "owl"] * 2
    image_map = ImageMap.fit(features, labels, zoo_embedding, network={"name": folder})
    workspace = Workspace(Opened(zoo_embedding, "zoo"), image_map=image_map)
    content = io.BytesIO()
    pictures[0].save(content, "png")
    with client_of(workspace) as client:
        assert asked(client, "info")["takes_pictures"]
        answer = client.post("/api/understand", content=content.getvalue()).json()
        same = client.post("/api/understand", content=npy(features[:1])).json()
        broken = client.post("/api/understand", content=content.getvalue()[:60])
        short = client.post("/api/understand", content=npy(features[:, :3]))
    (picture,) = answer["pictures"]
    assert picture["picture"] == "picture"
    assert picture["attributes"]
    near = [x["label"] for x in picture["related"]]
    assert near == [x["label"] for x in same["pictures"][0]["related"]]
    assert broken.status_code == 400
    assert "picture" in broken.json()["error"]["message"]
    assert "16 features" in short.json()["error"]["message"]


# -- Embeddings that lack something


def test_an_embedding_without_contexts_is_answered_about_too(bare_embedding, client_of):
    with client_of(bare_embedding) as client:
        for path in ("info", "map", "columns", "hierarchy", "suspicious"):
            asked(client, path)
        assert asked(client, "hierarchy") is None
        assert asked(client, "columns") == {"columns": [], "tags": [], "known": []}
        assert asked(client, "row", label="cat")["cells"] == []
        assert refusal(client, "node", 404, node="x")
        assert refusal(client, "second", 400)


def test_gaps_that_the_fit_did_not_predict_have_values_without_confidence(
    patchy, client_of
):
    old = replace(patchy, predictions={}, origin={})
    with client_of(old) as client:
        assert not asked(client, "info")["is_predicted"]
        found = asked(client, "column", context="looks", column="size")
        assert set(unpacked(found["how"])) == {OBSERVED, UNSAID}
        assert unpacked(found["codes"]).max() < len(found["values"])
        cells = asked(client, "row", label="x5")["cells"]
        given = {
            (x["confidence"], x["low"], x["high"]) for x in cells if not x["observed"]
        }
        assert given == {(None, None, None)}
        answer = asked(client, "suspicious")
        assert answer["cells"] == []
        assert "predicted no gaps" in answer["message"]


@pytest.mark.parametrize(
    ("path", "params", "given"),
    [
        ("column", {"context": "looks", "column": "clawz"}, "Did you mean 'claws'?"),
        ("column", {"context": "smells", "column": "bad"}, "'smells'"),
        ("column", {"context": "tree", "column": "felid"}, "'tree'"),
        ("column", {"context": "tree"}, "'tree'"),
    ],
)
def test_a_column_that_is_not_there_is_refused(client, path, params, given):
    assert given in refusal(client, path, 400, **params)["message"]


@pytest.mark.parametrize(
    ("path", "params", "named"),
    [
        ("label", {}, "label"),
        ("label", {"label": "x" * 501}, "label"),
        ("search", {"limit": 0}, "limit"),
        ("names", {"row": ["x"]}, "row"),
    ],
)
def test_parameters_out_of_range_are_named(client, path, params, named):
    assert named in refusal(client, path, 422, **params)["message"].split(":")[0]
