"""Encodings, delimiters, columns and formats of tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import phcle
from phcle.contexts.readers import label_files as readers
from phcle.contexts.readers.context_files import ContextFile
from phcle.contexts.readers.file_arguments import split_columns
from phcle.contexts.readers.table_files import Reading, open_table
from phcle.contexts.readers.text_encodings import find_encoding
from phcle.errors import FileError, FileFaults, OptionError, PhcleError


@pytest.mark.parametrize(
    ("text", "encoding", "found"),
    [
        ("label\nCafé\nCrème brûlée\n", "cp1252", "cp1252"),
        ("label,price\nWomen’s coats,£45\n", "cp1252", "cp1252"),
        ("label\nCafé\nJalapeño\n", "mac_roman", "mac_roman"),
        ("label\nCafé\nJalapeño\n", "cp850", "cp850"),
        ("label\nŁódź\nPoznań\nBiałystok\n", "cp1250", "cp1250"),
        ("label\nCafé\n", "utf-16", "utf-16-le"),
        ("label\nCafé\n", "utf-8-sig", "utf-8"),
        ("label\nкошка\n", "utf-8", "utf-8"),
    ],
)
def test_the_encoding_is_found(tmp_path, text, encoding, found):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode(encoding))
    assert find_encoding(path).name == found
    assert next(open_table(path).rows())[1][0] == text.split("\n")[1].split(",")[0]


def test_letters_that_are_not_western_are_shown_in_several_encodings(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("label,x\nкошка,1\nсобака,2\n".encode("cp1251"))
    with pytest.raises(FileError, match=r"line 2: .*--encoding cp1251 reads 'собака'"):
        open_table(path)
    table = open_table(path, Reading(encoding="cp1251"))
    assert [cells[0] for _, cells in table.rows()] == ["кошка", "собака"]


def test_a_wrong_encoding_or_delimiter_is_refused():
    with pytest.raises(OptionError, match="--encoding must be"):
        Reading(encoding="klingon")
    with pytest.raises(OptionError, match="--delimiter must be one character"):
        Reading(delimiter="::")
    assert Reading(delimiter="\\t").delimiter == "\t"


@pytest.mark.parametrize(
    ("text", "path", "columns"),
    [
        ("t.csv:child=a,parent=b", "t.csv", {"child": "a", "parent": "b"}),
        ("t.csv:child=a, b,parent=c", "t.csv", {"child": "a, b", "parent": "c"}),
        ("C:/t.csv", "C:/t.csv", {}),
        ("C:/t.csv:child=a", "C:/t.csv", {"child": "a"}),
        ("odd:name.csv", "odd:name.csv", {}),
        ("b.xlsx#Two:child=a", "b.xlsx", {"sheet": "Two", "child": "a"}),
        ("notes#1.csv", "notes#1.csv", {}),
    ],
)
def test_columns_stand_behind_the_file(text, path, columns):
    assert split_columns("hierarchy", text) == (Path(path), columns)


def test_columns_may_be_given_in_python(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("x,y\na,b\nc,b\nb,r\n")
    columns = {"child": "x", "parent": "y"}
    for given in (f"{path}:child=x,parent=y", ContextFile("", path, columns=columns)):
        (context,) = phcle.read_contexts(hierarchy=given)
        assert context.labels == ("a", "c")
    with pytest.raises(FileError, match=r"has no column 'z'"):
        phcle.read_contexts(hierarchy=f"{path}:child=z,parent=y")


def test_faults_of_all_files_come_together(tmp_path):
    tree, looks = tmp_path / "tree.csv", tmp_path / "looks.csv"
    tree.write_text("child,parent\n,r\na,r\n,r\n")
    looks.write_text("label,x\na,1\nb,2\nc,many\n")
    with pytest.raises(FileFaults) as caught:
        phcle.read_contexts(
            hierarchy=tree, attributes=looks, texts=tmp_path / "none.csv"
        )
    message = str(caught.value)
    assert message.count("\n") == 3
    for part in ("tree.csv, line 2", "tree.csv, line 4", "looks.csv, line 4", "none"):
        assert part in message


def test_many_faults_are_counted(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text("child,parent\n" + ",r\n" * 50)
    with pytest.raises(FileFaults, match="and 30 more faults"):
        readers.read_hierarchy_edges(path)


def test_excel_needs_an_extra(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl", reason="no extra 'excel'")
    book = openpyxl.Workbook()
    book.active.append(["child", "parent"])
    book.active.append(["a", "r"])
    book.save(tmp_path / "b.xlsx")
    assert readers.read_hierarchy_edges(tmp_path / "b.xlsx") == [("a", "r")]
    with pytest.raises(PhcleError, match=r"no sheet 'Shet'.*Did you mean 'Sheet'"):
        open_table(tmp_path / "b.xlsx", columns={"sheet": "Shet"})
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FileError, match=r"phcle\[excel\]"):
        open_table(tmp_path / "b.xlsx")


def test_tags_by_label_are_a_table(tmp_path):
    path = tmp_path / "tags.json"
    path.write_text(json.dumps({"cat": ["fur", "tail"], "fish": []}))
    assert readers.read_tags(path) == {"cat": ["fur", "tail"], "fish": []}


def test_markers_of_the_unknown_do_not_apply_to_labels(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("label,text\nNA,desert\nDE,n/a\n")
    table = open_table(path)
    assert readers.read_texts(table) == {"NA": "desert"}
    assert table.remarks == ["1 cell unknown: 'n/a' 1"]
    kept = open_table(path, Reading(keep_na=True))
    assert readers.read_texts(kept) == {"NA": "desert", "DE": "n/a"}


def test_a_column_that_cannot_be_the_labels_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    rows = "".join(f"{'ab'[i % 2]},{i},thing {i}\n" for i in range(20))
    path.write_text("size,n,what\n" + rows)
    with pytest.raises(FileError, match=r"'size' cannot be the labels.*:label=COLUMN"):
        readers.read_attributes(path)
    table = open_table(path, columns={"label": "what"})
    assert readers.read_attributes(table).labels[0] == "thing 0"
