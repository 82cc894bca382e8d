"""Read and write files safely; knows nothing of labels or contexts.

`writing` writes complete files and checks paths, `archive` is the format of phcle's own
files, the others read one kind of file each with limits on size and content. Every
failure is a `FileError`. Modules here import `errors` only.
"""

from phcle.files.decompression import most_unpacked
from phcle.files.json_toml import parse_json, parse_toml
from phcle.files.writing import (
    check_is_file,
    is_folder,
    make_folder,
    read_bytes,
    write_whole,
)

__all__ = [
    "check_is_file",
    "is_folder",
    "make_folder",
    "most_unpacked",
    "parse_json",
    "parse_toml",
    "read_bytes",
    "write_whole",
]
