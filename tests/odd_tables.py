"""Odd tables, and the reading that a person would give to each.

A table has the labels a, b, c and so on. `cells` are its values by title: numbers,
texts and None for what is unknown; a date is a year with decimals. `ASKS` stands where
a person would ask, `TEXTS` for the cells as they are. A table without cells is one that
a person would send back.

    python tests/odd_tables.py        # what phcle and pandas make of them
"""

# ruff: noqa: T201
from __future__ import annotations

import io
import json
import math
import re
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

import phcle
from phcle.errors import PhcleError

ASKS, TEXTS = "asks", "texts"
OUTCOMES = ("right", "refused", "remarked", "as text", "silently wrong")
Values = dict[str, Any]


@dataclass
class Odd:
    """A file, and what a person would read in it."""

    name: str
    cells: Values = field(default_factory=dict)
    text: str | bytes = ""
    file: str = "t.csv"
    labels: str = ""


def year(*parts: int) -> float:
    """A date as a year with decimals, by its day of the year."""
    day = date(*parts)
    first, last = date(day.year, 1, 1), date(day.year + 1, 1, 1)
    return day.year + (day - first).days / (last - first).days


def column(name: str, raw: str, read: Any, title: str = "x") -> Odd:
    """A table of one column, whose cells are given with bars between them."""
    cells = raw.split("|")
    rows = (f"{chr(97 + i)};{cell}" for i, cell in enumerate(cells))
    read = cells if read == TEXTS else read
    return Odd(name, {title: read}, "\n".join([f"label;{title}", *rows, ""]))


COLUMNS = [
    column("two sizes of watt", "5 mW|3 mW|5 MW", [5, 3, 5e9]),
    column("per cent and per mille", "5 %|4 %|5 \u2030", [5, 4, 0.5]),
    column("kilograms and grams", "5 kg|2 kg|500 g", [5, 2, 0.5]),
    column("kilograms and pounds", "5 kg|2 kg|3 lb|7 lb", ASKS),
    column("some cells with a unit", "5 kg|2|3|7 kg", ASKS),
    column("ounces in four spellings", "2 oz|2 oz.|6 OZ.|6 ounce", [2, 2, 6, 6]),
    column("millions and billions", "5 million|3 billion|2 million", [5e6, 3e9, 2e6]),
    column("dates without signs", "20101231|20110101|20200702", [
        year(2010, 12, 31), year(2011, 1, 1), year(2020, 7, 2)]),
    column("codes with leading zeros", "02134|90210|10001", TEXTS),
    column("ZIP codes by the title", "90210|10001|10001", TEXTS,
           "zip"),
    column("numbers of 19 digits", "9007199254740993001|9007199254740993002|7", TEXTS),
    column("telephone numbers",
           "2053258100|2053258101|3343612000|2562377000|3348938701", TEXTS),
    column("codes of two countries", "NO|SI|NO", TEXTS),
    column("codes of countries", "NO|SI|DE", TEXTS),
    column("the code of Norway", "NO|NO|NO", TEXTS),
    column("codes of countries and Namibia", "NA|DE|DE", TEXTS),
    column("three seasons", "2009-10|2010-11|2011-12", TEXTS),
    column("four seasons", "2009-10|2011-12|2012-13", TEXTS),
    column("three months", "2009-10|2009-11|2010-01", [
        year(2009, 10, 1), year(2009, 11, 1), 2010]),
    column("a point and a comma", "1.234|1,234", ASKS),
    column("only 1.299 and the like", "1.299|2.450|3.100", ASKS),
    column("only 1,299 and the like", "1,299|2,450|3,100", ASKS),
    column("thousands beside small numbers", "1,299|2,450|3,100|45|7|999",
           [1299, 2450, 3100, 45, 7, 999]),
    column("German numbers", "1.299,00|45,5|1.100", [1299, 45.5, 1100]),
    column("two notations", "1.299,00|45.50|7.25", [1299, 45.5, 7.25]),
    column("lakhs", "12,34,567|5,00,000|45", [1234567, 500000, 45]),
    column("Swiss thousands", "1'299.50|2'000'000|45", [1299.5, 2e6, 45]),
    column("spaces as thousands", "1\u00a0299,5|2 000 000|45", [1299.5, 2e6, 45]),
    column("numbers in brackets", "(3.5)|\u22124|7", [-3.5, -4, 7]),
    column("digits of other scripts", "12|\uff11\uff12|\u0663", [12, 12, 3]),
    column("pounds", "\u00a31,299.50|\u00a345|12", [1299.5, 45, 12]),
    column("pounds and dollars", "\u00a35|$7|\u00a33|$2", ASKS),
    column("per cent", "12%|3.5 %|40%", [12, 3.5, 40]),
    column("a number with a letter inside", "11|12|13|14|1xx19|16|17", [
        11, 12, 13, 14, None, 16, 17]),
    column("the word empty", "empty|2|3|empty", [None, 2, 3, None]),
    column("a word among numbers", "1|2|3|4|lots|6|7", [1, 2, 3, 4, None, 6, 7]),
    column("a misspelled yes", "|".join(["yes", "no"] * 12 + ["yxs"]), [
        *([1, 0] * 12), None]),
    column("a third answer", "yes|no|maybe|maybe|no", TEXTS),
    column("days first", "25/12/2021|1/2/2021|3/4/2020", [
        year(2021, 12, 25), year(2021, 2, 1), year(2020, 4, 3)]),
    column("months first", "12/25/2021|1/2/2021|3/4/2020", [
        year(2021, 12, 25), year(2021, 1, 2), year(2020, 3, 4)]),
    column("days or months first", "1/2/2021|3/4/2020", ASKS),
    column("a day that does not exist", "|".join(["2021-02-30", *["2020-07-02"] * 6]), [
        None, *[2020.5] * 6]),
    column("dates in words", "2 July 2020|Jan 1, 2021", [2020.5, 2021]),
    column("moments", "2020-07-02T00:00:00Z|2021-01-01T00:00:00+00:00", [2020.5, 2021]),
    column("years", "1999|2004|2010", [1999, 2004, 2010]),
    column("yes in German", "Ja|nein|ja", [1, 0, 1]),
    column("ticks", "x||x", [1, 0, 1]),
    column("versions", "1.9|1.10|1.2", TEXTS, "version"),
    column("versions of three parts", "1.9.0|1.10.2|1.2.1", TEXTS),
    column("rooms", "1E3|2B4|1A2", TEXTS),
    column("fractions", "1/2|3/4|1/4", [0.5, 0.75, 0.25]),
    column("ranges", "10-20|20-30|10-20", TEXTS),
    column("limits", "<5|12|>100|7|<5", ASKS),
    column("times of day", "12:30|8:15|23:59", TEXTS),
    column("footnotes", "5*|7|12|9|3|4|8", [None, 7, 12, 9, 3, 4, 8]),
    column("infinity", "inf|7|12|9|3|4|8", [None, 7, 12, 9, 3, 4, 8]),
    column("lists in cells", "red, blue|blue|red", TEXTS),
    column("sizes", "2XL|XL|2XL", TEXTS),
]  # fmt: skip

TABLES = [
    Odd("no header above numbers", {"column 2": [4, 9, 5]}, "a,4\nb,9\nc,5\n"),
    Odd("no header above texts", {"column 2": ["red", "blue", "red", "red"]},
        "a,red\nb,blue\nc,red\nd,red\n"),
    Odd("years as titles", {"2019": [4, 9], "2020": [5, 6]},
        "label,2019,2020\na,4,5\nb,9,6\n"),
    Odd("the header once more", {"x": [4, 9]}, "label,x\na,4\nlabel,x\nb,9\n"),
    Odd("a title line above the header", {}, "Report of 2020\nlabel,x,y\na,4,1\n"),
    Odd("a row too long", {}, "label,x\na,4,5\nb,9\n"),
    Odd("an open quote", {}, 'label,x\na,"4\nb,9\n'),
    Odd("two columns of one title", {}, "label,x,x\na,4,5\nb,9,6\n"),
    Odd("a label twice", {"x": [5, 5], "y": ["red", "blue"]},
        "label,x,y\na,4,red\na,6,red\nb,5,blue\n"),
    Odd("labels in the last column", {"x": [4, 9, 4]},
        "x,name\n4,a\n9,b\n4,c\n", labels="name"),
    Odd("Namibia as a label", {"x": [4, 9]}, "label,x\nNA,4\nDE,9\n", labels="NA DE"),
    Odd("empty columns", {"x": [4, 9]}, "label;x;;\na;4;;\nb;9;;\n"),
    Odd("a line end in a cell", {"x": ["red\nish", "blue"]},
        'label,x\na,"red\nish"\nb,blue\n'),
    Odd("Excel's first line", {"x": [4.5, 9]}, "sep=;\nlabel;x\na;4,5\nb;9\n"),
    Odd("UTF-16", {"\u00e9": [4, 9]}, "label\t\u00e9\na\t4\nb\t9\n".encode("utf-16")),
    Odd("Windows' letters", {"x": ["caf\u00e9", "bar"]},
        "label,x\na,caf\u00e9\nb,bar\n".encode("cp1252")),
    Odd("Cyrillic letters of Windows", {},
        "label,x\na,кошка\nb,собака\n".encode("cp1251")),
    Odd("a typed number beside a text", {"x": [1.299, 3.5]},
        '[{"label": "a", "x": 1.299}, {"label": "b", "x": "3,5"}]', "t.json"),
    Odd("whole numbers above 2^53", {"x": [str(2**60), str(2**60 + 1)]},
        json.dumps([{"label": "a", "x": 2**60}, {"label": "b", "x": 2**60 + 1}]),
        "t.json"),
    Odd("records with other keys", {"x": [4, None], "y": [None, "red"]},
        '{"label": "a", "x": 4}\n{"label": "b", "y": "red"}\n', "t.jsonl"),
]  # fmt: skip


def book(
    cells: dict[str, Any] | None = None,
    *,
    other: str = "",
    is_hidden: bool = False,
    above: int = 0,
    merge: str = "",
    edit: tuple[str, str] = ("", ""),
) -> bytes:
    """A workbook with one table, some of its cells changed, and more around it."""
    made = openpyxl.Workbook()
    sheet = made.active
    for row in (["label", "x"], ["a", 4], ["b", 9], ["c", 5]):
        sheet.append(row)
    if above:
        sheet.insert_rows(1, above)
    for cell, value in (cells or {}).items():
        sheet[cell] = value
    if merge:
        sheet.merge_cells(merge)
    if other:
        made.create_sheet(other, 0 if is_hidden else None).append(["nothing", "y"])
        made[other].sheet_state = "hidden" if is_hidden else "visible"
        made.active = int(is_hidden)
    first, last = io.BytesIO(), io.BytesIO()
    made.save(first)
    with zipfile.ZipFile(first) as source, zipfile.ZipFile(last, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.startswith("xl/worksheets/sheet"):
                content = re.sub(*edit, content.decode()).encode()
            target.writestr(name, content)
    return last.getvalue()


def misnamed(data: bytes) -> bytes:
    """A member whose name is marked as UTF-8 and is not."""
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr("xl/\u00e9\u00e9", b"")
    return target.getvalue().replace("xl/\u00e9\u00e9".encode(), b"xl/\xff\xff\xff\xff")


SMALL = ('<dimension ref="A1:B4"', '<dimension ref="A1:B2"')
STORED = (r"(<f>4\+5</f>)<v ?/>", r"\1<v>9</v>")
DAYS = {"B2": date(2020, 7, 2), "B3": datetime(2021, 1, 1), "B4": None}
MERGED = {"B2": "red", "B3": None, "B4": "blue"}
X: Values = {"x": [4, 9, 5]}
BOOKS = [
    Odd(name, read, content, "t.xlsx")
    for name, read, content in (
        ("a size that is too small", X, book(edit=SMALL)),
        ("a hidden first sheet", X, book(other="Notes", is_hidden=True)),
        ("two sheets", X, book(other="More")),
        ("merged cells", {"x": ["red", "red", "blue"]}, book(MERGED, merge="B2:B3")),
        ("a formula without a value", {}, book({"B3": "=4+5"})),
        ("a formula with its value", X, book({"B3": "=4+5"}, edit=STORED)),
        ("dates with a type", {"x": [2020.5, 2021, None]}, book(DAYS)),
        (
            "numbers beside a text",
            {"x": [1.299, 3.5, 7]},
            book({"B2": 1.299, "B3": "3,5", "B4": 7}),
        ),
        (
            "texts of digits",
            {"x": ["007", "010", "123"]},
            book({"B2": "007", "B3": "010", "B4": "123"}),
        ),
        ("an error of a formula", {"x": [4, None, 5]}, book({"B3": "#DIV/0!"})),
        ("a title above the table", {}, book({"A1": "Report of 2020"}, above=2)),
        ("a name that is not UTF-8", {}, misnamed(book())),
    )
]

ALL = [*COLUMNS, *TABLES, *BOOKS]


def read_by_phcle(path: Path) -> tuple[Values, list[str], str]:
    """Values by title, the labels, and all that was said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = phcle.read_contexts(attributes=path)
    context: Any = found[0]
    values: Values = {}
    for at, title in enumerate(context.titles):
        own = [None if math.isnan(x) else x for x in context.values[:, at].tolist()]
        if context.columns[at] == title:
            values[title] = own
            continue
        word = context.columns[at].removeprefix(f"{title}=")
        before = values.setdefault(title, [None] * len(own))
        values[title] = [word if x else old for x, old in zip(own, before, strict=True)]
    for title in context.left_out:
        values[title] = list(context.source.cells[title])
    summary = found.summaries[0]
    return values, list(context.labels), "; ".join((summary.line, *summary.odd_cells))


def read_by_pandas(path: Path) -> tuple[Values, list[str], str]:
    """The same of pandas with default options."""
    readers: dict[str, Any] = {".xlsx": pd.read_excel, ".json": pd.read_json}
    if path.suffix == ".jsonl":
        frame = pd.read_json(path, lines=True)
    else:
        frame = readers.get(path.suffix, pd.read_csv)(path)
    if path.suffix == ".csv" and len(frame.columns) == 1:
        frame = pd.read_csv(path, sep=";")  # which a person would try next
    values: Values = {}
    for title in frame.columns:
        own = frame[title].astype(object)
        values[str(title)] = [None if pd.isna(x) else x for x in own]
    return values, [], ""  # it knows no labels


def is_same(found: Any, expected: Any) -> bool:
    """Whether a value is what a person reads; numbers and truth values are numbers."""
    if found is None or expected is None:
        return found is expected
    if isinstance(expected, str) or isinstance(found, str):
        return str(found).casefold() == str(expected).casefold()
    if isinstance(found, (date, datetime)):
        found = year(found.year, found.month, found.day)
    return bool(np.isclose(float(found), float(expected), rtol=0, atol=2e-6))


def outcome(odd: Odd, path: Path, read: Callable[..., Any]) -> str:
    """What a reader makes of a table, as one of `OUTCOMES`."""
    try:
        values, labels, said = read(path)
    except PhcleError:
        return "refused"
    except Exception:
        return "refused" if read is read_by_pandas else "silently wrong"
    expected = odd.cells
    n = max((len(x) for x in expected.values() if x != ASKS), default=0)
    names = (
        odd.labels.split() if " " in odd.labels else list("abcdefghijklmnopqrstuvwxyz")
    )
    right = bool(expected) and all(
        title in values
        and own != ASKS
        and len(values[title]) == n
        and labels in ([], names[:n])
        and all(map(is_same, values[title], own))
        for title, own in expected.items()
    )
    if right:
        return "right"
    remarks = said.partition(";")[2]
    if remarks and any(f"{title!r}" in remarks for title in expected):
        return "remarked"
    if remarks and (set(expected) - set(values) or "unknown:" in remarks):
        return "remarked"
    texts = [x for y in expected for x in values.get(y, ()) if x is not None]
    are_texts = bool(texts) and all(isinstance(x, str) for x in texts)
    if are_texts and labels == names[: len(labels)] and set(expected) <= set(values):
        return "as text"
    return "silently wrong"


def main() -> None:
    """Print what phcle and pandas make of every table, and how often."""
    print(f"| {len(ALL)} tables | phcle | pandas |\n| --- | --- | --- |")
    counts: Counter[tuple[int, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for odd in ALL:
            path = Path(folder) / odd.file
            content = odd.text.encode() if isinstance(odd.text, str) else odd.text
            path.write_bytes(content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                both = [outcome(odd, path, x) for x in (read_by_phcle, read_by_pandas)]
            counts.update(enumerate(both))
            print("|", odd.name, "|", " | ".join(both), "|")
    for name in OUTCOMES:
        print(f"| **{name}** | {counts[0, name]} | {counts[1, name]} |")


if __name__ == "__main__":
    main()
