"""A user's own table with its gaps filled, and everything else to the byte."""

from __future__ import annotations

import math
from datetime import datetime
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from phcle import DescriptiveContext
from phcle.errors import FileError
from phcle.tables import Reading, open_table

EMPTY = ["", " ", '""', '" "']
MARKERS = ["nan", "NA", "n/a", "None", "null", '"?"']
"""How tables write unknown cells."""

TITLES = ("weight", "wild", "size")

ENCODINGS = ["utf-8", "utf-16-le", "utf-16-be", "cp1252", "cp932", "gb18030", "big5"]


def bytes_of(found):
    """What stands in the filled file."""
    return found[1].read_bytes()


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
    plain = st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters='"')
    text = known(st.text(plain, max_size=6), "x").filter(lambda x: delimiter not in x)
    odd = known(st.text(st.sampled_from('ab,;\t"\n\r ü'), max_size=6), "x")
    return st.one_of(
        text,
        text.map(lambda x: f'"{x}"'),
        odd.map(lambda x: '"' + x.replace('"', '""') + '"'),
        st.sampled_from(["1.50", "yes", "No", "TRUE", 'a"b', " x ", "0", "'=1", "=1"]),
    )


def known(cells, letter):
    """With a letter at an end, no cell is empty or a marker of the unknown."""
    return st.one_of(cells.map(lambda x: x + letter), cells.map(lambda x: letter + x))


@st.composite
def known_cells(draw, encoding, delimiter):
    """The bytes of a known cell; in an old encoding with any codes of letters."""
    if not encoding.startswith("utf"):
        codes = st.lists(st.sampled_from(codes_of(encoding)), max_size=4)
        return draw(known(codes.map(b"".join), b"x"))
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


@settings(max_examples=300)
@given(encoded_tables())
def test_all_but_the_gaps_stays_to_the_byte(tmp_path, fill, drawn):
    reading, fill_markers, old, new = drawn
    table = tmp_path / "t.csv"
    table.write_bytes(old)
    values = dict.fromkeys(TITLES, "big")
    options = {"reading": reading, "fill_markers": fill_markers}
    assert bytes_of(fill(table, values, **options)) == new


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "looks.csv"
    path.write_bytes(
        b"animal,weight,wild,size\r\n"
        b'lynx,4.25,No,"small"\r\n'
        b"lion,,,\r\n"
        b"dog,20.00,No,\r\n"
        b"unicorn,,,\r\n"
    )
    return path


def test_values_are_written_as_the_column_writes_them(table, fill):
    values = {"weight": 187.6543, "wild": True, "size": 'large, or "big"'}
    answer, out = fill(table, {"lion": values})
    new = b'lion,187.65,Yes,"large, or ""big"""\r'
    assert out.read_bytes() == table.read_bytes().replace(b"lion,,,\r", new)
    assert (answer.rows, answer.filled, answer.left_empty) == (4, 3, 1)
    assert (answer.unknown_rows, answer.unknown_labels) == (2, ("lynx", "unicorn"))


@pytest.mark.parametrize(
    ("seen", "value", "text"),
    [
        (["yes", "no"], True, "yes"),
        (["TRUE"], False, "FALSE"),
        (["yes", "Yes", "Yes"], True, "Yes"),
        ([], False, "no"),
        (["3.5", "12"], 2.7123, "2.7"),
        (["3.25", "12"], 1234.567, "1235"),
        (["0.001"], 0.00123456, "0.001"),
        (["5"], -0.2, "0"),
        ([], 2.71828, "2.72"),
        (["x", "x"], True, "x"),
        (["x", "x"], False, ""),  # an empty cell says no there
        # Tiny and huge numbers.
        (["1.2e-9", "3.45e-9"], 2.2222e-9, "2.22e-09"),
        (["0.0000000012", "0.00000000345"], 2.2222e-9, "0.00000000222"),
        (["0.0001", "1e-05"], 2.2222e-9, "2.22e-09"),
        (["0.01", "0.25"], 0.00042, "0.0004"),
        (["0.00", "0.25"], 0.00042, "0.00"),
        (["5"], math.inf, ""),
        # Signs, currencies and units, and the spaces between.
        (["-$20.00", "-$5.00"], 11.7, "$11.70"),
        (["($20.00)", "($5.00)"], 11.7, "$11.70"),
        (["\u22125 \u00b0C", "3 \u00b0C"], -11.7, "\u221212 \u00b0C"),
        (["+5", "-3"], 11.7, "+12"),
        (["12\u00a0%", "5\u00a0%"], 11.72, "12\u00a0%"),
        (["5 kg", "5 kg", "7kg"], 6.1, "6 kg"),
        (["$5", "\u20ac7"], 6.1, "6"),  # not certain, so plain
        # Thousands.
        (["1.299.000", "1.500"], 1400.4, "1.400"),
        (["1\u202f299", "12"], 123_456.7, "123\u202f457"),
        (["1234", "1 299"], 123_456.7, "123457"),
        # Dates.
        (["01/02/2021", "03/04/2021"], 2021.5, "2021-07-02"),  # of either order
        (["25/12/2021", "2021-12-25"], 2021.5, "2021-07-02"),
        (["25/12/21", "1/2/21"], 2021.5, "2/7/21"),
        (["25/12/21", "1/2/21"], 1950.5, "1950-07-02"),
        (["25.12.2021", "1.2.2021"], 2021.5, "2.7.2021"),
        (["2021-05-03T14:30Z"], 2021.5037, "2021-07-03T20:25Z"),
        (["3rd JUNE 2021"], 2021.5, "2 JULY 2021"),
        (["3 May 2021"], 2021.5, "2021-07-02"),  # May is long and short
        (["3 June 2021", "3 Jul 2021"], 2021.5, "2021-07-02"),
    ],
)
def test_spelling_follows_the_known_cells(tmp_path, fill, seen, value, text):
    path = tmp_path / "t.csv"
    rows = [f"l{i},{cell}\n" for i, cell in enumerate(seen)]
    rows = [row if row.count(",") == 1 else row.replace("'", '"') for row in rows]
    path.write_text("label,x\n" + "".join(rows) + 'new,""\n', encoding="utf-8")
    reading = Reading(delimiter=",")
    found = bytes_of(fill(path, {"x": value}, reading=reading))
    text = text.strip('"')
    assert found.decode().splitlines()[-1] == f'new,"{text}"'


@st.composite
def notations(draw):
    """A way to write numbers."""
    decimals = draw(st.integers(0, 4))
    mark = draw(st.sampled_from(".,"))
    group = draw(st.sampled_from(["", " ", "'", ",."[mark == ","]]))
    before = draw(st.sampled_from(["", "$", "CHF ", "\u20ac\u00a0"]))
    after = draw(st.sampled_from(["", " kg", "%", " %"])) if not before else ""
    negative = draw(st.sampled_from(["-{}", "({})", "\u2212{}"]))

    def write(value):
        text = f"{abs(value):,.{decimals}f}".replace(",", "_").replace(".", mark)
        text = f"{before}{text.replace('_', group)}{after}"
        return negative.format(text) if value < 0 else text

    return write


FAR = st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-2)


def spelled(fill, folder, cells, value):
    """How a value is written below these cells of a column."""
    path = folder / "t.csv"
    rows = [f'{i};"{cell}"\n' for i, cell in enumerate(cells)]
    path.write_text("".join(["label;x\n", *rows, "new;\n"]), encoding="utf-8")
    *_, (_, written) = open_table(fill(path, {"x": value})[1]).rows()
    return written[1]


@settings(max_examples=150)
@given(notations(), FAR, st.lists(FAR, max_size=3))
def test_a_number_is_written_as_the_others_are(tmp_path, fill, write, value, others):
    assume(any(x in "123456789" for x in write(value)))
    cells = [write(x) for x in (1234567.891, -1234.5678, 12.3456, *others)]
    assert spelled(fill, tmp_path, cells, value) == write(value)


DATE_FORMATS = ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y", "%b %d, %Y"]
DATE_FORMATS += ["%Y/%m/%d", "%d/%m/%y", "%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M:00", "%B %Y"]


@settings(max_examples=150)
@given(
    st.sampled_from(DATE_FORMATS),
    st.datetimes(datetime(1970, 1, 1), datetime(2060, 1, 1)),
)
def test_a_date_is_read_and_written_as_the_others_are(tmp_path, fill, form, moment):
    others = datetime(2021, 12, 25), datetime(2020, 2, 1, 3, 4)
    cells = [x.strftime(form) for x in (*others, moment)]
    known = DescriptiveContext.from_cells(list("abc"), {"x": cells}, "t")
    assert known.columns == ("x",)
    assert spelled(fill, tmp_path, cells[:2], known.values[2, 0]) == cells[2]


def test_an_encoding_whose_letters_depend_on_their_place_keeps_the_others(
    tmp_path, fill
):
    path = tmp_path / "t.csv"
    old = "label,x,note\n\u732b,,\u732b\nb,\u8d64,\n".encode("iso2022_jp")
    path.write_bytes(old)
    reading = Reading("iso2022_jp", ",")
    found = bytes_of(fill(path, {"x": "\u8d64"}, reading=reading))
    red = "\u8d64".encode("iso2022_jp")
    assert found.decode("iso2022_jp") == old.decode("iso2022_jp").replace(
        ",,", ",\u8d64,"
    )
    assert found.count(red) == 2


def test_only_filled_cells_are_kept_from_running_as_formulas(tmp_path, fill):
    path = tmp_path / "t.csv"
    path.write_text("label,x,y\n=a,=cmd|x,-5\n=b,,\n-c,'=cmd|x,-$7\n")
    _, out = fill(path, {"x": "=cmd|x", "y": -6.0})
    assert out.read_text() == path.read_text().replace("=b,,", "=b,'=cmd|x,-6")
    cells = [cells for _, cells in open_table(out).rows()]
    assert [x[1] for x in cells] == ["=cmd|x"] * 3


def test_only_wanted_labels_are_filled_and_repeated_ones_everywhere(tmp_path, fill):
    table = tmp_path / "t.csv"
    table.write_text("label,x\n" + "".join(f"{x},\n" for x in "abacadbe"))
    values = {label: {"x": label.upper()} for label in "ace"}
    answer, out = fill(table, values, labels=list("abde"))
    found = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert found == ["A", "", "A", "", "A", "", "", "E"]
    assert (answer.filled, answer.left_empty) == (4, 3)


def test_a_table_with_broken_rows_is_refused_by_line(tmp_path, fill):
    path = tmp_path / "t.csv"
    for text, message in (
        ("a,x\nx,1,2\n", "line 2: has 3 cells, but the header has 2"),
        ('a,x\nx,"1\n', "line 2: .*is a quotation mark missing"),
        ('a,x\nx,"1"2\n', "line 2: .*or one too many"),
        ("", "is empty"),
    ):
        path.write_text(text)
        with pytest.raises(FileError, match=message):
            fill(path, {})
    path.write_bytes("a,x\n\u043a\u043e\u0448\u043a\u0430,\n".encode("cp1251"))
    with pytest.raises(FileError, match=r"line 2: is not UTF-8.*cp1251 reads"):
        fill(path, {})
