"""Limits on the size of decompressed data, checked before it is kept.

A few compressed kilobytes can hold gigabytes of zeros. Real numbers and tables shrink
to a tenth or a hundredth; what would grow more than that is refused.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from phcle.errors import FileError

MOST_TIMES = 200
"""Largest allowed ratio of decompressed to compressed size; real data is below 100."""

ALWAYS_FINE = 64 << 20
"""Bytes that any file may decompress to, so that small files are never refused."""

CHUNK = 1 << 20


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


def refuse_bomb(what: str, packed: int, unpacked: int) -> None:
    """Refuse data whose stated decompressed size is far too large.

    Parameters
    ----------
    what : str
        The file, for the message.
    packed : int
        Compressed size in bytes.
    unpacked : int
        Decompressed size in bytes.
    """
    if unpacked > most_unpacked(packed):
        raise FileError(
            f"{what}: {packed:,} packed bytes say they unpack to {unpacked:,}, more "
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
