"""Read and write files safely; knows nothing of labels or contexts.

`atomic` writes complete files, `reading` opens files that nobody has checked,
`container` is the format of phcle's own files, and the others read or write one kind of
file each. Every failure is a `FileError`. Modules here import `errors` only. What needs
NumPy, or takes time to import, loads when it is first used.
"""

from phcle.lazy_names import lazy_names

_NAMES = {
    "atomic": "check_can_write make_folder only_writer sweep_leftovers write_whole",
    "container": "checksum format_of read_sealed write_sealed write_tensors",
    "csv_text": "csv_lines harmless unmarked",
    "numpy_arrays": "read_npy",
    "reading": "check_is_file most_unpacked parse_json read_bytes",
    "text": "parse_toml",
}
_HOMES = {x: f"{__name__}.{home}" for home in _NAMES for x in _NAMES[home].split()}

__all__ = [*_HOMES]
__getattr__ = lazy_names(__name__, _HOMES)
