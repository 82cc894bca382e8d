"""No cell of a CSV that is composed here runs as a formula, and all read back."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import phcle
from phcle.files import csv_lines, harmless, unmarked

LIVE = ["=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1"]
LIVE += ["\uff1d1+1", "\uff0b1", "\uff0d1", "\uff201", "-", "+", "\ufeff=1", "\x0b=1"]
LIVE += ["'=1", "''@x", "'\t=1"]

NUMBERS = ["-5", "+3.2e4", "-0.5", "-1,234.50", "-1.234,5", "-12%", "1e-9", "-1E+05"]
HARMLESS = ["", "cat", "5", "'", "''", "'tis", "'-5", "a=b", "1-2", "_=1", "\u22125"]


@pytest.mark.parametrize("text", LIVE)
def test_a_text_that_would_be_a_formula_gets_a_mark(text):
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", NUMBERS + HARMLESS)
def test_numbers_and_other_texts_stay_as_they_are(text):
    assert harmless(text) == text
    assert unmarked(text) == text


@pytest.mark.parametrize("value", [None, -5, -2.5, True, float("-inf")])
def test_what_is_no_text_stays_as_it_is(value):
    assert harmless(value) is value


SIGNS = st.text(st.sampled_from("'=+-@\t\r\n 5.,e%a\uff1d\u00a0"), max_size=6)


@settings(max_examples=500)
@given(st.one_of(SIGNS, st.text(max_size=6)))
def test_every_text_comes_back_without_its_mark(text):
    assert unmarked(harmless(text)) == text


@settings(max_examples=100)
@given(st.lists(SIGNS.filter(str.strip), min_size=1, max_size=4))
@example(["'\r", " '=1", "'=1"]).via("spaces beside a mark")
@example(["'=1", "a\rb", "=1", '"', "x\ny", "-1"])
def test_a_written_table_reads_back(tmp_path, labels):
    lines = list(csv_lines([("label", "tag"), *((label, "x") for label in labels)]))
    assert all(line.endswith("\n") for line in lines)
    text = "".join(lines)
    for cells in csv.reader(io.StringIO(text, newline="")):
        for cell in cells:
            assert harmless(cell) == cell or cell.startswith("'")
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    found = phcle.read_contexts(tags=path)[0].labels
    assert found == tuple(dict.fromkeys(x.strip() for x in labels))


def test_the_pages_use_the_same_patterns():
    folder = Path(phcle.__file__).parent / "atlas" / "static"
    script = (folder / "core.js").read_text(encoding="utf-8")
    found = dict(re.findall(r"const (LIVE|NUMBER) =\s+/\^(.+)/;\n", script))
    live = re.compile(found["LIVE"])
    number = re.compile(found["NUMBER"].removesuffix("$"))

    @settings(max_examples=500)
    @given(st.one_of(SIGNS, st.sampled_from([*LIVE, *NUMBERS, *HARMLESS])))
    def agree(text):
        is_live = live.match(text) is not None and number.fullmatch(text) is None
        assert is_live == (harmless(text) != text)

    agree()
