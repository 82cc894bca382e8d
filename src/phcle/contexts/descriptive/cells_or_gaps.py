"""Rows or columns with gaps, as sums over their known cells or over their gaps.

A sum over known cells is a sum over all cells less one over the gaps. The sum over all
cells comes from a Gram matrix that all rows share, so a row with few gaps costs little
more than a complete one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Backend
from phcle.backends.row_blocks import PaddedRows, pad_rows
from phcle.contexts.matrices import csr_with_zeros, keep_entries

__all__ = ["CellsOrGaps"]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

AT_ONCE = 10_000_000
"""Cells of which gaps are looked for at once: 10 MB."""


@dataclass(frozen=True, eq=False)
class CellsOrGaps:
    """For each line, a row or a column, its known cells, or its gaps if they are fewer.

    Attributes
    ----------
    by_gaps : array of bool of shape (lines,)
        Whether a line has its gaps here.
    cells : csr_array of shape (lines, across)
        Known values of the lines without a mark; zeros at the gaps of the others.
    """

    by_gaps: Flags
    cells: sp.csr_array

    @classmethod
    def of(cls, known: sp.csr_array, places: Ints) -> CellsOrGaps:
        """Choose what is less for every line.

        Parameters
        ----------
        known : csr_array of shape (lines, across)
            Known values; zeros are stored.
        places : array of int
            Where a line without gaps would have its cells.

        Returns
        -------
        CellsOrGaps
            The lines.
        """
        n_known = np.diff(known.indptr)
        by_gaps = len(places) - n_known < n_known
        lines, gaps = _gaps(known, np.flatnonzero(by_gaps), places)
        cells = sp.coo_array(keep_entries(known, ~by_gaps[:, None]))
        return cls(
            by_gaps,
            csr_with_zeros(
                np.concatenate([cells.coords[0], lines]),
                np.concatenate([cells.coords[1], gaps]),
                np.concatenate([cells.data, np.zeros(len(gaps))]),
                known.shape,
            ),
        )

    def pad(self, lines: Ints, backend: Backend) -> PaddedRows | None:
        """Pad the cells of some lines to a common width.

        Parameters
        ----------
        lines : array of int
            Positions of the lines, ascending.
        backend : Backend
            Where the result is stored.

        Returns
        -------
        PaddedRows or None
            Its `known` is −1 at a gap. None if the lines have no cells.
        """
        padded = pad_rows(self.cells, lines, backend)
        if padded is None:
            return None
        signs = backend.asarray(np.where(self.by_gaps[lines], -1.0, 1.0))
        return replace(padded, known=signs[:, None] * padded.known)


def _gaps(known: sp.csr_array, lines: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Line and position of every gap of some lines."""
    place_of = np.zeros(known.shape[1], dtype=np.int64)
    place_of[places] = np.arange(len(places))
    all_lines, all_gaps = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    height = max(1, AT_ONCE // max(len(places), 1))
    for start in range(0, len(lines), height):
        some = lines[start : start + height]
        part = known[some]
        is_gap = np.ones((len(some), len(places)), dtype=bool)
        at = np.repeat(np.arange(len(some)), np.diff(part.indptr))
        is_gap[at, place_of[part.indices]] = False
        line, place = np.nonzero(is_gap)
        all_lines.append(some[line])
        all_gaps.append(places[place])
    return np.concatenate(all_lines), np.concatenate(all_gaps)
