"""SKOS and OWL through rdflib: the same taxonomy from every notation, offline."""

from __future__ import annotations

import json
import logging
import socket

import pytest

from phcle.errors import ContextError, FileError
from phcle.tables import from_owl, from_skos

rdflib = pytest.importorskip("rdflib", reason="rdflib is not installed")

SKOS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/animals/> .
:beast a skos:Concept ; skos:prefLabel "beast"@en, "Tier"@de .
:felid a skos:Concept ; skos:broader :beast ; skos:prefLabel "cat family"@en-GB .
:cat a skos:Concept ; skos:broader :felid ; skos:prefLabel "house cat"@en, "Katze"@de ;
    skos:altLabel "moggy"@en, "Mieze"@de ; skos:definition "A small tame cat."@en .
:lion a skos:Concept ; skos:broader :felid ; skos:prefLabel "Löwe"@de .
:beast skos:narrower :dog, :felid .
:dog skos:prefLabel "dog" ; skos:broader [ skos:broader :pet ] .
"""
PAIRS = ("felid beast", "cat felid", "lion felid", "dog beast", "dog pet")
OWL = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://example.org/zoo#> .
:Animal a owl:Class ; rdfs:subClassOf owl:Thing ; rdfs:label "animal" .
:Dog a owl:Class ; rdfs:subClassOf :Animal , [ a owl:Restriction ;
    owl:onProperty :eats ; owl:someValuesFrom :Bone ] ; rdfs:comment "It barks." .
:Puppy owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :Dog :Young ) ] .
:Cat rdfs:subClassOf :Animal ; rdfs:label "cat"@en .
"""


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "animals.ttl"
    path.write_text(SKOS, encoding="utf-8")
    return path


def test_a_vocabulary_has_edges_names_and_texts(vocabulary):
    found = from_skos(vocabulary)
    assert found.name == "animals"
    assert set(found.edges) == {tuple(pair.split()) for pair in PAIRS}
    assert found.names["cat"] == "house cat"
    assert found.names["felid"] == "cat family"  # British English is English
    assert found.names["dog"] == "dog"  # no language is better than another one
    assert found.names["lion"] == "Löwe"  # and another one better than none
    assert found.texts == {"cat": "moggy. A small tame cat"}


def test_names_and_texts_come_in_the_language_asked_for(vocabulary):
    found = from_skos(vocabulary, language="de")
    assert (found.names["cat"], found.names["beast"]) == ("Katze", "Tier")
    assert found.texts == {"cat": "Mieze"}
    tagged = rdflib.Graph().parse(vocabulary)
    tagged.remove((None, None, rdflib.Literal("dog")))
    with pytest.raises(ContextError, match="'fi'; it has 'de', 'en', 'en-"):
        from_skos(tagged, language="fi", name="animals")


@pytest.mark.parametrize(
    ("ending", "format"),
    [(".rdf", "xml"), (".jsonld", "json-ld"), (".nt", "nt"), (".owl", "turtle")],
)
def test_every_notation_that_rdflib_writes_gives_the_same(
    vocabulary, tmp_path, ending, format
):
    other = tmp_path / f"other{ending}"
    rdflib.Graph().parse(vocabulary).serialize(other, format=format, encoding="utf-8")
    found, same = from_skos(other), from_skos(vocabulary)
    assert set(found.edges) == set(same.edges)
    assert (found.names, found.texts) == (same.names, same.texts)
    assert set(found.hierarchy().labels) == {"cat", "lion", "dog"}


def test_an_ontology_has_named_superclasses_and_members_of_intersections(tmp_path):
    path = tmp_path / "zoo.ttl"
    path.write_text(OWL)
    found = from_owl(path)
    pairs = ("Dog Animal", "Cat Animal", "Puppy Dog", "Puppy Young")
    assert set(found.edges) == {tuple(pair.split()) for pair in pairs}
    assert found.names == {"Animal": "animal", "Cat": "cat"}
    assert found.texts == {"Dog": "It barks"}
    assert found.descriptions(min_count=1).labels == ("Dog",)


def test_nodes_with_the_same_last_part_keep_their_whole_address():
    broader = rdflib.SKOS.broader
    graph = rdflib.Graph()
    for high in ("http://b/1", "http://b/2"):
        graph.add((rdflib.URIRef("http://a/1"), broader, rdflib.URIRef(high)))
    edges = {("http://a/1", "http://b/1"), ("http://a/1", "2")}
    assert set(from_skos(graph).edges) == edges


@pytest.mark.parametrize(
    "context",
    ["ADDRESS", ["ADDRESS"], {"@import": "ADDRESS"}, {"x": {"@context": "ADDRESS"}}],
)
def test_nothing_is_fetched_for_a_remote_context(tmp_path, monkeypatch, context):
    asked = []
    monkeypatch.setattr(socket, "create_connection", lambda *x, **_: asked.append(x))
    text = json.dumps({"@context": context, "@id": "http://a/1"})
    path = tmp_path / "remote.jsonld"
    path.write_text(text.replace("ADDRESS", "http://127.0.0.1:9/context.jsonld"))
    with pytest.raises(FileError, match="lies elsewhere, and nothing is fetched"):
        from_skos(path)
    assert asked == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ttl", "this is no turtle", "cannot be read as turtle"),
        ("a.rdf", "<rdf", "cannot be read as xml"),
        ("a.jsonld", "{", "is not JSON"),
        ("a.txt", "x", "must end in .ttl"),
        ("a.ttl", "", "states no node above another"),
    ],
)
def test_what_is_no_vocabulary_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises((FileError, ContextError), match=message):
        from_skos(tmp_path / name)
    with pytest.raises(FileError, match="no such file"):
        from_owl(tmp_path / "missing.owl")


@pytest.mark.parametrize("ending", ["ttl", "rdf"])
def test_an_address_cannot_command_the_terminal(tmp_path, caplog, capfd, ending):
    path = tmp_path / f"bad.{ending}"
    broader = "http://www.w3.org/2004/02/skos/core#broader"
    texts = {
        "ttl": f"<http://e/a\x1b]0;owned\x07 b> <{broader}> <http://e/c> .",
        "rdf": '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s='
        f'"{broader[:-7]}"><r:Description r:about="http://e/a &#x9b;31m"><s:broader '
        'r:resource="http://e/c"/></r:Description></r:RDF>',
    }
    path.write_text(texts[ending], encoding="utf-8")
    assert len(from_skos(path).edges) == 1
    assert caplog.text == ""
    assert capfd.readouterr().err == ""
    logging.getLogger("rdflib.term").warning("heard again")
    assert "heard again" in caplog.text
