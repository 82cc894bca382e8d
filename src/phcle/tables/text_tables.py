"""Tables of text: their encoding, what separates their cells, and their rows.

A byte order mark decides the encoding; then valid UTF-8 does. Other files of Western
languages are told apart by how their words look, and the answer is always shown to the
user. Detectors for all languages were tried: they err on short tables of names.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from phcle.contexts.labels import normal
from phcle.errors import FileError, OptionError
from phcle.files.csv_text import unmarked
from phcle.files.reading import open_file
from phcle.files.text import holds_nul, not_utf8, read_text

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
