"""Write files completely or not at all.

A file is written under a temporary name and then renamed. A process that is killed
leaves its temporary file behind. The next process that writes to the same folder
removes it, but never the file of a running process: writers hold a lock on their file,
and the system releases the lock when the process ends.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from phcle.errors import FileError
from phcle.files.reading import is_folder, naming

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

locks: Any = fcntl
"""The system's locks; without them, leftovers stay."""

UNWRITABLE = "cannot be written"

ENDING = ".phcle-part"
"""Ending of our temporary files; no other program uses it."""

LONGEST = 200
"""Bytes of a file's name that its temporary file repeats; systems allow 255 in all."""


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Write to a temporary path in the same folder; rename it if nothing failed.

    If anything fails, an existing file stays as it was and no temporary file remains.

    Parameters
    ----------
    path : Path
        The file to write.

    Yields
    ------
    Path
        Where to write the content.
    """
    _check_place(path)
    temporary = _beside(path, secrets.token_hex(4))
    with naming(path, UNWRITABLE):
        _sweep_once(path.parent.absolute())
        handle = _locked(temporary, os.O_CREAT | os.O_EXCL, wait=True)
        try:
            yield temporary
            with temporary.open("r+b") as file:  # Windows flushes no other
                os.fsync(file.fileno())
            temporary.replace(path)
            _flush_folder(path.parent)
        finally:
            _remove(temporary, handle)


def check_can_write(path: Path) -> None:
    """Refuse an output path before a long run rather than after it.

    Parameters
    ----------
    path : Path
        The file to be written later; it is not touched.
    """

    class OnlyChecking(Exception):
        pass

    with suppress(OnlyChecking), write_whole(path):
        raise OnlyChecking


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Refuse a path that another run will write to, until the end of the block.

    Windows, and file systems without locks, refuse nothing.

    Parameters
    ----------
    path : Path
        The file to be written later; it is not touched.

    Yields
    ------
    None
        The body runs as usual.
    """
    _check_place(path)
    # The ending lets other processes remove it if this one is killed.
    lock = _beside(path, "lock")
    with naming(path, UNWRITABLE):
        try:
            handle = _locked(lock, os.O_CREAT)
        except BlockingIOError as error:
            raise FileError(
                f"{path}: another fit that is running writes to it; wait for its end, "
                "or give another file."
            ) from error
    try:
        yield
    finally:
        _remove(lock, handle)


def make_folder(folder: Path) -> Path:
    """Make a folder, and those above it, unless it exists.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    Path
        The same folder.
    """
    with naming(folder, "cannot be made as a folder"):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def sweep_leftovers(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder.

    Parameters
    ----------
    folder : Path
        Where to look; not in the folders below.
    """
    for path in list(folder.glob(f".*{ENDING}")):
        with suppress(OSError):  # locked, removed meanwhile, or another user's
            handle = _locked(path) if path.is_file() else None
            if handle is not None:
                _remove(path, handle)


_sweep_once = lru_cache(maxsize=None)(sweep_leftovers)
"""Once per folder and process is enough: this process leaves nothing behind."""


def _check_place(path: Path) -> None:
    """Refuse a folder, and a path in a folder that does not exist."""
    if is_folder(path):
        raise FileError(f"{path}: is a folder; give the name of a file.")
    if not is_folder(path.parent):
        raise FileError(
            f"{path}: the folder {path.parent} does not exist; make it first."
        )
    # A name that no file can have is an error.
    with naming(path, UNWRITABLE, Exception), suppress(FileNotFoundError):
        path.lstat()


def _beside(path: Path, mark: str) -> Path:
    """A temporary name, which leaves out the end of a long one."""
    start = os.fsdecode(os.fsencode(path.name)[:LONGEST])
    return path.with_name(f".{start}.{mark}{ENDING}")


def _locked(path: Path, flags: int = 0, *, wait: bool = False) -> int | None:
    """Open a file and lock it until its handle is closed; None if there are no locks.

    A lock of another process is a `BlockingIOError`, unless this one shall wait.
    """
    # Windows lacks these flags. A link could lead to another folder.
    flags |= os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    while True:
        handle = os.open(path, flags, 0o666)
        try:
            if locks is None:
                raise OSError("no locks")
            locks.flock(handle, locks.LOCK_EX | (0 if wait else locks.LOCK_NB))
        except OSError as error:
            os.close(handle)
            if isinstance(error, BlockingIOError):
                raise
            return None  # Windows, or a file system without locks
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # another process had removed it before it was locked


def _remove(temporary: Path, handle: int | None) -> None:
    """Remove a file if it is still there, and then its lock."""
    temporary.unlink(missing_ok=True)
    if handle is not None:
        os.close(handle)


def _flush_folder(folder: Path) -> None:
    """Write a renaming to the disk; Windows cannot, as it opens no folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
