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
from phcle.files.writing import open_file

__all__ = ["TextEncoding", "check_encoding", "find_encoding"]

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
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class TextEncoding:
    """How a text file is encoded.

    Attributes
    ----------
    name : str
        Python's name of the encoding.
    has_mark : bool
        Whether the file begins with a byte order mark.
    example : str
        A word that shows whether the encoding is right; empty if it is certain.
    """

    name: str
    has_mark: bool = False
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
            return TextEncoding(name, has_mark=True)
    if asked is not None:
        name = check_encoding(asked)
        return TextEncoding(
            {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(name, name)
        )
    if _is_utf8(path):
        return TextEncoding(_utf16_without_mark(path) or "utf-8")
    without_mark = _utf16_without_mark(path)
    if without_mark:
        return TextEncoding(without_mark)
    return _by_words(path)


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
    """The encoding in which words with accents look most like words."""
    words: Counter[bytes] = Counter()
    line = 1
    first_line = 0
    for block in _blocks(path):
        if b"\0" in block:
            line += len(_LINE_END.findall(block[: block.index(b"\0")]))
            raise FileError(
                f"{path}, line {line}: holds a NUL character, as binary files do; "
                "save the file as text."
            )
        if not first_line and (high := re.search(rb"[\x80-\xff]", block)):
            first_line = line + len(_LINE_END.findall(block[: high.start()]))
        line += len(_LINE_END.findall(block))
        if len(words) < MANY:
            words.update(_WORDS.findall(block))
    n_high = sum(len(re.findall(rb"[\x80-\xff]", word)) for word in words)
    n_in_runs = sum(
        len(run) for word in words for run in re.findall(rb"[\x80-\xff]{2,}", word)
    )
    if n_in_runs > n_high / 2:
        raise _not_western(path, first_line, words)
    name = max(WESTERN, key=lambda x: sum(_looks(word, x) for word in words))
    shown = max(words, key=lambda word: (_looks(word, name), len(word) < 30))
    return TextEncoding(name, example=shown.decode(name, errors="replace"))


def _looks(word: bytes, encoding: str) -> int:
    """How much a word looks like one: accents in lower-case words, signs outside."""
    score = 0
    text = word.decode(encoding, errors="replace")
    for before, this, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if this.isascii():
            continue
        inside = before.isalpha() and after.isalpha()
        if this.isalpha():
            score += 1 if this.islower() or not before.islower() else -2
        elif this in "’'`" or (this in "€£" and not before.isalpha()):
            score += 1
        elif inside or this == "\ufffd" or not this.isprintable():
            score -= 2
    return score


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
