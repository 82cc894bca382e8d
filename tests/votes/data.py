"""VotesContext: how many people say that a label has a property, or lacks it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phcle.contexts.base.context import Context
from phcle.contexts.labels import as_labels
from phcle.contexts.matrices import as_csr, check_axes, take_rows
from phcle.contexts.terms import UNITS
from phcle.errors import ContextError


@dataclass(frozen=True, eq=False)
class VotesContext(Context):
    """Votes of labels (rows) on properties (columns): 2 is twice yes, −1 is one no."""

    name: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    votes: sp.csr_array

    kind = "votes"
    order = 2  # after relational (0) and descriptive (1) contexts

    def __post_init__(self):
        object.__setattr__(self, "votes", as_csr(self.votes, self.name))
        check_axes(self.name, self.labels, self.columns, self.votes.shape)
        if not np.isfinite(self.votes.data).all():
            raise ContextError(f"context {self.name!r}: votes must be finite.")

    @classmethod
    def from_rows(cls, rows, *, name="votes"):
        """Rows of (label, property, vote)."""
        names, properties, numbers = zip(*rows, strict=True)
        labels = as_labels(dict.fromkeys(names), f"context {name!r}")
        columns = as_labels(dict.fromkeys(properties), f"columns of {name!r}")
        at = [labels.index(x) for x in names], [columns.index(x) for x in properties]
        shape = len(labels), len(columns)
        return cls(name, labels, columns, sp.coo_array((numbers, at), shape).tocsr())

    @property
    def has_values(self):
        return np.diff(self.votes.indptr) > 0

    @property
    def n_stored(self):
        return self.votes.nnz

    def fingerprint_arrays(self):
        return [self.votes]

    def rows_for(self, labels):
        return take_rows(self.votes, [self.index.get(x, -1) for x in labels])

    def in_fit(self, labels):
        from votes.fitted import FittedVotes

        votes = self.rows_for(labels)
        n_known = np.count_nonzero(np.diff(votes.indptr))
        scale = UNITS * n_known / abs(votes).sum()
        return FittedVotes(
            name=self.name,
            columns=self.columns,
            data=self,
            scale=float(scale),
            votes=votes * scale,
        )
