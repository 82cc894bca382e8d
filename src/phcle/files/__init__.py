"""Files: written whole, read with care. Used by every other package.

Modules here import `errors` only.
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
