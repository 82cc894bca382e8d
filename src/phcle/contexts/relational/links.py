"""Links between labels, each with its relation and direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats, Ints
from phcle.contexts.labels import as_names, index_of, positions_of
from phcle.contexts.matrices import LARGEST
from phcle.errors import FileError
from phcle.files.container import TensorStore


@dataclass(frozen=True, eq=False)
class LabelLinks:
    """Links between labels, such as the triples of a knowledge graph.

    Parameters
    ----------
    names : tuple of str
        Labels at the ends.
    relations : tuple of str
        Names of the relations; the edges of a plain graph have one without a name.
    source, target : array of int of shape (links,)
        Positions of the ends in `names`: head and tail of a triple.
    relation : array of int of shape (links,)
        Positions in `relations`.
    weight : array of shape (links,)
        Weights, zero or more.
    """

    names: tuple[str, ...]
    relations: tuple[str, ...]
    source: Ints
    target: Ints
    relation: Ints
    weight: Floats

    @classmethod
    def between(
        cls, labels: Sequence[str], columns: Sequence[str], counts: sp.csr_array
    ) -> LabelLinks | None:
        """Take counts of labels with labels as links of one relation.

        Parameters
        ----------
        labels : sequence of str
            Names of the rows.
        columns : sequence of str
            Names of the columns.
        counts : csr_array of shape (labels, columns)
            The counts.

        Returns
        -------
        LabelLinks or None
            The links; None if a column is no label.
        """
        at = positions_of(columns, index_of(labels))
        if (at < 0).any():
            return None
        found = sp.coo_array(counts)
        source, column = (axis.astype(np.int64) for axis in found.coords)
        zeros = np.zeros(len(source), dtype=np.int64)
        weight = found.data.astype(np.float64)
        return cls(as_names(labels), ("",), source, at[column], zeros, weight)

    def renamed(self, spellings: Mapping[str, str]) -> LabelLinks:
        """Spell labels in another way; those that become one share their links.

        Parameters
        ----------
        spellings : mapping from str to str
            New spellings by old ones.

        Returns
        -------
        LabelLinks
            The same links.
        """
        spelled = [spellings.get(name, name) for name in self.names]
        names = tuple(dict.fromkeys(spelled))
        at = positions_of(spelled, index_of(names))
        source, target = at[self.source], at[self.target]
        return replace(self, names=names, source=source, target=target)

    def pack(self, store: TensorStore) -> None:
        """Store names and arrays.

        Parameters
        ----------
        store : TensorStore
            Where to store them.
        """
        store.put_names("links/names", self.names)
        store.put_names("links/relations", self.relations)
        store["links/ends"] = np.stack([self.source, self.target, self.relation])
        store["links/weight"] = self.weight

    @classmethod
    def unpack(cls, store: TensorStore) -> LabelLinks | None:
        """Read and check what `pack` stored.

        Parameters
        ----------
        store : TensorStore
            Where it is stored. Files of plain graphs have no such links.

        Returns
        -------
        LabelLinks or None
            The links, if there are any.
        """
        if "links/ends" not in store:
            return None
        names, relations = store.names("links/names"), store.names("links/relations")
        ends, weight = store["links/ends"], store["links/weight"]
        most = np.array([[len(names)], [len(names)], [len(relations)]])
        if not (
            ends.dtype == np.int64
            and ends.shape == (3, weight.size)
            and weight.dtype == np.float64
            and weight.ndim == 1
            and ((ends >= 0) & (ends < most)).all()
            and ((weight >= 0) & (weight <= LARGEST)).all()
        ):
            raise FileError("links are not links between the labels that they name")
        source, target, relation = ends
        return cls(names, relations, source, target, relation, weight)


def joined(first: LabelLinks | None, later: LabelLinks | None) -> LabelLinks | None:
    """Add the links of labels that came later.

    Parameters
    ----------
    first, later : LabelLinks or None
        Links; None for a graph whose edges are of one kind.

    Returns
    -------
    LabelLinks or None
        All links; None if the first ones are of one kind.
    """
    if first is None or later is None:
        return first
    names = tuple(dict.fromkeys((*first.names, *later.names)))
    relations = tuple(dict.fromkeys((*first.relations, *later.relations)))
    at = positions_of(later.names, index_of(names))
    kinds = positions_of(later.relations, index_of(relations))
    return LabelLinks(
        names,
        relations,
        np.concatenate([first.source, at[later.source]]),
        np.concatenate([first.target, at[later.target]]),
        np.concatenate([first.relation, kinds[later.relation]]),
        np.concatenate([first.weight, later.weight]),
    )
