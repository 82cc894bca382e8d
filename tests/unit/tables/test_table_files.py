"""Encodings, delimiters, columns and formats of tables."""

from __future__ import annotations

import json

import openpyxl
import pytest

import phcle
from phcle.errors import FileError, FileFaults, OptionError, PhcleError


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


def test_letters_that_are_not_western_are_shown_in_several_encodings(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("label,x\nкошка,1\nсобака,2\n".encode("cp1251"))
    with pytest.raises(FileError, match=r"line 2: .*--encoding cp1251 reads 'собака'"):
        phcle.read_contexts(attributes=path)
    (context,) = phcle.read_contexts(attributes=path, encoding="cp1251")
    assert context.labels == ("кошка", "собака")


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
