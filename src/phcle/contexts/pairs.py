"""Rows of pairs and triples, from lists or from data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from phcle.contexts.data_frames import as_frame
from phcle.errors import ContextError, some

__all__ = ["as_row", "rows_of"]


def rows_of(
    table: Any, columns: tuple[str, ...], where: str, *, optional: tuple[str, ...] = ()
) -> Iterable[Any]:
    """Rows of a data frame, or the rows as they come.

    A frame's columns are found by name, or else, if some name is missing, by position.
    """
    if isinstance(table, (str, bytes, Mapping)):
        raise ContextError(
            f"{where}: rows of ({', '.join(columns)}) are needed. "
            f"Got {table!r} instead."
        )
    frame = as_frame(table, where)
    if frame is None:
        return table  # type: ignore[no-any-return]
    titles = list(frame.columns)
    if len(titles) < len(columns):
        raise ContextError(
            f"{where}: the frame must have the columns {some(columns)}. "
            f"Got {some(titles)} instead."
        )
    if all(column in titles for column in columns):
        wanted = [x for x in (*columns, *optional) if x in titles]
    else:
        wanted = titles[: len(columns) + len(optional)]
    return frame.select(wanted).iter_rows()  # type: ignore[no-any-return]


def as_row(
    row: Any, lengths: tuple[int, ...], form: str, where: str
) -> tuple[Any, ...]:
    """Return one row as a tuple, or say which form it must have.

    A mapping or a set has a length too, but no order to tell its cells apart by.
    """
    unordered = isinstance(row, (str, bytes, Mapping, Set))
    if unordered or not hasattr(row, "__len__") or len(row) not in lengths:
        raise ContextError(f"{where}: must be {form}. Got {row!r} instead.")
    return tuple(row)
