"""WordNets through NLTK and `wn`, and label lists of Hugging Face."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from phcle import PHCLE, LabelEmbedding, RelationalContext
from phcle.contexts.wordnets import from_nltk, from_wn
from phcle.datasets import load_wordnet_nouns
from phcle.errors import ContextError

DEBIAN = Path("/usr/share/wordnet")
LMF = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
{}{}
</LexicalResource>
"""
LEXICON = """<Lexicon id="{id}" label="{id}" language="{language}" email="a@b.c"
 license="MIT" version="1">{entries}{synsets}</Lexicon>"""
WORDS = {
    "en": {"i1": "animal", "i2": "cat", "i3": "dog"},
    "es": {"i1": "animal", "i2": "gato", "i3": "perro"},
}


def lexicon(language):
    own = f"toy{language}"
    entries = "".join(
        f'<LexicalEntry id="{own}-{ili}-e"><Lemma writtenForm="{word}" '
        f'partOfSpeech="n"/><Sense id="{own}-{ili}-s" synset="{own}-{ili}"/>'
        "</LexicalEntry>"
        for ili, word in WORDS[language].items()
    )
    synsets = "".join(
        f'<Synset id="{own}-{ili}" ili="{ili}" partOfSpeech="n" '
        f'members="{own}-{ili}-e"><Definition>about {word}</Definition>'
        + (
            ""
            if ili == "i1"
            else f'<SynsetRelation relType="hypernym" target="{own}-i1"/>'
        )
        + "</Synset>"
        for ili, word in WORDS[language].items()
    )
    return LEXICON.format(id=own, language=language, entries=entries, synsets=synsets)


@pytest.fixture
def wn(tmp_path, monkeypatch):
    """The library with a database of its own, and two languages in it."""
    wn = pytest.importorskip("wn", reason="wn is not installed")
    monkeypatch.setattr(wn.config, "data_directory", tmp_path / "wn")
    path = tmp_path / "toy.xml"
    path.write_text(LMF.format(lexicon("en"), lexicon("es")), encoding="utf-8")
    wn.add(path, progress_handler=None)
    yield wn
    from wn import _db

    for connection in _db.pool.values():
        connection.close()
    _db.pool.clear()


def test_two_languages_name_the_same_nodes(wn):
    english, spanish = (from_wn(wn.Wordnet(lang=x)) for x in ("en", "es"))
    assert set(english.edges) == set(spanish.edges) == {("i2", "i1"), ("i3", "i1")}
    assert english.names["i2"] == "cat"
    assert spanish.names["i2"] == "gato"
    assert english.texts["i3"] == "dog: about dog"
    model = PHCLE(dim=2, calibrate=False).fit(english.hierarchy(), names=spanish.names)
    assert model.embedding_.nearest("gato", k=1)[0][0] == "i3"


def test_some_synsets_bring_what_is_above_them_and_nothing_else(wn):
    english = wn.Wordnet(lang="en")
    found = from_wn(english, ["toyen-i2"])
    assert found.edges == (("i2", "i1"),)
    with pytest.raises(ContextError, match="no synset was given"):
        from_wn(english, [])


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """NLTK's reader on Debian's files; it wants a list of file names beside them."""
    nltk = pytest.importorskip("nltk.corpus.reader.wordnet", reason="no NLTK")
    if not (DEBIAN / "data.noun").exists():
        pytest.skip("wordnet-base is not installed")
    folder = tmp_path_factory.mktemp("wordnet")
    for path in DEBIAN.iterdir():
        if path.is_file():
            (folder / path.name).symlink_to(path)
    kinds = ["adj.all", "adj.pert", "adv.all", "noun.Tops"]
    kinds += [f"noun.{i}" for i in range(4, 29)] + [f"verb.{i}" for i in range(29, 45)]
    (folder / "lexnames").write_text(
        "".join(f"{i:02d}\t{kind}\t1\n" for i, kind in enumerate(kinds))
    )
    from nltk import data

    data.path += [str(folder), str(DEBIAN)]  # where NLTK may read
    with pytest.warns(UserWarning, match="multilingual"):  # only English is here
        made = nltk.WordNetCorpusReader(str(folder), None)
    yield made
    del data.path[-2:]


def test_nltk_gives_the_taxonomy_that_our_own_reader_gives(reader):
    found = from_nltk(reader, ["dog.n.01", "teapot.n.01", "run.v.01"])
    nouns = load_wordnet_nouns(DEBIAN)
    wnid = {
        node: f"n{reader.synset(node).offset():08d}"
        for edge in found.edges
        for node in edge
        if ".n." in node
    }
    ours = set(nouns.edges([wnid["dog.n.01"], wnid["teapot.n.01"]]))
    assert {
        (wnid[low], wnid[high]) for low, high in found.edges if ".n." in low
    } == ours
    assert found.names["dog.n.01"] == "dog"
    assert found.texts["teapot.n.01"].startswith("teapot: pot for brewing tea")


def test_class_labels_of_hugging_face_are_labels(rng):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    classes = datasets.ClassLabel(names=["dog", "cat", "wolf"])
    tree = [("cat", "beast"), ("dog", "beast"), ("wolf", "beast"), ("carp", "fish")]
    model = PHCLE(dim=2, calibrate=False).fit(
        RelationalContext.from_hierarchy([*tree, ("pike", "fish")]), labels=classes
    )
    assert model.embedding_.labels == ("dog", "cat", "wolf")
    # Rows of an embedding then are the numbers of the data set.
    table = datasets.Dataset.from_dict(
        {"label": [2, 0]}, features=datasets.Features({"label": classes})
    )
    pets = LabelEmbedding(("cat", "dog", "wolf"), rng.normal(size=(3, 4)))
    chosen = pets.select(table.features["label"])
    np.testing.assert_array_equal(chosen.vectors[table["label"][0]], pets["wolf"])
    assert chosen.labels == tuple(classes.names)
