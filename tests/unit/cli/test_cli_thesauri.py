"""`--skos` and `--owl`: a file that is taxonomy, names and texts at once."""

from __future__ import annotations

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
    assert embedding.contexts[0].recipe.kind == "path"
    told = phcle("fit", "--skos", beasts, "--language", "fi", "--out", "c", code=2)
    assert "no name in the language 'fi'" in told.stderr


NEWER = (
    BEASTS
    + """
:lynx skos:broader :felid ; skos:prefLabel "lynx"@en, "Luchs"@de ;
    skos:definition "A small felid with a short tail."@en .
:siamese skos:broader :cat . :felid skos:definition "Now there is one."@en .
"""
)


def test_what_is_new_in_a_newer_edition_is_added(phcle, zoo, beasts):
    phcle("fit", "--skos", beasts, "--dim", 2, "--out", "b.phcle")
    (zoo / "beasts-2.ttl").write_text(NEWER, encoding="utf-8")
    told = phcle("add", "b.phcle", "--skos", "beasts-2.ttl", "--out", "more.phcle")
    assert "2 new" in told.stdout.replace("\n", " ")
    old, whole = library.load(zoo / "b.phcle"), library.load(zoo / "more.phcle")
    assert whole.labels == (*old.labels, "lynx", "siamese")
    assert [c.name for c in whole.contexts] == ["beasts", "beasts texts"]
    assert whole.name_of("lynx") == "lynx"
    assert whole.contexts[1].knows("lynx")
    assert not whole.contexts[1].knows("siamese")
    assert whole.contexts[0].knows("siamese")
    # It is what its edges and its text would have given in files of their own.
    (zoo / "edges.csv").write_text("child,parent\nlynx,felid\nsiamese,cat\n")
    (zoo / "texts.csv").write_text("label,text\nlynx,lynx Luchs A small felid\n")
    alone = phcle(
        *("add", "b.phcle", "--hierarchy", "beasts=edges.csv", "--out", "other.phcle"),
        *("--texts", "beasts texts=texts.csv"),
    )
    assert "2 new" in alone.stdout.replace("\n", " ")
    other = library.load(zoo / "other.phcle")
    assert abs(other["siamese"] - whole["siamese"]).max() < 1e-6


def test_names_of_new_nodes_are_in_the_language_asked_for(phcle, zoo, beasts):
    phcle("fit", "--skos", beasts, "--language", "de", "--dim", 2, "--out", "b.phcle")
    (zoo / "beasts.ttl").write_text(NEWER, encoding="utf-8")
    (zoo / "names.csv").write_text("label,name\nsiamese,Siamkatze\n")
    phcle(
        *("add", "b.phcle", "--skos", beasts, "--language", "de"),
        *("--names", "names.csv", "--out", "more.phcle"),
    )
    whole = library.load(zoo / "more.phcle")
    assert [whole.name_of(x) for x in ("lynx", "siamese")] == ["Luchs", "Siamkatze"]


def test_an_edition_without_anything_new_is_refused(phcle, zoo, beasts):
    phcle("fit", "--skos", beasts, "--dim", 2, "--out", "b.phcle")
    told = phcle("add", "b.phcle", "--skos", beasts, "--out", "more.phcle", code=2)
    assert "beasts.ttl: names no node that is new" in told.stderr
    assert not (zoo / "more.phcle").exists()


def test_a_vocabulary_belongs_to_a_taxonomy_of_the_fit(phcle, zoo, beasts):
    phcle("fit", "--attributes", "looks.csv", "--dim", 2, "--out", "b.phcle")
    told = phcle("add", "b.phcle", "--skos", beasts, "--out", "more.phcle", code=2)
    assert "nothing in the fit was learned from --skos" in told.stderr
    told = phcle(
        "add", "b.phcle", "--skos", f"looks={beasts}", "--out", "more.phcle", code=2
    )
    assert "the context 'looks' of the fit is no taxonomy" in told.stderr
    told = phcle(
        "add", "b.phcle", "--skos", f"look={beasts}", "--out", "more.phcle", code=2
    )
    assert "the fit had no context 'look'. Did you mean 'looks'?" in told.stderr


def test_an_ontology_is_a_context(phcle, zoo):
    (zoo / "zoo.owl").write_text(OWL)
    phcle("fit", "--owl", "zoo.owl", "--dim", 2, "--out", "b.phcle")
    assert library.load(zoo / "b.phcle").labels == ("cat", "lion", "dog")
