"""Known cells that are unlikely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from phcle.answers import Answer, Cell
from phcle.embedding.suspicious import suspicious_cells
from phcle.explorer.opened_embedding import Opened


@dataclass(frozen=True)
class Suspicions(Answer):
    """Known cells that are unlikely.

    Attributes
    ----------
    message : str
        Why nothing can be said, or nothing.
    cells : tuple of Cell
        The cells, the most suspicious first.
    """

    message: str
    cells: tuple[Cell, ...]


@lru_cache(maxsize=2)  # the embedding does not change
def suspicions(opened: Opened) -> Suspicions:
    """Look up the known cells that are unlikely.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    Suspicions
        The cells; none if the fit predicted no gaps.
    """
    if not opened.embedding.predictions:
        return Suspicions("The fit predicted no gaps, so no cell can be judged.", ())
    return Suspicions("", tuple(suspicious_cells(opened.embedding)))
