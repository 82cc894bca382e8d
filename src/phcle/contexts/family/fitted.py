"""FittedFamily: a tree or graph of relatives inside a fit or an embedding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import to_device

from phcle.arrays import AnyFloats, Flags, Ints
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.base.context import Context
from phcle.contexts.base.fitted_context import FittedContext
from phcle.contexts.family.centre import (
    CentreTerm,
    NodeUpdate,
    factorise_nodes,
    teaches,
)
from phcle.contexts.family.kinship import (
    FamilyContext,
    GraphKinship,
    TreeKinship,
    unpack_kinship,
)
from phcle.contexts.labels import index_of
from phcle.contexts.reasons import AT, HAS, LACKS, Codes, Pair, Reasons
from phcle.contexts.relational.data import RelationalContext
from phcle.contexts.relational.taxonomy import Hierarchy
from phcle.contexts.terms import Penalties, StartTarget
from phcle.errors import ContextError, some
from phcle.files.container import TensorStore

SHARED = 0.2
"""A relative is one of both labels if its share in the centre of one is at least this
part of its share in the other. Siblings have about equal shares of their relatives; one
level between them divides a share by ten or more."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedFamily(FittedContext):
    """Centres c = S P that labels are pulled to. The factor is P, one row per node.

    The attributes of every kind are documented in `FittedContext`.

    Attributes
    ----------
    places : csr_array of shape (labels, nodes)
        S over the labels of a problem; empty after the fit.
    informed : array of bool of shape (labels,)
        Labels of a problem that another context knows; empty after the fit.
    teachers : tuple of str
        Labels of the fit whose vectors the nodes are solved from; see `teaches`.
    """

    places: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)))
    informed: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    teachers: tuple[str, ...] = ()

    kind = "family"
    updated_after_labels = True
    turns_with_labels = True
    data: FamilyContext

    @property
    def given_name(self) -> str:
        return self.data.given_name

    @property
    def observed(self) -> Flags:
        return np.asarray(np.diff(self.places.indptr) > 0)

    @property
    def informs(self) -> Flags:
        return np.zeros(self.places.shape[0], dtype=bool)

    @property
    def entries(self) -> sp.csr_array:
        return sp.csr_array(self.places.shape)  # centres are no entries of rows

    def beside(self, informed: Flags) -> FittedFamily:
        return replace(self, informed=informed)

    def uninformed_error(self, labels: Sequence[str]) -> ContextError | None:
        if not self.informed.any():
            return ContextError(
                f"context {self.name!r}: with role='family', relatives share what "
                "other contexts tell about them, and no other context knows any "
                "label; use role='counts'."
            )
        direct = np.asarray(self.places[self.informed].sum(axis=0)).ravel() > 0
        taught = self.data.kinship.taught(self.columns, direct)
        hangs_on = self.places @ taught.astype(np.float64)
        lost = ~self.informed & self.observed & (hangs_on == 0)
        if lost.any():
            names = [labels[i] for i in np.flatnonzero(lost).tolist()]
            return ContextError(
                f"context {self.name!r}: nothing is known about {some(names)}, nor "
                "about any label of their families, so they would all get one vector; "
                "use role='both' or 'counts', or leave them out."
            )
        return None

    @cached_property
    def _bonds(self) -> sp.csr_array:
        return self.data.kinship.bonds(self.columns)

    def take(self, rows: Ints) -> FittedFamily:
        return replace(self, places=self.places[rows], informed=self.informed[rows])

    def fingerprint_arrays(self) -> list[Any]:
        return [self.places, self._bonds]

    def term_weight(self, weight: float, lam: Penalties) -> float:
        return weight * lam.ridge

    def label_term(
        self, backend: Backend, blocks: Sequence[Block], lam: Penalties
    ) -> CentreTerm:
        return CentreTerm(backend, self.places, blocks)

    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> NodeUpdate:
        return NodeUpdate(backend, self.places, self.informed, self._bonds, lam)

    def factor_penalties(
        self, xp: Any, factor: Array, lam: Penalties
    ) -> Mapping[str, float]:
        P = np.asarray(to_device(factor, "cpu"), np.float64)
        square = float((P * (self._bonds @ P)).sum())
        return {"family": 0.5 * lam.ridge * lam.stiffness * square}

    def factor_ridge(self, lam: Penalties) -> float:
        return 0.0  # it turns with W: see `NodeUpdate.label_grams`

    def rebalanced(self, xp: Any, factor: Array, change: Array, undo: Array) -> Array:
        return xp.matmul(factor, change)

    def start_target(
        self, backend: Backend, weight: float, lam: Penalties
    ) -> _NoTarget:
        return _NoTarget(backend, self.places.shape)

    def loss(self, W: AnyFloats, factor: AnyFloats, lam: Penalties) -> float:
        centres = self.places @ np.asarray(factor, np.float64)
        return float((centres * (0.5 * centres - W)).sum())

    def learned(
        self, labels: Sequence[str], weight: float, factor: AnyFloats
    ) -> FittedFamily:
        placed = self.observed
        data = replace(
            self.data,
            labels=tuple(x for x, is_in in zip(labels, placed, strict=True) if is_in),
            columns=self.columns,
        )
        teachers = np.flatnonzero(teaches(self.places, self.informed, weight))
        return replace(
            self,
            weight=weight,
            factor=factor,
            data=data,
            places=sp.csr_array((0, 0)),
            informed=np.zeros(0, dtype=bool),
            teachers=self.teachers or tuple(labels[i] for i in teachers.tolist()),
        )

    def pull(self, label: str, vector: AnyFloats, lam: Penalties) -> AnyFloats:
        place = self.data.kinship.places([label], self.columns)
        return np.asarray(self.term_weight(self.weight, lam) * place.toarray()[0])

    def standing(self, label: str) -> Codes:
        place = self.data.kinship.places([label], self.columns).toarray()[0]
        return np.where(place > 0, HAS, LACKS).astype(np.int8)

    @property
    def verbs(self) -> tuple[str, str]:
        is_tree = self.hierarchy is not None
        return ("are below", "is below") if is_tree else ("are near", "is near")

    def reasons(self, pair: Pair) -> Reasons:
        """Parts of named relatives, and of what the family returns of the labels.

        The nodes are solved from the teachers' vectors, so a centre is a weighted sum
        of them. A teacher is a relative of itself: this is its own data. If the
        embedding lacks teachers, as that of folded-in labels alone, nodes are named.
        """
        vectors = pair.vectors_of(self.teachers)
        if vectors is None:
            return super().reasons(pair)
        hang = self.data.kinship.places(pair.labels, self.columns)
        shares = self._shares(hang, pair.lam)
        weight = self.term_weight(self.weight, pair.lam) / 2
        parts = weight * shares * (pair.vectors[::-1] @ vectors.T)  # (2, teachers)
        own = np.zeros(2)
        is_shared = shares.min(axis=0) >= SHARED * shares.max(axis=0)
        groups = np.where(is_shared, AT["relatives_of_both"], AT["relatives_of_one"])
        for i, label in enumerate(pair.labels):
            if label in self._teacher_index:
                at = self._teacher_index[label]
                own[i], parts[i, at] = parts[i, at], 0.0
                groups[at] = AT["each_other"]
        found = np.append(parts.sum(axis=0), own)
        return Reasons(
            (*self.teachers, *pair.labels),
            found,
            np.append(groups, [AT["own_data"]] * 2),
            found,
            np.zeros(len(found), dtype=bool),
        )

    def _shares(self, hang: sp.csr_array, lam: Penalties) -> AnyFloats:
        """How much of each teacher's vector is in the centres of labels."""
        if not (self.weight and self.teachers):
            return np.zeros((hang.shape[0], len(self.teachers)))
        places, solver = self._teaching(lam.stiffness)
        return np.asarray(self.weight * (places @ solver.solve(hang.toarray().T)).T)

    @cached_property
    def _teacher_index(self) -> Mapping[str, int]:
        return index_of(self.teachers)

    @cached_property
    def _teaching(self) -> Callable[[float], tuple[sp.csr_array, Any]]:
        """Places of the teachers and the factorised node solve, for a stiffness."""

        @lru_cache(maxsize=1)
        def prepare(stiffness: float) -> tuple[sp.csr_array, Any]:
            places = self.data.kinship.places(self.teachers, self.columns)
            return places, factorise_nodes(places, self._bonds, self.weight, stiffness)

        return prepare

    @property
    def hierarchy(self) -> Hierarchy | None:
        kinship = self.data.kinship
        return kinship.hierarchy if isinstance(kinship, TreeKinship) else None

    @property
    def file_kinds(self) -> tuple[str, ...]:
        return ("edges",) if self.hierarchy is None else ("hierarchy", "skos", "owl")

    def for_new_labels(
        self, context: Context | None, labels: Sequence[str]
    ) -> FittedFamily:
        kinship = self.data.kinship
        if context is not None:
            new = context.relatives() or self._linked_rows(context)
            if type(new) is not type(kinship):
                raise self._other_kind()
            kinship = kinship.extended(new, name=self.name)
        places = kinship.places(labels, self.columns)
        data = replace(self.data, labels=tuple(labels), kinship=kinship)
        return replace(
            self,
            data=data,
            places=places,
            informed=np.zeros(len(labels), dtype=bool),
        )

    def _linked_rows(self, context: Context) -> GraphKinship | None:
        """The graph of new labels alone, if they are counted with known ones."""
        known = {*self.data.kinship.all_nodes, *context.labels}
        if not isinstance(context, RelationalContext) or not known.issuperset(
            context.columns
        ):
            return None
        return GraphKinship.of_rows(
            context.labels, context.columns, context.counts, context.triples
        )

    def joined(self, later: FittedFamily) -> FittedFamily:
        labels = (*self.data.labels, *later.data.labels)
        return replace(
            self, data=replace(self.data, labels=labels, kinship=later.data.kinship)
        )

    def pack(self, store: TensorStore) -> dict[str, Any]:
        store.put_names("labels", self.data.labels)
        store.put_names("teachers", self.teachers)
        shape = self.data.kinship.pack(store)
        return {"kinship": shape, "given_name": self.data.given_name}

    @classmethod
    def unpack(cls, packed: Mapping[str, Any], store: TensorStore) -> FittedFamily:
        columns = store.names("columns")
        data = FamilyContext(
            packed["name"],
            store.names("labels"),
            columns,
            unpack_kinship(packed["kinship"], store),
            packed["given_name"],
        )
        return cls(
            name=packed["name"],
            columns=columns,
            data=data,
            weight=packed["weight"],
            factor=store["factor"],
            teachers=store.names("teachers"),
        )

    def check(self) -> None:
        where = f"context {self.name!r}"
        self.data.kinship.check(self.name)
        known = set(self.data.kinship.all_nodes)
        unknown = [x for x in (*self.columns, *self.teachers) if x not in known]
        if unknown:
            raise ContextError(f"{where} has no node {unknown[0]!r}")
        if not 0 <= self.weight <= 1:
            raise ContextError(f"the weight of {where} must be from 0 to 1")
        if not isinstance(self.data.given_name, str):
            raise ContextError(f"{where} does not say which context it comes from")


class _NoTarget(StartTarget):
    """Nodes start at zero: the first update solves them from W."""

    weight = 0.0

    def __init__(self, backend: Backend, shape: tuple[int, int]) -> None:
        self.backend, self.shape = backend, shape

    def product(self, V: Array) -> Array:
        return self.backend.asarray(np.zeros((self.shape[0], V.shape[1])))

    def transposed(self, W: Array) -> Array:
        return self.backend.asarray(np.zeros((self.shape[1], W.shape[1])))
