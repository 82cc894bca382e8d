"""Files of synonyms: which spellings of a label are one."""

from __future__ import annotations

from pathlib import Path

from phcle.contexts.match_report import SYNONYM_TITLES
from phcle.contexts.readers.file_summaries import FileSummary
from phcle.contexts.readers.table_files import Reading, open_table

__all__ = ["read_synonyms"]


def read_synonyms(
    path: str | Path, reading: Reading | None = None
) -> tuple[dict[str, str], FileSummary]:
    r"""Read a file of synonyms, such as `phcle fit` suggests.

    Parameters
    ----------
    path : str or Path
        A table with the columns `label` and `synonym`: the spelling to use, and the one
        that it replaces.
    reading : Reading, optional
        How the user wants it to be read.

    Returns
    -------
    synonyms : dict
        Label by synonym.
    summary : FileSummary
        What was read, and how.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "synonyms.csv"
    >>> _ = path.write_text("label,synonym\nBeds,Bedz\n")
    >>> read_synonyms(path)[0]
    {'Bedz': 'Beds'}
    """
    table = open_table(path, reading)
    titles = [title.lower() for title in table.header]
    if missing := [title for title in SYNONYM_TITLES if title not in titles]:
        table.fault(
            None,
            f"has no column {missing[0]!r}; a file of synonyms begins with the line "
            f"{','.join(SYNONYM_TITLES)}.",
        )
        table.raise_faults()
    label_at, other_at = (titles.index(title) for title in SYNONYM_TITLES)
    found: dict[str, str] = {}
    for line, cells in table.rows():
        label, other = cells[label_at], cells[other_at]
        if not label or not other:
            table.fault(line, "label or synonym is empty; fill it or remove the row.")
        elif found.setdefault(other, label) != label:
            table.fault(
                line,
                f"{other!r} is a synonym of {found[other]!r} already; remove one.",
            )
    table.raise_faults()
    return found, table.summary("synonyms")
