"""Rows of pairs and columns of cells, from plain lists or from data frames.

Frames of pandas, Polars, PyArrow and others are read through narwhals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

from phcle.contexts.labels import as_labels
from phcle.errors import ContextError, did_you_mean, some

__all__ = ["as_frame", "as_row", "labelled_columns", "rows_of"]


def as_frame(table: Any, where: str) -> Any | None:
    """Wrap a data frame with narwhals.

    Parameters
    ----------
    table : object
        A data frame or anything else. Lazy frames are refused.
    where : str
        What the table is, for messages.

    Returns
    -------
    narwhals.DataFrame or None
        None if `table` is not a data frame.
    """
    import narwhals as nw

    if nw.dependencies.is_into_dataframe(table):
        titles = getattr(table, "column_names", None) or table.columns
        repeated = [title for title, n in Counter(map(str, titles)).items() if n > 1]
        if repeated:
            raise ContextError(
                f"{where}: two columns are called {some(repeated)}; rename one."
            )
        return nw.from_native(table, eager_only=True)
    if type(table).__name__ == "LazyFrame":
        raise ContextError(f"{where}: is a lazy frame; collect it first.")
    return None


def labelled_columns(
    frame: Any, labels: str | None, name: str
) -> tuple[tuple[str, ...], dict[str, list[Any]]]:
    """Split a data frame into labels and columns of cells.

    Parameters
    ----------
    frame : data frame
        A frame of pandas, Polars or PyArrow.
    labels : str or None
        The column of labels. None takes the index of a pandas frame and the first
        column of any other frame.
    name : str
        Name of the context, for messages.

    Returns
    -------
    labels : tuple of str
        One label per row.
    cells : dict
        Cells of each further column, by its title.
    """
    where = f"context {name!r}"
    found = as_frame(frame, where)
    if found is None:
        raise ContextError(
            f"{where}: a data frame of pandas, Polars or PyArrow is needed. "
            f"Got {type(frame).__name__} instead."
        )
    # By position, because narwhals would take a numeric title for a position.
    cells = {
        str(title): series.to_list()
        for title, series in zip(found.columns, found.iter_columns(), strict=True)
    }
    if labels is None and hasattr(frame, "index") and hasattr(frame, "iloc"):
        if getattr(frame.index, "nlevels", 1) > 1:
            raise ContextError(
                f"{where}: the index has {frame.index.nlevels} levels, but a label is "
                "one name; join them, or move the others to columns."
            )
        kept = as_labels(frame.index, f"index of {where}")
    else:
        if not cells:
            raise ContextError(f"{where}: the frame has no columns.")
        own = next(iter(cells)) if labels is None else labels
        if own not in cells:
            raise ContextError(
                f"{where}: the frame has no column {own!r} of labels."
                f"{did_you_mean(own, cells)}"
            )
        kept = as_labels(cells.pop(own), f"column {own!r} of {where}")
    return kept, cells


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
