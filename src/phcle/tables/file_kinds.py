"""Files that are to become contexts: their kinds, and how users give them.

The command line makes its flags from `FILE_KINDS`, so nothing slow is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.errors import check_choice
from phcle.files.reading import is_file

if TYPE_CHECKING:
    from phcle.tables.columns import ColumnSummary
    from phcle.tables.reader import Table

FILE_KINDS = {
    "hierarchy": "Taxonomy: columns child,parent, or a Newick tree (.nwk).",
    "edges": "Graph: columns source,target and optionally weight.",
    "annotations": "Annotations: columns item,label; labels of one item co-occur.",
    "attributes": "Attributes: labels in the first column; empty cells are missing.",
    "tags": "Tags: columns label,tag, one row per tag; an empty tag means no tags.",
    "texts": "Texts: columns label,text; compared by their words (TF-IDF).",
    "sentences": "Texts: columns label,text; compared by a sentence encoder.",
    "vectors": "Vectors of another model: a word2vec or GloVe file.",
    "skos": "SKOS vocabulary (.ttl, .rdf, .jsonld, …): taxonomy, names and texts.",
    "owl": "OWL ontology (.owl, .ttl, .rdf, …): taxonomy, names and texts.",
}
"""Every kind of file that becomes a context, with its layout."""

THESAURI = ("skos", "owl")
"""Kinds with a taxonomy, names and texts: one file gives up to two contexts."""

LISTS = ("labels", "names", "synonyms")
"""Kinds that are no contexts: labels to embed, readable names, other spellings."""

ROLES = {
    "hierarchy": ("child", "parent"),
    "edges": ("source", "target", "weight", "relation"),
    "annotations": ("item", "label"),
    "attributes": ("label",),
    "tags": ("label", "tag"),
    "texts": ("label", "text"),
    "sentences": ("label", "text"),
    "names": ("label", "name"),
    "synonyms": ("label", "synonym"),
}
"""Columns that each kind of table has."""

NEWICK = (".nwk", ".newick", ".tree", ".tre")
"""Endings of Newick trees."""

BOOKS = (".xlsx", ".xlsm")
"""Endings of workbooks."""

SHEET = "sheet"
"""Sheet of a workbook, which is named like a column or behind a `#`."""

LEVELS = "levels"
"""Columns of a lineage, from the labels up: `tree.csv:levels=species/genus/family`."""


COLUMNS = 12
"""Columns whose reading the first lines of a fit tell; `phcle check` has all."""


@dataclass(frozen=True)
class ContextFile:
    """A file, or a data frame, that is to become a context.

    Attributes
    ----------
    kind : str
        A key of `FILE_KINDS`, or one of `LISTS`.
    path : Path
        The file; of a data frame what messages call it.
    given_name : str or None
        Name of the context; None names it after the file.
    columns : mapping
        Titles of columns by their role, such as `{"child": "job", "parent": "sector"}`;
        columns that are not named are found.
    table : Table or None
        The table of a data frame.
    why : str
        The reason for its kind, if that was guessed.
    """

    kind: str
    path: Path
    given_name: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    table: Table | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """Name of the context: the given one, or the file's without its ending."""
        return self.given_name or (self.kind if self.is_list else self.path.stem)

    @property
    def is_list(self) -> bool:
        """Whether the file is a list of labels, names or synonyms."""
        return self.kind in LISTS


@dataclass
class FileSummary:
    """What one file was taken to be, how it was read, and what is wrong with it.

    Attributes
    ----------
    path : Path
        The file.
    kind : str or None
        What the file was read as, such as "hierarchy", "attributes" or "names"; None
        if that is open.
    encoding : str or None
        Encoding of a text file.
    delimiter : str or None
        What separates the cells of a table of text.
    n_rows : int or None
        Rows of a table, without its header; None if the file is no table.
    columns : tuple of ColumnSummary
        How each column was read.
    remarks : list of str
        What was guessed or changed, each as a short sentence without a full stop.
    odd_cells : list of str
        Cells that are not what nearly all others of their column are, with places.
    name : str
        Name of the context.
    sha256 : str
        SHA-256 of its bytes, in hexadecimal digits.
    why : str
        The reason for its kind, if that was guessed.
    labels : int
        Its labels.
    faults : list of str
        All that is wrong, with lines.

    Examples
    --------
    >>> remarks = ["2 identical rows dropped"]
    >>> FileSummary(Path("looks.csv"), "attributes", "cp1252", ";", 9, (), remarks).line
    'looks.csv: attributes, 9 rows, cp1252, semicolons; 2 identical rows dropped'
    """

    path: Path
    kind: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    n_rows: int | None = None
    columns: tuple[ColumnSummary, ...] = ()
    remarks: list[str] = field(default_factory=list)
    odd_cells: list[str] = field(default_factory=list)
    name: str = ""
    sha256: str = ""
    why: str = ""
    labels: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def column_line(self) -> str:
        """How the first columns were read, in one line.

        Returns
        -------
        str
            Each with two cells where text became a number, a date or a truth value;
            empty for a file without such columns.
        """
        from phcle.tables.cells import first_few

        said = []
        for column in self.columns:
            examples = f" ({', '.join(column.examples)})" if column.examples else ""
            said.append(f"{column.title}: {column.holds}{examples}")
        return f"{self.path.name}: {first_few(said, COLUMNS)}" if said else ""

    @property
    def line(self) -> str:
        """The summary in one line; UTF-8 and commas go without saying.

        Returns
        -------
        str
            File, kind, rows, encoding, delimiter and remarks.
        """
        from phcle.tables.sources import DELIMITERS

        parts = [str(self.kind)]
        if self.n_rows is not None:
            parts.append(f"{self.n_rows:,} row{'' if self.n_rows == 1 else 's'}")
        if self.encoding not in (None, "utf-8"):
            parts.append(str(self.encoding))
        if self.delimiter not in (None, ","):
            parts.append(DELIMITERS.get(self.delimiter or "", repr(self.delimiter)))
        return "; ".join([f"{self.path.name}: {', '.join(parts)}", *self.remarks])

    def to_dict(self) -> dict[str, Any]:
        """Return what `phcle check` tells about the file as plain values, for JSON.

        Returns
        -------
        dict
            The file, its rows, and how it was read.
        """
        plain = asdict(self)
        del plain["name"], plain["sha256"]
        return {"file": str(plain.pop("path")), "rows": plain.pop("n_rows"), **plain}


OneFile = str | Path | ContextFile
Files = OneFile | Sequence[OneFile] | Mapping[str, OneFile]
"""A path, several paths, or paths by the names of their contexts. A path may be
followed by its columns: `tree.csv:child=job,parent=sector`."""


def list_files(given: Mapping[str, Files]) -> list[ContextFile]:
    """List the files of every kind: a path, several, or paths by names of contexts."""
    found: list[ContextFile] = []
    for kind, files in given.items():
        check_choice("a kind of file", kind, FILE_KINDS)
        if isinstance(files, (str, Path, ContextFile)):
            files = [files]
        named: Iterable[tuple[str | None, OneFile]] = (
            files.items() if isinstance(files, Mapping) else ((None, x) for x in files)
        )
        for name, file in named:
            if not isinstance(file, ContextFile):
                file = named_file(kind, file)
            found.append(replace(file, kind=kind, given_name=name or file.given_name))
    return found


def with_lists(files: Iterable[ContextFile], **lists: Any) -> list[ContextFile]:
    """Put files of labels, names or synonyms in the place of those among the files.

    What is no path, such as labels themselves, is passed over.
    """
    paths = {x: given for x, given in lists.items() if isinstance(given, (str, Path))}
    kept = [file for file in files if file.kind not in paths]
    return [*kept, *(named_file(kind, path) for kind, path in paths.items())]


def named_file(kind: str, text: str | Path) -> ContextFile:
    """A file that is given by its path, or by its path and columns."""
    path, columns = split_columns(kind, text)
    return ContextFile(kind, path, None, columns)


def split_columns(kind: str, text: str | Path) -> tuple[Path, dict[str, str]]:
    r"""Split a path and the columns behind it.

    Parameters
    ----------
    kind : str
        Kind of the file, a key of `ROLES`. Other kinds have no columns.
    text : str or Path
        A path, or a path with columns. A file whose own name looks like that is a path.

    Returns
    -------
    path : Path
        The file.
    columns : dict
        Titles by role, and the sheet of a workbook.

    Examples
    --------
    >>> path, columns = split_columns("hierarchy", "tree.csv:child=job,parent=sector")
    >>> path.name, columns
    ('tree.csv', {'child': 'job', 'parent': 'sector'})
    >>> split_columns("hierarchy", r"C:\tree.csv")[1]
    {}
    >>> split_columns("hierarchy", "book.xlsx#Tree")[1]
    {'sheet': 'Tree'}
    """
    if is_file(text):
        return Path(text), {}
    levels = (LEVELS,) if kind == "hierarchy" else ()
    roles = "|".join((*ROLES.get(kind, ()), *levels, SHEET))
    # Titles may hold commas and colons, which do not stand before a role.
    path, *pieces = re.split(rf"(?i)[:,] *({roles}) *=", str(text))
    titles = map(str.strip, pieces[1::2])
    found = dict(zip(map(str.lower, pieces[::2]), titles, strict=True))
    book, mark, sheet = path.rpartition("#")
    if mark and sheet and book.lower().endswith(BOOKS):
        return Path(book), {SHEET: sheet, **found}
    return Path(path), found


def is_newick(path: object) -> bool:
    """Tell whether something is the path of a Newick tree, by its ending.

    Parameters
    ----------
    path : object
        Anything.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> is_newick("mammals.nwk"), is_newick(Path("tree.csv")), is_newick([("a", "b")])
    (True, False, False)
    """
    return isinstance(path, (str, Path)) and Path(path).suffix.lower() in NEWICK
