"""`read_contexts`: files in, contexts out, with the hash of every file."""

from __future__ import annotations

import hashlib

import pytest

import phcle
from phcle.errors import ContextError, FileError

FILES = {
    "tree.csv": "child,parent\ncat,felid\nlion,felid\ndog,canid\nwolf,canid\n",
    "looks.csv": "animal,weight,stripes\ncat,4,no\nlion,190,no\ndog,,yes\n",
    "uses.csv": "label,tag\ncat,pet\ndog,pet\ndog,guard\nwolf,\n",
    "eats.csv": "source,target\nlion,dog\nwolf,cat\n",
    "photos.csv": "item,label\n1,cat\n1,dog\n2,lion\n2,wolf\n",
    "words.csv": "label,text\ncat,soft fur\ndog,warm fur\n",
    "names.csv": "label,name\nlion,King of Beasts\n",
    "ids.txt": "wolf\ncat\nlion\n",
    "glove.txt": "cat 1 0\ndog 0 1\nking_of_beasts 1 1\ncar 5 5\n",
}


@pytest.fixture
def zoo(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_files_go_straight_into_a_fit(zoo):
    contexts = phcle.read_contexts(
        hierarchy=zoo / "tree.csv", attributes=str(zoo / "looks.csv")
    )
    assert [context.name for context in contexts] == ["tree", "looks"]
    assert len(contexts) == 2
    model = phcle.PHCLE(dim=2, calibrate=False).fit(contexts)
    assert model.embedding_.labels == ("cat", "lion", "dog", "wolf")


def test_labels_and_names_are_read_along(zoo):
    found = phcle.read_contexts(
        hierarchy=zoo / "tree.csv",
        vectors=zoo / "glove.txt",
        labels=zoo / "ids.txt",
        names=zoo / "names.csv",
    )
    assert found.labels == ("wolf", "cat", "lion")
    assert found.names == {"lion": "King of Beasts"}
    # Vectors are looked up by label and by name, for the wanted labels alone.
    assert found[1].labels == ("cat", "lion")


def test_sources_have_the_hash_and_size_of_every_file(zoo):
    found = phcle.read_contexts(
        hierarchy={"animals": zoo / "tree.csv"}, names=zoo / "names.csv"
    )
    tree, names = found.sources
    assert (tree.kind, tree.name, tree.path) == (
        "hierarchy",
        "animals",
        zoo / "tree.csv",
    )
    content = FILES["tree.csv"].encode()
    assert tree.sha256 == hashlib.sha256(content).hexdigest()
    assert tree.size == len(content)
    assert (names.kind, names.path.name) == ("names", "names.csv")


def test_a_file_that_changes_while_it_is_read_is_refused(zoo, monkeypatch):
    path, looks = zoo / "tree.csv", phcle.RelationalContext.from_hierarchy

    def change_and_look(*given, **options):
        path.write_text(FILES["tree.csv"] + "fox,canid\n")
        return looks(*given, **options)

    monkeypatch.setattr(phcle.RelationalContext, "from_hierarchy", change_and_look)
    with pytest.raises(FileError, match=r"tree\.csv: changed while it was read"):
        phcle.read_contexts(hierarchy=path)


def test_two_contexts_of_one_name_are_refused_with_a_remedy(zoo):
    with pytest.raises(ContextError, match=r"both be the context 'tree'.*NAME="):
        phcle.read_contexts(
            hierarchy=zoo / "tree.csv", attributes={"tree": zoo / "looks.csv"}
        )


def test_no_file_at_all_is_refused():
    with pytest.raises(ContextError, match="give at least one of hierarchy, edges"):
        phcle.read_contexts()
