"""Files are never left half-written: write beside, then rename. And folders.

What is read must be a plain file: a pipe may never end, and a device never does.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phcle.errors import FileError

__all__ = [
    "check_is_file",
    "is_file",
    "is_folder",
    "make_folder",
    "read_bytes",
    "refuse_packed",
    "write_whole",
]

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
    folder = path.parent
    if path.is_dir():
        raise FileError(f"{path}: is a folder; give the name of a file.")
    if not folder.is_dir():
        raise FileError(f"{path}: the folder {folder} does not exist; make it first.")
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.")
        os.close(handle)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from error
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        # mkstemp makes private files; the user's own mask decides here.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be written ({error.strerror}).") from error
    finally:
        temporary.unlink(missing_ok=True)


def make_folder(folder: Path) -> Path:
    """Make a folder and those above it, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{folder}: cannot be made as a folder ({error.strerror})."
        ) from error
    return folder
