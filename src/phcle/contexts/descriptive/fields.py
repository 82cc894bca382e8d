"""Fields: the columns of a table as its user knows them.

A category such as `size` is one field with one value, though a fit has one column for
each of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
import numpy.typing as npt

FieldKind = Literal["number", "truth", "category", "tag", "word"]


@dataclass(frozen=True)
class Field:
    """One field of a table.

    Attributes
    ----------
    title : str
        Its title in the table, or the tag.
    kind : {"number", "truth", "category", "tag", "word"}
        What its cells hold: a number, yes or no, one of several values, whether a label
        has the tag, or how much a word says about its text.
    at : slice
        Its columns in the context.
    values : tuple of str
        Values of a category, one for each column; otherwise empty.
    """

    title: str
    kind: FieldKind
    at: slice
    values: tuple[str, ...] = ()


def fields_of(
    columns: Sequence[str],
    titles: Sequence[str] | None,
    is_truth: npt.NDArray[np.bool_],
    *,
    all_are: FieldKind | None = None,
) -> tuple[Field, ...]:
    """Join the columns of a context to fields.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    titles : sequence of str or None
        For each column the title of the table's column that it came from; None if
        every column is a field.
    is_truth : array of bool of shape (columns,)
        Columns whose known values are all 0 or 1.
    all_are : {"tag", "word"}, optional
        The kind of all columns; by default their values tell.

    Returns
    -------
    tuple of Field
        The fields, in the order of their columns.

    Examples
    --------
    >>> columns = ["weight", "size=large", "size=small"]
    >>> titles = ["weight", "size", "size"]
    >>> fields = fields_of(columns, titles, np.array([0, 1, 1]) > 0)
    >>> [(field.title, field.kind, field.values) for field in fields]
    [('weight', 'number', ()), ('size', 'category', ('large', 'small'))]
    """
    found = []
    start = 0
    for title, own in groupby(columns if titles is None else titles):
        at = slice(start, start + len(list(own)))
        start = at.stop
        if columns[at.start] != title:
            values = tuple(x.removeprefix(f"{title}=") for x in columns[at])
            found.append(Field(title, "category", at, values))
            continue
        kind: FieldKind = "truth" if is_truth[at.start] else "number"
        found.append(Field(title, all_are or kind, at))
    return tuple(found)
