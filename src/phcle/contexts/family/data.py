"""FamilyContext: a tree or graph of relatives, as the place that labels start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.base.context import Context
from phcle.contexts.family.kinship import Kinship

if TYPE_CHECKING:
    from phcle.contexts.family.fitted import FittedFamily


@dataclass(frozen=True, eq=False)
class FamilyContext(Context):
    """Relatives of labels. The vectors of relatives are pulled together.

    It is made at the fit from a `RelationalContext` whose role is "family" or "both".

    Parameters
    ----------
    name : str
        Name of the context.
    labels : tuple of str
        Labels that have relatives.
    columns : tuple of str
        Nodes that the fit gives vectors to; empty before the fit.
    kinship : TreeKinship or GraphKinship
        The tree or graph.
    given_name : str
        Name of the context that it was made from.
    """

    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    kinship: Kinship
    given_name: str

    kind = "family"
    order = 0

    @property
    def has_values(self) -> npt.NDArray[np.bool_]:
        """Every label has its place."""
        return np.ones(len(self.labels), dtype=bool)

    @property
    def n_stored(self) -> int:
        """How many labels have a place."""
        return len(self.labels)

    def fingerprint_arrays(self) -> list[Any]:
        """All numbers, for a fingerprint of the data."""
        return self.kinship.arrays

    @property
    def cell_columns(self) -> tuple[str, ...]:
        """The nodes on which labels hang."""
        return self.kinship.nodes_for(self.labels)

    def stored_cells(self) -> tuple[Any, Any, Any]:
        """Where each label hangs."""
        places = sp.coo_array(self.kinship.places(self.labels, self.cell_columns))
        rows, columns = (axis.astype(np.int64) for axis in places.coords)
        return rows, columns, places.data

    def relatives(self) -> Kinship:
        """The tree or graph."""
        return self.kinship

    def in_fit(self, labels: Sequence[str]) -> FittedFamily:
        """Find the nodes that these labels need, and where the labels hang."""
        from phcle.contexts.family.fitted import FittedFamily

        nodes = self.kinship.nodes_for(labels)
        return FittedFamily(
            name=self.name,
            columns=nodes,
            data=self,
            places=self.kinship.places(labels, nodes),
            informed=np.ones(len(labels), dtype=bool),
        )
