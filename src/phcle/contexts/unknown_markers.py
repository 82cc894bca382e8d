"""Texts that mark a cell as unknown, in files and in cells given in Python.

They apply to cells of values only, never to labels: Namibia's code is NA.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from phcle.contexts.labels import is_missing

MARKERS = frozenset(
    [
        *("na", "n/a", "n.a.", "n.a", "n/k", "<na>", "#n/a", "#na", "nan", "-nan"),
        *("null", "(null)", "nil", "none", "\\n", "undefined", "unspecified"),
        *("-", "--", "---", "\u2013", "\u2014", "?", "??", "???", ".", "..", "..."),
        *("\u2026", "unknown", "unk", "not known", "not available", "not applicable"),
        *("k.a.", "k. a.", "unbekannt", "s.d.", "inconnu", "desconocido"),
        *("not specified", "no data", "no value", "missing", "tbd", "tba", "n.d."),
        *("#value!", "#ref!", "#div/0!", "#name?", "#null!", "#num!"),
    ]
)
"""What people and programs write for an unknown value, in lower case. A column of
categories may have `none` or `unknown` as a value: `keep_na` keeps them."""


@dataclass(frozen=True)
class UnknownMarkers:
    """Tells which cells are unknown.

    Attributes
    ----------
    na : tuple of str
        Further markers; case does not matter.
    keep_na : bool
        Take the usual markers for ordinary texts. Empty cells stay unknown.

    Examples
    --------
    >>> markers = UnknownMarkers(na=("-99",))
    >>> [markers.is_unknown(cell) for cell in ("", "N/A", "-99", None, "red", 0)]
    [True, True, True, True, False, False]
    """

    na: tuple[str, ...] = ()
    keep_na: bool = False

    def __post_init__(self) -> None:
        own = frozenset(text.strip().lower() for text in self.na)
        object.__setattr__(self, "_all", own if self.keep_na else own | MARKERS)

    def is_marker(self, cell: Any) -> bool:
        """Tell whether a cell holds a marker.

        Parameters
        ----------
        cell : object
            The cell.

        Returns
        -------
        bool
            False for empty cells.
        """
        texts: frozenset[str] = self._all  # type: ignore[attr-defined]
        if isinstance(cell, str):
            return cell.strip().lower() in texts
        # A number may be a marker, too: -99 in a frame is an integer.
        return bool(self.na) and isinstance(cell, (int, float)) and _text(cell) in texts

    def is_unknown(self, cell: Any) -> bool:
        """Tell whether a cell is empty or holds a marker.

        Parameters
        ----------
        cell : object
            The cell.

        Returns
        -------
        bool
            Whether its value is unknown.
        """
        return is_missing(cell) or self.is_marker(cell)

    def count(self, cells: Iterable[Any]) -> Counter[str]:
        """Count the markers among cells.

        Parameters
        ----------
        cells : iterable
            The cells.

        Returns
        -------
        Counter
            How often each marker occurs, as it is written.
        """
        return Counter(_text(cell) for cell in cells if self.is_marker(cell))


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
