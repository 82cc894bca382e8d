"""FittedRelational: a relational context inside a fit or an embedding."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.base.context import Context
from phcle.contexts.base.fitted_context import FittedContext, warn_unknown_columns
from phcle.contexts.column_update import ColumnUpdate
from phcle.contexts.labels import as_names, index_of, positions_of, same_names
from phcle.contexts.matrices import check_array, check_number, take_columns
from phcle.contexts.reasons import AT, HAS, LACKS, UNKNOWN, Codes, Pair, Reasons
from phcle.contexts.relational.data import RelationalContext
from phcle.contexts.relational.hierarchy import INSTEAD, HierarchyCounts
from phcle.contexts.relational.links import LabelLinks, joined
from phcle.contexts.relational.loss import (
    LogisticTerm,
    floor_on_device,
    relational_loss,
    saturated_floor,
)
from phcle.contexts.relational.taxonomy import Hierarchy
from phcle.contexts.terms import UNITS, Penalties, StartTarget, Term
from phcle.errors import ContextError, PhcleWarning
from phcle.files.container import TensorStore

BELOW = 2.5
"""Pairs without a count start this far below no association, x = −log k. At 2.5, their
odds are a twelfth, so that the start already keeps unrelated labels apart."""

RECIPE = ("kind", "decay", "radius", "labels_are_fixed")
"""Settings of a hierarchy's counts that a file stores."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedRelational(FittedContext):
    """Scaled counts D, and the masses that give B = k · rows · columns / total.

    The factor is C, one vector per column. The attributes of every kind are documented
    in `FittedContext`.

    Attributes
    ----------
    column_mass : array of shape (columns,)
        Sum of D over the labels of the fit.
    total : float
        Sum of D over labels and columns.
    scale : float
        D is `scale` times the user's counts.
    counts : csr_array of shape (labels, columns)
        D over the labels of a problem; empty after the fit.
    """

    column_mass: Floats
    total: float
    scale: float
    counts: sp.csr_array = field(default_factory=lambda: sp.csr_array((0, 0)))
    """D over the labels of a problem."""

    kind = "relational"
    updated_after_labels = False
    data: RelationalContext | None

    @cached_property
    def row_mass(self) -> Floats:
        """Sum of D over the columns: zero for labels that the context does not know."""
        return np.asarray(self.counts.sum(axis=1), np.float64).ravel()

    @cached_property
    def _stored(self) -> dict[tuple[str, str], Any]:
        """D on each back end that has asked for it."""
        return {}

    def _on(self, backend: Backend) -> Any:
        """D where the back end pads blocks of rows; moved there once."""
        key = (f"{backend.name} {getattr(backend, 'device', 'cpu')}", backend.dtype)
        if key not in self._stored:
            self._stored[key] = backend.stored(self.counts)
        return self._stored[key]

    def _row_rate(self, lam: Penalties) -> Floats:
        """B = rate · column_massᵀ."""
        return lam.negatives * self.row_mass / self.total

    @property
    def observed(self) -> Flags:
        return np.asarray(np.diff(self.counts.indptr) > 0)

    @property
    def entries(self) -> sp.csr_array:
        return self.counts

    @property
    def n_dense_columns(self) -> int:
        return len(self.columns)

    @property
    def masses(self) -> tuple[AnyFloats, AnyFloats]:
        return self.row_mass, self.column_mass

    def take(self, rows: Ints) -> FittedRelational:
        return replace(self, counts=self.counts[rows])

    def fingerprint_arrays(self) -> list[Any]:
        return [self.counts]

    def term_weight(self, weight: float, lam: Penalties) -> float:
        return weight

    def label_term(
        self, backend: Backend, blocks: Sequence[Block], lam: Penalties
    ) -> Term:
        rate = self._row_rate(lam)
        return LogisticTerm(backend, self._on(backend), rate, self.column_mass, blocks)

    def factor_update(self, backend: Backend, dim: int, lam: Penalties) -> ColumnUpdate:
        rate = lam.negatives * self.column_mass / self.total
        return ColumnUpdate(
            backend,
            self._on(backend),
            lambda turned, blocks: LogisticTerm(
                backend, turned, rate, self.row_mass, blocks
            ),
            lam.context_ridge,
            dim,
        )

    def factor_penalties(
        self, xp: Any, factor: Array, lam: Penalties
    ) -> Mapping[str, float]:
        square = float(xp.sum(factor * factor, dtype=xp.float64))
        return {"context_ridge": 0.5 * lam.context_ridge * square}

    def factor_ridge(self, lam: Penalties) -> float:
        return lam.context_ridge

    def start_target(
        self, backend: Backend, weight: float, lam: Penalties
    ) -> _LogRatioTarget:
        # About the curvature of the logistic loss at an average pair.
        weight = float(np.sqrt(weight * UNITS / len(self.columns)))
        rate = self._row_rate(lam)
        counts = self._on(backend)
        return _LogRatioTarget(
            backend, counts, rate, self.column_mass, lam.negatives, weight
        )

    def loss(self, W: AnyFloats, factor: AnyFloats, lam: Penalties) -> float:
        rate = self._row_rate(lam)
        return relational_loss(self.counts, rate, self.column_mass, W, factor)

    def floor(self, lam: Penalties, backend: Backend | None = None) -> float:
        rate = self._row_rate(lam)
        if backend is not None and backend.is_accelerated:
            return floor_on_device(backend, self._on(backend), rate, self.column_mass)
        return saturated_floor(self.counts, rate, self.column_mass)

    def learned(
        self, labels: Sequence[str], weight: float, factor: AnyFloats
    ) -> FittedRelational:
        data = None if self.data is None else self.data.on_columns(self.columns, labels)
        none = sp.csr_array((0, 0))
        return replace(self, weight=weight, factor=factor, data=data, counts=none)

    @property
    def recipe(self) -> HierarchyCounts | None:
        """How a hierarchy was turned into the counts; None if they come from none."""
        return None if self.data is None else self.data.hierarchy

    def pull(self, label: str, vector: AnyFloats, lam: Penalties) -> AnyFloats:
        if self.data is None or not self.weight:
            return np.zeros(len(self.columns))
        counts = self.data.rows_for([label]).toarray()[0] * self.scale
        rate = lam.negatives * counts.sum() / self.total
        # Beyond 500, exp would overflow.
        x = np.clip(vector @ self.factor.T, -500, 500)
        expected = (counts + rate * self.column_mass) / (1 + np.exp(-x))
        return np.asarray(self.weight * (counts - expected))

    @cached_property
    def _is_general(self) -> Flags:
        """Columns that are nodes above most labels: no reason for anything."""
        nodes = self.specific_nodes
        if nodes is None:
            return np.zeros(len(self.columns), dtype=bool)
        return np.array([nodes.is_general(x) for x in self.columns], dtype=bool)

    def standing(self, label: str) -> Codes:
        if not self.knows(label):
            return np.full(len(self.columns), UNKNOWN, np.int8)
        assert self.data is not None
        counts = self.data.rows_for([label]).toarray()[0]
        return np.where(counts > 0, HAS, LACKS).astype(np.int8)

    @property
    def verbs(self) -> tuple[str, str]:
        if self.recipe is None:
            return "occur with", "occurs with"
        above = self.recipe.kind == "ancestors"
        return ("are below", "is below") if above else ("are near", "is near")

    def reasons(self, pair: Pair) -> Reasons:
        """Name first the most specific ancestors, then what both occur with most.

        The part of a count is what the vectors still lack, so that of a well-fitted one
        says little about how much both labels have of it. Their predictions do. Two
        labels that occur with each other are one reason, not two differences. General
        nodes are not named among what both have.
        """
        found = super().reasons(pair)
        rank = (pair.vectors @ self.factor.T).min(axis=0)
        position = index_of(self.columns)
        if self.recipe is None or self.recipe.kind != "ancestors":
            own = [position[label] for label in pair.labels if label in position]
            is_one = found.groups[own] == AT["one"]
            found.groups[own] = np.where(is_one, AT["together"], found.groups[own])
        top = rank.max(initial=0.0)
        for step, node in enumerate(reversed(self.shared_nodes(*pair.labels)), 1):
            if node in position:
                rank[position[node]] = top + step
        is_both = found.groups == AT["both"]
        unnamed = found.unnamed | (self._is_general & is_both)
        return replace(found, rank=rank, unnamed=unnamed)

    @property
    def hierarchy(self) -> Hierarchy | None:
        return None if self.recipe is None else self.recipe.hierarchy

    @property
    def file_kinds(self) -> tuple[str, ...]:
        if self.hierarchy is None:
            return ("edges", "annotations")
        return ("hierarchy", "skos", "owl")

    def for_new_labels(
        self, context: Context | None, labels: Sequence[str]
    ) -> FittedRelational:
        counts = sp.csr_array((len(labels), len(self.columns)))
        recipe = triples = None
        if context is not None:
            if not isinstance(context, RelationalContext):
                raise self._other_kind()
            recipe, triples = self.recipe, context.triples
            if recipe is not None and context.hierarchy is not None:
                recipe = recipe.extended(context.hierarchy.hierarchy, name=self.name)
                trained = () if self.data is None else self.data.labels
                within = recipe.count_on(
                    context.labels, trained=trained, columns=self.columns
                )
                context = RelationalContext(
                    context.name, context.labels, self.columns, within, recipe
                )
            counts = _on_columns(context, self.columns, labels)
        data = None
        if counts.nnz:
            data = RelationalContext(
                self.name,
                as_names(labels),
                self.columns,
                counts,
                recipe,
                triples=triples,
            )
        return replace(self, data=data, counts=sp.csr_array(counts * self.scale))

    def joined(self, later: FittedRelational) -> FittedRelational:
        if self.data is None or later.data is None:
            return later if self.data is None else self
        data = RelationalContext(
            self.name,
            (*self.data.labels, *later.data.labels),
            self.columns,
            sp.csr_array(sp.vstack([self.data.counts, later.data.counts])),
            later.data.hierarchy or self.data.hierarchy,  # the later one has more edges
            triples=joined(self.data.triples, later.data.triples),
        )
        return replace(self, data=data)

    def pack(self, store: TensorStore) -> dict[str, Any]:
        store["column_mass"] = self.column_mass
        packed: dict[str, Any] = {"total": self.total, "scale": self.scale}
        packed["hierarchy"] = None
        if self.data is not None:
            store.put_names("labels", self.data.labels)
            store.put_sparse("counts", self.data.counts)
            if self.data.triples is not None:
                self.data.triples.pack(store)
        if self.recipe is not None:
            self.recipe.hierarchy.pack(store)
            packed["hierarchy"] = {key: getattr(self.recipe, key) for key in RECIPE}
        return packed

    @classmethod
    def unpack(cls, packed: Mapping[str, Any], store: TensorStore) -> FittedRelational:
        columns = store.names("columns")
        data = recipe = None
        if packed["has_data"]:
            if packed["hierarchy"] is not None:
                recipe = _stored_recipe(packed["name"], packed["hierarchy"], store)
            data = RelationalContext(
                packed["name"],
                store.names("labels"),
                columns,
                store.sparse("counts", len(columns)),
                recipe,
                triples=LabelLinks.unpack(store),
            )
        return cls(
            name=packed["name"],
            columns=columns,
            data=data,
            weight=packed["weight"],
            factor=store["factor"],
            column_mass=store["column_mass"],
            total=packed["total"],
            scale=packed["scale"],
        )

    def check(self) -> None:
        where = f"context {self.name!r}"
        check_array(self.column_mass, (len(self.columns),), f"the masses of {where}")
        check_number(self.total, f"the total of {where}")
        check_number(self.scale, f"the scale of {where}")
        if not (self.total > 0 and self.scale > 0):
            raise ContextError(f"the total and scale of {where} must be above zero")
        if self.recipe is not None:
            self.recipe.hierarchy.check(self.name)


def _stored_recipe(
    name: str, settings: Mapping[str, Any], store: TensorStore
) -> HierarchyCounts | None:
    """The recipe that a file stores; None, with a warning, if its kind is gone."""
    if settings["kind"] in INSTEAD:
        warnings.warn(
            f"context {name!r} was counted with kind={settings['kind']!r}, which is "
            "gone: labels cannot be added to its hierarchy; fit again to do so.",
            PhcleWarning,
            stacklevel=2,
        )
        return None
    tree = Hierarchy.unpack(store)
    return HierarchyCounts(tree, **{key: settings[key] for key in RECIPE})


def _on_columns(
    context: RelationalContext, columns: Sequence[str], labels: Sequence[str]
) -> sp.csr_array:
    """Counts of the labels on the columns of the fit; warns of columns left out."""
    if same_names(context.columns, columns):
        return context.rows_for(labels)
    position = index_of(columns)
    warn_unknown_columns(
        context.name, [c for c in context.columns if c not in position]
    )
    at = positions_of(columns, index_of(context.columns))
    return take_columns(context.rows_for(labels), at)


class _LogRatioTarget(StartTarget):
    """Log-ratios log(D/B) of counts, and one low value for pairs without a count."""

    def __init__(
        self,
        backend: Backend,
        counts: Any,
        row_rate: Floats,
        column_mass: Floats,
        negatives: float,
        weight: float,
    ) -> None:
        self.backend, self.weight = backend, weight
        low = np.log1p(negatives) + BELOW
        tiny = np.finfo(backend.dtype).tiny
        above: Any
        if isinstance(counts, sp.csr_array):
            D = sp.coo_array(counts)
            expected = row_rate[D.coords[0]] * column_mass[D.coords[1]]
            ratio = np.log(D.data / np.maximum(expected, tiny)) + low
            above = sp.csr_array((ratio, D.coords), shape=D.shape)
        else:  # the counts are on the device
            xp = backend.xp
            rate, mass = backend.asarray(row_rate), backend.asarray(column_mass)
            expected = xp.take(rate, counts.rows) * xp.take(mass, counts.columns)
            ratio = xp.log(counts.values / xp.clip(expected, min=float(tiny))) + low
            above = counts.with_values(ratio)
        self.above = backend.sparse(above)
        self.turned = backend.sparse(backend.turned(above))
        self.known = backend.asarray((row_rate > 0)[:, None])
        self.low = backend.asarray(low * np.ones((counts.shape[1], 1)))

    def product(self, V: Array) -> Array:
        return self.backend.sparse_product(self.above, V) - self.known * (
            self.low.T @ V
        )

    def transposed(self, W: Array) -> Array:
        return self.backend.sparse_product(self.turned, W) - self.low * (
            self.known.T @ W
        )
