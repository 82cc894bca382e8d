"""JSON files as tables: a list of records, records by label, or one record per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from phcle.contexts.labels import as_cell, normal
from phcle.contexts.readers.delimited import read_text, text_lines
from phcle.errors import FileError
from phcle.files.json_toml import parse_json

Rows = Iterator[tuple[int, list[str]]]

FORMS = (
    'a list of records, such as [{"label": "cat", "kg": 4}], or records by label, such '
    'as {"cat": {"kg": 4}}'
)


def json_rows(path: Path) -> Rows:
    """Read a JSON file as rows of text cells.

    Parameters
    ----------
    path : Path
        A list of records, or an object with a record, a text, a number or a list for
        each label.

    Yields
    ------
    (int, list of str)
        Number and cells of each record; number 0 is the header.
    """
    content = parse_json(read_text(path), str(path))
    if isinstance(content, dict):
        records = _by_label(content)
    elif isinstance(content, list):
        records = list(enumerate(content, 1))
    else:
        raise FileError(f"{path}: must hold {FORMS}.")
    _check_records(path, records)
    yield from _rows(path, records)


def jsonl_rows(path: Path) -> Rows:
    """Read a file with one JSON record per line as rows of text cells.

    Parameters
    ----------
    path : Path
        The file. It is read twice: the records tell what the columns are.

    Yields
    ------
    (int, list of str)
        Line and cells of each record; number 0 is the header.
    """
    titles: dict[str, None] = {}
    for _, record in _lines(path):
        titles.update(dict.fromkeys(record))
    yield from _rows(path, _lines(path), list(titles))


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, text in enumerate(text_lines(path), 1):
        if text.strip():
            record = parse_json(text, f"{path}, line {line}")
            _check_records(path, [(line, record)], "line")
            yield line, record


def _by_label(content: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """Records with the label as their first cell."""
    records: list[tuple[int, Any]] = []
    for number, (label, value) in enumerate(content.items(), 1):
        if isinstance(value, dict):
            records.append((number, {"label": label, **value}))
        elif isinstance(value, list):  # tags of the label
            many = [{"label": label, "value": x} for x in value or [None]]
            records += [(number, record) for record in many]
        else:
            records.append((number, {"label": label, "value": value}))
    return records


def _check_records(
    path: Path, records: Iterable[tuple[int, Any]], counted: str = "record"
) -> None:
    for number, record in records:
        if not isinstance(record, dict):
            raise FileError(
                f"{path}, {counted} {number}: must be a record. Got "
                f"{json.dumps(record)[:40]} instead; a file holds {FORMS}."
            )


def _rows(
    path: Path,
    records: Iterable[tuple[int, Mapping[str, Any]]],
    titles: list[str] | None = None,
) -> Rows:
    if titles is None:
        records = list(records)
        titles = list(dict.fromkeys(title for _, own in records for title in own))
    if titles:
        yield 0, [normal(title).strip() for title in titles]
    for number, record in records:
        cells = [_as_cell(path, number, x, record.get(x)) for x in titles]
        if any(cells):
            yield number, cells


def _as_cell(path: Path, number: int, title: str, value: Any) -> str:
    if isinstance(value, (list, dict)):
        raise FileError(
            f"{path}, record {number}: {title!r} holds {json.dumps(value)[:40]}; give "
            "one text or number per cell."
        )
    return as_cell(value)
