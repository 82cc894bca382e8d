"""The JSON side answers as the command line does, and says what is wrong."""

from __future__ import annotations

import base64
import csv
import html
import io
import json

import numpy as np
import pytest
from command_line import call

from phcle import PHCLE, DescriptiveContext, load


def rows_of(response):
    assert response.headers["content-type"].startswith("text/csv")
    assert "attachment" in response.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(response.text)))


@pytest.fixture(scope="module")
def printed(zoo_embedding, tmp_path_factory):
    """What a command prints about the zoo as JSON."""
    file = tmp_path_factory.mktemp("zoo") / "zoo.phcle"
    zoo_embedding.save(file)
    return lambda name, *words: json.loads(call(name, file, *words, "--json").stdout)


def test_answers_are_what_the_command_line_prints(client, printed):
    answer = client.get("/api/nearest", params={"label": "cat", "k": 3}).json()
    expected = printed("nearest", "cat", "-k", 3)
    labels = [[x["label"] for x in each["neighbours"]] for each in (answer, expected)]
    assert labels[0] == labels[1]
    assert answer["neighbours"][0]["similarity"] == pytest.approx(
        expected["neighbours"][0]["similarity"], abs=1e-12
    )
    described = client.get("/api/describe", params={"label": "dog"}).json()
    assert described == printed("describe", "dog", "-k", 6)
    explained = client.get("/api/explain", params={"a": "dog", "b": "wolf"}).json()
    assert explained == printed("explain", "dog", "wolf", "-k", 5)
    parts = sum(part["part"] for part in explained["parts"])
    assert parts + explained["rest"] == pytest.approx(explained["similarity"])


def test_the_rows_of_an_explanation_add_up_to_the_similarity(client, zoo_embedding):
    params = {"a": "dog", "b": "wolf", "k": 1, "format": "csv"}
    rows = rows_of(client.get("/api/explain", params=params))
    assert {"context", "group", "column", "name", "part"} < set(rows[0])
    found = zoo_embedding.explain("dog", "wolf")
    total = sum(float(row["part"]) for row in rows)
    assert total + found.rest == pytest.approx(found.similarity)


def test_more_neighbours_than_the_table_holds_are_searched_for(client, zoo_embedding):
    answer = client.get("/api/nearest", params={"label": "cat", "k": 200}).json()
    assert len(answer["neighbours"]) == len(zoo_embedding) - 1


def test_an_unknown_label_is_refused_with_a_suggestion(client):
    response = client.get("/api/label", params={"label": "tigre"})
    assert response.status_code == 404
    error = response.json()["error"]
    assert error["status"] == 404
    assert "Did you mean 'tiger'?" in error["message"]


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/api/nearest", {"label": "cat", "k": 0}),
        ("/api/nearest", {}),
        ("/api/nearest", {"label": "cat", "format": "xml"}),
        ("/api/compare", {"label": ["cat"]}),
    ],
)
def test_parameters_out_of_range_are_named(client, path, params):
    response = client.get(path, params=params)
    assert response.status_code == 422
    named = set(response.json()["error"]["message"].split(":")[0].split("."))
    assert named & {"k", "label", "format"}


def test_a_label_page_knows_place_contexts_and_relatives(client):
    page = client.get("/api/label", params={"label": "cat"}).json()
    assert [x["node"] for x in page["taxonomy"]["path"]] == [
        *("animal", "carnivore", "felid", "cat")
    ]
    assert {x["node"] for x in page["taxonomy"]["siblings"]} == {
        "lion",
        "tiger",
        "lynx",
    }
    known = {x["context"]: x["known"] for x in page["contexts"]}
    assert known == {"tree": True, "looks": True, "sizes": True, "words": True}
    assert {x["name"] for x in page["observed"]} >= {"claws", "purr"}


def test_a_comparison_tells_observed_from_predicted(client):
    params = {"label": ["cat", "owl", "dog"]}
    answer = client.get("/api/compare", params=params).json()
    assert np.allclose(np.diag(answer["similarities"]), 1)
    claws = next(x for x in answer["attributes"] if x["name"] == "claws")
    assert [cell["observed"] for cell in claws["cells"]] == [True, False, True]
    assert claws["cells"][0]["value"] == 1
    rows = rows_of(client.get("/api/compare", params={**params, "format": "csv"}))
    assert [row["label"] for row in rows] == ["cat", "owl", "dog"]
    params |= {"format": "csv", "table": "attributes"}
    rows = rows_of(client.get("/api/compare", params=params))
    assert {"context", "name", "label", "value", "observed"} <= set(rows[0])


def test_labels_are_found_by_a_description(client):
    params = {"has": '["looks","claws"]', "not": '["looks","bark"]'}
    answer = client.get("/api/match", params=params).json()
    best = [x["label"] for x in answer["labels"][:2]]
    assert set(best) == {"cat", "lion"}
    scores = [x["score"] for x in answer["labels"]]
    assert scores == sorted(scores, reverse=True)
    rows = rows_of(client.get("/api/match", params={**params, "format": "csv"}))
    assert rows[0]["label"] in best
    assert "looks: bark" in rows[0]


@pytest.mark.parametrize(
    ("has", "told"),
    [
        ("claws", '["context","name"]'),
        ('["looks","clawz"]', "Did you mean 'claws'?"),
        ('["smells","bad"]', "'smells'"),
        ('["tree","felid"]', "'tree'"),
    ],
)
def test_an_attribute_that_is_not_there_is_refused(client, has, told):
    response = client.get("/api/match", params={"has": has})
    assert response.status_code == 400
    assert told in response.json()["error"]["message"]


def test_the_map_holds_every_label_and_says_when_it_is_ready(client, zoo_embedding):
    data = client.get("/api/map").json()
    assert data["ready"]
    assert len(data["names"]) == len(zoo_embedding)
    titles = ["branch", "cluster", "known in", "contexts known"]
    assert [x["title"] for x in data["colourings"]] == titles
    assert len(unpacked(data["x"])) == len(unpacked(data["y"])) == len(zoo_embedding)
    assert client.get("/api/status").json()["labels"]["ready"]


def test_every_group_of_the_map_has_a_named_place(client):
    data = client.get("/api/map").json()
    for way in data["colourings"][:2]:
        present = {way["groups"][code] for code in unpacked(way["codes"])} - {"other"}
        named = {x["name"] for x in data["regions"] if x["of"] == way["title"]}
        assert named == present
    assert all(-1 <= x["x"] <= 1 and x["reach"] >= 0 for x in data["regions"])


def unpacked(text):
    kind, content = text.split(":")
    return np.frombuffer(base64.b64decode(content), f"<{kind}")


@pytest.mark.parametrize(("context", "column"), [("looks", "claws"), ("words", "wild")])
def test_colours_tell_observed_from_predicted(client, zoo_embedding, context, column):
    params = {"context": context, "column": column}
    found = client.get("/api/colour", params=params).json()
    codes = unpacked(found["codes"])
    assert len(codes) == len(zoo_embedding)
    assert len(found["groups"]) == len(found["shades"]) == 4
    position = zoo_embedding.labels.index
    cat, lynx = codes[position("cat")], codes[position("lynx")]
    assert not found["shades"][cat]["is_faint"]  # observed
    assert found["shades"][lynx]["is_faint"]  # predicted, or unknown
    assert unpacked(found["is_known"])[position("cat")] == 1
    assert unpacked(found["is_known"])[position("lynx")] == 0


def test_numbers_colour_the_map_on_a_scale(client, zoo_embedding):
    params = {"context": "sizes", "column": "kilograms"}
    found = client.get("/api/colour", params=params).json()
    values, known = unpacked(found["values"]), unpacked(found["is_known"])
    confidence = unpacked(found["confidence"])
    position = zoo_embedding.labels.index
    assert values[position("lion")] == 190
    assert known.sum() == 7
    assert np.isfinite(values).all()
    assert (confidence[known == 1] == 255).all()
    assert 0.02 <= found["low"] < found["high"] <= 220
    assert found["groups"] is None


def test_a_category_colours_the_map_by_its_values(client_of):
    labels = tuple("abcdefgh")
    cells = {"kind": [*["fish"] * 4, *["bird"] * 3]}
    context = DescriptiveContext.from_cells(labels[:-1], cells, "zoo")
    rest = DescriptiveContext.from_tags(
        {x: ["t" if x < "e" else "u"] for x in labels}, name="tags"
    )
    embedding = PHCLE(dim=2, backend="numpy").fit([context, rest]).embedding_
    asked = {"context": "zoo", "column": "kind=fish"}
    with client_of(embedding) as client:
        found = client.get("/api/colour", params=asked).json()
    assert found["title"] == "zoo: kind"
    assert set(found["groups"]) == {"fish", "bird", "other"}
    codes = unpacked(found["codes"])
    assert found["groups"][codes[0]] == "fish"
    assert found["groups"][codes[5]] == "bird"
    assert unpacked(found["is_known"]).tolist() == [1] * 7 + [0]


def test_two_embeddings_colour_the_map_by_the_neighbours_they_share(
    client, zoo_embedding
):
    found = client.get("/api/colour/differences").json()
    shares = unpacked(found["values"])
    assert len(shares) == len(zoo_embedding)
    assert 0 <= shares.min() <= shares.max() <= 1
    assert "noise" in found["title"]


def test_a_new_label_lands_by_its_parent_and_can_be_exported(client, tmp_path):
    body = {"label": "puma", "parents": ["felid"]}
    answer = client.post("/api/add", json=body).json()
    near = [x["label"] for x in answer["neighbours"][:4]]
    assert set(near) & {"lion", "tiger", "lynx"}
    assert len(answer["why"]) == 3
    assert all(-1.5 <= x <= 1.5 for x in answer["place"])
    content = client.post("/api/add/export", json=body).content
    (tmp_path / "more.phcle").write_bytes(content)
    whole = load(tmp_path / "more.phcle")
    assert whole.labels[-1] == "puma"
    assert [x for x, _ in whole.nearest("puma", 4)] == near


def test_a_new_label_may_have_attributes_numbers_and_words_only(client):
    body = {
        "label": "bat",
        "name": "A bat",
        "values": [
            {"context": "looks", "column": "wings", "value": 1},
            {"context": "sizes", "column": "kilograms", "value": 0.02},
        ],
        "texts": {"words": "a wild animal"},
    }
    answer = client.post("/api/add", json=body).json()
    assert answer["name"] == "A bat"
    known = answer["contexts"]
    assert known == {"tree": False, "looks": True, "sizes": True, "words": True}
    birds = {"robin", "wren", "hawk", "eagle", "owl"}
    assert {x["label"] for x in answer["neighbours"][:3]} <= birds


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"label": "cat", "parents": ["felid"]}, "already"),
        ({"label": "CAT", "parents": ["felid"]}, "already, as 'cat'"),
        ({"label": "puma"}, "nothing is known"),
        ({"label": " ", "parents": ["felid"]}, "needs an id"),
        ({"label": "felid", "parents": ["animal"]}, "a node of the hierarchy already"),
        ({"label": "puma", "parents": ["felidae"]}, "not in the taxonomy"),
        ({"label": "x", "texts": {"looks": "claws"}}, "takes no text"),
        (
            {"label": "x", "values": [{"context": "looks", "column": "tusks"}]},
            "no column 'tusks'",
        ),
    ],
)
def test_a_new_label_that_cannot_be_added_is_refused(client, body, told):
    response = client.post("/api/add", json=body)
    assert response.status_code == 400, response.text
    assert told in response.json()["error"]["message"]


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"GIF89a", "pictures cannot be read here"),
        (b"\x93NUMPY nonsense", "damaged"),
        (npy(np.zeros(7)), "4 numbers"),
        (npy(np.array([object()])), "Object arrays cannot be loaded"),
        (npy(np.zeros(4)).replace(b"(4,)", b"(9,)"), "is damaged, or not a NumPy file"),
        (npy(np.full(4, np.inf)), "finite"),
        (npy(np.zeros((1, 2, 2))), "one row per image"),
        (npy(np.array(["text"])), "finite numbers"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused(client, content, told):
    response = client.post("/api/understand", content=content)
    assert response.status_code == 400
    message = response.json()["error"]["message"]
    assert told in message
    assert "/tmp" not in message


def test_a_damaged_upload_is_answered_or_refused_and_never_fails(client):
    whole = npy(np.arange(4.0))
    rng = np.random.default_rng(0)
    for _ in range(60):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] = rng.integers(256)
        cut = rng.integers(1, len(data) + 40)
        response = client.post("/api/understand", content=bytes(data[:cut]))
        assert response.status_code in (200, 400), response.text
        assert "/tmp" not in response.text


def test_pictures_are_understood_with_the_network_of_a_map(
    zoo_embedding, tmp_path, rng, client_of
):
    from picture_networks import save_network
    from PIL import Image

    from phcle.explorer import Opened, Workspace
    from phcle.images import FeatureNetwork, ImageMap

    network = FeatureNetwork.open(str(save_network(tmp_path / "net")))
    pictures = [
        Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8))
        for _ in range(6)
    ]
    features = network.features(pictures)
    labels = ["cat", "dog", "owl"] * 2
    image_map = ImageMap.fit(features, labels, zoo_embedding, network={"name": "net"})
    workspace = Workspace(
        Opened(zoo_embedding, "zoo"), None, image_map, lambda: network
    )
    content = io.BytesIO()
    pictures[0].save(content, "png")
    with client_of(workspace) as client:
        assert "Drop a picture" in client.get("/understand").text
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


def test_embeddings_differ_where_their_neighbours_do(client):
    answer = client.get("/api/differences", params={"n": 5}).json()
    assert answer["ready"]
    assert answer["common"] == sum(answer["histogram"])
    shares = [x["shared"] for x in answer["labels"]]
    assert shares == sorted(shares)
    label = answer["labels"][0]["label"]
    sides = client.get("/api/side-by-side", params={"label": label, "k": 10}).json()
    both = {x["label"] for x in sides["one"]} & {x["label"] for x in sides["other"]}
    assert len(both) == round(shares[0] * 10) == sum(x["in_both"] for x in sides["one"])


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/label?label=cat",
        "/compare",
        "/compare?label=cat",
        "/compare?label=cat&label=owl",
        "/match",
        '/match?has=["looks","claws"]&not=["looks","bark"]',
        "/add",
        "/understand",
        "/embeddings",
        "/embeddings?label=cat",
        "/about",
    ],
)
def test_every_page_opens(client, path):
    response = client.get(path)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/html")
    assert "<script>" not in response.text
    assert "style=" not in response.text


def test_about_says_what_the_fit_chose(client, printed):
    words = printed("info")["chosen"]["words"]
    assert words
    page = html.unescape(client.get("/about").text)
    assert all(sentence in page for sentence in words)


def test_names_with_markup_are_escaped_on_pages(client):
    for path in ("/label?label=lynx", "/compare?label=lynx&label=jackal"):
        text = client.get(path).text
        assert "<img src=x" not in text
        assert "&lt;img src=x" in text


def test_a_page_of_an_unknown_label_says_so(client):
    response = client.get("/label?label=tigre")
    assert response.status_code == 404
    assert "Did you mean &#39;tiger&#39;?" in response.text
    assert "<b>tigre" not in client.get("/label?label=<b>tigre</b>").text


def test_scripts_come_from_a_list_and_not_from_paths(client):
    response = client.get("/static/common.js")
    assert response.status_code == 200
    tag = response.headers["etag"]
    again = client.get("/static/common.js", headers={"if-none-match": tag})
    assert again.status_code == 304
    for path in ("../app.py", "%2e%2e/app.py", "/etc/passwd", "vendor/VENDOR.toml"):
        assert client.get(f"/static/{path}").status_code == 404


def test_an_embedding_without_contexts_has_pages_too(bare_embedding, client_of):
    from phcle.explorer import Opened, Workspace

    workspace = Workspace(Opened(bare_embedding, "bare"))
    with client_of(workspace) as client:
        pages = ("/", "/label?label=cat", "/match", "/add", "/embeddings", "/about")
        for path in (*pages, "/table"):
            assert client.get(path).status_code == 200, path
        assert client.get("/node?node=x").status_code == 404
        assert client.get("/api/facets").json()["facets"] == []
        assert client.get("/compare?label=cat&label=dog").status_code == 200
        assert client.get("/api/differences").status_code == 400
        first = client.get("/api/map").json()
        assert first["names"]
        workspace.opened.background.wait()
        assert client.get("/api/map").json()["ready"]
