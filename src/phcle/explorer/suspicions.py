"""Known cells that are unlikely, with the names of their labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from phcle.answers import Answer, SuspiciousCell
from phcle.embedding.suspicious import suspicious_cells
from phcle.explorer.opened_embedding import Opened


@dataclass(frozen=True)
class NamedSuspicion(SuspiciousCell):
    """A suspicious cell with the name of its label.

    Attributes
    ----------
    name : str
        Readable name of the label.
    """

    name: str


@dataclass(frozen=True)
class Suspicions(Answer):
    """Known cells that are unlikely.

    Attributes
    ----------
    message : str
        Why nothing can be said, or nothing.
    cells : tuple of NamedSuspicion
        The cells, the most suspicious first.
    """

    message: str
    cells: tuple[NamedSuspicion, ...]


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
    embedding = opened.embedding
    if not embedding.predictions:
        return Suspicions("The fit predicted no gaps, so no cell can be judged.", ())
    name_of = embedding.name_of
    found = suspicious_cells(embedding)
    return Suspicions(
        "", tuple(NamedSuspicion(**vars(x), name=name_of(x.label)) for x in found)
    )
