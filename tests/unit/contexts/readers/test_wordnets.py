"""WordNets through NLTK and `wn`, and label lists of Hugging Face."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from phcle import PHCLE, LabelEmbedding, RelationalContext
from phcle.contexts.readers.wordnets import from_nltk, from_wn
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
def nouns():
    if not (DEBIAN / "data.noun").exists():
        pytest.skip("wordnet-base is not installed")
    return load_wordnet_nouns(DEBIAN)


@pytest.fixture(scope="module")
def reader(nouns, tmp_path_factory):
    """NLTK's reader on the nouns of Debian's files, and an index of those needed.

    It reads no links that lead out of its folder, and wants two more files.
    """
    nltk = pytest.importorskip("nltk.corpus.reader.wordnet", reason="no NLTK")
    from nltk import data

    home = tmp_path_factory.mktemp("nltk")
    folder = home / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    nodes = nouns.closure([*nouns.senses_of("dog"), *nouns.senses_of("teapot")])
    words = {w.lower().replace(" ", "_") for node in nodes for w in nouns.lemmas[node]}
    for sort in ("adj", "adv", "noun", "verb"):
        lines = (DEBIAN / f"index.{sort}").read_text().splitlines(keepends=True)
        title = "".join(x for x in lines if x.startswith(" "))
        kept = [x for x in lines if x.split()[0] in words and sort == "noun"]
        (folder / f"index.{sort}").write_text(title + "".join(kept))
        (folder / f"data.{sort}").write_text(title)
        (folder / f"{sort}.exc").write_text("")
    shutil.copy(DEBIAN / "data.noun", folder)
    for name in ("index.sense", "cntlist.rev"):
        (folder / name).write_text("")
    kinds = "".join(f"{i:02d}\tkind{i}\t1\n" for i in range(45))
    (folder / "lexnames").write_text(kinds)
    data.path.append(str(home))  # where NLTK may read
    with pytest.warns(UserWarning, match="multilingual"):  # only English is here
        made = nltk.WordNetCorpusReader(str(folder), None)
    yield made
    data.path.remove(str(home))


def test_nltk_gives_the_taxonomy_that_our_own_reader_gives(reader, nouns):
    found = from_nltk(reader, ["dog.n.01", reader.synset("teapot.n.01")])
    wnid = {
        node: f"n{reader.synset(node).offset():08d}"
        for edge in found.edges
        for node in edge
    }
    ours = nouns.edges([wnid["dog.n.01"], wnid["teapot.n.01"]])
    assert {(wnid[low], wnid[high]) for low, high in found.edges} == set(ours)
    assert found.names["dog.n.01"] == "dog"
    assert found.texts["teapot.n.01"].startswith("teapot: pot for brewing tea")
    assert found.hierarchy().labels == ("dog.n.01", "teapot.n.01")


def test_class_labels_of_hugging_face_are_labels(rng):
    # A submodule, because "datasets" alone is also a folder of tests.
    pytest.importorskip("datasets.features", reason="datasets is not installed")
    import datasets

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
