"""`phcle clusters`, and the files that `nearest` takes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import phcle as library


def test_clusters_are_told(phcle, fitted):
    answer = json.loads(phcle("clusters", fitted, "--count", 3, "--json").stdout)
    assert len(answer["clusters"]) == 3
    labels = [x["label"] for group in answer["clusters"] for x in group]
    assert sorted(labels) == sorted(library.load(fitted).labels)
    shown = phcle("clusters", fitted, "--count", 3).stdout
    assert "King of Beasts" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--count", 99], "from 1 to 7"),
        (["zebar"], "Did you mean 'zebra'"),
        (["--count", 2, "--out", "x.gif"], "must be one of .csv"),
        (["--count", 2, "--out", "zoo.phcle"], "must be one of .csv"),
    ],
)
def test_wrong_requests_for_clusters_exit_with_2(phcle, fitted, arguments, message):
    assert message in phcle("clusters", fitted, *arguments, code=2).stderr


def test_nearest_takes_vectors_from_a_file(phcle, fitted, zoo):
    embedding = library.load(fitted)
    np.save(zoo / "one.npy", embedding["wolf"])
    answer = json.loads(
        phcle("nearest", fitted, "--vector", "one.npy", "--json").stdout
    )
    assert (answer["label"], answer["name"]) == (None, "one.npy")
    assert answer["neighbours"][0]["label"] == "wolf"
    np.save(zoo / "two.npy", embedding.vectors[:2])
    shown = phcle("nearest", fitted, "cat", "--vector", "two.npy", "-k", 1).stdout
    assert "nearest to cat" in shown
    assert "nearest to two.npy, row 2" in shown


def test_wrong_vectors_exit_with_2(phcle, fitted, zoo):
    assert "nothing to look up" in phcle("nearest", fitted, code=2).stderr
    for values, message in (
        (np.zeros((2, 2, 2)), "x.npy"),
        (np.zeros(3), "4 finite numbers"),
        (np.array(["a"]), "x.npy"),
    ):
        np.save(zoo / "x.npy", values)
        error = phcle("nearest", fitted, "--vector", "x.npy", code=2).stderr
        assert message in error
    (zoo / "x.npy").write_text("no numbers")
    assert "x.npy" in phcle("nearest", fitted, "--vector", "x.npy", code=2).stderr
