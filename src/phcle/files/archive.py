"""Numbers and settings in one file: safetensors with a JSON header, without pickle.

Tensors hold all numbers. The metadata of the file has one key, "phcle": JSON with
"format", "version", "checksum" and "content" (structure and settings). The checksum
covers the content and every tensor, so damage anywhere is found. There is one key only,
because safetensors writes several in any order, and the same content must give the
same bytes.

The safetensors library checks the header: that types, shapes and places of the tensors
fit each other and fill the file. What it does not do is done here: it reads a header of
millions of entries, which takes a gigabyte.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError
from phcle.files.json_toml import parse_json
from phcle.files.safetensors_writer import write_tensors
from phcle.files.writing import check_is_file, is_file

Tensors = dict[str, npt.NDArray[Any]]

MOST_QUOTES = 100_000
"""Quotation marks in a header: ten for a tensor, so 10,000 tensors.

The files of phcle have a few tensors for each context.
"""

MOST_QUOTES_OF_METADATA = 1_000
"""The same of the JSON under "phcle", which has four entries."""

BESIDE = "is what `phcle explore` keeps beside an embedding; give the embedding."

OTHERS = {
    "phcle.explorer": BESIDE,
    "phcle.explorer-attributes": BESIDE,
    "phcle.explorer-compared": BESIDE,
    "phcle.label-index": "is an index, which phcle has no longer; give the embedding.",
    "phcle.shard": "is of a fit in shards, which phcle has no longer; fit again.",
}
"""What to say about formats that no user needs to read, or none any more."""

LONGEST_HEADER = 100_000_000
"""Bytes; the library refuses longer ones."""

MOST_READ_WHOLE = 64_000_000
"""Bytes of a file that is read into memory rather than mapped. If another program cuts
a mapped file short, the system ends the process. Larger files would need twice their
size in memory."""


def write_sealed(
    path: Path, format: str, version: int, content: Any, tensors: Tensors
) -> None:
    """Write one file; an existing one is replaced only by a complete one.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        What the file holds, such as "phcle.embedding".
    version : int
        Version of that format.
    content : object
        Structure and settings, as JSON can hold them.
    tensors : dict of str to array
        All numbers.
    """
    text = json.dumps(content)
    header = {
        "format": format,
        "version": version,
        "checksum": checksum(text, tensors),
        "content": text,
    }
    write_tensors(path, tensors, {"phcle": json.dumps(header)})


def read_sealed(
    path: Path, format: str, version: int, foreign: str
) -> tuple[Any, Tensors]:
    """Read content and tensors; refuse a file that is damaged or of another format.

    Unknown keys of the content are ignored: a release may add what older ones can do
    without. A change that they cannot read gets a new version.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        The expected format.
    version : int
        The version of the format that can be read.
    foreign : str
        What to say about a file of another format.

    Returns
    -------
    tuple of object and dict
        The content, and the tensors by name.
    """
    with _open(path) as file:
        header = _own_header(path, file.metadata() or {})
        found = header.get("format")
        if found != format:
            raise FileError(f"{path}: {OTHERS.get(str(found), foreign)}")
        _refuse_other_version(path, header.get("version"), version)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    text = header.get("content")
    try:
        fits = isinstance(text, str) and header.get("checksum") == checksum(
            text, tensors
        )
    except UnicodeEncodeError:  # half of a character, which true content never has
        fits = False
    if not fits:
        raise FileError(f"{path}: is damaged (its checksum does not fit).")
    return parse_json(str(text), f"{path}, its content"), tensors


def format_of(path: Path) -> str | None:
    """Which format of phcle a file has.

    Parameters
    ----------
    path : Path
        A safetensors file.

    Returns
    -------
    str or None
        The format; None if another program wrote the file.
    """
    with _open(path) as file:
        found = _own_header(path, file.metadata() or {}).get("format")
    return found if isinstance(found, str) else None


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a safetensors file whose header the library has checked."""
    from safetensors import SafetensorError, safe_open

    if is_file(path / "fit.json"):
        raise FileError(f"{path}: {OTHERS['phcle.shard']}")
    check_is_file(path)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            # A length that lies must not take more memory than the file has bytes.
            header = file.read(min(length, LONGEST_HEADER, size))
            if _n_quotes(header, b'"', b'\\"') > MOST_QUOTES:
                raise FileError(
                    f"{path}: is not a phcle file (it has too many entries)."
                )
            file.seek(0)
            # One byte more, as the file may be growing.
            is_small = size <= MOST_READ_WHOLE
            data = file.read(MOST_READ_WHOLE + 1) if is_small else b""
        if is_small:
            yield _InMemory(path, header, data)
            return
        with safe_open(path, framework="numpy") as opened:
            yield opened
    except FileError:
        raise
    # Beside its own error, the library raises several for types that NumPy lacks.
    except (
        SafetensorError,
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
    ) as error:
        raise FileError(
            f"{path}: is damaged, cut short, or not a phcle file ({error})."
        ) from error


class _InMemory:
    """What `safe_open` gives, of a file that has been read whole."""

    def __init__(self, path: Path, header: bytes, data: bytes) -> None:
        from safetensors.numpy import load

        self._tensors: Tensors = load(data)  # checks the header
        self._header = parse_json(header, f"{path}, its header")

    def metadata(self) -> dict[str, str]:
        """Texts of the header."""
        found: dict[str, str] = self._header.get("__metadata__") or {}
        return found

    def keys(self) -> list[str]:
        """Names of the tensors."""
        return list(self._tensors)

    def get_tensor(self, name: str) -> npt.NDArray[Any]:
        """A tensor by its name."""
        return self._tensors[name]


def _n_quotes(text: Any, quote: Any, escaped: Any) -> int:
    """Quotation marks that are not escaped: at least one for every string of JSON."""
    return int(text.count(quote) - text.count(escaped))


def _own_header(path: Path, metadata: Mapping[str, str]) -> dict[str, Any]:
    text = metadata.get("phcle", "{}")
    if _n_quotes(text, '"', '\\"') > MOST_QUOTES_OF_METADATA:
        raise FileError(f"{path}: is damaged (its header has too many entries).")
    header = parse_json(text, f"{path}, its header")
    if not isinstance(header, dict):
        raise FileError(f"{path}: is damaged (its header cannot be read).")
    return header


def _refuse_other_version(path: Path, found: Any, version: int) -> None:
    """Say which way the versions differ, and what to do."""
    if type(found) is int and found == version:
        return
    if type(found) is int and found > version:
        raise FileError(
            f"{path}: has format version {found}, this phcle reads version {version}; "
            "a newer phcle wrote it, so update: pip install --upgrade phcle."
        )
    if type(found) is int and found >= 1:
        raise FileError(
            f"{path}: has format version {found}, this phcle reads version {version}; "
            "fit again, or make the file anew."
        )
    raise FileError(f"{path}: is damaged (it has no format version).")


def checksum(text: str, tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    """Digest of the content and of every tensor's name, type, shape and bytes.

    Parameters
    ----------
    text : str
        The content as JSON.
    tensors : mapping of str to array
        All tensors.

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name}|{tensor.dtype}|{tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()
