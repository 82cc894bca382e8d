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
    """Return the rows of a data frame; other iterables are returned unchanged.

    Parameters
    ----------
    table : data frame or iterable of rows
        What the user gave.
    columns : tuple of str
        Names of the columns that are needed. If the frame lacks one of them, its first
        columns are taken instead.
    where : str
        What the table is, for messages.
    optional : tuple of str, default ()
        Names of columns that are taken if the frame has them.

    Returns
    -------
    iterable of rows
        Rows with the cells in the order of `columns`.
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
    """Convert one row to a tuple; rows of another form are refused.

    Parameters
    ----------
    row : object
        The row.
    lengths : tuple of int
        Numbers of cells that it may have.
    form : str
        What a row looks like, for messages.
    where : str
        Where the row stands, for messages.

    Returns
    -------
    tuple
        The cells.
    """
    # Mappings and sets have a length too, but their order has no meaning.
    unordered = isinstance(row, (str, bytes, Mapping, Set))
    if unordered or not hasattr(row, "__len__") or len(row) not in lengths:
        raise ContextError(f"{where}: must be {form}. Got {row!r} instead.")
    return tuple(row)
