"""Read and write files safely; knows nothing of labels or contexts.

`writing` writes complete files and checks paths, `archive` is the format of phcle's own
files, the others read one kind of file each with limits on size and content. Every
failure is a `FileError`. Modules here import `errors` only. Names load when they are
first used, because the archive needs NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phcle.lazy_names import lazy_names

if TYPE_CHECKING:
    from phcle.files.archive import checksum, format_of, read_sealed, write_sealed
    from phcle.files.csv_text import csv_lines, harmless, unmarked
    from phcle.files.decompression import most_unpacked
    from phcle.files.json_toml import parse_json, parse_toml
    from phcle.files.safetensors_writer import write_tensors
    from phcle.files.writing import (
        check_can_write,
        check_is_file,
        is_folder,
        make_folder,
        only_writer,
        read_bytes,
        sweep_leftovers,
        write_whole,
    )

_MODULES = {
    "archive": ("checksum", "format_of", "read_sealed", "write_sealed"),
    "csv_text": ("csv_lines", "harmless", "unmarked"),
    "decompression": ("most_unpacked",),
    "json_toml": ("parse_json", "parse_toml"),
    "safetensors_writer": ("write_tensors",),
    "writing": (
        *("check_can_write", "check_is_file", "is_folder", "make_folder"),
        *("only_writer", "read_bytes", "sweep_leftovers", "write_whole"),
    ),
}

__all__ = [
    "check_can_write",
    "check_is_file",
    "checksum",
    "csv_lines",
    "format_of",
    "harmless",
    "is_folder",
    "make_folder",
    "most_unpacked",
    "only_writer",
    "parse_json",
    "parse_toml",
    "read_bytes",
    "read_sealed",
    "sweep_leftovers",
    "unmarked",
    "write_sealed",
    "write_tensors",
    "write_whole",
]

__getattr__ = lazy_names(
    __name__,
    {
        name: f"{__name__}.{module}"
        for module, names in _MODULES.items()
        for name in names
    },
)
