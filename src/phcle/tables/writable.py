"""Tables whose cells can be replaced: text to the byte, and workbooks by openpyxl.

The table is in memory as a whole: it has about as many rows as the embedding that fills
it. New values look like the known ones of their column. Where these do not agree, a
plain notation is used: a number with a point and few digits, a date like 2021-12-31.
"""

from __future__ import annotations

import codecs
import io
import math
import re
import warnings
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from phcle.contexts.labels import normal
from phcle.embedding.cell_texts import DIGITS, number_text, value_text
from phcle.errors import ContextWarning, FileError, some
from phcle.files.csv_text import harmless, unmarked
from phcle.files.reading import read_bytes
from phcle.files.text import lines_of
from phcle.tables.cells import TICKS, cell_text
from phcle.tables.dates import date_writer, is_date
from phcle.tables.file_kinds import BOOKS
from phcle.tables.numbers import parse_number
from phcle.tables.reader import Reading
from phcle.tables.text_tables import MARK, find_text_format
from phcle.tables.workbooks import Sheet

Value = float | bool | str

PAIRS = [
    *(("1", "0"), ("1.0", "0.0"), ("y", "n"), ("t", "f"), ("on", "off")),
    *(("true", "false"), ("ja", "nein"), ("oui", "non"), ("s\u00ed", "no")),
    *(("si", "no"), ("yes", "no")),
]
"""How columns write yes and no; of several, the last is usual."""

NO_OF, YES_OF = dict(PAIRS), {no: yes for yes, no in PAIRS}

VALUES = (".parquet", ".json", ".jsonl", ".ndjson")
"""Tables that hold values, not text, so they cannot stay as they are to the byte."""

QUOTED = r'"(?:[^"]+|"")*+"'

MADE_ANEW = re.compile(
    r"calcChain|sharedStrings|printerSettings|\.rels$|docProps|theme"
)
"""Parts of a workbook that Excel, or openpyxl, writes by itself."""

Row = tuple[int, list[str], list[Any]]
"""Place of a row, its texts, and the places of its cells; None for one that stays."""

New = Mapping[Any, tuple[Value, str]]
"""Values and their texts by the place of a cell."""


def open_writable(table: Path, out: Path, reading: Reading) -> WritableTable:
    """Open a table whose cells are to be replaced.

    Parameters
    ----------
    table : Path
        The table.
    out : Path
        The file to write; it has the same format.
    reading : Reading
        How the user wants the table to be read.

    Returns
    -------
    WritableTable
        The table, its header read.
    """
    ending, other = table.suffix.lower(), out.suffix.lower()
    if ending in VALUES:
        raise FileError(
            f"{table}: only tables of text and workbooks can be filled; give a CSV or "
            "an .xlsx file."
        )
    if ending != other and {ending, other} & {*BOOKS, *VALUES}:
        raise FileError(
            f"{out}: a filled table has the format of {table}; let its name end in "
            f"{ending or '.csv'}."
        )
    source = _Book(table) if ending in BOOKS else _Text(table, reading)
    source.header = next((texts for _, texts, _ in source.body if any(texts)), [])
    if not source.header:
        raise FileError(f"{table}: is empty; a header and rows were expected.")
    return source


class _Text:
    """A table of text. Rows and cells are known by their positions in it."""

    header: list[str]

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.body = path, self._rows()
        form = find_text_format(path, reading.encoding, reading.delimiter)
        self.encoding, self.delimiter = form.encoding.name, form.delimiter
        self.skip = form.skip
        self.data = read_bytes(path)
        try:
            self.text = self.data.decode(self.encoding)
        except UnicodeError as error:
            raise FileError(
                f"{path}: is not {self.encoding} text; give another --encoding."
            ) from error

    def where(self, place: int) -> str:
        return f"{self.path}, line {len(lines_of(self.text[:place] + '.'))}"

    def _rows(self) -> Iterator[Row]:
        """Rows with the texts that readers of contexts see, and their spans."""
        between = re.escape(self.delimiter)
        cell = re.compile(rf"(?:({QUOTED})|[^{between}\r\n]*)({between}|\r\n|\r|\n|\Z)")
        n_rows = 0
        texts: list[str] = []
        spans: list[tuple[int, int]] = []
        for match in cell.finditer(self.text, int(self.text.startswith(MARK))):
            start, stop = match.start(), match.start(2)
            raw = self.text[start:stop]
            if match[1] is None and raw.startswith('"'):
                raise self._quotation_fault(start)
            texts.append(_unquoted(raw))
            spans.append((start, stop))
            if match[2] != self.delimiter:
                n_rows += 1
                if n_rows > self.skip:
                    yield spans[0][0], texts, spans
                texts, spans = [], []

    def _quotation_fault(self, at: int) -> FileError:
        if re.compile(QUOTED).match(self.text, at):
            what = "a quoted cell must end before a separator; double marks within it."
        else:
            what = "a quotation mark has no second one; add it, or remove the first."
        return FileError(f"{self.where(at)}: {what}")

    def save(self, path: Path, new: New) -> None:
        fresh, cuts = [], [0]
        for (start, stop), (value, text) in sorted(new.items()):
            text = str(harmless(text)) if isinstance(value, str) else text
            fresh.append(_quoted(text, self.text[start:stop], self.delimiter))
            cuts += [start, stop]
        cuts.append(len(self.text))
        try:
            encoded = [text.encode(self.encoding) for text in fresh]
            data = b"".join(_woven(self.data, self._places_in_bytes(cuts), encoded))
            if data.decode(self.encoding) != "".join(_woven(self.text, cuts, fresh)):
                # In some old encodings a letter depends on what stands before it.
                odd = "".join(fresh)
                raise UnicodeEncodeError(self.encoding, odd, 0, len(odd), "misread")
        except UnicodeEncodeError as error:
            raise FileError(
                f"{self.path}: is {self.encoding}, which cannot hold "
                f"{error.object[error.start : error.end]!r}; save the table as UTF-8."
            ) from error
        path.write_bytes(data)

    def _places_in_bytes(self, cuts: Sequence[int]) -> list[int]:
        """Where the bytes of these characters begin.

        A character may have several codes, as in cp932, so encoding a piece again may
        give other bytes. Then characters are counted byte by byte.
        """
        try:
            pieces = [self.text[a:b].encode(self.encoding) for a, b in pairwise(cuts)]
            if b"".join(pieces) == self.data:
                return list(accumulate(map(len, pieces), initial=0))
        except UnicodeEncodeError:  # a character that is read but never written
            pass
        decoder = codecs.getincrementaldecoder(self.encoding)()
        places = array("q", [0])
        for end in range(1, len(self.data) + 1):
            places.extend([end] * len(decoder.decode(self.data[end - 1 : end])))
        return [places[cut] for cut in cuts]


def _woven(whole: Any, cuts: Sequence[int], fresh: Sequence[Any]) -> Iterator[Any]:
    """The parts of a table before, between and behind cells, with new cells."""
    yield whole[: cuts[1]]
    for i, text in enumerate(fresh):
        yield text
        yield whole[cuts[2 * i + 2] : cuts[2 * i + 3]]


def _unquoted(cell: str) -> str:
    """What a raw cell says, as readers of contexts see it."""
    if cell.startswith('"'):
        cell = cell[1:-1].replace('""', '"')
    return unmarked(normal(cell)).strip()


def _quoted(text: str, old: str, delimiter: str) -> str:
    """A text as a raw cell, quoted if it must be or the old one was."""
    needs = any(x in text for x in (delimiter, '"', "\r", "\n"))
    if needs or old.startswith('"'):
        return '"' + text.replace('"', '""') + '"'
    return text


class _Book:
    """The first visible sheet of a workbook. Cells are known by row and column."""

    header: list[str]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shown = Sheet(path)
        self.parts = _kinds_of_parts(path)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            import openpyxl

            is_macro = path.suffix.lower() == ".xlsm"
            self.book = openpyxl.load_workbook(path, keep_vba=is_macro, rich_text=True)
        self.lost = {str(x.message) for x in said if "removed" in str(x.message)}
        self.sheet = self.book[self.shown.title]
        for at, cell in self.sheet._cells.items():
            if cell.value is not None:  # a formula that was never computed is no gap
                self.shown.values.setdefault(at, cell.value)
        self.types: dict[int, tuple[type | None, str]] = {}
        self.top, self.body = 0, self._rows()

    def where(self, place: int) -> str:
        return f"{self.path}, row {place}"

    def _rows(self) -> Iterator[Row]:
        """Rows that have cells; all cells of a merged area have its value and stay."""
        merged = self.shown.first_of
        for row, cells, places in self.shown.rows():
            self.top = self.top or row
            stay = [None if at in merged else at for at in places]
            yield row, list(map(cell_text, cells)), stay

    def save(self, path: Path, new: New) -> None:
        for (row, column), (value, text) in new.items():
            kind, form = self._written_so(column)
            cell = self.sheet.cell(row, column)
            cell.value = _typed(kind, value, text)
            if isinstance(cell.value, str):
                cell.data_type = "s"  # never a formula
            elif cell.number_format == "General":
                cell.number_format = form
        whole = io.BytesIO()  # openpyxl leaves a half-written file open on a full disk
        self.book.save(whole)
        path.write_bytes(whole.getvalue())
        if lost := self.lost | self.parts - _kinds_of_parts(path):
            warnings.warn(
                f"{self.path}: openpyxl does not keep all of this workbook; the filled "
                f"one lacks {some(sorted(lost))}.",
                ContextWarning,
                stacklevel=5,
            )

    def _written_so(self, column: int) -> tuple[type | None, str]:
        """The type of most known cells of a column, and the format of the first."""
        if column not in self.types:
            known = {
                row: type(value)
                for (row, at), value in sorted(self.shown.values.items())
                if at == column and row > self.top
            }
            kind = Counter(known.values()).most_common(1)[0][0] if known else None
            row = next((row for row, own in known.items() if own is kind), 0)
            form = self.sheet.cell(row, column).number_format if row else "General"
            self.types[column] = kind, form
        return self.types[column]


def _kinds_of_parts(path: Path) -> set[str]:
    """Kinds of parts of a workbook that a program must keep."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    kinds = {re.sub(r"\d+", "", name.rpartition("/")[2]) for name in names}
    return {kind for kind in kinds if kind and not MADE_ANEW.search(kind)}


def _typed(kind: type | None, value: Value, text: str) -> Any:
    """A value of the type that the column has; otherwise its text."""
    try:
        if isinstance(value, bool) and kind in (bool, None):
            return value
        if kind is datetime:
            return datetime.fromisoformat(text)
        if not isinstance(value, str) and kind in (int, float, None):
            number = float(text)
            return int(number) if number.is_integer() else number
    except ValueError:  # in words, such as yes
        pass
    return text


WritableTable = _Text | _Book
"""A table with its header, the rows below it, and a way to save it."""


class ColumnSpelling:
    """How a column writes its values.

    Examples
    --------
    >>> spelling = ColumnSpelling()
    >>> for text in ("12,50 kg", "3,25 kg"):
    ...     spelling.see(text)
    >>> spelling.text(7.123)
    '7,12 kg'
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def see(self, text: str) -> None:
        """Take note of a known cell; all cells come before the first value is written.

        Parameters
        ----------
        text : str
            The cell.
        """
        self.seen[text] += 1

    def text(self, value: Value) -> str:
        """Write a predicted value as the column would.

        Parameters
        ----------
        value : float, bool or str
            The value.

        Returns
        -------
        str
            The cell; empty if that is how the column writes the value.
        """
        if isinstance(value, bool):
            return self._truth(value)
        if isinstance(value, str):
            return value
        if not math.isfinite(value):
            return ""
        return (self._dates or self._numbers.text)(value)

    def _truth(self, value: bool) -> str:
        """The most common spelling; the opposite of the other one; or yes and no."""
        common = [text for text, _ in self.seen.most_common()]
        if common and all(text.lower() in TICKS for text in common):
            return common[0] if value else ""
        own, other = (NO_OF, YES_OF) if value else (YES_OF, NO_OF)
        for text in common:
            if text.lower() in own:
                return text
        seen = next((text for text in common if text.lower() in other), "x")
        found = other.get(seen.lower(), value_text(value))
        if seen.isupper():
            return found.upper()
        return found.capitalize() if seen[0].isupper() else found

    @cached_property
    def _numbers(self) -> _Numbers:
        return _Numbers(self.seen)

    @cached_property
    def _dates(self) -> Callable[[float], str] | None:
        """How dates are written; None if most cells are something else."""
        found = [x for x in self.seen if parse_number(x) is None and is_date(x)]
        is_usual = sum(self.seen[x] for x in found) > self.seen.total() / 2
        return date_writer(found) if is_usual else None


class _Numbers:
    """How a column writes numbers: what stands around them, and their digits."""

    def __init__(self, seen: Mapping[str, int]) -> None:
        self.around = {sign: Counter[tuple[str, str]]() for sign in (False, True)}
        self.exponents: set[str] = set()
        self.widths: set[int] = set()  # of whole numbers with leading zeros
        self.has_zero = False
        marks: set[str] = set()
        shapes: set[str] = set()  # digits as 0, such as 0.000,00
        for text, n in seen.items():
            if (own := parse_number(text)) is None:
                continue
            marks |= {own.decides} - {""}
            shapes.add(re.sub(r"\d", "0", own.digits))
            self.exponents.add(own.exponent)
            if re.fullmatch(r"0\d+", own.digits):
                self.widths.add(len(own.digits))
            if re.search(r"[^\W0]", own.digits):
                self.around[own.value() < 0][own.before, own.after] += n
            else:  # zero has no sign, so it does not tell where one stands
                self.has_zero = True
        self.mark = "," if marks == {","} else "."
        self.is_clear = len(self.exponents) == 1 and len(marks) < 2
        parts = [shape.partition(self.mark) for shape in shapes or {""}]
        wholes = [whole for whole, _, _ in parts if whole.count("0") > 3]
        signs = {whole.replace("0", "")[:1] for whole in wholes}
        self.thousands = signs.pop() if len(signs) == 1 else ""
        decimals = {len(fraction) for _, _, fraction in parts}
        self.fewest, self.most = min(decimals), max(decimals)

    def text(self, value: float) -> str:
        """Write a number."""
        digits = self._digits(abs(value))
        is_negative = value < 0 and re.search(r"[1-9]", digits) is not None
        before, after = self._around(is_negative)
        return f"{before}{digits}{after}"

    def _around(self, is_negative: bool) -> tuple[str, str]:
        """The sign, currency and unit, if all cells agree on them but for spaces."""
        sign = "-" * is_negative
        if self.around[is_negative]:
            return _agreed(self.around[is_negative]) or (sign, "")
        before, after = _agreed(self.around[not is_negative]) or ("", "")
        if "(" in before:
            after = after.removesuffix(")")
        return sign + re.sub(r"[+\-\u2212(]", "", before).lstrip(), after

    def _digits(self, size: float) -> str:
        """The digits of a number that is not negative."""
        if self.exponents and "" not in self.exponents:
            return self._with_exponent(size)
        least = float(f"{size:.{self.most}f}")
        if not self.is_clear:
            return number_text(size).replace(".", self.mark)
        if size and self.most and not (self.has_zero or least):
            # Too small for the column, and yet no zero.
            return number_text(size, 1).replace(".", self.mark)
        most = self.most
        if self.fewest < most and size:  # the usual number of significant digits
            most = min(most, max(DIGITS - 1 - math.floor(math.log10(size)), 0))
        whole, fraction = self._parts(f"{size:.{most}f}")
        if len(self.widths) == 1:
            whole = whole.zfill(*self.widths)
        if self.thousands and len(whole) > 3:
            whole = f"{int(whole):,}".replace(",", self.thousands)
        return whole + fraction

    def _with_exponent(self, size: float) -> str:
        """With an exponent like the others: `1.20E-9`, `3e+05`."""
        most = self.most if self.fewest == self.most else min(self.most, DIGITS - 1)
        digits, power = f"{size:.{most}e}".split("e")
        letter = min(self.exponents)[0]
        plus = "+" if any("+" in x for x in self.exponents) else ""
        width = min(len(x.lstrip("eE+-")) for x in self.exponents)
        sign = "-" if power[0] == "-" else plus
        return "".join(
            [*self._parts(digits), letter, sign, power[1:].lstrip("0").zfill(width)]
        )

    def _parts(self, number: str) -> tuple[str, str]:
        """The digits before the mark, and the mark with those behind it."""
        whole, _, fraction = number.partition(".")
        if self.fewest < self.most:
            fraction = fraction.rstrip("0")
        return whole, self.mark * bool(fraction) + fraction


def _agreed(around: Counter[tuple[str, str]]) -> tuple[str, str] | None:
    """What stands around numbers, in the usual spelling, if cells differ in spaces."""
    spellings = {tuple("".join(x.split()).casefold() for x in each) for each in around}
    return around.most_common(1)[0][0] if len(spellings) == 1 else None
