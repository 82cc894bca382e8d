"""Files are never left half-written: write beside, then rename. And folders.

A process that is killed leaves its temporary file. The next one that writes to the
same folder removes it, but never that of a process still at work: whoever writes holds
a lock on the file, and the system takes the lock away when the process ends.

What is read must be a plain file: a pipe may never end, and a device never does.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from phcle.errors import FileError

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nothing is swept
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "check_can_write",
    "check_is_file",
    "is_file",
    "is_folder",
    "make_folder",
    "read_bytes",
    "refuse_packed",
    "sweep_leftovers",
    "write_whole",
]

ENDING = ".phcle-part"
"""Of our temporary files and of nobody else's."""

LONGEST = 200
"""Bytes of a file's name that its temporary file repeats; systems allow 255 in all."""

PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
"""How packed files start."""


def is_file(path: str | Path) -> bool:
    """Whether there is a plain file; False for whatever cannot be a path at all."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a text that is too long, say
        return False


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder; False for whatever cannot be a path at all."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def check_is_file(path: Path) -> None:
    """Refuse a path that is missing, a folder, a pipe or a device."""
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
    """The whole of a plain file; a packed one is refused with its kind."""
    check_is_file(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}).") from error
    refuse_packed(path, data)
    return data


def refuse_packed(path: Path, start: bytes) -> None:
    """Refuse a file whose first bytes are those of a packed one."""
    for mark, kind in PACKED.items():
        if start.startswith(mark):
            raise FileError(f"{path}: is packed ({kind}); unpack it first.")


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Give a temporary path in the same folder, and rename it when all went well.

    Whatever fails, an existing file stays as it was and no temporary file is left.
    """
    _check_place(path)
    _sweep_once(path.parent.absolute())
    try:
        handle, temporary = _claim(path)
    except OSError as error:
        raise _cannot_be_written(path, error) from error
    try:
        yield temporary
        _settle(temporary)
        temporary.replace(path)
        _settle_folder(path.parent)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise _cannot_be_written(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def _check_place(path: Path) -> None:
    """Refuse a place where no file can be."""
    if path.is_dir():
        raise FileError(f"{path}: is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise FileError(
            f"{path}: the folder {path.parent} does not exist; make it first."
        )


def check_can_write(path: Path) -> None:
    """Refuse an output path now rather than after a long run."""

    class OnlyChecking(Exception):
        pass

    with suppress(OnlyChecking), write_whole(path):
        raise OnlyChecking


def make_folder(folder: Path) -> Path:
    """Make a folder and those above it, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{folder}: cannot be made as a folder ({error.strerror})."
        ) from error
    return folder


def sweep_leftovers(folder: Path) -> None:
    """Remove temporary files of ours in a folder whose process is gone."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        found = [
            x.path for x in entries if x.name.endswith(ENDING) and x.name[0] == "."
        ]
        for path in found:
            _remove_if_left(path)


_sweep_once = lru_cache(maxsize=None)(sweep_leftovers)
"""One look is enough: a process does not outlive its own leftovers."""


def _remove_if_left(path: str) -> None:
    """Remove a temporary file if nobody holds its lock."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # gone by now, or another user's
        return
    with suppress(OSError):  # "locked" is one
        if stat.S_ISREG(os.fstat(handle).st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            Path(path).unlink()
    os.close(handle)


def _claim(path: Path) -> tuple[int | None, Path]:
    """Make a temporary file, locked until its handle is closed."""
    start = os.fsdecode(os.fsencode(path.name)[:LONGEST])
    while True:
        handle, name = tempfile.mkstemp(ENDING, f".{start}.", path.parent)
        temporary = Path(name)
        if fcntl is None:
            os.close(handle)
            return None, temporary
        with suppress(OSError):  # a file system without locks; sweeps need them too
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, temporary
        os.close(handle)  # swept by another process before it was locked


def _settle(temporary: Path) -> None:
    """Bring a file to the disk, with the permissions of an ordinary new file."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    # mkstemp makes private files; the user's own mask decides here.
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)


def _settle_folder(folder: Path) -> None:
    """Bring a renaming to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _cannot_be_written(path: Path, error: OSError) -> FileError:
    return FileError(f"{path}: cannot be written ({error.strerror or error}).")
