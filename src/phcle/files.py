"""Files are never left half-written: write beside, then rename. And folders."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phcle.errors import FileError

__all__ = ["make_folder", "write_whole"]


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
