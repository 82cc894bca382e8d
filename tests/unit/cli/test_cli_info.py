"""`phcle info` tells what a file is, and enough to make it again."""

from __future__ import annotations

import hashlib
import json
import platform

import numpy as np
import pytest

from phcle import load
from phcle.images import ImageMap


def answered(phcle, file):
    return json.loads(phcle("info", file, "--json").stdout)


def repeated(answer):
    """The command line, and the file of options, that a file says it was made by."""
    flags = []
    for file in answer["files"]:
        named = "" if file["flag"] in ("labels", "names") else f"{file['name']}="
        flags += [f"--{file['flag']}", named + file["file"]]
    for kind in {x["hierarchy"]["kind"] for x in answer["contexts"] if x["hierarchy"]}:
        flags += ["--hierarchy-kind", kind]
    lines = []
    for name, value in {**answer["options"], **answer["run"]}.items():
        if name not in ("verbose", "processes") and value is not None:
            if isinstance(value, dict):
                value = ",".join(f"{key}={each}" for key, each in value.items())
            lines.append(f"{name} = {json.dumps(value)}\n")
    return flags, "[set]\n" + "".join(lines)


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--hierarchy-kind", "path", "--weights", "tree=1,looks=0.5,uses=0.25"),
        ("--seed", 5, "--set", "init=random", "--completion", "none"),
        ("--labels", "ids.txt", "--names", "names.csv", "--set", "complete_only=yes"),
    ],
    ids=["defaults", "weights", "random", "labels"],
)
def test_a_fit_is_repeated_from_what_info_says(phcle, zoo, more):
    (zoo / "ids.txt").write_text("cat\nlion\ndog\n")
    first = (*("--dim", 3, "--set", "max_iter=4"), *more)
    phcle(
        *("fit", "--hierarchy", "tree.csv", "--attributes", "looks.csv", "--tags"),
        *("uses=uses.csv", *first, "--out", "a.phcle", "--quiet"),
    )
    answer = answered(phcle, "a.phcle")
    flags, options = repeated(answer)
    (zoo / "run.toml").write_text(options)
    config = ("--config", "run.toml")
    phcle(*config, "fit", *flags, "--out", "b.phcle", "--quiet")
    one, other = load("a.phcle"), load("b.phcle")
    assert one.labels == other.labels
    assert np.array_equal(one.vectors, other.vectors)
    assert one.names == other.names
    again = answered(phcle, "b.phcle")
    assert again["run"] == answer["run"]
    assert again["files"] == answer["files"]


def test_info_tells_versions_back_end_and_files(phcle, fitted, zoo):
    answer = answered(phcle, fitted)
    assert answer["what"] == "embedding"
    assert answer["versions"]["python"] == platform.python_version()
    assert {"phcle", "numpy", "scipy", "scikit-learn"} <= set(answer["versions"])
    assert answer["run"] == {
        "backend": "numpy",
        "device": "cpu",
        "mode": "exact",
        "precision": "full",
        "dtype": "float32",
        "processes": 1,
    }
    files = {file["flag"]: file for file in answer["files"]}
    assert set(files) == {"hierarchy", "attributes", "tags", "edges", "names"}
    digest = hashlib.sha256((zoo / "tree.csv").read_bytes()).hexdigest()
    assert files["hierarchy"] == {
        "flag": "hierarchy",
        "name": "tree",
        "file": "tree.csv",
        "sha256": digest,
    }
    shown = phcle("info", fitted).stdout
    assert "run: backend=numpy" in shown


def test_info_says_what_a_checkpoint_is(phcle, zoo):
    flags = ("--hierarchy", "tree.csv", "--dim", 2, "--checkpoint", "fit.ckpt")
    phcle("fit", *flags, "--out", "a.phcle", "--quiet")
    answer = answered(phcle, "fit.ckpt")
    assert answer["what"] == "checkpoint of a fit"
    assert (answer["labels"], answer["dim"]) == (7, 2)
    assert answer["contexts"] == {"tree": 1.0}
    assert answer["sweeps"] == answered(phcle, "a.phcle")["sweeps"]
    assert answer["options"]["dim"] == 2
    assert "numpy" in answer["versions"]
    assert "what: checkpoint of a fit" in phcle("info", "fit.ckpt").stdout
    assert "not a label embedding" in phcle("nearest", "fit.ckpt", "x", code=2).stderr


def test_info_says_what_a_map_of_pictures_is(phcle, fitted):
    features = np.array([[1.0, 0.0], [0.0, 1.0]])
    ImageMap.fit(features, ["cat", "dog"], load(fitted)).save("zoo.map")
    answer = answered(phcle, "zoo.map")
    assert answer["what"] == "map of pictures"
    assert (answer["features"], answer["dim"], answer["images"]) == (2, 4, 2)
    assert answer["classes"] == ["cat", "dog"]
    assert "what: map of pictures" in phcle("info", "zoo.map").stdout
