"""Pictures and links of labels, where a table of the embedding has their addresses.

Columns of addresses say nothing about likeness, so a fit leaves them out. They are read
from the table itself, if it still lies beside the embedding and has not changed. A
picture is shown from that folder alone; links are never opened by the page.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import Any

from phcle.atlas.opened import Opened
from phcle.errors import PhcleError, PhcleWarning
from phcle.tables import open_table

PICTURE = re.compile(r"[^:?#]+\.(png|jpe?g|gif|webp)", re.IGNORECASE)
LINK = re.compile(r"https?://\S+", re.IGNORECASE)

MOSTLY = 0.9
"""Share of a column's known cells that must be addresses."""


class Addresses:
    """Addresses of labels in the tables beside an embedding.

    Parameters
    ----------
    opened : Opened
        The embedding.
    """

    def __init__(self, opened: Opened) -> None:
        self._embedding = opened.embedding
        self._folder = None if opened.file is None else opened.file.resolve().parent

    @cached_property
    def _columns(self) -> list[tuple[str, str, bool, dict[str, str]]]:
        """Context, title, whether it holds pictures, and addresses by label."""
        found: list[tuple[str, str, bool, dict[str, str]]] = []
        files = self._embedding.origin.get("files", ()) if self._folder else ()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PhcleWarning)
            for source in files:
                # The table may be gone, or cannot be read any more.
                with suppress(PhcleError, OSError, KeyError, TypeError):
                    found += self._columns_of(source)
        return found

    def _columns_of(
        self, source: Any
    ) -> Iterator[tuple[str, str, bool, dict[str, str]]]:
        """Columns of addresses of one table, if it is the one that was read."""
        assert self._folder is not None
        path = self._folder / Path(str(source["file"])).name
        with path.open("rb") as content:
            if file_digest(content, "sha256").hexdigest() != source["sha256"]:
                return
        table = open_table(path)
        at = table.columns_of("attributes")["label"]
        spelled = self._embedding.called.spelled
        rows = [(spelled(cells[at]), cells) for _, cells in table.texts()]
        for i, title in enumerate(table.header):
            own = {
                label: cells[i].strip()
                for label, cells in rows
                if label is not None and cells[i].strip()
            }
            for pattern in (PICTURE, LINK):
                n = sum(pattern.fullmatch(x) is not None for x in own.values())
                if n and n >= MOSTLY * len(own):
                    yield str(source["name"]), title, pattern is PICTURE, own

    def of(
        self, label: str, source_of: Callable[[int, Path], str | None]
    ) -> dict[str, Any]:
        """Say which pictures and links a label has.

        Parameters
        ----------
        label : str
            The label's id.
        source_of : callable
            Gives the address of a picture by its number and file, or None to hide it.

        Returns
        -------
        dict
            Context, column and address of each.
        """
        pictures = [
            {"context": context, "column": title, "src": source}
            for i, (context, title, file) in enumerate(self.pictures_of(label))
            if (source := source_of(i, file)) is not None
        ]
        links = [
            {"context": context, "column": title, "href": own[label]}
            for context, title, is_picture, own in self._columns
            if not is_picture and LINK.fullmatch(own.get(label, ""))
        ]
        return {"pictures": pictures, "links": links}

    def pictures_of(self, label: str) -> list[tuple[str, str, Path]]:
        """List the pictures of a label that lie in the folder of the embedding.

        Parameters
        ----------
        label : str
            The label's id.

        Returns
        -------
        list of (str, str, Path)
            Context, column and file.
        """
        found = []
        for context, title, is_picture, own in self._columns:
            if not is_picture or not PICTURE.fullmatch(own.get(label, "")):
                continue
            assert self._folder is not None
            # Links out of the folder are followed first, so that they lead nowhere.
            file = Path(os.path.realpath(self._folder / own[label]))
            if file.is_relative_to(self._folder) and file.is_file():
                found.append((context, title, file))
        return found
