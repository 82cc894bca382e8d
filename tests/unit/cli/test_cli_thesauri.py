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


@pytest.fixture
def fit(phcle, zoo):
    """Write the vocabulary and fit it; give the embedding."""
    (zoo / "beasts.ttl").write_text(BEASTS, encoding="utf-8")
    (zoo / "beasts-2.ttl").write_text(NEWER, encoding="utf-8")

    def fit(*arguments):
        phcle("fit", *arguments, "--dim", 2, "--out", "b.phcle")
        return library.load(zoo / "b.phcle")

    return fit


def names_of(embedding):
    return [context.name for context in embedding.contexts]


def test_a_vocabulary_gives_two_contexts_and_names(fit, phcle):
    embedding = fit("--skos", "beasts.ttl", "--names", "names.csv")
    assert names_of(embedding) == ["beasts", "beasts texts"]
    assert embedding.name_of("cat") == "house cat"
    assert embedding.name_of("lion") == "King of Beasts"  # what is given counts more
    phcle("nearest", "b.phcle", "house cat")


def test_the_language_can_be_chosen_and_joined_with_other_contexts(fit, phcle):
    embedding = fit(
        *("--skos", "animals=beasts.ttl", "--language", "de"),
        *("--attributes", "looks.csv", "--hierarchy-kind", "path"),
    )
    assert names_of(embedding) == ["animals", "looks"]
    assert embedding.name_of("lion") == "Löwe"
    assert embedding.contexts[0].recipe.kind == "path"
    finnish = ("--skos", "beasts.ttl", "--language", "fi", "--out", "c")
    assert "no name in the language 'fi'" in phcle("fit", *finnish, code=2).stderr


NEWER = (
    BEASTS
    + """
:lynx skos:broader :felid ; skos:prefLabel "lynx"@en, "Luchs"@de ;
    skos:definition "A small felid with a short tail."@en .
:siamese skos:broader :cat . :felid skos:definition "Now there is one."@en .
"""
)


def test_what_is_new_in_a_newer_edition_is_added(fit, phcle, zoo):
    old = fit("--skos", "beasts.ttl")
    answered = phcle("add", "b.phcle", "--skos", "beasts-2.ttl", "--out", "more.phcle")
    assert "2 new" in answered.stdout.replace("\n", " ")
    whole = library.load(zoo / "more.phcle")
    assert whole.labels == (*old.labels, "lynx", "siamese")
    assert whole.name_of("lynx") == "lynx"
    tree, texts = whole.contexts
    assert (texts.knows("lynx"), texts.knows("siamese")) == (True, False)
    assert tree.knows("siamese")
    # It is what its edges and its text would have given in files of their own.
    (zoo / "edges.csv").write_text("child,parent\nlynx,felid\nsiamese,cat\n")
    (zoo / "texts.csv").write_text("label,text\nlynx,lynx Luchs A small felid\n")
    files = ("--hierarchy", "beasts=edges.csv", "--texts", "beasts texts=texts.csv")
    phcle("add", "b.phcle", *files, "--out", "other.phcle")
    other = library.load(zoo / "other.phcle")
    assert abs(other["siamese"] - whole["siamese"]).max() < 1e-6
