"""Workbooks with their gaps filled: .xlsx in, .xlsx out."""

from __future__ import annotations

import zipfile
from datetime import datetime

import pytest

from phcle.errors import ContextWarning, FileError

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")

HEADER = ["animal", "weight", "wild", "size", "seen"]
ROWS = [
    ["cat", 4.25, False, "small", datetime(2021, 5, 3)],
    ["lion", None, None, None, None],
    ["dog", 20.5, False, "n/a", None],
    ["unicorn", None, None, None, None],
]
WEIGHT = {"weight": 3.0}
VALUES = {"weight": 187.654, "wild": True, "size": "=large", "seen": 2021.5}


@pytest.fixture
def book():
    made = openpyxl.Workbook()
    made.active.title = "looks"
    for row in [HEADER, *ROWS]:
        made.active.append(row)
    return made


@pytest.fixture
def filled(tmp_path, book, fill):
    """Fill a workbook with the same values for every label."""

    def filled(values=VALUES, made=book, name="t.xlsx", **options):
        made.save(tmp_path / name)
        answer, out = fill(tmp_path / name, values, **options)
        return answer, openpyxl.load_workbook(out)

    return filled


def test_gaps_get_values_of_the_type_of_their_column(filled):
    answer, found = filled()
    rows = [list(row) for row in found["looks"].iter_rows(values_only=True)]
    seen = datetime(2021, 7, 2)
    assert rows[2] == ["lion", 188, True, "=large", seen]
    assert rows[3] == ["dog", 20.5, False, "n/a", seen]
    assert [rows[0], rows[1], rows[4]] == [HEADER, ROWS[0], ROWS[3]]
    assert (answer.filled, answer.markers, answer.unknown_rows) == (5, 1, 1)
    # A text that looks like a formula is none.
    assert found["looks"]["D3"].data_type == "s"


def test_other_sheets_formulas_and_formats_stay(book, filled):
    from openpyxl.comments import Comment
    from openpyxl.formatting.rule import CellIsRule
    from openpyxl.styles import Font

    sheet = book["looks"]
    sheet["B2"].number_format = "0.00"
    sheet["A1"].font = Font(bold=True)
    sheet["A2"].comment = Comment("mine", "me")
    sheet["F1"], sheet["F2"] = "twice", "=B2*2"
    sheet.freeze_panes = "B2"
    rule = CellIsRule(operator="greaterThan", formula=["9"], font=Font(bold=True))
    sheet.conditional_formatting.add("B2:B9", rule)
    book.create_sheet("sums").append(["=SUM(looks!B2:B5)", 7])
    _, found = filled()
    sheet = found["looks"]
    assert [x.value for x in found["sums"][1]] == ["=SUM(looks!B2:B5)", 7]
    assert sheet["F2"].value == "=B2*2"
    assert sheet["A1"].font.bold
    assert sheet["A2"].comment.text == "mine"
    assert sheet["B3"].number_format == "0.00"  # as the column has it
    assert sheet["E3"].number_format == sheet["E2"].number_format
    assert sheet.freeze_panes == "B2"
    assert len(sheet.conditional_formatting) == 1


def test_a_formula_that_was_never_computed_is_no_gap(book, filled):
    book["looks"]["B3"] = "=B2*40"
    answer, found = filled({"weight": 1.0})
    assert found["looks"]["B3"].value == "=B2*40"
    assert answer.filled == 0


def test_the_visible_sheet_is_filled_and_merged_cells_stay(book, filled):
    hidden = book.create_sheet("notes", 0)
    hidden["A1"], hidden["A2"] = "animal", "lion"
    hidden.sheet_state = "hidden"
    sheet = book["looks"]
    sheet.merge_cells("D2:D3")
    book.active = 1
    _, found = filled({"size": "big", "weight": 3.0})
    assert found["looks"]["D2"].value == "small"
    assert found["looks"]["D3"].value is None
    assert found["looks"]["B3"].value == 3
    assert found["notes"]["B2"].value is None


def test_columns_write_numbers_and_truth_in_their_own_words(filled):
    book = openpyxl.Workbook()
    for row in (["z", "price", "ready", "n"], ["a", "3,50 €", "ja", 1], ["b"]):
        book.active.append(row)
    values = {"price": 4.127, "ready": False, "n": 2.6}
    _, found = filled(values, book)
    row = [cell.value for cell in found.active[3]]
    assert row == ["b", "4,13 €", "nein", 3]


def test_a_text_table_does_not_become_a_workbook_nor_the_other_way(
    tmp_path, book, fill
):
    book.save(tmp_path / "t.xlsx")
    (tmp_path / "t.csv").write_text("a,b\nx,\n")
    for table, out in (("t.xlsx", "o.csv"), ("t.csv", "o.xlsx"), ("t.xlsx", "o.xlsm")):
        with pytest.raises(FileError, match="a filled table has the format of"):
            fill(tmp_path / table, {}, tmp_path / out)
    (tmp_path / "t.json").write_text("[]")
    with pytest.raises(FileError, match="only tables of text and workbooks"):
        fill(tmp_path / "t.json", {}, tmp_path / "o.json")


def repacked(path, changes):
    """Change or add parts of a workbook."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (parts | changes(parts)).items():
            archive.writestr(name, data)


def test_parts_that_openpyxl_drops_are_named(tmp_path, book, fill):
    path = tmp_path / "t.xlsx"
    book.save(path)
    repacked(path, lambda parts: {"xl/slicers/slicer1.xml": b"<slicers/>"})
    with pytest.warns(ContextWarning, match=r"the filled one lacks 'slicer\.xml'"):
        fill(path, WEIGHT)


def test_hostile_and_damaged_workbooks_are_refused(tmp_path, book, fill):
    path = tmp_path / "t.xlsx"
    sheet = "xl/worksheets/sheet1.xml"
    area = b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    book.save(path)
    repacked(path, lambda x: {sheet: x[sheet].replace(b"</sheetData>", area)})
    with pytest.raises(FileError, match="17,179,869,184 merged cells"):
        fill(path, WEIGHT)
    book.save(path)
    repacked(path, lambda parts: {"xl/media/x.bin": bytes(200_000_000)})
    with pytest.raises(FileError, match="say they unpack to"):
        fill(path, WEIGHT)
    # A lonely cell far away costs nothing.
    far = b'<row r="1048576"><c r="XFD1048576" t="n"/></row></sheetData>'
    book.save(path)
    repacked(path, lambda x: {sheet: x[sheet].replace(b"</sheetData>", far)})
    assert fill(path, WEIGHT)[0].filled == 1
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(FileError, match=r"is not an Excel workbook"):
        fill(path, WEIGHT)
