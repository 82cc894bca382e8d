"""`--role`: a taxonomy as counts, as a family, or both, from fit to explanation."""

from __future__ import annotations

import json

import pytest

import phcle as library

FIT = ("fit", "--hierarchy", "tree.csv", "--attributes", "looks.csv", "--dim", 3)
KINDS = {
    "counts": [("tree", "relational")],
    "family": [("tree", "family")],
    "both": [("tree", "relational"), ("tree (family)", "family")],
}


@pytest.fixture(params=["family", "both"])
def fitted(request, phcle):
    phcle(*FIT, "--role", request.param, "--names", "names.csv", "--out", "f.phcle")
    return "f.phcle"


@pytest.mark.parametrize("role", KINDS)
def test_info_tells_in_which_role_a_taxonomy_was_learned(phcle, role):
    phcle(*FIT, "--role", role, "--out", "f.phcle")
    answered = json.loads(phcle("info", "f.phcle", "--json").stdout)
    kinds = [(c["name"], c["kind"]) for c in answered["contexts"]]
    assert kinds == [*KINDS[role], ("looks", "descriptive")]
    assert KINDS[role][-1][1] in phcle("info", "f.phcle").stdout


def test_explain_names_relatives_own_data_and_the_shared_nodes_once(phcle, fitted):
    shown = phcle("explain", fitted, "cat", "lion", "-k", 9).stdout
    assert "own data" in shown
    assert "tiger" in shown
    below = "Both are below (most specific first): cat family, carnivore"
    assert shown.count(below) == 1
    answer = json.loads(phcle("explain", fitted, "cat", "lion", "--json").stdout)
    (part,) = (x for x in answer["parts"] if x["kind"] == "family")
    assert {"column": "lion", "name": "King of Beasts"}.items() <= next(
        x for group in part["groups"] for x in group["columns"] if x["column"] == "lion"
    ).items()
    assert abs(answer["rest"]) < 1e-3


def test_labels_are_added_below_their_parents(phcle, fitted, zoo):
    (zoo / "new.csv").write_text("child,parent\npuma,Cat family\n")
    phcle("add", fitted, "--hierarchy", "new.csv", "--out", "more.phcle")
    more = library.load(zoo / "more.phcle")
    assert more.contexts_of("puma")[more.contexts[-2].name]
    assert {x for x, _ in more.nearest("puma", 2)} & {"cat", "lion", "tiger"}
    shown = phcle("explain", "more.phcle", "puma", "lion").stdout
    assert "Both are below (most specific first): cat family" in shown


def test_a_vocabulary_may_be_a_family(phcle, zoo):
    pytest.importorskip("rdflib", reason="rdflib is not installed")
    (zoo / "beasts.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        "@prefix : <http://example.org/> .\n"
        ":cat skos:broader :felid . :lion skos:broader :felid .\n"
        ":dog skos:broader :canid . :wolf skos:broader :canid .\n"
    )
    phcle(
        *("fit", "--skos", "beasts.ttl", "--attributes", "looks.csv", "--dim", 2),
        *("--role", "family", "--out", "b.phcle"),
    )
    assert library.load(zoo / "b.phcle").contexts[0].kind == "family"


def test_new_edges_of_a_graph_are_added_to_a_family(phcle, zoo):
    eats = library.RelationalContext.from_edges(
        [("lion", "zebra", 2), ("cat", "tiger")], name="eats", role="family"
    )
    looks = library.read_contexts(attributes="looks.csv")[0]
    model = library.PHCLE(dim=2, completion="none").fit([eats, looks])
    model.embedding_.save(zoo / "g.phcle")
    (zoo / "new.csv").write_text("source,target\npuma,zebra\npuma,lion\n")
    phcle("add", "g.phcle", "--edges", "eats=new.csv", "--out", "more.phcle")
    more = library.load(zoo / "more.phcle")
    assert set(more.labels) - set(model.embedding_.labels) == {"puma"}
    assert more.nearest("puma", 1)[0][0] in ("lion", "zebra")
