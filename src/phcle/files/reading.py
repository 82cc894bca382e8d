"""Open files that nobody has checked: only regular ones, and no decompression bombs.

A pipe or a device may never end. A few compressed kilobytes can hold gigabytes of
zeros: real numbers and tables shrink to a tenth or a hundredth, and what would grow
more than that is refused before it is kept.
"""

from __future__ import annotations

import gzip
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from phcle.errors import FileError

PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""First bytes of compressed files, and what compresses so."""

MOST_TIMES = 200
"""Largest allowed ratio of decompressed to compressed size; real data is below 100."""

ALWAYS_FINE = 64 << 20
"""Bytes that any file may decompress to, so that small files are never refused."""

CHUNK = 1 << 20


def is_file(path: str | Path) -> bool:
    """Whether a path is a regular file.

    Parameters
    ----------
    path : str or Path
        Any text or path.

    Returns
    -------
    bool
        False also for a text that cannot be a path.
    """
    return os.path.isfile(path)  # noqa: PTH113  # Path.is_file fails on a long text


def is_folder(path: str | Path) -> bool:
    """Whether a path is a folder.

    Parameters
    ----------
    path : str or Path
        Any text or path.

    Returns
    -------
    bool
        False also for a text that cannot be a path.
    """
    return os.path.isdir(path)  # noqa: PTH112


def check_is_file(path: Path) -> None:
    """Refuse a path that is missing, a folder, a pipe or a device.

    Parameters
    ----------
    path : Path
        What is to be read.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, ValueError) as error:
        raise FileError(f"{path}: no such file.") from error
    except OSError as error:  # a loop of links, a name too long, a locked folder
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
    if stat.S_ISDIR(mode):
        raise FileError(f"{path}: is a folder; give the name of a file.")
    if not stat.S_ISREG(mode):
        raise FileError(
            f"{path}: is a pipe or a device, not a file; save what it gives to a file "
            "first."
        )


@contextmanager
def naming(
    path: Path,
    problem: str,
    errors: type[Exception] | tuple[type[Exception], ...] = OSError,
) -> Iterator[None]:
    """Let errors of a `with` block name the file.

    Parameters
    ----------
    path : Path
        The file.
    problem : str
        What to say about the file, before the reason.
    errors : type or tuple of types, default OSError
        Errors that become a `FileError`.

    Yields
    ------
    None
        The body runs as usual.
    """
    try:
        yield
    except (FileError, MemoryError):
        raise
    except errors as error:
        reason = (
            getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        )
        raise FileError(
            f"{path}: {problem} ({reason[:200] or type(error).__name__})."
        ) from error


@contextmanager
def opened(
    path: Path, problem: str = "cannot be read", errors: type[Exception] = OSError
) -> Iterator[BufferedReader]:
    """Open a regular file for reading.

    Parameters
    ----------
    path : Path
        The file.
    problem : str, default "cannot be read"
        What to say about the file after an error in the `with` block.
    errors : type, default OSError
        Errors that become a `FileError`.

    Yields
    ------
    BufferedReader
        The open file.
    """
    check_is_file(path)
    with naming(path, problem, errors), path.open("rb") as file:
        yield file


@contextmanager
def open_file(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file for reading; refuse a compressed one.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    BufferedReader
        The open file. An error of the system in the `with` block names the file.
    """
    with opened(path) as file:
        start = file.read(8)
        for mark, kind in PACKED.items():
            if start.startswith(mark):
                raise FileError(f"{path}: is packed ({kind}); unpack it first.")
        file.seek(0)
        yield file


def read_bytes(path: Path) -> bytes:
    """Read a whole regular file; refuse a compressed one.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bytes
        Its content.
    """
    with open_file(path) as file:
        return file.read()


def most_unpacked(packed: int) -> int:
    """Largest allowed size of decompressed data.

    Parameters
    ----------
    packed : int
        Compressed size in bytes.

    Returns
    -------
    int
        Decompressed size in bytes.

    Examples
    --------
    >>> most_unpacked(1 << 30) == 200 << 30
    True
    """
    return max(ALWAYS_FINE, MOST_TIMES * packed)


def refuse_bomb(path: Path, unpacked: int) -> None:
    """Refuse a file whose decompressed size is far too large.

    Parameters
    ----------
    path : Path
        The file.
    unpacked : int
        Decompressed size in bytes.
    """
    packed = path.stat().st_size
    if unpacked > most_unpacked(packed):
        raise FileError(
            f"{path}: {packed:,} packed bytes say they unpack to {unpacked:,}, more "
            f"than {MOST_TIMES} times as many; if that is right, save it unpacked."
        )


def check_gzip(path: Path) -> None:
    """Refuse a gzip file that is damaged or decompresses to too much.

    The file is decompressed once without keeping anything, because the size that it
    states cannot be trusted.

    Parameters
    ----------
    path : Path
        The file.
    """
    total = 0
    damaged = "is a damaged gzip file, or one that is cut short"
    with opened(path, damaged, Exception) as file, gzip.open(file) as unpacked:
        while chunk := unpacked.read(CHUNK):
            total += len(chunk)
            refuse_bomb(path, total)


def check_parquet(path: Path) -> None:
    """Refuse a Parquet file that decompresses to far more than its size.

    Parameters
    ----------
    path : Path
        The file. Only its metadata is read.
    """
    check_is_file(path)
    import pyarrow.parquet as pq

    with naming(path, "is not a Parquet file, or it is damaged", Exception):
        about = pq.read_metadata(path)
        groups = map(about.row_group, range(about.num_row_groups))
        unpacked = sum(group.total_byte_size for group in groups)
    refuse_bomb(path, max(unpacked, about.num_rows))


def parse_json(text: str | bytes, where: str) -> Any:
    """Parse JSON text from an untrusted file.

    Parameters
    ----------
    text : str or bytes
        The text.
    where : str
        The file, for messages.

    Returns
    -------
    object
        The content. A key that occurs twice in one object is refused.

    Examples
    --------
    >>> parse_json('{"a": [1, 2]}', "example")
    {'a': [1, 2]}
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{where}, line {error.lineno}: is not JSON ({error.msg})."
        ) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: is not JSON that can be read ({error}).") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """One object of JSON, which Python's parser would take with repeated keys."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:40]!r} stands in it twice")
        found[key] = value
    return found
