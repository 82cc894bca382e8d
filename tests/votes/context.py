"""VotesContext: how many people say that a label has a property, or lacks it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from phcle.contexts.labels import positions_of
from phcle.contexts.matrices import take_columns, take_rows
from phcle.contexts.protocol import UNITS, Context, sparse_target
from phcle.errors import ContextError
from votes.term import VotesTerm


@dataclass(frozen=True, eq=False)
class VotesContext(Context):
    """Votes of labels (rows) on properties (columns): 2 is twice yes, −1 is one no."""

    votes: sp.csr_array
    scale: float = field(default=1.0, kw_only=True)

    kind = "votes"
    order = 2  # after relational (0) and descriptive (1) contexts

    @property
    def cells(self):
        return self.votes

    # ---- in a fit: `rows` are the scaled votes over the labels of a problem ----

    def in_fit(self, labels):
        listed = [x for x in labels if x in self.index]
        votes = take_rows(self.votes, positions_of(listed, self.index))
        scale = UNITS * np.count_nonzero(np.diff(votes.indptr)) / abs(votes).sum()
        cut = self.changed(labels=tuple(listed), votes=votes, scale=float(scale))
        return cut.placed(labels)

    def placed(self, labels):
        rows = take_rows(self.votes, positions_of(labels, self.index))
        return self.changed(rows=rows * self.scale)

    def term(self, backend, entries, blocks, lam, *, is_turned=False):
        return VotesTerm(backend, entries, blocks)

    def target(self, backend, weight, lam):
        """At the start, x is 2 for a yes and −2 for a no."""
        signs = sp.csr_array(2.0 * self.rows.sign())
        return sparse_target(backend, signs, float(np.sqrt(weight)))

    # ---- in an embedding: queries, later labels, files ----

    def row(self, label):
        return take_rows(self.votes, [self.index.get(label, -1)]).toarray()[0]

    def pull(self, label, vector, lam):
        votes = self.row(label) * self.scale
        x = np.sign(votes) * (self.factor @ vector)
        return self.weight * votes / (1 + np.exp(x))

    def standing(self, label):
        return np.sign(self.row(label)).astype(np.int8)

    def for_new_labels(self, context, labels, names):
        new = self.changed(labels=(), votes=sp.csr_array((0, len(self.columns))))
        if context is not None:
            if not isinstance(context, VotesContext):
                raise self.other_kind_error()
            votes = take_columns(context.votes, self.columns_in(context))
            new = self.changed(labels=context.labels, votes=votes)
        return new.placed(labels)

    def _joined(self, later):
        return {"votes": sp.csr_array(sp.vstack([self.votes, later.votes]))}

    def pack(self, store):
        store.put_names("labels", self.labels)
        store.put_sparse("votes", self.votes)
        return {"scale": self.scale}

    @classmethod
    def _unpacked(cls, packed, store):
        votes = store.sparse("votes", len(store.names("columns")))
        return {"votes": votes, "scale": packed["scale"]}

    def check(self):
        if not 0 < self.scale < 1e30:
            raise ContextError(f"the scale of {self.name!r} must be above zero")
