"""`phcle fit --skos` and `--owl`: a file that is taxonomy, names and texts at once."""

from __future__ import annotations

import tomllib

import pytest

import phcle as library

pytest.importorskip("rdflib", reason="rdflib is not installed")

BEASTS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:cat skos:broader :felid ; skos:prefLabel "house cat"@en, "Katze"@de ;
    skos:definition "A small felid."@en .
:lion skos:broader :felid ; skos:prefLabel "lion"@en, "Löwe"@de ;
    skos:definition "A large felid."@en .
:felid skos:broader :beast . :dog skos:broader :beast ; skos:prefLabel "dog"@en .
"""
OWL = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://example.org/> .
:cat rdfs:subClassOf :felid . :lion rdfs:subClassOf :felid . :dog rdfs:subClassOf :pet .
:lion rdfs:subClassOf :pet .
"""


@pytest.fixture
def beasts(zoo):
    (zoo / "beasts.ttl").write_text(BEASTS, encoding="utf-8")
    return "beasts.ttl"


def test_a_vocabulary_gives_two_contexts_and_names(phcle, zoo, beasts):
    phcle(
        "fit", "--skos", beasts, "--names", "names.csv", "--dim", 2, "--out", "b.phcle"
    )
    embedding = library.load(zoo / "b.phcle")
    assert [c.name for c in embedding.contexts] == ["beasts", "beasts texts"]
    assert embedding.name_of("cat") == "house cat"
    assert embedding.name_of("lion") == "King of Beasts"  # what is given counts more
    phcle("nearest", "b.phcle", "house cat")


def test_the_language_can_be_chosen_and_joined_with_other_contexts(phcle, zoo, beasts):
    phcle(
        *("fit", "--skos", f"animals={beasts}", "--language", "de", "--dim", 2),
        *("--attributes", "looks.csv", "--hierarchy-kind", "path", "--out", "b.phcle"),
    )
    embedding = library.load(zoo / "b.phcle")
    assert [c.name for c in embedding.contexts] == ["animals", "looks"]
    assert embedding.name_of("lion") == "Löwe"
    assert embedding.contexts[0].data.hierarchy.kind == "path"
    told = phcle("fit", "--skos", beasts, "--language", "fi", "--out", "c", code=2)
    assert "no name in the language 'fi'" in told.stderr


def test_an_ontology_is_a_context(phcle, zoo):
    (zoo / "zoo.owl").write_text(OWL)
    phcle("fit", "--owl", "zoo.owl", "--dim", 2, "--out", "b.phcle")
    assert library.load(zoo / "b.phcle").labels == ("cat", "lion", "dog")


def test_tuning_writes_the_vocabulary_and_its_language(phcle, zoo, beasts):
    (zoo / "own.py").write_text("def score(embedding):\n    return embedding.dim\n")
    phcle(
        *("tune", "--skos", beasts, "--language", "de", "--score", "own.py:score"),
        *("--search", "dim=2:3", "--trials", 1, "--out", "best.toml"),
    )
    written = tomllib.loads((zoo / "best.toml").read_text())["fit"]
    assert written["skos"] == [beasts]
    assert written["language"] == "de"
    phcle("fit", "--config", "best.toml", "--out", "b.phcle")
    assert library.load(zoo / "b.phcle").name_of("cat") == "Katze"
