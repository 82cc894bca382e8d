"""`phcle understand`, on features and on photos."""

from __future__ import annotations

import json

import numpy as np
import pytest
from picture_networks import save_network

SEEN = ("cat", "lion", "dog", "zebra")


@pytest.fixture
def images(zoo):
    """Features of four animals, and of one that the zoo does not have."""
    rng = np.random.default_rng(0)
    labels = np.repeat([*SEEN, "unicorn"], 5)
    centres = np.repeat(rng.normal(size=(5, 8)), 5, axis=0)
    X = centres + 0.1 * rng.normal(size=centres.shape)
    (zoo / "images").mkdir()
    np.savez(zoo / "images" / "features.npz", features=X, labels=labels)
    np.save(zoo / "one.npy", X[0])
    np.save(zoo / "three.npy", X[[0, 6, 16]])
    return zoo / "images"


@pytest.fixture
def zoo_map(phcle, fitted, images):
    phcle("understand", fitted, "--features", images, "--learn", "zoo.map")
    return "zoo.map"


def test_map_tells_what_it_learned_from_and_what_it_left_out(phcle, fitted, images):
    learn = ("understand", fitted, "--features", images, "--learn", "zoo.map")
    result = phcle(*learn, "--json")
    answer = json.loads(result.stdout)
    assert (answer["images"], answer["features"], answer["classes"]) == (20, 8, 4)
    assert answer["left_out"] == ["unicorn"]
    shown = phcle(*learn).stdout
    assert "learned from 20 pictures of 4 classes, 8 features each" in shown
    assert "'unicorn'" in shown
    assert "written to zoo.map" in shown


def test_understand_json_has_related_labels_and_attributes(phcle, fitted, zoo_map):
    call = ("understand", fitted, "one.npy", "--model", zoo_map)
    answer = json.loads(phcle(*call, "--json").stdout)
    assert set(answer) == {"picture", "related", "attributes"}
    assert answer["picture"] == "one.npy"
    assert sum(x["share"] for x in answer["related"]) == pytest.approx(1)
    assert {"label", "name", "share", "similarity"} < set(answer["related"][0])
    assert {x["context"] for x in answer["attributes"]} == {"looks", "uses"}
    shown = phcle(*call).stdout
    assert answer["related"][0]["name"] in shown
    assert "attribute" in shown


def test_photos_are_described_with_the_network_of_the_map(phcle, fitted, zoo):
    Image = pytest.importorskip("PIL.Image")
    save_network(zoo / "net")
    rng = np.random.default_rng(0)
    for name in SEEN:
        (zoo / "photos" / name).mkdir(parents=True)
        for i in range(2):
            pixels = rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(zoo / "photos" / name / f"{i}.png")
    learn = ("understand", fitted, "--photos", "photos", "--network", "net")
    learn += ("--learn", "p.map")
    assert "learned from 8 pictures of 4 classes" in phcle(*learn).stdout
    ask = ("understand", fitted, "photos/cat/0.png", "--model", "p.map")
    answer = json.loads(phcle(*ask, "--json").stdout)
    assert answer["picture"] == "photos/cat/0.png"
    assert answer["attributes"]
    (zoo / "net").rename(zoo / "moved")
    assert json.loads(phcle(*ask, "--json", "--network", "moved").stdout) == answer
    save_network(zoo / "wide", kind="patches")
    refused = phcle(*ask, "--network", "wide", code=2).stderr
    assert "expecting 16 features" in refused
    (zoo / "broken.jpg").write_text("no picture")
    ask = ("understand", fitted, "broken.jpg", "--model", "p.map")
    assert "broken.jpg: is not a picture" in (
        phcle(*ask, "--network", "moved", code=2).stderr
    )


def test_map_of_features_refuses_photos(phcle, fitted, zoo_map):
    call = ("understand", fitted, "photo.jpg", "--model", zoo_map)
    assert "was learned from features, not from photos" in phcle(*call, code=2).stderr


@pytest.mark.parametrize(
    "given", [[], ["--photos", "."], ["--features", ".", "--network", "net"]]
)
def test_map_needs_features_or_photos_with_a_network(phcle, fitted, given):
    result = phcle("understand", fitted, *given, "--learn", "m.map", code=2)
    assert "give --features, or --photos together with --network" in result.stderr


def test_map_is_not_written_over_its_input(phcle, fitted, images):
    result = phcle(
        *("understand", fitted, "--features", images, "--learn", fitted), code=2
    )
    assert "is an input of this command" in result.stderr
