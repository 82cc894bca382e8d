"""Forged files with families are refused with a message, before anything uses them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from reader_cases import forge

from phcle import PHCLE, DescriptiveContext, RelationalContext, load
from phcle.errors import FileError

EDGES = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]


@pytest.fixture
def path(tmp_path):
    """A file with a tree and a graph of relatives."""
    tags = {"cat": ["tame"], "dog": ["tame"], "lion": [], "wolf": ["howls"]}
    contexts = [
        RelationalContext.from_hierarchy(EDGES, name="tree", role="family"),
        RelationalContext.from_edges([("cat", "dog")], name="near", role="family"),
        DescriptiveContext.from_tags(tags),
    ]
    PHCLE(dim=2, completion="none").fit(contexts).embedding_.save(tmp_path / "x.phcle")
    return tmp_path / "x.phcle"


def names(*given):
    """Names as a file holds them."""
    return np.frombuffer(json.dumps(given).encode(), np.uint8)


def says(context, **values):
    return lambda content, _: content["contexts"][context].update(values)


def holds(name, change):
    def put(_, tensors):
        name_of = f"contexts/{name}"
        tensors[name_of] = change(tensors[name_of])

    return put


def weights(value):
    return holds("1/graph/data", lambda data: np.full_like(data, value))


FORGED = {
    "a shape": (says(0, kinship="banana"), "Got 'banana'"),
    "a cycle": (
        holds("0/edges", lambda edges: np.vstack([edges, edges[:, ::-1]])),
        "cycle|own parent",
    ),
    "nodes beyond the tree": (holds("0/edges", lambda edges: edges + 9), "it lacks"),
    "a node without a name": (
        holds("0/columns", lambda _: names("x", "y")),
        "has no node 'x'",
    ),
    "a strange teacher": (holds("0/teachers", lambda _: names("x")), "has no node 'x'"),
    "too large a weight": (says(0, weight=2.0), "must be from 0 to 1"),
    "another factor": (
        holds("0/factor", lambda factor: np.zeros((5, 2), factor.dtype)),
        "factor of context 'tree'",
    ),
    "a name that is none": (says(0, given_name=3), "does not say which context"),
    "negative edges": (weights(-1.0), "must be from 0 to"),
    "endless edges": (weights(np.inf), "must be from 0 to"),
    "no numbers": (weights(np.nan), "must be from 0 to"),
    "too many rows": (
        holds("1/graph/indptr", lambda indptr: np.append(indptr, indptr[-1])),
        "name nodes that it",
    ),
    "no stiffness": (
        lambda content, _: content["penalties"].update(stiffness=0.0),
        "'stiffness' must be above zero",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_family_is_refused(path, name):
    change, message = FORGED[name]
    load(path)
    forge(path, change)
    with pytest.raises(FileError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
