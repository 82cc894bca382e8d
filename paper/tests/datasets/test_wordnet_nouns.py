"""WordNet's noun files: a few hand-written lines, and the real ones where they are."""

from __future__ import annotations

import pytest

from phcle.errors import FileError
from phcle_paper.datasets import WORDNET_FOLDER, load_wordnet_nouns

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
    assert len(nouns.lemmas) == 5
    assert nouns.lemmas["n00000003"] == ("dog", "domestic dog")
    assert nouns.hypernyms["n00000004"] == ("n00000003", "n00000002")
    assert nouns.hypernyms["n00000001"] == ()
    assert nouns.parts == {"n00000003": ("n00000005",)}
    assert nouns.glosses["n00000003"] == 'it barks; "the dog barked"'
    assert nouns.definition_of("n00000003") == "it barks"
    assert nouns.name_of("n00000002") == "beast"


def test_senses_come_in_the_order_of_the_index(folder):
    nouns = load_wordnet_nouns(folder)
    assert nouns.senses_of("dog") == ("n00000005", "n00000003")
    assert nouns.senses_of("Domestic_Dog") == ("n00000003",)
    assert nouns.senses_of("unicorn") == ()


def test_missing_files_are_named_with_the_remedy(tmp_path, folder):
    (folder / "index.noun").unlink()
    with pytest.raises(FileError, match=r"index\.noun.*apt-get install wordnet-base"):
        load_wordnet_nouns(folder)
    with pytest.raises(FileError, match=r"data\.noun: no such file"):
        load_wordnet_nouns(tmp_path / "nowhere")


@pytest.mark.skipif(
    not (WORDNET_FOLDER / "data.noun").is_file(),
    reason=f"WordNet's files are not in {WORDNET_FOLDER}: apt-get install wordnet-base",
)
def test_real_files_have_all_nouns_and_agree_with_the_embedded_labels(imagenet):
    nouns = load_wordnet_nouns()
    assert len(nouns.lemmas) == 82_115
    assert nouns.senses_of("dog")[0] == "n02084071"
    assert len(nouns.closure(["n02084071"])) == 15
    assert sorted(nouns.edges(imagenet.labels)) == sorted(imagenet.edges)
    assert all(nouns.glosses[x] == imagenet.glosses[x] for x in imagenet.labels)
