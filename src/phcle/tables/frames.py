"""Rows of pairs and columns of cells, from plain lists or from data frames.

Frames of pandas, Polars, PyArrow and others are read through narwhals.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

from phcle.contexts.labels import as_label, is_missing
from phcle.errors import (
    ContextError,
    ContextWarning,
    GuessWarning,
    did_you_mean,
    some,
)
from phcle.tables.cells import UnknownMarkers
from phcle.tables.kinds import (
    NEEDED,
    SAMPLED_ROWS,
    Column,
    TableSample,
    find_columns,
    find_label,
    find_levels,
    plain_title,
)
from phcle.tables.repeats import merge_repeats


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
    frame: Any,
    labels: str | None,
    name: str,
    *,
    repeats: str = "mean",
    markers: UnknownMarkers | None = None,
) -> tuple[tuple[str, ...], dict[str, list[Any]]]:
    """Split a data frame into labels and columns of cells.

    Parameters
    ----------
    frame : data frame
        A frame of pandas, Polars or PyArrow.
    labels : str or None
        The column of labels. None takes the index of a pandas frame, unless it only
        numbers the rows, and else the column that `find_label` finds, with a warning.
    name : str
        Name of the context, for messages.
    repeats : {"mean", "first", "refuse"}, default "mean"
        What becomes of several rows of one label.
    markers : UnknownMarkers, optional
        Which texts mark unknown cells.

    Returns
    -------
    labels : tuple of str
        Every label once. A warning says what was merged.
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
    cells = _cells_of(found)
    if labels is not None and labels not in cells:
        raise ContextError(
            f"{where}: the frame has no column {labels!r} of labels."
            f"{did_you_mean(labels, cells)}"
        )
    if not cells:
        raise ContextError(f"{where}: the frame has no columns.")
    if labels is None and has_labels_in_index(frame, where):
        own, given, named = None, list(frame.index), f"index of {where}"
    else:
        own = labels or find_label(_evidence(cells), where)
        given, named = cells.pop(own), f"column {own!r} of {where}"
    names = [as_label(x, f"{named}, position {i}") for i, x in enumerate(given, 1)]
    if labels is None and own is not None and plain_title(own) != "label":
        _say(
            f"{where}: the labels are taken from column {own!r}; say labels={own!r} if "
            "that is right, or name another column."
        )
    places = [f"row {i}" for i in range(1, len(names) + 1)]
    merged = merge_repeats(names, cells, places, how=repeats, markers=markers)
    if merged.different and repeats == "refuse":
        raise ContextError(
            f"{where}: {some(merged.different)} have several rows; merge them."
        )
    if merged.remarks:
        warnings.warn(
            f"{where}: {'; '.join(merged.remarks)}.", ContextWarning, stacklevel=4
        )
    return tuple(merged.labels), merged.cells


def _evidence(cells: Mapping[str, list[Any]]) -> list[Column]:
    return [Column(title, own) for title, own in cells.items()]


def _cells_of(frame: Any) -> dict[str, list[Any]]:
    """Cells by title, of a frame of narwhals."""
    # By position, because narwhals would take a numeric title for a position.
    return {
        str(title): series.to_list()
        for title, series in zip(frame.columns, frame.iter_columns(), strict=True)
    }


def has_labels_in_index(frame: Any, where: str) -> bool:
    """Tell whether the index of a pandas frame holds labels, not numbers of rows.

    Parameters
    ----------
    frame : data frame
        A frame; those of other libraries have no index.
    where : str
        What the frame is, for messages.

    Returns
    -------
    bool
        Whether the index has a name or holds texts, or numbers that are no numbers of
        rows in a frame without another column of labels.
    """
    if not (hasattr(frame, "index") and hasattr(frame, "iloc")):
        return False
    index = frame.index
    if getattr(index, "nlevels", 1) > 1:
        raise ContextError(
            f"{where}: the index has {index.nlevels} levels, but a label is one name; "
            "join them, or move the others to columns."
        )
    if index.name is not None or index.inferred_type != "integer":
        return True
    # Rows that were sorted or selected keep their old numbers.
    is_numbered = sorted(index) == list(range(len(index)))
    cells = _cells_of(as_frame(frame, where))
    return not is_numbered and not any(
        c.is_text and c.is_unique for c in _evidence(cells)
    )


def _say(text: str) -> None:
    warnings.warn(text, GuessWarning, stacklevel=5)


def rows_of(table: Any, kind: str, where: str) -> Iterable[Any]:
    """Return the rows of a data frame; other iterables are returned unchanged.

    Parameters
    ----------
    table : data frame or iterable of rows
        What the user gave.
    kind : str
        Kind of the table: a key of `NEEDED`, which names the columns it needs. Other
        names are guessed, with a warning. A taxonomy may also be a lineage: one row
        per label with the nodes above it.
    where : str
        What the table is, for messages.

    Returns
    -------
    iterable of rows
        Rows with the cells in the order of the columns that the kind needs.
    """
    columns = NEEDED[kind]
    if isinstance(table, (str, bytes, Mapping)):
        raise ContextError(
            f"{where}: rows of ({', '.join(columns)}) are needed. "
            f"Got {table!r} instead."
        )
    frame = as_frame(table, where)
    if frame is None:
        return table  # type: ignore[no-any-return]
    sample = sample_of(frame)
    levels = find_levels(sample, where) if kind == "hierarchy" else None
    if levels is not None:
        found: Mapping[str, str] = {"levels": "/".join(levels)}
        _say(f"{where}: the columns {some(levels)} are taken as a lineage.")
        return with_columns(table, found)  # type: ignore[no-any-return]
    found = find_columns(kind, sample, where).columns
    if any(plain_title(title) != role for role, title in found.items()):
        taken = ", ".join(f"{title!r} as {role}" for role, title in found.items())
        _say(f"{where}: takes {taken}; rename the columns if that is wrong.")
    smaller = as_frame(with_columns(table, found), where)
    assert smaller is not None
    return smaller.iter_rows()  # type: ignore[no-any-return]


def with_columns(frame: Any, columns: Mapping[str, str]) -> Any:
    """Return the columns of a data frame that a reader needs, under their usual names.

    Parameters
    ----------
    frame : data frame
        A frame of pandas, Polars or PyArrow.
    columns : mapping from str to str
        Titles by role, as a `Guess` has them.

    Returns
    -------
    data frame or list
        A smaller frame of the same library; for a lineage, pairs of child and parent.
    """
    found = as_frame(frame, "frame")
    assert found is not None
    own = dict(zip(map(str, found.columns), found.columns, strict=True))
    if "levels" in columns:
        titles = [own[title] for title in columns["levels"].split("/")]
        return lineage_edges(found.select(titles).iter_rows())
    roles = {own[title]: role for role, title in columns.items()}
    return found.select(list(roles)).rename(roles).to_native()


def sample_of(frame: Any) -> TableSample:
    """Return the beginning of a data frame, for guesses.

    Parameters
    ----------
    frame : narwhals.DataFrame
        A frame that `as_frame` wrapped.

    Returns
    -------
    TableSample
        Titles and the first rows.
    """
    cells = _cells_of(frame.head(SAMPLED_ROWS))
    return TableSample(list(cells), list(zip(*cells.values(), strict=True)))


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


def lineage_edges(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, Any]]:
    """Return the edges of a taxonomy that is given as one lineage per label.

    Parameters
    ----------
    rows : iterable of sequences
        Each row is a label and the nodes above it, the nearest first. Missing nodes
        are passed over.

    Returns
    -------
    list of (child, parent)
        Every edge once.

    Examples
    --------
    >>> lineage_edges([("cat", "Felis", "felids"), ("lynx", None, "felids")])
    [('cat', 'Felis'), ('Felis', 'felids'), ('lynx', 'felids')]
    """
    edges: dict[tuple[Any, Any], None] = {}
    for row in rows:
        nodes = [node for node in row if not is_missing(node)]
        # A group of one is often called like its only member.
        edges.update((pair, None) for pair in pairwise(nodes) if pair[0] != pair[1])
    return list(edges)
