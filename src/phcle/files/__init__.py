"""Read and write files safely; knows nothing of labels or contexts.

`atomic` writes complete files, `reading` opens files that nobody has checked,
`container` is the format of phcle's own files, and the others read or write one kind of
file each. Every failure is a `FileError`. Modules here import `errors` only. What needs
NumPy, or takes time to import, loads when it is first used.
"""

from __future__ import annotations

from phcle.files.atomic import (
    check_can_write,
    make_folder,
    only_writer,
    sweep_leftovers,
    write_whole,
)
from phcle.files.csv_text import csv_lines, harmless, unmarked
from phcle.files.reading import check_is_file, most_unpacked, read_bytes
from phcle.lazy_names import lazy_names

__all__ = ["check_can_write", "make_folder", "only_writer", "sweep_leftovers"]
__all__ += ["csv_lines", "harmless", "unmarked", "write_whole"]
__all__ += ["check_is_file", "most_unpacked", "read_bytes"]
__all__ += ["checksum", "format_of", "read_sealed", "write_sealed", "write_tensors"]
__all__ += ["parse_json", "parse_toml"]

__getattr__ = lazy_names(
    __name__,
    {
        "checksum": "phcle.files.container",
        "format_of": "phcle.files.container",
        "parse_json": "phcle.files.json_toml",
        "parse_toml": "phcle.files.json_toml",
        "read_sealed": "phcle.files.container",
        "write_sealed": "phcle.files.container",
        "write_tensors": "phcle.files.container",
    },
)
