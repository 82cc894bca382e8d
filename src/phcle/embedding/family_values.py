"""What the family of a label says about its cells.

It says the mean of a number (the geometric mean of one on a log scale), or the most
common value, of the nearest group of a hierarchy that knows any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.arrays import Floats, Ints
from phcle.contexts.family_means import TIE, FamilyMeans, Groups
from phcle.contexts.labels import index_of

if TYPE_CHECKING:
    from phcle.contexts.base.predicting_context import PredictingContext
    from phcle.contexts.descriptive.fields import Field
    from phcle.embedding.label_embedding import LabelEmbedding


class FamilyValues:
    """What the families of an embedding's labels say about the fields of a context.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding.
    context : PredictingContext
        One of its contexts.
    groups : Groups, optional
        What `FamilyValues.groups_of` returns, for use with several contexts.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        context: PredictingContext,
        groups: Groups | None = None,
    ) -> None:
        groups = self.groups_of(embedding) if groups is None else groups
        self.is_log = context.is_log
        self.means: FamilyMeans | None = None
        if groups.steps and context.data is not None:
            position = index_of(embedding.labels)
            inside = [x for x in context.data.labels if x in position]
            matrix = context.data.matrix.with_logs(context.is_log)
            if len(inside) < len(context.data.labels):
                matrix = matrix.take([context.data.index[x] for x in inside])
            rows = np.array([position[x] for x in inside], dtype=np.int64)
            self.means = FamilyMeans(matrix, groups, rows)

    @staticmethod
    def groups_of(embedding: LabelEmbedding) -> Groups:
        """Find the groups of all labels of an embedding.

        Parameters
        ----------
        embedding : LabelEmbedding
            An embedding.

        Returns
        -------
        Groups
            The groups of all its hierarchies; none if it has no hierarchy.
        """
        return Groups.of_contexts(embedding.labels, embedding.contexts)

    def at(
        self, labels: Ints, fields: Sequence[Field]
    ) -> list[Sequence[float | bool | str | None]]:
        """Say what the families of some labels say.

        Parameters
        ----------
        labels : array of int
            Positions of the labels in the embedding.
        fields : sequence of Field
            The fields asked for.

        Returns
        -------
        list of sequence
            For each field the values of all labels; None where the family knows none.
        """
        if self.means is None:
            return [[None] * len(labels) for _ in fields]
        found = self.means.at(labels)
        return [self._read(field, found[:, field.at]) for field in fields]

    def _read(self, field: Field, means: Floats) -> list[float | bool | str | None]:
        """One value for each label from its means."""
        assert self.means is not None
        at = field.at
        is_known = ~np.isnan(means[:, 0])
        if field.kind == "number":
            numbers = np.exp(means[:, 0]) if self.is_log[at.start] else means[:, 0]
            found: list[Any] = numbers.tolist()
        else:
            means = means + TIE * (self.means.overall[at] - means)
            if field.kind == "category":
                best = np.nan_to_num(means, nan=-1.0).argmax(axis=1)
                found = [field.values[i] for i in best.tolist()]
            else:
                found = (means[:, 0] > 0.5).tolist()
        return [x if known else None for x, known in zip(found, is_known, strict=True)]
