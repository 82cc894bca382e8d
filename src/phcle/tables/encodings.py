"""Find out how a text file is encoded.

A byte order mark decides; then valid UTF-8 does. Other files of Western languages are
told apart by how their words look, and the answer is always shown to the user.
Detectors for all languages were tried: they err on short tables of names.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from phcle.errors import FileError, OptionError
from phcle.files.reading import open_file

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

MANY = 2_000
"""Different words with accents that are looked at; more would not change the answer."""

_WORDS = re.compile(rb"[^\x00-\x40\[-`{-\x7f]*[\x80-\xff][^\x00-\x2f:-@\[-`{-\x7f]*")
_HIGH = re.compile(rb"[\x80-\xff]")
_RUNS = re.compile(rb"[\x80-\xff]{2,}")
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class TextEncoding:
    """How a text file is encoded.

    Attributes
    ----------
    name : str
        Python's name of the encoding.
    example : str
        A word that shows whether the encoding is right; empty if it is certain.
    """

    name: str
    example: str = ""

    @property
    def remark(self) -> str:
        """What to tell the user.

        Returns
        -------
        str
            Empty if the encoding is certain.
        """
        if not self.example:
            return ""
        return (
            f"not UTF-8, so read as {self.name}, such as {self.example!r} (--encoding)"
        )


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
        name = check_encoding(asked)
        return TextEncoding(
            {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(name, name)
        )
    without_mark = _utf16_without_mark(path)
    if without_mark:
        return TextEncoding(without_mark)
    return TextEncoding("utf-8") if _is_utf8(path) else _by_words(path)


def _blocks(path: Path) -> Iterator[bytes]:
    with open_file(path) as file:
        while block := file.read(BLOCK):
            yield block


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in _blocks(path):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _utf16_without_mark(path: Path) -> str | None:
    """UTF-16 text of Western languages: every second byte of its start is NUL."""
    start = next(_blocks(path), b"")[:1000]
    even, odd = start[::2], start[1::2]
    if len(even) < 4 or len(start) % 2:
        return None
    nuls = even.count(0) / len(even), odd.count(0) / len(odd)
    if nuls[1] > 0.7 and nuls[0] == 0:
        return "utf-16-le"
    if nuls[0] > 0.7 and nuls[1] == 0:
        return "utf-16-be"
    return None


def _by_words(path: Path) -> TextEncoding:
    """The encoding in which the other bytes look best beside their neighbours."""
    words: Counter[bytes] = Counter()
    triples: Counter[bytes] = Counter()
    line = 1
    first_line = 0
    for block in _blocks(path):
        if b"\0" in block:
            line += len(_LINE_END.findall(block[: block.index(b"\0")]))
            raise FileError(
                f"{path}, line {line}: holds a NUL character, as binary files do; "
                "save the file as text."
            )
        if not first_line and (high := _HIGH.search(block)):
            first_line = line + len(_LINE_END.findall(block[: high.start()]))
        line += len(_LINE_END.findall(block))
        if len(words) < MANY:
            words.update(_WORDS.findall(block))
            triples.update(
                block[max(place.start() - 1, 0) : place.end() + 1]
                for place in _HIGH.finditer(block)
            )
    n_high = sum(len(_HIGH.findall(word)) for word in words)
    n_in_runs = sum(len(run) for word in words for run in _RUNS.findall(word))
    if n_in_runs > n_high / 2:
        raise _not_western(path, first_line, words)
    name = max(WESTERN, key=lambda x: sum(_looks(own, x) for own in triples))
    shown = max(words, key=lambda word: _example_score(word.decode(name, "replace")))
    return TextEncoding(name, example=shown.decode(name, "replace"))


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
