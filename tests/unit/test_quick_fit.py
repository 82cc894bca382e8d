"""`phcle.fit` takes whatever holds the data."""

from __future__ import annotations

import pandas as pd
import pytest

import phcle
from phcle.errors import ContextError, GuessWarning, OptionError

TREE = pd.DataFrame(
    {
        "child": ["cat", "lion", "dog", "wolf"],
        "parent": ["felid", "felid", "canid", "canid"],
    }
)
SIZES = pd.DataFrame({"label": ["cat", "lion", "wolf"], "kg": [4, 190, 40]})
QUICK = {"dim": 2, "choose": False, "completion": "none"}
ANIMALS = ("cat", "lion", "dog", "wolf")


def test_frames_become_contexts_of_their_kind():
    found = phcle.fit(TREE, SIZES, **QUICK)
    assert found.labels == ANIMALS
    assert [c.name for c in found.contexts] == ["hierarchy", "attributes"]
    found = phcle.fit(SIZES, SIZES.rename(columns={"kg": "lb"}), **QUICK)
    assert [c.name for c in found.contexts] == ["attributes", "attributes 2"]
    with pytest.raises(ContextError, match="Got int instead"):
        phcle.fit(3)
    with pytest.raises(OptionError, match="dim"):
        phcle.fit(TREE, dim=0)


def test_files_and_folders_are_read(tmp_path):
    TREE.rename(columns={"child": "animal", "parent": "family"}).to_csv(
        tmp_path / "tree.csv", index=False
    )
    SIZES.to_csv(tmp_path / "sizes.csv", index=False, sep=";")
    with pytest.warns(GuessWarning, match=r"tree.csv as hierarchy \(child is 'animal'"):
        found = phcle.fit(tmp_path, **QUICK)
    assert found.labels == ANIMALS
    with pytest.warns(GuessWarning):
        again = phcle.fit(tmp_path / "tree.csv", str(tmp_path / "sizes.csv"), **QUICK)
    assert again.labels == ANIMALS
    with pytest.warns(GuessWarning):
        mixed = phcle.fit({"tree": tmp_path / "tree.csv", "looks": SIZES}, **QUICK)
    assert [c.name for c in mixed.contexts] == ["tree", "looks"]


def test_what_was_read_keeps_its_names_and_hashes(tmp_path):
    TREE.to_csv(tmp_path / "tree.csv", index=False)
    (tmp_path / "names.csv").write_text("label,name\ncat,the cat\n")
    read = phcle.read_contexts(
        hierarchy=tmp_path / "tree.csv", names=tmp_path / "names.csv"
    )
    found = phcle.fit(read, SIZES, **QUICK)
    assert found.name_of("cat") == "the cat"
    assert [x["file"] for x in found.origin["files"]] == ["tree.csv", "names.csv"]


def test_labels_and_names_may_be_files_or_values(tmp_path):
    (tmp_path / "labels.txt").write_text("cat\nlion\nwolf\n")
    tree = tmp_path / "tree.csv"
    TREE.to_csv(tree, index=False)
    by_file = phcle.fit(tree, SIZES, labels=tmp_path / "labels.txt", **QUICK)
    by_value = phcle.fit(
        tree, SIZES, labels=["cat", "lion", "wolf"], names={"cat": "Tom"}, **QUICK
    )
    assert by_file.labels == by_value.labels == ("cat", "lion", "wolf")
    assert by_value.name_of("cat") == "Tom"


def test_all_that_is_open_is_named_at_once():
    open_table = pd.DataFrame({"a": list("xxyyzz"), "b": list("ppqqpq")})
    with pytest.raises(ContextError, match=r"one: 'a' and 'b'.*\n.*two: 'c'") as error:
        phcle.fit(
            {"one": open_table, "two": open_table.set_axis(["c", "d"], axis=1) + "!"}
        )
    assert "from_tags or from_annotations" in str(error.value)


@pytest.mark.filterwarnings("ignore::phcle.errors.PhcleWarning")
def test_frames_that_cannot_be_told_apart_or_read_are_refused():
    with pytest.raises(ContextError, match="two data frames are called 'one'"):
        phcle.fit({"one": TREE}, {"one": SIZES})
    other = pd.DataFrame({"label": ["cat"], "synonym": ["Felis catus"]})
    tags = pd.DataFrame({"label": ["Felis catus", "dog"], "tag": ["fine", "loyal"]})
    found = phcle.fit({"other": other, "tags": tags, "sizes": SIZES}, **QUICK)
    assert set(found.labels) == {"cat", "dog", "lion", "wolf"}
