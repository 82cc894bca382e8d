"""Files become contexts, or a message that says where and what is wrong."""

from __future__ import annotations

import json

import numpy as np
import openpyxl
import pytest

import phcle
from phcle.errors import ContextWarning, FileError, FileFaults, OptionError, PhcleError
from phcle.tables import guess_files


def read(kind, path, **options):
    """The context in a file, and what was remarked on."""
    found = phcle.read_contexts(**{kind: path}, **options)
    return found[0], found.summaries[0].remarks


def edges_of(path):
    """The pairs of child and parent in a file."""
    tree = read("hierarchy", path)[0].hierarchy
    return [(tree.nodes[child], tree.nodes[parent]) for child, parent in tree.edges]


@pytest.fixture
def write(tmp_path):
    """Write a file and return its path."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_empty_text_is_unknown(write):
    path = write('label,text\ncat,"soft, and\nsmall"\ndog,\nfox,soft\n')
    context, _ = read("texts", path)
    assert context.labels == ("cat", "fox")
    assert "soft" in context.columns


def test_empty_cell_of_an_attribute_is_unknown(write):
    path = write(",weight,colour\ncat,4,grey\ndog,,brown\nfox,6,\n", "looks.csv")
    context, _ = read("attributes", path)
    assert context.name == "looks"
    assert context.labels == ("cat", "dog", "fox")
    assert context.columns == ("weight", "colour=brown", "colour=grey")
    expected = [[4, 0, 1], [np.nan, 1, 0], [6, np.nan, np.nan]]
    np.testing.assert_array_equal(context.values, expected)


def test_labels_are_lines_and_empty_lines_are_skipped(write):
    path = write("cat\r\n\r\nsiamese, cat\r\n", "ids.txt")
    tags = write("label,tag\ncat,tame\n")
    assert phcle.read_contexts(tags=tags, labels=path).labels == ("cat", "siamese, cat")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("commas.tsv", b"child,parent\ncat,felid\n"),
        ("one_name.csv", b"kid,Parent_ID\ncat,felid\n"),
        ("root.csv", b"child,parent\ncat,felid\nfelid,\n"),
    ],
)
def test_harmless_differences_between_files_are_accepted(write, name, content):
    assert edges_of(write(content, name)) == [("cat", "felid")]


def test_the_first_of_two_texts_is_taken_and_both_lines_are_named(write):
    table = write("label,text\ncat,red fur\ndog,red fur\ncat,big ox\ndog,red fur\n")
    context, remarks = read("texts", table)
    assert set(context.columns) == {"red", "fur"}
    assert remarks[:2] == (
        "1 identical row dropped",
        "the first text is taken of labels with several: 'cat' (lines 2 and 4)",
    )


def test_attributes_need_a_column_beside_the_label(write):
    with pytest.raises(FileError, match="at least one attribute"):
        read("attributes", write("label\ncat\n"))


@pytest.mark.parametrize(
    ("labels", "encoding"),
    [
        (["Women’s coats", "Café"], "cp1252"),
        (["Łódź", "Poznań", "Białystok"], "cp1250"),
        (["кошка", "собака"], "utf-8"),
    ],
)
def test_the_encoding_is_found(tmp_path, labels, encoding):
    path = tmp_path / "x.csv"
    rows = "".join(f"{label},{i}\n" for i, label in enumerate(labels))
    path.write_bytes(f"label,price\n{rows}".encode(encoding))
    (context,) = phcle.read_contexts(attributes=path)
    assert list(context.labels) == labels


def test_a_wrong_encoding_or_delimiter_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("label\tx\ncat\t1\n")
    with pytest.raises(OptionError, match="--encoding must be"):
        phcle.read_contexts(attributes=path, encoding="klingon")
    with pytest.raises(OptionError, match="--delimiter must be one character"):
        phcle.read_contexts(attributes=path, delimiter="::")
    (context,) = phcle.read_contexts(attributes=path, delimiter="\\t")
    assert context.columns == ("x",)


@pytest.mark.parametrize("name", ["odd:name.csv", "notes#1.csv", "plain.csv"])
@pytest.mark.parametrize("columns", ["", ":child=a, b,parent=c"])
def test_columns_stand_behind_the_file(tmp_path, name, columns):
    (tmp_path / name).write_text('"a, b",c,child,parent\n1,2,3,4\n5,2,6,4\n')
    (context,) = phcle.read_contexts(hierarchy=f"{tmp_path / name}{columns}")
    assert context.labels == (("1", "5") if columns else ("3", "6"))


def test_a_column_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("x,y\na,b\nc,b\nb,r\n")
    (context,) = phcle.read_contexts(hierarchy=f"{path}:child=x,parent=y")
    assert context.labels == ("a", "c")
    with pytest.raises(FileError, match=r"has no column 'z'"):
        phcle.read_contexts(hierarchy=f"{path}:child=z,parent=y")


def test_faults_of_all_files_come_together(tmp_path):
    tree, looks = tmp_path / "tree.csv", tmp_path / "looks.csv"
    tree.write_text("child,parent\n,r\na,r\n,r\n")
    looks.write_text("label,x\na,1\nb,2\n,3\n")
    with pytest.raises(FileFaults) as caught:
        phcle.read_contexts(
            hierarchy=tree, attributes=looks, texts=tmp_path / "none.csv"
        )
    message = str(caught.value)
    assert message.count("\n") == 3
    for part in ("tree.csv, line 2", "tree.csv, line 4", "looks.csv, line 4", "none"):
        assert part in message


def test_every_fault_is_counted_once(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("label,x\n" + "a,1,2\n" * 30)
    with pytest.raises(FileFaults, match="and 10 more faults"):
        phcle.read_contexts(attributes=path)


def test_a_sheet_is_read_by_its_name(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["child", "parent"])
    book.active.append(["a", "r"])
    book.active.append(["b", "r"])
    book.save(tmp_path / "b.xlsx")
    (context,) = phcle.read_contexts(hierarchy=tmp_path / "b.xlsx")
    assert context.columns == ("r",)
    with pytest.raises(PhcleError, match=r"no sheet 'Shet'.*Did you mean 'Sheet'"):
        phcle.read_contexts(hierarchy=f"{tmp_path / 'b.xlsx'}#Shet")
    book.create_sheet("Looks").append(["label", "kg"])
    for row in ("a", 4), ("b", 5):
        book["Looks"].append(row)
    book.save(tmp_path / "b.xlsx")
    found = guess_files([f"{tmp_path / 'b.xlsx'}#Looks"])
    assert f"--attributes {tmp_path / 'b.xlsx'}:sheet=Looks" in found.command()
    assert phcle.read_contexts(attributes=found.files)[0].columns == ("kg",)


def test_tags_by_label_are_a_table(tmp_path):
    path = tmp_path / "tags.json"
    path.write_text(json.dumps({"cat": ["fur", "tail"], "fish": []}))
    (context,) = phcle.read_contexts(tags=path)
    assert (context.labels, context.columns) == (("cat", "fish"), ("fur", "tail"))
    assert context.values.toarray().tolist() == [[1, 1], [0, 0]]


def test_markers_of_the_unknown_do_not_apply_to_labels(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("label,text\nNA,dry desert\nDE,n/a\nCH,dry\n")
    found = phcle.read_contexts(texts=path)
    assert found[0].labels == ("NA", "CH")
    assert found.summaries[0].remarks[0] == "1 cell unknown: 'n/a' 1"
    (kept,) = phcle.read_contexts(texts=path, keep_na=True)
    assert kept.labels == ("NA", "DE", "CH")


def test_the_labels_are_in_the_column_of_different_texts(tmp_path):
    path = tmp_path / "x.csv"
    rows = "".join(f"{'ab'[i % 2]},{i},thing {i}\n" for i in range(20))
    path.write_text("size,n,what\n" + rows)
    found = phcle.read_contexts(attributes=path)
    assert found[0].labels[0] == "thing 0"
    assert found.summaries[0].remarks[0] == "labels are in column 'what'"
    (context,) = phcle.read_contexts(attributes=f"{path}:label=what")
    assert context.labels[0] == "thing 0"


def test_a_column_without_a_title_is_no_child_of_a_missing_parent(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text(",b,c\n1,2,3\n")
    with pytest.raises(FileError, match="'child', 'parent' are not in its header"):
        phcle.read_contexts(hierarchy=path)


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
    assert graph.links.names[graph.links.ends[0, 0]] == "lion"


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
