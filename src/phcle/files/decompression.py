"""How much a packed file may unpack to, told before it is unpacked.

A few kilobytes can hold gigabytes of zeros. Numbers and tables that people pack shrink
to a tenth or a hundredth; what claims to shrink further is refused.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from phcle.errors import FileError

__all__ = ["check_gzip", "most_unpacked", "refuse_bomb"]

MOST_TIMES = 200
"""How many times its packed size something may unpack to."""

ALWAYS_FINE = 64 << 20
"""Bytes that may come out of any file, however small."""

CHUNK = 1 << 20


def most_unpacked(packed: int) -> int:
    """Bytes that may come out of so many packed ones.

    >>> most_unpacked(1 << 30) == 200 << 30
    True
    """
    return max(ALWAYS_FINE, MOST_TIMES * packed)


def refuse_bomb(what: str, packed: int, unpacked: int) -> None:
    """Refuse what says that it unpacks to far more than it is."""
    if unpacked > most_unpacked(packed):
        raise FileError(
            f"{what}: {packed:,} packed bytes say they unpack to {unpacked:,}, more "
            f"than {MOST_TIMES} times as many; if that is right, save it unpacked."
        )


def check_gzip(path: Path) -> None:
    """Refuse a gzip file that is damaged or unpacks to too much; nothing is kept.

    The size that such a file states of itself is not to be trusted, so it is counted.
    """
    most, total = most_unpacked(path.stat().st_size), 0
    reader = zlib.decompressobj(wbits=31)
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                while chunk:
                    if reader.eof:  # several gzip streams may follow each other
                        reader = zlib.decompressobj(wbits=31)
                    total += len(reader.decompress(chunk, CHUNK))
                    if total > most:
                        refuse_bomb(str(path), path.stat().st_size, total)
                    chunk = reader.unconsumed_tail or reader.unused_data
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
    except zlib.error as error:
        raise FileError(f"{path}: is a damaged gzip file ({error}).") from error
    if not reader.eof:
        raise FileError(f"{path}: is a gzip file that is cut short; get it again.")
