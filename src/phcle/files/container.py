"""Numbers and settings in one file: safetensors with a JSON header, without pickle.

Tensors hold all numbers. The metadata of the file has one key, "phcle": JSON with
"format", "version", "checksum" and "content" (structure and settings). The checksum
covers the content and every tensor, so damage anywhere is found. There is one key only,
because safetensors writes several in any order, and the same content must give the
same bytes.

The safetensors library checks the header: that types, shapes and places of the tensors
fit each other and fill the file. What it does not do is done here:

- it reads a header of millions of entries, which takes a gigabyte;
- `save_file` writes to a temporary file whose name it chooses, so what a killed process
  leaves can never be removed, and a full disk is not an `OSError`;
- `save` copies all tensors to memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError
from phcle.files.atomic import write_whole
from phcle.files.reading import is_file, opened, parse_json

if TYPE_CHECKING:
    import scipy.sparse as sp

Tensors = dict[str, npt.NDArray[Any]]

TYPES = [
    *("BOOL", "U8", "I8", "I16", "U16", "F16"),
    *("I32", "U32", "F32", "F64", "I64", "U64"),
]
"""Types of safetensors in the order of its library, which puts the last ones first."""

PARTS = ("data", "indices", "indptr")
"""Arrays of a sparse matrix."""

MOST_QUOTES = 100_000
"""Quotation marks in a header: ten for a tensor, so 10,000 tensors.

The files of phcle have a few tensors for each context.
"""

MOST_READ_WHOLE = 64_000_000
"""Bytes of a file that is read into memory rather than mapped. If another program cuts
a mapped file short, the system ends the process. Larger files would need twice their
size in memory."""

DAMAGED = "is damaged, cut short, or not a phcle file"

BESIDE = "is what `phcle explore` keeps beside an embedding; give the embedding."

OTHERS = {
    "phcle.explorer": BESIDE,
    "phcle.explorer-attributes": BESIDE,
    "phcle.explorer-compared": BESIDE,
    "phcle.label-index": "is an index, which phcle has no longer; give the embedding.",
    "phcle.shard": "is of a fit in shards, which phcle has no longer; fit again.",
}
"""What to say about formats that no user needs to read, or none any more."""


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
    with _open(path) as (header, read_tensors):
        found = header.get("format")
        if found != format:
            raise FileError(f"{path}: {OTHERS.get(str(found), foreign)}")
        _check_version(path, header.get("version"), version)
        tensors = read_tensors()
    text = header.get("content")
    if not isinstance(text, str) or header.get("checksum") != checksum(text, tensors):
        raise FileError(f"{path}: is damaged (its checksum does not fit).")
    return parse_json(text, f"{path}, its content"), tensors


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
    with _open(path) as (header, _):
        found = header.get("format")
    return found if isinstance(found, str) else None


@contextmanager
def _open(path: Path) -> Iterator[tuple[dict[str, Any], Callable[[], Tensors]]]:
    """Open a file whose header the library has checked.

    Gives the JSON under "phcle", and what reads the tensors.
    """
    from safetensors import safe_open
    from safetensors.numpy import load, load_file

    if is_file(path / "fit.json"):
        raise FileError(f"{path}: {OTHERS['phcle.shard']}")
    with opened(path, DAMAGED, Exception) as file:
        start = file.read(MOST_READ_WHOLE + 1)
        header = start[8 : 8 + int.from_bytes(start[:8], "little")]
        _refuse_many(path, header)
        if len(start) <= MOST_READ_WHOLE:
            read = load(start).copy
        else:
            with safe_open(path, framework="numpy"):  # checks the header alone
                read = partial(load_file, path)
        del start
        metadata = parse_json(header, f"{path}, its header").get("__metadata__") or {}
        text = metadata.get("phcle", "{}")
        _refuse_many(path, text.encode())
        own = parse_json(text, f"{path}, its header")
        if not isinstance(own, dict):
            raise FileError(f"{path}: is damaged (its header cannot be read).")
        yield own, read


def _refuse_many(path: Path, header: bytes) -> None:
    """Refuse JSON of too many strings, each of which has a quotation mark."""
    if header.count(b'"') - header.count(b'\\"') > MOST_QUOTES:
        raise FileError(f"{path}: {DAMAGED} (it has too many entries).")


def _check_version(path: Path, found: Any, version: int) -> None:
    """Refuse another version; say which way it differs, and what to do."""
    if type(found) is not int or found < 1:
        raise FileError(f"{path}: is damaged (it has no format version).")
    remedy = "fit again, or make the file anew."
    if found > version:
        remedy = "a newer phcle wrote it, so update: pip install --upgrade phcle."
    if found != version:
        raise FileError(
            f"{path}: has format version {found}, this phcle reads version {version}; "
            f"{remedy}"
        )


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
    # Damaged content may hold half of a character, which other encodings refuse.
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name}|{tensor.dtype}|{tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()


def write_tensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file, byte for byte as its library does.

    Parameters
    ----------
    path : Path
        The file.
    tensors : mapping of str to array
        The tensors by name; of truth values, integers or floats.
    metadata : mapping of str to str
        Texts to store in the header.
    """
    order = sorted(tensors, key=lambda name: (-TYPES.index(_type(tensors[name])), name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name in order:
        start, end = end, end + tensors[name].nbytes
        kind, shape = _type(tensors[name]), list(tensors[name].shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)  # tensors start at a multiple of eight bytes
    with write_whole(path) as temporary, temporary.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for name in order:
            value = np.ascontiguousarray(tensors[name])
            file.write(value.astype(value.dtype.newbyteorder("<"), copy=False).data)


def _type(tensor: npt.NDArray[Any]) -> str:
    """Name of a type in safetensors."""
    letter = {"b": "BOOL", "u": "U", "i": "I", "f": "F"}[tensor.dtype.kind]
    return letter if letter == "BOOL" else f"{letter}{8 * tensor.dtype.itemsize}"


@dataclass(frozen=True)
class TensorStore:
    """Tensors by key, with a prefix that keeps the parts of a file apart.

    Parameters
    ----------
    tensors : dict
        Arrays by their whole key; filled when writing.
    prefix : str
        Put before every key.

    Examples
    --------
    >>> store = TensorStore({}, "contexts/0/")
    >>> store.put_names("labels", ["cat", "dog"])
    >>> store.names("labels")
    ('cat', 'dog')
    """

    tensors: dict[str, npt.NDArray[Any]]
    prefix: str = ""

    def __setitem__(self, key: str, array: npt.NDArray[Any]) -> None:
        self.tensors[self.prefix + key] = array

    def __getitem__(self, key: str) -> npt.NDArray[Any]:
        return self.tensors[self.prefix + key]

    def __contains__(self, key: str) -> bool:
        return self.prefix + key in self.tensors

    def put_names(self, key: str, names: Sequence[str]) -> None:
        """Store names as the bytes of a JSON list.

        Parameters
        ----------
        key : str
            Where to store them.
        names : sequence of str
            The names.
        """
        data = json.dumps(list(names), ensure_ascii=False).encode()
        self[key] = np.frombuffer(data, dtype=np.uint8)

    def names(self, key: str) -> tuple[str, ...]:
        """Read names that `put_names` stored.

        Parameters
        ----------
        key : str
            Where they are stored.

        Returns
        -------
        tuple of str
            The names.
        """
        names = json.loads(self[key].tobytes())
        if not isinstance(names, list) or not all(isinstance(x, str) for x in names):
            raise ValueError(f"{key} is not a list of names")
        return tuple(names)

    def put_sparse(self, key: str, matrix: sp.csr_array) -> None:
        """Store a sparse matrix as three arrays.

        Parameters
        ----------
        key : str
            Where to store it.
        matrix : csr_array
            The matrix.
        """
        for part in PARTS:
            self[f"{key}/{part}"] = getattr(matrix, part)

    def sparse(self, key: str, n_columns: int) -> sp.csr_array:
        """Read and check a sparse matrix that `put_sparse` stored.

        Parameters
        ----------
        key : str
            Where it is stored.
        n_columns : int
            Its number of columns, which is not stored.

        Returns
        -------
        csr_array
            The matrix.
        """
        import scipy.sparse as sp

        data, indices, indptr = (self[f"{key}/{part}"] for part in PARTS)
        # SciPy's own check misses rows that begin beyond the end, and its compiled
        # code then reads memory that does not belong to the arrays.
        if not (
            data.ndim == indices.ndim == indptr.ndim == 1
            and data.dtype.kind == "f"
            and indices.dtype.kind == indptr.dtype.kind == "i"
            and len(indptr) >= 1
            and len(data) == len(indices) == indptr[-1]
            and indptr[0] == 0
            and (np.diff(indptr) >= 0).all()
            and indices.min(initial=0) >= 0
            and indices.max(initial=-1) < n_columns
        ):
            raise ValueError(f"{key} is not a sparse matrix")
        return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
