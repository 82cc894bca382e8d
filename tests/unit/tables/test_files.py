"""Files become contexts, or a message that says where and what is wrong."""

from __future__ import annotations

import numpy as np
import openpyxl
import pytest

import phcle
from phcle.errors import ContextWarning, FileError, FileFaults, OptionError, PhcleError
from phcle.tables import guess_files


@pytest.fixture
def read(tmp_path):
    """Write a file and read it; give its context and what was remarked on."""

    def read(kind, content, name="table.csv", columns="", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        found = phcle.read_contexts(**{kind: f"{path}{columns}"}, **options)
        return found[0], found.summaries[0].remarks

    return read


def test_empty_cell_of_an_attribute_is_unknown(read):
    text = ",weight,colour\ncat,4,grey\ndog,,brown\nfox,6,\n"
    context, _ = read("attributes", text, "looks.csv")
    assert context.name == "looks"
    assert context.labels == ("cat", "dog", "fox")
    assert context.columns == ("weight", "colour=brown", "colour=grey")
    expected = [[4, 0, 1], [np.nan, 1, 0], [6, np.nan, np.nan]]
    np.testing.assert_array_equal(context.values, expected)


def test_the_first_of_two_texts_is_taken_and_both_lines_are_named(read):
    text = "label,text\ncat,red fur\ndog,red fur\ncat,big ox\ndog,red fur\n"
    context, remarks = read("texts", text)
    assert set(context.columns) == {"red", "fur"}
    assert remarks[:2] == [
        "1 identical row dropped",
        "the first text is taken of labels with several: 'cat' (lines 2 and 4)",
    ]


@pytest.mark.parametrize(
    ("labels", "encoding"),
    [
        (("Women’s coats", "Café"), "cp1252"),
        (("Łódź", "Poznań", "Białystok"), "cp1250"),
        (("кошка", "собака"), "utf-8"),
    ],
)
def test_the_encoding_is_found(read, labels, encoding):
    rows = "".join(f"{label},{i}\n" for i, label in enumerate(labels))
    assert (
        read("attributes", f"label,price\n{rows}".encode(encoding))[0].labels == labels
    )


def test_a_letter_of_windows_may_be_the_last_byte(read):
    context, _ = read("tags", "label,tag\ncat,x\ndog,café".encode("cp1252"))
    assert set(context.columns) == {"x", "café"}


def test_a_wrong_encoding_or_delimiter_is_refused(read):
    text = "label\tx\ncat\t1\n"
    with pytest.raises(OptionError, match="--encoding must be"):
        read("attributes", text, encoding="klingon")
    with pytest.raises(OptionError, match="--delimiter must be one character"):
        read("attributes", text, delimiter="::")
    assert read("attributes", text, delimiter="\\t")[0].columns == ("x",)


@pytest.mark.parametrize("name", ["odd:name.csv", "notes#1.csv", "plain.csv"])
@pytest.mark.parametrize("columns", ["", ":child=a, b: c,parent=c"])
def test_columns_stand_behind_the_file(read, name, columns):
    text = '"a, b: c",c,child,parent\n1,2,3,4\n5,2,6,4\n'
    context, _ = read("hierarchy", text, name, columns)
    assert context.labels == (("1", "5") if columns else ("3", "6"))


@pytest.mark.parametrize(
    ("kind", "text", "columns", "message"),
    [
        ("hierarchy", "x,y\na,b\nb,r\n", ":child=z,parent=y", "has no column 'z'"),
        ("hierarchy", ",b,c\n1,2,3\n", "", "'child', 'parent' are not in its header"),
        ("attributes", "label\ncat\n", "", "at least one attribute"),
        ("attributes", "label,x\n" + "a,1,2\n" * 30, "", "and 10 more faults"),
        ("edges", "head,relation,tail\nl,,d\n", "", "line 2: relation is empty"),
    ],
)
def test_what_is_wrong_is_said(read, kind, text, columns, message):
    with pytest.raises(PhcleError, match=message):
        read(kind, text, columns=columns)


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


def test_a_sheet_is_read_by_its_name(tmp_path):
    book, path = openpyxl.Workbook(), tmp_path / "b.xlsx"
    for row in (["child", "parent"], ["a", "r"], ["b", "r"]):
        book.active.append(row)
    looks = book.create_sheet("Looks")
    for row in (["label", "kg"], ["a", 4], ["b", 5]):
        looks.append(row)
    book.save(path)
    assert phcle.read_contexts(hierarchy=path)[0].columns == ("r",)
    with pytest.raises(PhcleError, match=r"no sheet 'Shet'.*Did you mean 'Sheet'"):
        phcle.read_contexts(hierarchy=f"{path}#Shet")
    found = guess_files([f"{path}#Looks"])
    assert f"--attributes {path}:sheet=Looks" in found.command()
    assert phcle.read_contexts(attributes=found.files)[0].columns == ("kg",)


def test_markers_of_the_unknown_do_not_apply_to_labels(read):
    text = "label,text\nNA,dry desert\nDE,n/a\nCH,dry\n"
    context, remarks = read("texts", text)
    assert context.labels == ("NA", "CH")
    assert remarks[0] == "1 cell unknown: 'n/a' 1"
    assert read("texts", text, keep_na=True)[0].labels == ("NA", "DE", "CH")


FILES = {
    "tree.csv": "child,parent\ncat,felid\nlion,felid\ndog,canid\nwolf,canid\n",
    "names.csv": "label,name\nlion,King of Beasts\n",
    "ids.txt": "wolf\r\n\r\ncat\r\nlion\r\nlynx, cat\r\n",
    "glove.txt": "cat 1 0\ndog 0 1\nking_of_beasts 1 1\ncar 5 5\n",
}


@pytest.fixture
def zoo(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


TRIPLES = "lion\teats\tdog\nwolf\teats\tcat\nlion\tlikes\tlion\ndog\tlikes\tcat\n"


@pytest.mark.parametrize("header", ["", "head\trelation\ttail\n"])
def test_triples_need_no_header(read, header):
    with pytest.warns(ContextWarning, match="1 of 4 edges link a label to itself"):
        graph, _ = read("edges", header + TRIPLES, "graph.tsv")
    assert graph.links.relations == ("eats", "likes")
    assert set(graph.labels) == {"lion", "dog", "wolf", "cat"}


def test_labels_and_names_are_read_along(zoo):
    found = phcle.read_contexts(
        hierarchy=zoo / "tree.csv",
        vectors=zoo / "glove.txt",
        labels=zoo / "ids.txt",
        names=zoo / "names.csv",
    )
    assert found.labels == ("wolf", "cat", "lion", "lynx, cat")
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
