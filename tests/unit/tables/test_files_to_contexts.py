"""`read_contexts`: files in, contexts out, with the hash of every file."""

from __future__ import annotations

import pytest

import phcle
from phcle.errors import ContextWarning, FileError

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


TRIPLES = "lion\teats\tdog\nwolf\teats\tcat\nlion\tlikes\tlion\ndog\tlikes\tcat\n"


@pytest.mark.parametrize("header", ["", "head\trelation\ttail\n"])
def test_triples_need_no_header(zoo, header):
    (zoo / "graph.tsv").write_text(header + TRIPLES)
    with pytest.warns(ContextWarning, match="1 of 4 edges link a label to itself"):
        (graph,) = phcle.read_contexts(edges=zoo / "graph.tsv")
    assert graph.links.relations == ("eats", "likes")
    assert set(graph.labels) == {"lion", "dog", "wolf", "cat"}


def test_columns_of_triples_may_be_named(zoo):
    (zoo / "graph.csv").write_text("food,eater,how\ndog,lion,hunts\ncat,wolf,hunts\n")
    columns = "source=eater,relation=how,target=food"
    (graph,) = phcle.read_contexts(edges=f"{zoo / 'graph.csv'}:{columns}")
    assert graph.links.relations == ("hunts",)
    assert graph.links.names[graph.links.source[0]] == "lion"


def test_an_empty_cell_of_a_triple_is_a_fault(zoo):
    (zoo / "graph.csv").write_text("head,relation,tail\nlion,,dog\n")
    with pytest.raises(FileError, match="line 2: relation is empty"):
        phcle.read_contexts(edges=zoo / "graph.csv")


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


def test_a_file_that_changes_while_it_is_read_is_refused(zoo, monkeypatch):
    path, looks = zoo / "tree.csv", phcle.RelationalContext.from_hierarchy

    def change_and_look(*given, **options):
        path.write_text(FILES["tree.csv"] + "fox,canid\n")
        return looks(*given, **options)

    monkeypatch.setattr(phcle.RelationalContext, "from_hierarchy", change_and_look)
    with pytest.raises(FileError, match=r"tree\.csv: changed while it was read"):
        phcle.read_contexts(hierarchy=path)
