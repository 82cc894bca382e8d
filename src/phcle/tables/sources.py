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
from collections import Counter, defaultdict
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

MOST_BLOCKS = 4
"""Blocks that are looked at from the first letter on that is not ASCII; more would
hardly change the answer."""

_WORDS = re.compile(rb"[^\x00-\x40\[-`{-\x7f]*[\x80-\xff][^\x00-\x2f:-@\[-`{-\x7f]*")
_HIGH = re.compile(rb"[\x80-\xff]")
_RUNS = re.compile(rb"[\x80-\xff]{2,}")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class TextEncoding(NamedTuple):
    """How a text file is encoded.

    Parameters
    ----------
    name : str
        Python's name of the encoding.
    remark : str
        What to tell the user; empty if the encoding is certain.
    """

    name: str
    remark: str = ""


class TextFormat(NamedTuple):
    """How a table of text is written.

    Parameters
    ----------
    encoding : TextEncoding
        Its encoding.
    delimiter : str
        What separates its cells.
    skip : int
        Lines before the header: 1 for the line `sep=;` of Excel, otherwise 0.
    """

    encoding: TextEncoding
    delimiter: str
    skip: int = 0


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


def find_encoding(path: Path, asked: str | None = None) -> TextEncoding:
    """Find the encoding of a text file, without keeping it in memory.

    Parameters
    ----------
    path : Path
        The file.
    asked : str, optional
        The encoding that the user says it has.

    Returns
    -------
    TextEncoding
        The encoding. Files in letters that are not Western and not Unicode are refused
        with a list of encodings to choose from.
    """
    with open_file(path) as file:
        start = file.read(4)
    for mark, name in MARKS.items():
        if start.startswith(mark):
            return TextEncoding(name)
    if asked is not None:
        return TextEncoding(
            {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(asked, asked)
        )
    if without_mark := _utf16_without_mark(path):
        return TextEncoding(without_mark)
    try:
        for _ in codecs.iterdecode(_blocks(path), "utf-8"):
            pass
    except UnicodeDecodeError:
        return _by_words(path)
    return TextEncoding("utf-8")


def _blocks(path: Path) -> Iterator[bytes]:
    with open_file(path) as file:
        while block := file.read(BLOCK):
            yield block


def _utf16_without_mark(path: Path) -> str:
    """UTF-16 text of Western languages: every second byte of its start is NUL."""
    start = next(_blocks(path), b"")[:1000]
    if len(start) < 8 or len(start) % 2:
        return ""
    even, odd = start[::2].count(0), start[1::2].count(0)
    most = 0.35 * len(start)
    if even == 0:
        return "utf-16-le" if odd > most else ""
    return "utf-16-be" if odd == 0 and even > most else ""


def _by_words(path: Path) -> TextEncoding:
    """The encoding in which the other bytes look best beside their neighbours."""
    line = 1
    blocks = _blocks(path)
    for block in blocks:
        before = _HIGH.split(block, maxsplit=1)[0]
        line += len(_LINE_END.findall(before))
        if len(before) < len(block):
            break
    part = b"".join([block, *islice(blocks, MOST_BLOCKS)])
    if b"\0" in part:
        return TextEncoding(WESTERN[0])  # whoever reads it names the line
    words = Counter(_WORDS.findall(part))
    triples = Counter(
        part[max(place.start() - 1, 0) : place.end() + 1]
        for place in _HIGH.finditer(part)
    )
    n_high = sum(len(_HIGH.findall(word)) for word in words)
    n_in_runs = sum(len(run) for word in words for run in _RUNS.findall(word))
    if n_in_runs > n_high / 2:
        raise _not_western(path, line, words)
    name = max(WESTERN, key=lambda x: sum(_looks(own, x) for own in triples))
    decoded = (word.decode(name, "replace") for word in words)
    shown = max(decoded, key=_example_score)
    return TextEncoding(
        name, f"not UTF-8, so read as {name}, such as {shown!r} (--encoding)"
    )


def _looks(triple: bytes, encoding: str) -> int:
    """How well a byte looks beside others: an accent in a word, £ before a digit."""
    text = triple.decode(encoding, "replace")
    at = 1 if len(triple) == 3 or not _HIGH.match(triple[:1]) else 0
    before, this = text[at - 1] if at else " ", text[at]
    after = text[at + 1] if len(text) > at + 1 else " "
    beside = before + after
    if this == "\ufffd" or not (this.isprintable() or this.isspace()):
        return -3
    if this.isalpha():
        if any(map(str.isdigit, beside)) or not any(map(str.isalpha, beside)):
            return -2
        return 1 if this.islower() or not before.islower() else -2
    if this == "\u2019" and before.isalpha():
        return 1
    if before.isalpha() and after.isalpha():
        return -2
    by_digit = any(map(str.isdigit, beside))
    if this.isspace() or this in "\u20ac\u00a3\u00a5\u00b0\u00b2\u00b3\u00bd":
        return 2 if by_digit or before.isspace() else 0
    return 1 if this in "\u2013\u2014\u2026\u201c\u201d\u2018\u2019\u00ae\u2122" else 0


def _example_score(word: str) -> tuple[bool, int]:
    """Prefer long words of letters, which show best whether the encoding is right."""
    return word.replace("\u2019", "").isalpha() and len(word) < 30, len(word)


def _not_western(path: Path, line: int, words: Counter[bytes]) -> FileError:
    word = max(words, key=lambda x: (len(x) < 30, len(x)))
    seen: dict[str, str] = {}
    for name in OTHERS:
        try:
            text = word.decode(name)
        except UnicodeDecodeError:
            continue
        if text.isprintable():
            seen.setdefault(text, name)
    choices = ", ".join(
        f"--encoding {name} reads {text!r}" for text, name in seen.items()
    )
    return FileError(
        f"{path}, line {line}: is not UTF-8 text, and its letters are not Western; "
        f"save it as UTF-8, or say its encoding{f': {choices}' if choices else ''}."
    )


def text_lines(path: Path, encoding: TextEncoding) -> Iterator[str]:
    """Read a text file line by line.

    Parameters
    ----------
    path : Path
        The file.
    encoding : TextEncoding
        Its encoding. A byte order mark is dropped.

    Yields
    ------
    str
        Each line with its line end, in Unicode's normal form C.
    """
    line = 0
    with open_file(path) as raw, TextIOWrapper(raw, encoding.name, newline="") as file:
        try:
            for line, text in enumerate(file, 1):
                if "\0" in text:
                    raise holds_nul(path, line)
                if line == 1:
                    text = text.removeprefix(MARK)
                yield text if text.isascii() else normal(text)
        except UnicodeError as error:
            if encoding.name == "utf-8":
                read_text(path)  # names the line; the decoder here has read ahead
                raise not_utf8(path, line + 1) from error
            raise FileError(
                f"{path}: is not {encoding.name} text after line {line}; give "
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
    found = find_encoding(path, encoding)
    sample = list(islice(text_lines(path, found), SAMPLE))
    first = sample[0].rstrip("\r\n") if sample else ""
    skip = int(len(first) == 5 and first.lower().startswith("sep="))
    delimiter = delimiter or (first[4] if skip else None)
    if delimiter is None:
        hint = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
        delimiter = _find_delimiter(sample, hint)
    return TextFormat(found, delimiter, skip)


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


def _find_delimiter(lines: Iterable[str], hint: str) -> str:
    """The delimiter that splits most rows into as many cells as the header."""
    known = [line for line in lines if line.strip()]
    order = [hint, *(x for x in DELIMITERS if x != hint)]
    return max(order, key=lambda delimiter: _fit(known, delimiter))


def _fit(lines: Sequence[str], delimiter: str) -> tuple[bool, float, int]:
    """Whether a delimiter splits the header, the share of rows as wide, the width."""
    try:
        reader = csv.reader(iter(lines), delimiter=delimiter)
        header = next(reader, [])
        widths = [len(row) for row in reader if row]
    except csv.Error:
        return False, 0.0, 0
    alike = sum(width == len(header) for width in widths)
    # Shares are compared in steps: one odd row in a long table tells nothing.
    share = round(alike / max(len(widths), 1), 1)
    return len(header) > 1, share, len(header)


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
    with open_book(path, read_only=True) as book:
        sheet = _chosen(path, book, name, remarks)
        with book._archive.open(sheet._worksheet_path) as file:
            signs = _signs(file)
    areas = [area.decode() for area, _ in signs if area]
    merged = _merged(path, areas)
    n_filled = sum(map(len, merged.values())) - len(areas)
    if n_filled:
        remarks.append(f"{n_filled} merged cells filled with their value")
    formulas = (
        None if (b"", b"f") not in signs else "keep" if keep_formulas else "refuse"
    )
    read = partial(_sheet_rows, path, sheet.title, merged, formulas)
    if size > SMALL_BOOK:
        return read
    rows = list(read())
    return lambda: iter(rows)


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
    formulas: str | None,
) -> Rows:
    unread = nullcontext(repeat(()))
    with (
        _streamed(path, title, values=True) as values,
        _streamed(path, title, values=False) if formulas else unread as written,
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
                    if formulas == "refuse":
                        raise FileError(
                            f"{path}: the formula in {cell.coordinate} has no stored "
                            "value; open the file in Excel or LibreOffice and save it."
                        )
                    cells[i] = str(cell.value)
            for column, first in merged.get(number, {}).items():
                cells += [None] * (column - len(cells))
                if first == (number, column):
                    first_values[first] = cells[column - 1]
                cells[column - 1] = first_values.get(first)
            cells = list(map(_dated, cells))
            while len(cells) > width and cells[-1] == "":
                cells.pop()
            if any(cell != "" for cell in cells):
                width = width or len(cells)
                yield number, cells + [""] * (width - len(cells))


@contextmanager
def _streamed(path: Path, title: str, *, values: bool) -> Iterator[Iterable[Any]]:
    """The values of a sheet, or its cells; what it says of its size may be wrong."""
    with open_book(path, data_only=values, read_only=True) as book:
        book[title].reset_dimensions()
        with closing(book[title].iter_rows(values_only=values)) as rows:
            yield rows


def _dated(value: Any) -> Any:
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return value.isoformat() if isinstance(value, time) else typed(value)


@contextmanager
def open_book(path: Path, **options: bool) -> Iterator[Any]:
    """Open a workbook; errors of openpyxl name the file.

    Parameters
    ----------
    path : Path
        The file.
    **options : bool
        Arguments of `openpyxl.load_workbook`.

    Yields
    ------
    Workbook
        The open workbook.
    """
    import openpyxl

    # openpyxl raises many kinds of errors for damaged files.
    with naming(path, DAMAGED, Exception):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles, which do not matter here
            book = openpyxl.load_workbook(path, **options)
        try:
            yield book
        finally:
            book.close()


def _chosen(path: Path, book: Any, name: str | None, remarks: list[str]) -> Any:
    """The sheet that the user names, or the first that is not hidden."""
    found = {each.title: each for each in book.worksheets}
    if name is not None:
        if name not in found:
            raise FileError(
                f"{path}: has no sheet {name!r}; it has {some(found)}."
                f"{did_you_mean(name, found)}"
            )
        return found[name]
    visible = [x for x, own in found.items() if own.sheet_state == "visible"]
    if not visible:
        raise FileError(
            f"{path}: all sheets are hidden ({some(found)}); name one: "
            f"{path.name}#SHEET"
        )
    others = [x for x in found if x != visible[0]]
    if others:
        remarks.append(f"sheet {visible[0]!r} read, and not {some(others)}")
    return found[visible[0]]


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
    is_lines = path.suffix.lower() != ".json"
    listed = [] if is_lines else list(_listed_records(path))

    def records() -> Iterator[tuple[int, dict[str, Any]]]:
        for number, record in _records_by_line(path) if is_lines else listed:
            if not isinstance(record, dict):
                raise FileError(
                    f"{path}, {'line' if is_lines else 'record'} {number}: must be a "
                    f"record. Got {json.dumps(record)[:40]} instead; a file holds "
                    f"{FORMS}."
                )
            yield number, record

    titles = list(dict.fromkeys(title for _, record in records() for title in record))
    if titles:
        yield 0, [normal(title).strip() for title in titles]
    for number, record in records():
        for title, value in record.items():
            if isinstance(value, (list, dict)):
                raise FileError(
                    f"{path}, record {number}: {title!r} holds "
                    f"{json.dumps(value)[:40]}; give one text or number per cell."
                )
        cells = [typed(record.get(title)) for title in titles]
        if cells.count("") < len(cells):
            yield number, cells


def _records_by_line(path: Path) -> Iterator[tuple[int, Any]]:
    for line, text in enumerate(text_lines(path, TextEncoding("utf-8")), 1):
        if text.strip():
            yield line, parse_json(text, f"{path}, line {line}")


def _listed_records(path: Path) -> Iterator[tuple[int, Any]]:
    """Records with their numbers; of records by label with the label as a cell."""
    content = parse_json(read_text(path), str(path))
    if isinstance(content, list):
        yield from enumerate(content, 1)
    elif isinstance(content, dict):
        for number, (label, value) in enumerate(content.items(), 1):
            several = value or [None] if isinstance(value, list) else [value]
            for each in several:  # tags of the label
                own = each if isinstance(value, dict) else {"value": each}
                yield number, {"label": label, **own}
    else:
        raise FileError(f"{path}: must hold {FORMS}.")


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

    def cells_of(column: Any) -> list[Any]:
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_floating(kind):  # faster than below
            return list(map(typed, column.to_numpy(zero_copy_only=False).tolist()))
        return list(map(typed, column.to_pylist()))

    damaged = "is not a Parquet file, or it is damaged"
    with naming(path, damaged, Exception), pq.ParquetFile(path) as file:
        titles = [normal(name).strip() for name in file.schema_arrow.names]
        if not any(titles):
            return
        for title, kind in zip(titles, file.schema_arrow.types, strict=True):
            if pa.types.is_nested(kind) or "binary" in str(kind):
                raise FileError(
                    f"{path}: column {title!r} holds {kind} values; give one text or "
                    "number per cell."
                )
        yield 0, titles
        rows = chain.from_iterable(
            zip(*map(cells_of, batch.columns), strict=True)
            for batch in file.iter_batches(BATCH)
        )
        for number, row in enumerate(rows, 1):
            if row.count("") < len(row):
                yield number, list(row)


TYPED: dict[str, tuple[Callable[[Path], Rows], str]] = {
    ".parquet": (parquet_rows, "row"),
    ".json": (json_rows, "record"),
    ".jsonl": (json_rows, "line"),
    ".ndjson": (json_rows, "line"),
}
"""Readers by ending, and what places are counted by."""
