"""Find the columns of a table that a reader needs: by name, by synonym, by position.

A guess is made only where it is certain, and it is always a remark. Otherwise the
message shows what to type.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice, repeat

from phcle.contexts.column_titles import is_title_of, plain_title
from phcle.contexts.readers.file_arguments import LEVELS, ROLES
from phcle.contexts.readers.kind_guessing import TableSample, find_lineage
from phcle.contexts.readers.table_files import TableFile
from phcle.errors import FileError, OptionError, did_you_mean, some

LINEAGE_ROWS = 5_000
"""Rows that tell whether the columns of a table are nested."""

NEARLY_ALL, CLEARLY_FEWER = 0.95, 0.8
"""In a taxonomy nearly every row has a child of its own, and parents repeat: one column
has at least the first share of different values, the other at most the second."""


def find_columns(
    table: TableFile, kind: str, *, optional: tuple[str, ...] = ()
) -> dict[str, int]:
    """Find the columns of a table.

    Parameters
    ----------
    table : TableFile
        The table. A remark says what was not found by its name.
    kind : str
        A key of `ROLES`.
    optional : tuple of str, default ()
        Roles that the table may lack.

    Returns
    -------
    dict
        Position in the header, by role.
    """
    needed = [role for role in ROLES[kind] if role not in optional]
    plain = [plain_title(title) for title in table.header]
    found = _given(table, kind, plain)
    for role in ROLES[kind]:
        if role not in found and role in plain:
            found[role] = plain.index(role)
    sure = set(found)
    for role in ROLES[kind]:
        free = [i for i in range(len(plain)) if i not in found.values()]
        if role not in found:
            alike = [i for i in free if is_title_of(role, plain[i])]
            if len(alike) == 1:
                found[role] = alike[0]
    missing = [role for role in needed if role not in found]
    if missing == ["child"] and plain[found["parent"]].startswith("parent"):
        own = plain[found["parent"]].removeprefix("parent").strip()
        if own in plain:  # parent_id stands beside id
            found["child"] = plain.index(own)
            missing = []
    if missing and len(plain) == len(needed):
        _by_position(table, kind, needed, found)
    missing = [role for role in needed if role not in found]
    if missing:
        raise _not_found(table, kind, missing)
    if set(found) - sure:
        names = ", ".join(f"{role} is {table.header[i]!r}" for role, i in found.items())
        table.remarks.append(names)
    return found


def find_levels(table: TableFile) -> list[int] | None:
    """Find the columns of a lineage, such as species, genus and family.

    Parameters
    ----------
    table : TableFile
        The table. A remark says if the columns were guessed.

    Returns
    -------
    list of int or None
        Positions in the header, from the labels up; None if the table is no lineage.
    """
    given = table.given_columns.get(LEVELS)
    if given is not None:
        titles = [x.strip() for x in given.split("/")]
        for title in titles:
            if title not in table.header:
                raise _no_column(table, title)
        return [table.header.index(title) for title in titles]
    if table.given_columns or "parent" in map(plain_title, table.header):
        return None
    rows = [cells for _, cells in islice(table.rows(), LINEAGE_ROWS)]
    levels = find_lineage(TableSample(table.header, rows).columns)
    if levels is None:
        return None
    table.remarks.append(f"taken as a lineage: {' → '.join(levels)}")
    return [table.header.index(title) for title in levels]


def label_column(table: TableFile) -> int:
    """Find the column of labels in a table of attributes.

    Parameters
    ----------
    table : TableFile
        The table.

    Returns
    -------
    int
        Position of the column that the user names, of the column called `label`, or
        of the first column.
    """
    plain = [plain_title(title) for title in table.header]
    found = _given(table, "attributes", plain)
    if "label" in found:
        return found["label"]
    at = plain.index("label") if "label" in plain else 0
    if at:
        table.remarks.append(f"labels are in column {table.header[at]!r}")
    return at


def _given(table: TableFile, kind: str, plain: Sequence[str]) -> dict[str, int]:
    """The columns that the user names."""
    found = {}
    for role, title in table.given_columns.items():
        if role not in ROLES[kind]:
            raise OptionError(
                f"{table.path}: columns of --{kind} are {', '.join(ROLES[kind])}. "
                f"Got {role!r} instead.{did_you_mean(role, ROLES[kind])}"
            )
        if title in table.header:
            found[role] = table.header.index(title)
        elif plain_title(title) in plain:
            found[role] = plain.index(plain_title(title))
        else:
            raise _no_column(table, title)
    return found


def _no_column(table: TableFile, title: str) -> FileError:
    return FileError(
        f"{table.path}: has no column {title!r}. Its header has "
        f"{some(table.header)}.{did_you_mean(title, table.header)}"
    )


def _by_position(
    table: TableFile, kind: str, needed: Sequence[str], found: dict[str, int]
) -> None:
    """Fill in what the number of columns leaves open, if that is certain."""
    free = [i for i in range(len(needed)) if i not in found.values()]
    missing = [role for role in needed if role not in found]
    if len(missing) == 1:
        found[missing[0]] = free[0]
    elif kind == "hierarchy":
        found.update(_child_and_parent(table))
    elif kind != "annotations":  # which is the item is not certain
        found.update(zip(missing, free, strict=True))


def _child_and_parent(table: TableFile) -> dict[str, int]:
    """Which of two columns holds children: the one whose values hardly repeat."""
    pairs = {tuple(cells) for _, cells in table.rows()}
    if not pairs:
        return {}
    shares = [len({pair[i] for pair in pairs}) / len(pairs) for i in (0, 1)]
    for child, parent in ((0, 1), (1, 0)):
        if shares[child] >= NEARLY_ALL and shares[parent] <= CLEARLY_FEWER:
            return {"child": child, "parent": parent}
    return {}


def _not_found(table: TableFile, kind: str, missing: Sequence[str]) -> FileError:
    """What is missing, and what to type."""
    wanted = [role for role in ROLES[kind] if role not in ("weight", "relation")]
    titles = zip(wanted, chain(table.header, repeat("COLUMN")), strict=False)
    spelled = ",".join(f"{role}={title}" for role, title in titles)
    return FileError(
        f"{table.path}: needs the columns {some(ROLES[kind])}, but {some(missing)} "
        f"{'is' if len(missing) == 1 else 'are'} not in its header "
        f"{some(table.header)}; say which column is which, such as "
        f"--{kind} {table.path.name}:{spelled}"
    )
