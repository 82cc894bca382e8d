"""Write files completely or not at all, and check paths before they are read.

A file is written under a temporary name and then renamed. A process that is killed
leaves its temporary file behind. The next process that writes to the same folder
removes it, but never the file of a running process: writers hold a lock on their file,
and the system releases the lock when the process ends.

Only regular files are read: a pipe or a device may never end.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from phcle.errors import FileError

try:
    import fcntl
except ImportError:  # Windows: no locks, so leftovers stay
    fcntl = None  # type: ignore[assignment]


ENDING = ".phcle-part"
"""Ending of our temporary files; no other program uses it."""

LONGEST = 200
"""Bytes of a file's name that its temporary file repeats; systems allow 255 in all."""

PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""First bytes of compressed files, and what compresses so."""


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
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # too long, for example
        return False


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
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


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


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading; refuse a compressed one.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    BinaryIO
        The open file. An error of the system in the `with` block names the file.
    """
    check_is_file(path)
    try:
        with path.open("rb") as file:
            start = file.read(8)
            for mark, kind in PACKED.items():
                if start.startswith(mark):
                    raise FileError(f"{path}: is packed ({kind}); unpack it first.")
            file.seek(0)
            yield file
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error


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
    _sweep_once(path.parent.absolute())
    try:
        handle, temporary = _make_temporary(path)
    except OSError as error:
        raise _cannot_be_written(path, error) from error
    try:
        yield temporary
        _flush_file(temporary)
        temporary.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise _cannot_be_written(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def _check_place(path: Path) -> None:
    """Refuse a folder, and a path in a folder that does not exist."""
    if is_folder(path):
        raise FileError(f"{path}: is a folder; give the name of a file.")
    if not is_folder(path.parent):
        raise FileError(
            f"{path}: the folder {path.parent} does not exist; make it first."
        )
    try:
        os.lstat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # a name that no file can have
        raise FileError(f"{path}: cannot be written ({error}).") from error


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
    lock = path.with_name(f".{_shortened(path.name)}.lock{ENDING}")
    handle = _locked(lock, path)
    try:
        yield
    finally:
        if handle is not None:
            lock.unlink(missing_ok=True)
            os.close(handle)


def _locked(lock: Path, path: Path) -> int | None:
    """The handle of a lock file; None if the system has no locks."""
    if sys.platform == "win32" or fcntl is None:
        return None
    while True:
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise _cannot_be_written(path, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise FileError(
                f"{path}: another fit that is running writes to it; wait for its end, "
                "or give another file."
            ) from error
        except OSError:
            os.close(handle)
            lock.unlink(missing_ok=True)
            return None
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # its last owner removed it before it was locked


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{folder}: cannot be made as a folder ({error.strerror})."
        ) from error
    return folder


def sweep_leftovers(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder.

    Parameters
    ----------
    folder : Path
        Where to look; not in the folders below.
    """
    if sys.platform == "win32" or fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        found = [
            x.path for x in entries if x.name.endswith(ENDING) and x.name[0] == "."
        ]
        for path in found:
            _remove_if_left(path)


_sweep_once = lru_cache(maxsize=None)(sweep_leftovers)
"""Once per folder and process is enough: this process leaves nothing behind."""


def _remove_if_left(path: str) -> None:
    """Remove a temporary file if no process holds its lock."""
    if sys.platform == "win32":
        return
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # removed meanwhile, or another user's
        return
    with suppress(OSError):  # a locked file raises one
        if stat.S_ISREG(os.fstat(handle).st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            Path(path).unlink()
    os.close(handle)


def _shortened(name: str) -> str:
    """The start of a file's name, which leaves room for an ending."""
    return os.fsdecode(os.fsencode(name)[:LONGEST])


def _make_temporary(path: Path) -> tuple[int | None, Path]:
    """Make a temporary file, locked until its handle is closed."""
    while True:
        start = f".{_shortened(path.name)}."
        handle, name = tempfile.mkstemp(ENDING, start, path.parent)
        temporary = Path(name)
        if sys.platform == "win32" or fcntl is None:
            os.close(handle)
            return None, temporary
        with suppress(OSError):  # a file system without locks; removal needs them too
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, temporary
        os.close(handle)  # another process removed it before it was locked


def _flush_file(temporary: Path) -> None:
    """Write a file to the disk, with the permissions of an ordinary new file."""
    with temporary.open("r+b") as file:  # Windows flushes only what may be written
        os.fsync(file.fileno())
    # mkstemp makes files private; ordinary ones follow the user's mask.
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)


def _flush_folder(folder: Path) -> None:
    """Write a renaming to the disk; Windows cannot, as it opens no folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _cannot_be_written(path: Path, error: OSError) -> FileError:
    return FileError(f"{path}: cannot be written ({error.strerror or error}).")
