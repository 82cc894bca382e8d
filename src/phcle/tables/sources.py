"""Any file to rows of cells: text with any delimiter, workbooks, JSON and Parquet.

Rows come one by one as the number of a row, or its line, and its cells, the header
first. Cells of text files are texts; others keep the type that the file gives them.
Unknown cells are empty texts.

Of text, a byte order mark decides the encoding; then valid UTF-8 does. Other files of
Western languages are told apart by how their words look, and the answer is always shown
to the user. Detectors for all languages were tried: they err on short tables of names.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from datetime import datetime, time
from functools import partial
from io import TextIOWrapper
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from phcle.contexts.labels import normal
from phcle.errors import FileError, OptionError, did_you_mean, some
from phcle.files.csv_text import unmarked
from phcle.files.reading import (
    CHUNK,
    check_is_file,
    check_parquet,
    naming,
    open_file,
    parse_json,
    refuse_bomb,
)
from phcle.files.text import holds_nul, not_utf8, read_text
from phcle.tables.cells import typed

Rows = Iterator[tuple[int, list[Any]]]
RowSource = Callable[[], Rows]
Place = tuple[int, int]

SAMPLE = 200
"""Lines that are looked at to find the delimiter."""

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may separate cells, with its name. The first wins a tie."""

SPELLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

MARK = "\ufeff"
"""A byte order mark, which some programs write before a text."""

BLOCK = 1 << 20
"""Bytes that are looked at in one go."""

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

WESTERN = ("cp1252", "mac_roman", "cp1250", "cp850")
"""Encodings of Latin letters: Windows, old Macs, Windows of Central Europe, DOS. The
first wins a tie, because it is by far the most common."""

OTHERS = ("cp1251", "koi8_r", "cp1253", "cp932", "gb18030", "big5", "cp949")
"""Encodings of other letters, which are shown to the user to choose from."""

MORE = 4 * BLOCK
"""Bytes that are looked at behind the first block that is not UTF-8; more would hardly
change the answer."""

_WORDS = re.compile(rb"[^\x00-\x40\[-`{-\x7f]*[\x80-\xff][^\x00-\x2f:-@\[-`{-\x7f]*")
_HIGH = re.compile(rb"[\x80-\xff]")
_RUNS = re.compile(rb"[\x80-\xff]{2,}")


class TextFormat(NamedTuple):
    """How a table of text is written.

    Parameters
    ----------
    encoding : str
        Python's name of its encoding.
    remark : str
        What to tell the user of that; empty if it is certain.
    delimiter : str
        What separates its cells.
    skip : int
        Lines before the header: 1 for the line `sep=;` of Excel, otherwise 0.
    """

    encoding: str
    remark: str
    delimiter: str
    skip: int


def check_encoding(name: str) -> str:
    """Return Python's name of an encoding; refuse an unknown one.

    Parameters
    ----------
    name : str
        What the user wrote.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> check_encoding("Windows-1252")
    'cp1252'
    """
    try:
        found = codecs.lookup(name)
        "x".encode(found.name)  # some codecs do not encode text
    except (LookupError, TypeError, ValueError):
        raise OptionError(
            f"--encoding must be an encoding such as utf-8, cp1252 or utf-16. "
            f"Got {name!r} instead."
        ) from None
    return found.name


def find_encoding(path: Path, asked: str | None = None) -> tuple[str, str]:
    """Find the encoding of a text file, without keeping it in memory.

    Parameters
    ----------
    path : Path
        The file.
    asked : str, optional
        The encoding that the user says it has.

    Returns
    -------
    name : str
        Python's name of the encoding. Files in letters that are not Western and not
        Unicode are refused with a list of encodings to choose from.
    remark : str
        What to tell the user; empty if the encoding is certain.
    """
    with open_file(path) as file:
        block = file.read(BLOCK)
        for mark, name in MARKS.items():
            if block.startswith(mark):
                return name, ""
        known = asked or _utf16_without_mark(block[:1000])
        if known:
            usual = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}
            return usual.get(known, known), ""
        decoder, line, last = codecs.getincrementaldecoder("utf-8")(), 1, b""
        try:
            while decoder.decode(block, final=not block) or block:
                line += _line_ends(block)
                last, block = block, file.read(BLOCK)
        except UnicodeDecodeError as error:
            line += _line_ends(block[: error.start])
            return _by_words(path, line, (block or last) + file.read(MORE))
    return "utf-8", ""


def _line_ends(block: bytes) -> int:
    return block.count(b"\n") or block.count(b"\r")


def _utf16_without_mark(start: bytes) -> str:
    """UTF-16 text of Western languages: every second byte of its start is NUL."""
    if len(start) >= 8 and len(start) % 2 == 0:
        even, odd = start[::2].count(0), start[1::2].count(0)
        if even + odd > 0.35 * len(start) and not (even and odd):
            return "utf-16-be" if even else "utf-16-le"
    return ""


def _by_words(path: Path, line: int, part: bytes) -> tuple[str, str]:
    """The encoding in which the other bytes look best beside their neighbours."""
    if b"\0" in part:
        return WESTERN[0], ""  # whoever reads it names the line
    words = dict.fromkeys(_WORDS.findall(part))
    every = b" ".join(words)
    if 2 * sum(map(len, _RUNS.findall(every))) > len(_HIGH.findall(every)):
        raise _not_western(path, line, max(words, key=lambda x: (len(x) < 30, len(x))))
    part = b" %b " % part
    triples = {part[x.start() - 1 : x.end() + 1] for x in _HIGH.finditer(part)}
    name = max(WESTERN, key=lambda x: sum(_looks(own, x) for own in triples))
    decoded = (word.decode(name, "replace") for word in words)
    shown = max(decoded, key=_example_score)
    return name, f"not UTF-8, so read as {name}, such as {shown!r} (--encoding)"


def _looks(triple: bytes, encoding: str) -> int:
    """How well a byte looks beside others: an accent in a word, £ before a digit."""
    before, this, after = list(triple.decode(encoding, "replace"))
    n_letters = before.isalpha() + after.isalpha()
    by_digit = before.isdigit() or after.isdigit()
    if this == "\ufffd" or not (this.isprintable() or this.isspace()):
        return -3
    if this.isalpha():
        is_capital = before.islower() and not this.islower()
        return -2 if by_digit or not n_letters or is_capital else 1
    if this == "\u2019" and before.isalpha():
        return 1
    if n_letters == 2:
        return -2
    if this.isspace() or this in "\u20ac\u00a3\u00a5\u00b0\u00b2\u00b3\u00bd":
        return 2 if by_digit or before.isspace() else 0
    return 1 if this in "\u2013\u2014\u2026\u201c\u201d\u2018\u2019\u00ae\u2122" else 0


def _example_score(word: str) -> tuple[bool, int]:
    """Prefer long words of letters, which show best whether the encoding is right."""
    return word.replace("\u2019", "").isalpha() and len(word) < 30, len(word)


def _not_western(path: Path, line: int, word: bytes) -> FileError:
    ways: dict[str, str] = {}
    for name in OTHERS:
        text = word.decode(name, "replace")
        if text.isprintable() and "\ufffd" not in text:
            ways.setdefault(text, f"--encoding {name} reads {text!r}")
    choices = f": {', '.join(ways.values())}" if ways else ""
    return FileError(
        f"{path}, line {line}: is not UTF-8 text, and its letters are not Western; "
        f"save it as UTF-8, or say its encoding{choices}."
    )


def text_lines(path: Path, encoding: str) -> Iterator[str]:
    """Read a text file line by line.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Its encoding. A byte order mark is dropped.

    Yields
    ------
    str
        Each line with its line end, in Unicode's normal form C.
    """
    line = 0
    with open_file(path) as raw, TextIOWrapper(raw, encoding, newline="") as file:
        try:
            for line, text in enumerate(file, 1):
                if "\0" in text:
                    raise holds_nul(path, line)
                if line == 1:
                    text = text.removeprefix(MARK)
                yield text if text.isascii() else normal(text)
        except UnicodeError as error:
            if encoding == "utf-8":
                read_text(path)  # names the line; the decoder here has read ahead
                raise not_utf8(path, line + 1) from error
            raise FileError(
                f"{path}: is not {encoding} text after line {line}; give "
                "another --encoding, or save the file as UTF-8."
            ) from error


def find_text_format(
    path: Path, encoding: str | None = None, delimiter: str | None = None
) -> TextFormat:
    """Find out how a table of text is written.

    Parameters
    ----------
    path : Path
        The table.
    encoding : str, optional
        Its encoding, if the user says it.
    delimiter : str, optional
        What separates its cells, if the user says it.

    Returns
    -------
    TextFormat
        Encoding and delimiter.
    """
    name, remark = find_encoding(path, encoding)
    sample = list(islice(text_lines(path, name), SAMPLE))
    said = re.fullmatch(r"sep=(.)[\r\n]*", sample[0], re.IGNORECASE) if sample else None
    if delimiter is None and said:
        delimiter = said[1]
    elif delimiter is None:
        hint = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
        known = [line for line in sample if line.strip()]
        # The first of equal ones is taken.
        order = sorted(DELIMITERS, key=lambda x: x != hint)
        delimiter = max(order, key=lambda x: _fit(known, x))
    return TextFormat(name, remark, delimiter, int(said is not None))


def check_delimiter(text: str) -> str:
    r"""Return the character that a user means; refuse anything else.

    Parameters
    ----------
    text : str
        A character, or its name: `tab`, `\t`, `comma`, `semicolon`, `pipe`.

    Returns
    -------
    str
        The character.

    Examples
    --------
    >>> check_delimiter("tab")
    '\t'
    """
    found = SPELLED.get(text.lower(), text)
    if len(found) != 1 or found in '"\r\n' or found.isalnum():
        raise OptionError(
            f"--delimiter must be one character, such as ; or tab. Got {text!r} "
            "instead."
        )
    return found


def _fit(lines: Sequence[str], delimiter: str) -> tuple[bool, float, int]:
    """Whether a delimiter splits the header, the share of rows as wide, the width."""
    try:
        rows = filter(None, csv.reader(lines, delimiter=delimiter))
        width, *widths = map(len, rows)
    except (csv.Error, ValueError):  # no row at all
        return False, 0.0, 0
    # Shares are compared in steps: one odd row in a long table tells nothing.
    return width > 1, round(widths.count(width) / max(len(widths), 1), 1), width


def text_rows(path: Path, form: TextFormat) -> Iterator[tuple[int, list[Any]]]:
    """Read the rows of a table of text, whose quoted cells may hold line ends.

    Parameters
    ----------
    path : Path
        The table.
    form : TextFormat
        How it is written.

    Yields
    ------
    (int, list of str)
        Line and cells of each row.
    """
    # The standard library's reader is used because it alone refuses an open quote.
    lines = text_lines(path, form.encoding)
    for _ in range(form.skip):
        next(lines, "")
    reader = csv.reader(lines, delimiter=form.delimiter, strict=True)
    line = form.skip + 1
    try:
        for row in reader:
            cells = list(map(str.strip, row))
            text = "".join(cells)
            if "'" in text:
                cells = [unmarked(cell).strip() for cell in row]
            if text:
                yield line, cells
            line = form.skip + reader.line_num + 1
    except csv.Error as error:
        raise FileError(
            f"{path}, line {line}: is not a row of a table ({error}); is a quotation "
            "mark missing, or one too many?"
        ) from error


SMALL_BOOK = 4 << 20
"""Bytes of a workbook up to which its rows stay in memory."""

MOST_CELLS = 1_000_000
"""Cells that merged areas may fill, and empty ones that rows may have beyond those that
are in the file: a few cells may be far apart."""

BATCH = 16_384
"""Rows of a Parquet file that are decompressed at a time."""

DAMAGED = "is not an Excel workbook (.xlsx), or it is damaged; save it as .xlsx or .csv"

FORMS = (
    'a list of records, such as [{"label": "cat", "kg": 4}], or records by label, such '
    'as {"cat": {"kg": 4}}'
)

_SIGN = re.compile(rb"<mergeCell\s[^>]*?ref=.([A-Z]{1,3}\d+:[A-Z]{1,3}\d+)|<(f)[ />]")
"""A merged area of a sheet, or a formula."""


def book_rows(
    path: Path, name: str | None, remarks: list[str], *, keep_formulas: bool = False
) -> RowSource:
    """Open a sheet of a workbook; all cells of a merged area have its value.

    Parameters
    ----------
    path : Path
        The workbook.
    name : str or None
        The sheet; None for the first that is visible.
    remarks : list of str
        Where to say what was done about other sheets and merged cells.
    keep_formulas : bool, default False
        Give a formula that was never computed as its text; by default it is refused.

    Returns
    -------
    callable
        Gives number and cells of every row that holds anything.
    """
    check_is_file(path)
    with naming(path, DAMAGED, Exception), zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
        refuse_bomb(path, size)
    with _open_book(path) as book:
        sheet = _chosen(path, book, name, remarks)
        with book._archive.open(sheet._worksheet_path) as file:
            signs = _signs(file)
    areas = [area.decode() for area, _ in signs if area]
    merged = _merged(path, areas)
    n_filled = sum(map(len, merged.values())) - len(areas)
    if n_filled:
        remarks.append(f"{n_filled} merged cells filled with their value")

    formulas = keep_formulas if (b"", b"f") in signs else None
    rows = partial(_sheet_rows, path, sheet.title, merged, formulas)
    if size > SMALL_BOOK:
        return rows
    read = list(rows())
    return lambda: iter(read)


def _signs(file: Any) -> set[tuple[bytes, bytes]]:
    """All merged areas of a sheet, and whether it has formulas."""
    found = set()
    before = b""
    while chunk := file.read(CHUNK):
        found.update(_SIGN.findall(before + chunk))
        before = chunk[-100:]
    return found


def _merged(path: Path, areas: Sequence[str]) -> dict[int, dict[int, Place]]:
    """By row and column of merged cells: the place of the one that holds the value."""
    from openpyxl.utils.cell import range_boundaries

    bounds = [range_boundaries(area) for area in areas]
    n_merged = sum(
        (right - left + 1) * (low - top + 1) for left, top, right, low in bounds
    )
    if n_merged > MOST_CELLS:
        raise FileError(
            f"{path}: has {n_merged:,} merged cells; unmerge those that are empty."
        )
    found: dict[int, dict[int, Place]] = defaultdict(dict)
    for left, top, right, low in bounds:
        for row in range(top, low + 1):
            found[row] |= dict.fromkeys(range(left, right + 1), (top, left))
    return found


def _sheet_rows(
    path: Path,
    title: str,
    merged: Mapping[int, Mapping[int, Place]],
    keep_formulas: bool | None,
) -> Rows:
    """Rows of a sheet; without formulas, `keep_formulas` is None."""
    has_none = keep_formulas is None
    with (
        _streamed(path, title, values_only=True) as values,
        nullcontext(repeat(()))
        if has_none
        else _streamed(path, title, values_only=False) as written,
    ):
        first_values: dict[Place, Any] = {}
        width = n_spread = 0
        rows = zip(values, written, strict=False)
        for number, (row, own) in enumerate(rows, 1):
            cells = list(row)
            n_spread += len(cells) - 100 * (len(cells) - cells.count(None))
            if n_spread > MOST_CELLS:
                raise FileError(
                    f"{path}: its cells are spread over more than {MOST_CELLS:,} "
                    "places; save the table alone, as .csv."
                )
            for i, cell in enumerate(own):
                if cell.data_type == "f" and cells[i] is None:
                    if not keep_formulas:
                        raise FileError(
                            f"{path}: the formula in {cell.coordinate} has no stored "
                            "value; open the file in Excel or LibreOffice and save it."
                        )
                    cells[i] = str(cell.value)
            for column, first in merged.get(number, {}).items():
                cells += [None] * (column - len(cells))
                cells[column - 1] = first_values.setdefault(first, cells[column - 1])
            cells = list(map(_dated, cells))
            while len(cells) > width and cells[-1] == "":
                cells.pop()
            if any(cell != "" for cell in cells):
                width = width or len(cells)
                yield number, cells + [""] * (width - len(cells))


@contextmanager
def _streamed(path: Path, title: str, *, values_only: bool) -> Iterator[Iterable[Any]]:
    """The values of a sheet, or its cells; what it says of its size may be wrong."""
    with _open_book(path, data_only=values_only) as book:
        book[title].reset_dimensions()
        with closing(book[title].iter_rows(values_only=values_only)) as rows:
            yield rows


def _dated(value: Any) -> Any:
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return value.isoformat() if isinstance(value, time) else typed(value)


@contextmanager
def _open_book(path: Path, *, data_only: bool = True) -> Iterator[Any]:
    """Open a workbook; errors of openpyxl, which are of many kinds, name the file."""
    import openpyxl

    with naming(path, DAMAGED, Exception):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which do not matter here
            book = openpyxl.load_workbook(path, read_only=True, data_only=data_only)
        with closing(book):
            yield book


def _chosen(path: Path, book: Any, name: str | None, remarks: list[str]) -> Any:
    """The sheet that the user names, or the first that is not hidden."""
    found = {each.title: each for each in book.worksheets}
    visible = [x for x, own in found.items() if own.sheet_state == "visible"]
    if name is not None and name not in found:
        raise FileError(
            f"{path}: has no sheet {name!r}; it has {some(found)}."
            f"{did_you_mean(name, found)}"
        )
    if name is None and not visible:
        raise FileError(
            f"{path}: all sheets are hidden ({some(found)}); name one: "
            f"{path.name}#SHEET"
        )
    chosen = visible[0] if name is None else name
    others = [x for x in found if x != chosen]
    if name is None and others:
        remarks.append(f"sheet {chosen!r} read, and not {some(others)}")
    return found[chosen]


def json_rows(path: Path) -> Rows:
    """Read a list of records, records by label, or a file with one record per line.

    Parameters
    ----------
    path : Path
        The file. Only one with a record per line is never in memory as a whole; it is
        read twice.

    Yields
    ------
    (int, list)
        Number and cells of each record.
    """
    listed = list(_listed(path)) if path.suffix.lower() == ".json" else None
    counted = "line" if listed is None else "record"

    def records() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, record in _by_line(path) if listed is None else listed:
            if not isinstance(record, dict):
                raise FileError(
                    f"{path}, {counted} {number}: must be a record. Got "
                    f"{json.dumps(record)[:40]} instead; a file holds {FORMS}."
                )
            yield number, record

    titles = list(dict.fromkeys(title for _, record in records() for title in record))
    if titles:
        yield 0, [normal(title).strip() for title in titles]
    for number, record in records():
        for title, value in record.items():
            if isinstance(value, (list, dict)):
                raise FileError(
                    f"{path}, {counted} {number}: {title!r} holds "
                    f"{json.dumps(value)[:40]}; give one text or number per cell."
                )
        cells = [typed(record.get(title)) for title in titles]
        if any(cell != "" for cell in cells):
            yield number, cells


def _by_line(path: Path) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(text_lines(path, "utf-8"), 1):
        if text.strip():
            yield line, parse_json(text, f"{path}, line {line}")


def _listed(path: Path) -> Iterator[tuple[int, Any]]:
    """Records with their numbers; of records by label with the label as a cell."""
    content = parse_json(read_text(path), str(path))
    if not isinstance(content, (list, dict)):
        raise FileError(f"{path}: must hold {FORMS}.")
    if isinstance(content, list):
        yield from enumerate(content, 1)
        return
    for number, (label, value) in enumerate(content.items(), 1):
        several = value or [None] if isinstance(value, list) else [value]
        for each in several:  # tags of the label
            own = each if isinstance(value, dict) else {"value": each}
            yield number, {"label": label, **own}


def parquet_rows(path: Path) -> Rows:
    """Read a Parquet file batch by batch.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    (int, list)
        Number and cells of each row.
    """
    check_parquet(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    def cells_of(column: Any) -> Iterable[Any]:
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_floating(kind):  # faster than below
            return map(typed, column.to_numpy(zero_copy_only=False).tolist())
        return map(typed, column.to_pylist())

    damaged = "is not a Parquet file, or it is damaged"
    with naming(path, damaged, Exception), pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        titles = [normal(name).strip() for name in schema.names]
        for title, kind in zip(titles, schema.types, strict=True):
            if pa.types.is_nested(kind) or "binary" in str(kind):
                raise FileError(
                    f"{path}: column {title!r} holds {kind} values; give one text or "
                    "number per cell."
                )
        if not any(titles):
            return
        yield 0, titles
        batches = file.iter_batches(BATCH)
        rows = (zip(*map(cells_of, x.columns), strict=True) for x in batches)
        for number, row in enumerate(chain.from_iterable(rows), 1):
            if row.count("") < len(row):
                yield number, list(row)


TYPED: dict[str, tuple[Callable[[Path], Rows], str]] = {
    ".parquet": (parquet_rows, "row"),
    ".json": (json_rows, "record"),
    ".jsonl": (json_rows, "line"),
    ".ndjson": (json_rows, "line"),
}
"""Readers by ending, and what places are counted by."""
