"""FittedVotes: votes inside a fit or an embedding."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from phcle.contexts.base.fitted_context import FittedContext, warn_unknown_columns
from phcle.contexts.column_update import ColumnUpdate
from phcle.contexts.matrices import check_number, take_rows
from phcle.contexts.terms import StartTarget
from phcle.errors import ContextError
from votes.data import VotesContext
from votes.loss import VotesTerm


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedVotes(FittedContext):
    """Scaled votes; the factor has one vector per property."""

    scale: float
    votes: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)))

    kind = "votes"
    updated_after_labels = True

    # ---- for the solver: the votes over the labels of a problem ----

    @property
    def observed(self):
        return np.diff(self.votes.indptr) > 0

    @property
    def entries(self):
        return self.votes

    def take(self, rows):
        return replace(self, votes=self.votes[rows])

    def fingerprint_arrays(self):
        return [self.votes]

    def term_weight(self, weight, lam):
        return weight

    def label_term(self, backend, blocks, lam):
        return VotesTerm(backend, self.votes, blocks)

    def factor_update(self, backend, dim, lam):
        return ColumnUpdate(
            backend,
            self.votes,
            lambda turned, blocks: VotesTerm(backend, turned, blocks),
            lam.context_ridge,
            dim,
        )

    def factor_penalties(self, xp, factor, lam):
        square = float(xp.sum(factor * factor, dtype=xp.float64))
        return {"context_ridge": 0.5 * lam.context_ridge * square}

    def factor_ridge(self, lam):
        return lam.context_ridge

    def start_target(self, backend, weight, lam):
        return VotesTarget(backend, self.votes, float(np.sqrt(weight)))

    def loss(self, W, factor, lam):
        return float(self._losses(W @ factor.T).sum())

    def _losses(self, x):
        votes = self.votes.toarray()
        return np.abs(votes) * np.logaddexp(0.0, -np.sign(votes) * x)

    def learned(self, labels, weight, factor):
        return replace(self, weight=weight, factor=factor, votes=sp.csr_array((0, 0)))

    # ---- for the embedding: queries, later labels, files ----

    def pull(self, label, vector, lam):
        if self.data is None or label not in self.data.index:
            return np.zeros(len(self.columns))
        votes = self.data.rows_for([label]).toarray()[0] * self.scale
        x = self.factor @ vector
        return self.weight * votes / (1 + np.exp(np.sign(votes) * x))

    def standing(self, label):
        if not self.knows(label):
            return np.zeros(len(self.columns), np.int8)
        return np.sign(self.data.rows_for([label]).toarray()[0]).astype(np.int8)

    @property
    def file_kinds(self):
        return ("votes",)

    def for_new_labels(self, context, labels):
        votes, data = sp.csr_array((len(labels), len(self.columns))), None
        if context is not None:
            if not isinstance(context, VotesContext):
                raise self._other_kind()
            unknown = [x for x in context.columns if x not in self.columns]
            warn_unknown_columns(self.name, unknown)
            place = {column: i for i, column in enumerate(context.columns)}
            turned = sp.csr_array(context.rows_for(labels).T)
            at = [place.get(column, -1) for column in self.columns]
            votes = sp.csr_array(take_rows(turned, at).T)
            data = VotesContext(self.name, tuple(labels), self.columns, votes)
        return replace(self, data=data, votes=votes * self.scale)

    def joined(self, later):
        if self.data is None or later.data is None:
            return later if self.data is None else self
        labels = (*self.data.labels, *later.data.labels)
        votes = sp.csr_array(sp.vstack([self.data.votes, later.data.votes]))
        return replace(self, data=VotesContext(self.name, labels, self.columns, votes))

    def pack(self, store):
        if self.data is not None:
            store.put_names("labels", self.data.labels)
            store.put_sparse("votes", self.data.votes)
        return {"scale": self.scale}

    @classmethod
    def unpack(cls, packed, store):
        columns, data = store.names("columns"), None
        if packed["has_data"]:
            votes = store.sparse("votes", len(columns))
            labels = store.names("labels")
            data = VotesContext(packed["name"], labels, columns, votes)
        return cls(
            name=packed["name"],
            columns=columns,
            data=data,
            weight=packed["weight"],
            factor=store["factor"],
            scale=packed["scale"],
        )

    def check(self):
        check_number(self.scale, f"the scale of context {self.name!r}")
        if not self.scale > 0:
            raise ContextError(f"the scale of {self.name!r} must be above zero")


class VotesTarget(StartTarget):
    """At the start, x is 2 for a yes and −2 for a no."""

    def __init__(self, backend, votes, weight):
        self.backend, self.weight = backend, weight
        signs = sp.csr_array(2.0 * votes.sign())
        self.signs, self.turned = backend.sparse(signs), backend.sparse(signs.T.tocsr())

    def product(self, V):
        return self.backend.sparse_product(self.signs, V)

    def transposed(self, W):
        return self.backend.sparse_product(self.turned, W)
