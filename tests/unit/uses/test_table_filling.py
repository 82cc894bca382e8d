"""A user's own table with its gaps filled, and everything else to the byte."""

from __future__ import annotations

import csv
import io
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phcle.contexts.readers.table_files import Reading, find_text_format
from phcle.contexts.unknown_markers import UnknownMarkers
from phcle.errors import FileError
from phcle.uses.raw_tables import raw_rows
from phcle.uses.table_filling import fill_table, table_titles

EMPTY = ["", " ", '""', '" "']
MARKERS = ["nan", "NA", "n/a", "None", "null", '"?"']
"""How tables write unknown cells."""

TITLES = ("weight", "wild", "size")

ENCODINGS = ["utf-8", "utf-16-le", "utf-16-be", "cp1252", "cp932", "gb18030", "big5"]


def filled(table, values, titles=TITLES, labels=None, **options):
    """Fill a table with the same values for every label, or by label."""
    out = table.with_name("filled" + table.suffix)

    def predict(asked):
        return (
            (label, title, value)
            for label in asked
            for title, value in (values.get(label, values)).items()
        )

    def label_of(text):
        return text if labels is None or text in labels else None

    answer = fill_table(table, out, titles, label_of, predict, **options)
    return answer, out.read_bytes()


def is_known(text):
    """Whether a cell holds something, and no marker of the unknown."""
    return bool(text.strip()) and not UnknownMarkers().is_marker(text.strip())


@cache
def codes_of(encoding):
    """All codes of a letter in an encoding of one or two bytes, also the odd ones."""
    single = [bytes([first]) for first in range(0x21, 0x100)]
    double = [bytes([first, second]) for first in range(0x81, 0xFF) for second in BYTES]
    found = []
    for code in [*single, *double]:
        try:
            text = code.decode(encoding)
        except UnicodeDecodeError:
            continue
        if len(text) == 1 and text not in ',;\t"' and text.isprintable():
            found.append(code)
    return found


BYTES = range(0x30, 0x100)


def plain_cell(delimiter):
    """Known cells as a careless program may write them: quoted or not."""
    text = st.text(
        st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters='"'),
        min_size=1,
        max_size=6,
    ).filter(lambda x: delimiter not in x and is_known(x))
    odd = st.text(st.sampled_from('ab,;\t"\n\r ü'), max_size=6).filter(is_known)
    return st.one_of(
        text,
        text.map(lambda x: f'"{x}"'),
        odd.map(lambda x: '"' + x.replace('"', '""') + '"'),
        st.sampled_from(["1.50", "yes", "No", "TRUE", 'a"b', " x ", "0", "'=1", "=1"]),
    )


@st.composite
def known_cells(draw, encoding, delimiter):
    """The bytes of a known cell; in an old encoding with any codes of letters."""
    if not encoding.startswith("utf"):
        codes = st.lists(st.sampled_from(codes_of(encoding)), min_size=1, max_size=4)
        cell = b"".join(draw(codes))
        return cell if is_known(cell.decode(encoding)) else b"x"
    return draw(plain_cell(delimiter)).encode(encoding)


@st.composite
def encoded_tables(draw):
    """A table in some encoding, and the same with the gaps filled with `big`."""
    encoding = draw(st.sampled_from(ENCODINGS))
    delimiter, end = draw(st.sampled_from(",;\t")), draw(st.sampled_from(ENDS))
    fill_markers = draw(st.booleans())
    gaps = [*EMPTY, *MARKERS] if fill_markers else EMPTY
    old = [[x.encode(encoding) for x in ("animal", "weight", '"wild"', "size", "note")]]
    new = [list(old[0])]
    for i in range(draw(st.integers(1, 5))):
        label = f"label {i}".encode(encoding)
        both = [(label, label)]
        for position in range(1, 5):
            gap = draw(st.sampled_from(["", *EMPTY, *MARKERS]))
            cell = gap.encode(encoding)
            if draw(st.booleans()):
                cell = draw(known_cells(encoding, delimiter))
            elif position < 4 and gap in gaps:
                big = '"big"' if gap[:1] == '"' else "big"
                both.append((cell, big.encode(encoding)))
                continue
            both.append((cell, cell))
        if draw(st.booleans()):  # delimiters at the end of a row, and an empty row
            both += [(b"", b"")] * 2
            old.append([])
            new.append([])
        old.append([x for x, _ in both])
        new.append([x for _, x in both])
    mark = draw(st.sampled_from(["", "\ufeff"])) if encoding != "cp1252" else ""
    mark = mark if encoding.startswith("utf") else ""
    start, between = mark.encode(encoding), delimiter.encode(encoding)
    last = draw(st.sampled_from(["", end, end + end])).encode(encoding)
    end = end.encode(encoding)
    written = [start + end.join(map(between.join, rows)) + last for rows in (old, new)]
    return Reading(encoding, delimiter), fill_markers, *written


ENDS = ["\n", "\r\n", "\r"]


@st.composite
def tables(draw):
    """The bytes of a table."""
    delimiter = draw(st.sampled_from(",;\t"))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    last = draw(st.sampled_from(["", end, end + end]))
    cell = st.one_of(plain_cell(delimiter), st.sampled_from(EMPTY + MARKERS))
    rows = [["animal", "weight", '"wild"', "size", "note"]]
    for i in range(draw(st.integers(1, 5))):
        rows.append([f"label {i}", *(draw(cell) for _ in range(4))])
    return delimiter, (mark + end.join(map(delimiter.join, rows)) + last).encode()


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(encoded_tables())
def test_all_but_the_gaps_stays_to_the_byte(tmp_path, drawn):
    reading, fill_markers, old, new = drawn
    table = tmp_path / "t.csv"
    table.write_bytes(old)
    values = dict.fromkeys(TITLES, "big")
    options = {"reading": reading, "fill_markers": fill_markers}
    _, found = filled(table, values, **options)
    assert found == new


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_raw_rows_are_those_of_the_standard_library(tmp_path, drawn):
    delimiter, old = drawn
    table = tmp_path / "t.csv"
    table.write_bytes(old)
    assert find_text_format(table).delimiter == delimiter
    found = list(raw_rows(table, find_text_format(table)))
    assert b"".join(row.data for row in found) == old
    text = io.StringIO(old.decode("utf-8-sig"), newline="")
    expected = [row for row in csv.reader(text, delimiter=delimiter) if row]
    plain = [
        [x[1:-1].replace('""', '"') if x[:1] == '"' else x for x in row.cells]
        for row in found
    ]
    assert [row for row in plain if row != [""]] == expected


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "looks.csv"
    path.write_bytes(
        b"animal,weight,wild,size\r\n"
        b'cat,4.25,No,"small"\r\n'
        b"lion,,,\r\n"
        b"dog,20.00,No,\r\n"
        b"unicorn,,,\r\n"
    )
    return path


def test_values_are_written_as_the_column_writes_them(table):
    values = {"weight": 187.6543, "wild": True, "size": 'large, or "big"'}
    answer, found = filled(table, values, labels=("cat", "lion", "dog"))
    assert found == (
        b"animal,weight,wild,size\r\n"
        b'cat,4.25,No,"small"\r\n'
        b'lion,187.65,Yes,"large, or ""big"""\r\n'
        b'dog,20.00,No,"large, or ""big"""\r\n'
        b"unicorn,,,\r\n"
    )
    assert (answer.rows, answer.filled, answer.left_empty) == (4, 4, 0)
    assert (answer.unknown_rows, answer.unknown_labels) == (1, ("unicorn",))


def test_cells_without_a_prediction_stay_empty_and_are_counted(table):
    answer, found = filled(table, {"weight": 0.5})
    assert b"lion,0.50,,\r\n" in found
    assert (answer.filled, answer.left_empty) == (2, 5)


@pytest.mark.parametrize(
    ("seen", "value", "text"),
    [
        (["yes", "no"], True, "yes"),
        (["TRUE"], False, "FALSE"),
        (["False"], True, "True"),
        (["1", "1"], False, "0"),
        (["yes", "Yes", "Yes"], True, "Yes"),
        ([], False, "no"),
        (["3", "12"], 2.7, "3"),
        (["3.5", "12"], 2.7123, "2.7"),
        (["3.25", "12"], 1234.567, "1235"),
        (["0.001"], 0.00123456, "0.001"),
        (["5"], -0.2, "0"),
        ([], 2.71828, "2.72"),
    ],
)
def test_spelling_follows_the_known_cells(tmp_path, seen, value, text):
    path = tmp_path / "t.csv"
    rows = [f"l{i},{cell}\n" for i, cell in enumerate(seen)]
    path.write_text("label,x\n" + "".join(rows) + "new,\n")
    _, found = filled(path, {"x": value}, titles=("x",))
    assert found.decode().splitlines()[-1] == f"new,{text}"


def test_only_wanted_labels_are_filled(table, tmp_path):
    out = tmp_path / "o.csv"
    fill_table(
        *(table, out, ["size"], str),
        lambda asked: [(label, "size", "big") for label in asked],
        wanted={"dog"},
    )
    assert out.read_bytes() == table.read_bytes().replace(b"No,\r", b"No,big\r")


def test_labels_without_values_and_repeated_labels_are_no_trouble(tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    table.write_text("label,x\n" + "".join(f"{x},\n" for x in "abacadbe"))

    def predict(asked):
        assert list(asked) == list("abcde")
        return [(label, "x", label.upper()) for label in "ade"]

    fill_table(table, out, ["x"], str, predict)
    found = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert found == ["A", "", "A", "", "A", "D", "", "E"]


def test_a_table_with_broken_rows_is_refused_by_line(tmp_path):
    path = tmp_path / "t.csv"
    for text, message in (
        ("a,b\nx,1,2\n", "line 2: has 3 cells, but the header has 2"),
        ('a,b\nx,"1\n', "line 2: a quotation mark has no second one"),
        ('a,b\nx,"1"2\n', "line 2: a quoted cell must end before a separator"),
        ("", "is empty"),
    ):
        path.write_text(text)
        with pytest.raises(FileError, match=message):
            filled(path, {})
    path.write_bytes("a,b\n\u043a\u043e\u0448\u043a\u0430,\n".encode("cp1251"))
    with pytest.raises(FileError, match=r"line 2: is not UTF-8.*cp1251 reads"):
        filled(path, {})
    with pytest.raises(FileError, match="only tables of text"):
        table_titles(tmp_path / "t.parquet")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-be", "utf-8-sig"])
def test_encoding_delimiter_notation_and_markers_stay(tmp_path, encoding):
    path = tmp_path / "t.csv"
    old = (
        'label;price;opened;ready\r\ncaf\u00e9;"1.299,50 \u20ac";3.5.2021;Y\r\n'
        "bar;12,25 \u20ac;25.12.2020;-\r\nx;n/a;?;N;;\r\ny;;;;;\r\n"
    )
    path.write_bytes(old.encode(encoding))
    values = {"price": 17.128, "opened": 2021.5, "ready": True}
    answer, found = filled(path, values, tuple(values))
    new = old.replace("y;;;", "y;17,13 \u20ac;2.7.2021;Y")
    assert found == new.encode(encoding)
    assert (answer.filled, answer.left_empty, answer.markers) == (3, 0, 3)
    answer, found = filled(path, values, tuple(values), fill_markers=True)
    new = new.replace("-\r", "Y\r").replace("n/a;?", "17,13 \u20ac;2.7.2021")
    assert found == new.encode(encoding)
    assert (answer.filled, answer.left_empty, answer.markers) == (6, 0, 0)


def test_a_failure_leaves_the_old_file(table, tmp_path):
    out = tmp_path / "o.csv"
    out.write_text("old")

    def predict(asked):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_table(table, out, ["size"], str, predict)
    assert out.read_text() == "old"
    assert sorted(x.name for x in tmp_path.iterdir()) == ["looks.csv", "o.csv"]
