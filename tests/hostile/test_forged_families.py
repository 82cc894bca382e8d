"""Forged files with families are refused with a message, before anything uses them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from phcle import PHCLE, DescriptiveContext, RelationalContext, load
from phcle.contexts import Hierarchy
from phcle.contexts.family.kinship import GraphKinship, TreeKinship
from phcle.errors import FileError

EDGES = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]


class Named(TreeKinship):
    """Relatives of a shape that does not exist."""

    def pack(self, store):
        super().pack(store)
        return "banana"


@pytest.fixture
def embedding():
    tags = {"cat": ["tame"], "dog": ["tame"], "lion": [], "wolf": ["howls"]}
    contexts = [
        RelationalContext.from_hierarchy(EDGES, name="tree", role="family"),
        RelationalContext.from_edges([("cat", "dog")], name="near", role="family"),
        DescriptiveContext.from_tags(tags),
    ]
    return PHCLE(dim=2, calibrate=False).fit(contexts).embedding_


def graph(value, n=2):
    return GraphKinship(("cat", "dog"), sp.csr_array(np.full((n, 2), value)))


def cycle(tree):
    return Hierarchy(tree.nodes, np.vstack([tree.edges, tree.edges[:, ::-1]]))


def with_kinship(make):
    return lambda family: replace(
        family, data=replace(family.data, kinship=make(family.data.kinship))
    )


FORGED = {
    "a shape": (0, with_kinship(lambda k: Named(k.hierarchy)), "Got 'banana'"),
    "a cycle": (
        0,
        with_kinship(lambda k: TreeKinship(cycle(k.hierarchy))),
        "cycle|own parent",
    ),
    "nodes beyond the tree": (
        0,
        with_kinship(
            lambda k: TreeKinship(Hierarchy(k.hierarchy.nodes, k.hierarchy.edges + 9))
        ),
        "name nodes that it lacks",
    ),
    "a node without a name": (
        0,
        lambda f: replace(
            f, columns=("x", "y"), data=replace(f.data, columns=("x", "y"))
        ),
        "has no node 'x'",
    ),
    "a strange teacher": (0, lambda f: replace(f, teachers=("x",)), "has no node 'x'"),
    "too large a weight": (0, lambda f: replace(f, weight=2.0), "must be from 0 to 1"),
    "another factor": (
        0,
        lambda f: replace(f, factor=np.zeros((5, 2))),
        "factor of context 'tree'",
    ),
    "a name that is none": (
        0,
        lambda f: replace(f, data=replace(f.data, given_name=3)),
        "does not say which context",
    ),
    "negative edges": (1, with_kinship(lambda _: graph(-1.0)), "must be from 0 to"),
    "endless edges": (1, with_kinship(lambda _: graph(np.inf)), "must be from 0 to"),
    "no numbers": (1, with_kinship(lambda _: graph(np.nan)), "must be from 0 to"),
    "too many rows": (1, with_kinship(lambda _: graph(1.0, 3)), "name nodes that it"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_family_is_refused(tmp_path, embedding, name):
    position, forge, message = FORGED[name]
    contexts = list(embedding.contexts)
    contexts[position] = forge(contexts[position])
    replace(embedding, contexts=tuple(contexts)).save(tmp_path / "x.phcle")
    with pytest.raises(FileError, match=message) as caught:
        load(tmp_path / "x.phcle")
    assert str(caught.value).startswith(str(tmp_path / "x.phcle"))


@pytest.mark.parametrize("stiffness", [0.0, -1.0])
def test_a_stiffness_that_holds_nothing_is_refused(tmp_path, embedding, stiffness):
    penalties = {**embedding.penalties, "stiffness": stiffness}
    replace(embedding, penalties=penalties).save(tmp_path / "x.phcle")
    with pytest.raises(FileError, match="'stiffness' must be above zero"):
        load(tmp_path / "x.phcle")
