"""Files become contexts, or a message that says where and what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.errors import FileError
from phcle.tables import read_contexts

KINDS = ["hierarchy", "edges", "annotations", "tags", "texts", "attributes"]


def read(kind, path, **options):
    """The context in a file, and what was remarked on."""
    found = read_contexts(**{kind: path}, **options)
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


def test_hierarchy_edges_are_found_by_column_name(write):
    path = write("parent,note,Child\nfelid,tame,cat\nfelid,,lion\n")
    assert edges_of(path) == [("cat", "felid"), ("lion", "felid")]


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
    assert read_contexts(tags=tags, labels=path).labels == ("cat", "siamese, cat")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("windows.csv", b"child,parent\r\ncat,felid\r\n"),
        ("mark.csv", b"\xef\xbb\xbfchild,parent\ncat,felid\n"),
        ("tabs.tsv", b"child\tparent\ncat\tfelid\n"),
        ("blank.csv", b"child,parent\n\ncat,felid\n , \n"),
        ("spaces.csv", b"child, parent\n cat , felid\n"),
        ("no_last_newline.csv", b"child,parent\ncat,felid"),
        ("semicolons.csv", b"child;parent\ncat;felid\n"),
        ("tabs.csv", b"child\tparent\ncat\tfelid\n"),
        ("bars.txt", b"child|parent\ncat|felid\n"),
        ("commas.tsv", b"child,parent\ncat,felid\n"),
        ("excel.csv", b"sep=;\nchild;parent\ncat;felid\n"),
        ("one_name.csv", b"kid,Parent_ID\ncat,felid\n"),
        ("root.csv", b"child,parent\ncat,felid\nfelid,\n"),
        ("twice.csv", b"child,parent\ncat,felid\ncat,felid\n"),
        ("trailing.csv", b"child;parent;;\ncat;felid;;\n"),
    ],
)
def test_harmless_differences_between_files_are_accepted(write, name, content):
    assert edges_of(write(content, name)) == [("cat", "felid")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"is empty; a header and rows were expected"),
        ("kid,above,x\na,b,\n", r"hierarchy table.csv:child=kid,parent=above"),
        ("one,other\na,b\nb,c\n", r"'child', 'parent' are not in its header"),
        ("child,parent\na,b\nc\n", r"line 3: has 1 cells, but the header has 2"),
        ("child,parent\na,b,c\n", r"line 2: has 3 cells, but the header has 2"),
        ("child,parent\n,b\n", r"line 2: child is empty"),
        ("child,parent,\na,b,c\n", r"line 1: column 3 has no name"),
        (
            'child,parent\na,"b\n',
            r"line 2: is not a row .* is a quotation mark missing",
        ),
    ],
)
def test_bad_table_is_refused_with_file_line_and_remedy(write, content, message):
    path = write(content)
    with pytest.raises(FileError, match=message) as caught:
        read("hierarchy", path)
    assert str(caught.value).startswith(str(path))


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


def test_empty_label_of_an_attribute_row_is_refused(write):
    with pytest.raises(FileError, match="line 2: the label is empty"):
        read("attributes", write("label,weight\n,4\n"))
