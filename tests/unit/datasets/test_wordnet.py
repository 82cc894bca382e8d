"""WordNet's noun files: a few hand-written lines, and the real ones where they are."""

from __future__ import annotations

import pytest

from phcle.datasets import WORDNET_FOLDER, load_wordnet_nouns
from phcle.errors import FileError, UnknownLabelError

LICENCE = "  1 This software and database is being provided to you\n"
DATA = (
    LICENCE + "00000001 03 n 01 entity 0 000 | that which exists\n"
    "00000002 05 n 02 beast 0 living_thing 0 001 @ 00000001 n 0000 | it lives  \n"
    "00000003 05 n 02 dog 0 domestic_dog 0 003 @ 00000002 n 0000 "
    '%p 00000005 n 0000 ~ 00000004 n 0000 | it barks; "the dog barked"  \n'
    "00000004 18 n 01 Rex 0 002 @i 00000003 n 0000 @ 00000002 n 0000 | a good boy\n"
    "00000005 06 n 02 flag 0 dog 1 001 @ 00000001 n 0000 | a conspicuous tail\n"
)
INDEX = (
    LICENCE + "beast n 1 1 @ 1 1 00000002  \n"
    "dog n 2 3 @ ~ %p 2 1 00000005 00000003  \n"
    "domestic_dog n 1 3 @ ~ %p 1 0 00000003  \n"
    "entity n 1 1 ~ 1 0 00000001  \n"
    "flag n 1 1 @ 1 0 00000005  \n"
    "living_thing n 1 1 @ 1 1 00000002  \n"
    "rex n 1 2 @ @i 1 0 00000004  \n"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.noun").write_text(DATA, encoding="utf-8")
    (tmp_path / "index.noun").write_text(INDEX, encoding="utf-8")
    return tmp_path


def test_synsets_have_words_hypernyms_parts_and_glosses(folder):
    nouns = load_wordnet_nouns(folder)
    assert len(nouns) == 5
    assert nouns.lemmas["n00000003"] == ("dog", "domestic dog")
    assert nouns.hypernyms["n00000004"] == ("n00000003", "n00000002")
    assert nouns.hypernyms["n00000001"] == ()
    assert nouns.parts == {"n00000003": ("n00000005",)}
    assert nouns.glosses["n00000003"] == 'it barks; "the dog barked"'
    assert nouns.definition_of("n00000003") == "it barks"
    assert nouns.name_of("n00000002") == "beast"
    assert "n00000003" in nouns
    assert repr(nouns) == "WordNetNouns(5 synsets, 7 words)"


def test_senses_come_in_the_order_of_the_index(folder):
    nouns = load_wordnet_nouns(folder)
    assert nouns.senses_of("dog") == ("n00000005", "n00000003")
    assert nouns.senses_of("Domestic_Dog") == ("n00000003",)
    assert nouns.senses_of("unicorn") == ()


def test_senses_can_be_held_to_a_part_of_the_hierarchy(folder):
    nouns = load_wordnet_nouns(folder)
    assert nouns.senses_of("dog", below="n00000002") == ("n00000003",)


def test_edges_reach_from_the_synsets_to_the_root(folder):
    nouns = load_wordnet_nouns(folder / "data.noun")
    assert nouns.closure(["n00000003"]) == ("n00000003", "n00000002", "n00000001")
    assert nouns.edges(["n00000003"]) == [
        ("n00000003", "n00000002"),
        ("n00000002", "n00000001"),
    ]
    assert len(nouns.edges()) == 5


def test_unknown_synset_is_refused_by_name(folder):
    nouns = load_wordnet_nouns(folder)
    with pytest.raises(UnknownLabelError, match="'n99999999'"):
        nouns.edges(["n99999999"])
    with pytest.raises(UnknownLabelError, match="no noun synset 'dog'"):
        nouns.name_of("dog")


def test_missing_files_are_named_with_the_remedy(tmp_path, folder):
    (folder / "index.noun").unlink()
    with pytest.raises(FileError, match=r"index\.noun.*apt-get install wordnet-base"):
        load_wordnet_nouns(folder)
    with pytest.raises(FileError, match=r"data\.noun: no such file"):
        load_wordnet_nouns(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("data.noun", "some words\n", "line 1: is not a synset"),
        ("data.noun", DATA.replace(" 003 @", " 009 @"), "line 4: is not a synset"),
        ("data.noun", LICENCE, "has no synset"),
        ("data.noun", DATA.replace("00000001 03", "00000009 03"), "cut off"),
        ("index.noun", INDEX.replace("00000005", "00000009"), "line 3: must be a word"),
        ("index.noun", "dog\n", "line 1: must be a word"),
    ],
)
def test_damaged_file_is_refused_with_its_line(folder, name, text, message):
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=message):
        load_wordnet_nouns(folder)


@pytest.mark.skipif(
    not (WORDNET_FOLDER / "data.noun").is_file(),
    reason=f"WordNet's files are not in {WORDNET_FOLDER}: apt-get install wordnet-base",
)
def test_real_files_have_all_nouns_and_agree_with_the_embedded_labels(imagenet):
    nouns = load_wordnet_nouns()
    assert len(nouns) == 82_115
    assert nouns.senses_of("dog")[0] == "n02084071"
    assert len(nouns.closure(["n02084071"])) == 15
    assert sorted(nouns.edges(imagenet.labels)) == sorted(imagenet.edges)
    assert all(nouns.glosses[x] == imagenet.glosses[x] for x in imagenet.labels)
