"""The term of a family, and the update of its nodes.

The ridge pulls a label's vector w to its centre c = Σ S_v p_v instead of zero:

    λ3/2 ‖w − c‖²  =  λ3/2 ‖w‖²  +  λ3 (½ ‖c‖² − c·w)

The first part is the ridge that all fits have; the second part, linear in w, is the
term of this context. So no solver of rows needs to know about centres.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from phcle.backends.distributed import Processes
from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.contexts.terms import (
    Curvature,
    Line,
    LinearUpdate,
    Local,
    Penalties,
    RowUpdate,
    Sample,
    Term,
    View,
)


class CentreTerm(Term):
    """The term α λ3 Σ (½ ‖c‖² − c·w) over labels with centres c = S P.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    places : csr_array of shape (labels, nodes)
        S, the nodes that labels hang on.
    blocks : sequence of Block
        Blocks of labels that are updated together.
    """

    def __init__(
        self, backend: Backend, places: sp.csr_array, blocks: Sequence[Block]
    ) -> None:
        self.backend, self.blocks = backend, blocks
        self.places = backend.sparse(places)

    def on(self, backend: Backend) -> CentreTerm:
        """The term itself: it has no large product to compute in another way."""
        return self

    def at(
        self, other: Array, weight: float, *, sample: Sample | None = None
    ) -> _CentreView:
        """Fix P and the weight α λ3. All nodes are used, never a sample."""
        return _CentreView(
            self, self.backend.sparse_product(self.places, other), weight
        )


class _CentreView(View):
    def __init__(self, term: CentreTerm, centres: Array, weight: float) -> None:
        self.term, self.centres, self.weight = term, centres, weight

    def local(self, block: int, y: Array, chosen: Array | None = None) -> _LocalCentre:
        rows = self.term.blocks[block].at
        if chosen is not None:
            rows = rows[chosen]
        xp = self.term.backend.xp
        return _LocalCentre(xp, y, xp.take(self.centres, rows, axis=0), self.weight)


class _LocalCentre(Local):
    def __init__(self, xp: Any, y: Array, centre: Array, weight: float) -> None:
        self.xp = xp
        self.value = weight * xp.sum(centre * (0.5 * centre - y), axis=1)
        self.gradient = -weight * centre

    def product(self, z: Array, curvature: Curvature) -> Array:
        return self.xp.zeros_like(z)

    def mean_curvature(self) -> Array:
        dim = self.gradient.shape[1]
        like = self.gradient
        return self.xp.zeros((dim, dim), dtype=like.dtype, device=like.device)

    def along(self, direction: Array) -> _CentreLine:
        return _CentreLine(self.value, self.xp.sum(self.gradient * direction, axis=1))


class _CentreLine(Line):
    """A straight line per row."""

    def __init__(self, start: Array, slope: Array) -> None:
        self.start, self.slope = start, slope

    def value(self, step: Array, chosen: Array | slice) -> Array:
        return self.start[chosen] + step * self.slope[chosen]


def factorise_nodes(
    places: sp.csr_array, bonds: sp.csr_array, pull: float, stiffness: float
) -> Any:
    """Factorise the matrix of the node solve, pull · SᵀS + stiffness · Q.

    Parameters
    ----------
    places : csr_array of shape (labels, nodes)
        S over the labels that inform the nodes.
    bonds : csr_array of shape (nodes, nodes)
        Q.
    pull : float
        Weight of the labels.
    stiffness : float
        Weight of the bonds.

    Returns
    -------
    object
        Its `solve` multiplies by the inverse.
    """
    matrix = sp.csc_array(pull * (places.T @ places) + stiffness * bonds)
    # It is symmetric and positive definite: no pivoting, and little fill for trees.
    return splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def teaches(
    places: sp.csr_array, informed: npt.NDArray[np.bool_], weight: float
) -> npt.NDArray[np.bool_]:
    """Find the labels from whose vectors the nodes are solved.

    Parameters
    ----------
    places : csr_array of shape (labels, nodes)
        S.
    informed : array of bool of shape (labels,)
        Labels that another context knows.
    weight : float
        α of the family.

    Returns
    -------
    array of bool of shape (labels,)
        Labels that hang on nodes. At a weight of one, an uninformed label lies on its
        centre and teaches the nodes nothing; below one, it lies elsewhere.
    """
    hangs = np.diff(places.indptr) > 0
    return np.asarray(hangs & informed if weight >= 1 else hangs)


class NodeUpdate(LinearUpdate):
    """Solves the node vectors P for fixed W, exactly and on the host.

    Labels about which no other context knows anything are left out if the family is the
    only one: at the optimum they lie on their centres, and would only slow sweeps down.

    Parameters
    ----------
    backend : Backend
        Where W and P are.
    places : csr_array of shape (labels, nodes)
        S.
    informed : array of bool of shape (labels,)
        Labels that another context knows.
    bonds : csr_array of shape (nodes, nodes)
        Q.
    lam : Penalties
        λ3 and γ.
    """

    def __init__(
        self,
        backend: Backend,
        places: sp.csr_array,
        informed: npt.NDArray[np.bool_],
        bonds: sp.csr_array,
        lam: Penalties,
    ) -> None:
        self.backend = backend
        self.host_places, self.informed, self.bonds = places, informed, bonds
        self.ridge, self.stiffness = lam.ridge, lam.ridge * lam.stiffness
        self.places, self.placed_bonds = backend.sparse(places), backend.sparse(bonds)
        self.prepared = lru_cache(maxsize=1)(self._prepared)

    def _prepared(self, weight: float) -> tuple[Array, sp.csr_array, Any]:
        """Labels that the nodes are solved from, their places, and the solver."""
        teaching = teaches(self.host_places, self.informed, weight / self.ridge)
        rows = np.flatnonzero(teaching)
        places = sp.csr_array(self.host_places[rows])
        solver = factorise_nodes(places, self.bonds, weight, self.stiffness)
        return self.backend.indices(rows), places, solver

    def improve(
        self,
        W: Array,
        factor: Array,
        weight: float,
        update_rows: RowUpdate,
        *,
        sample: Sample | None = None,
        tol: float = 1e-5,
    ) -> Array:
        """Solve for all nodes."""
        return self.solved(W, weight)

    def solved(self, W: Array, weight: float) -> Array:
        """Solve for all nodes, which depend on W linearly."""
        return self._nodes(W, weight, Processes())

    def response(self, change: Array, weight: float) -> Array:
        """Solve for the change of the nodes, and for how these pull the labels."""
        nodes = self._nodes(change, weight, self.backend.processes)
        pulled = self.backend.xp.zeros_like(change)
        if nodes.shape[0] and weight:
            at, _, _ = self.prepared(weight)
            centres = self.backend.sparse_product(self.places, nodes)
            pulled[at] = weight * self.backend.xp.take(centres, at, axis=0)
        return pulled

    def _nodes(self, W: Array, weight: float, processes: Processes) -> Array:
        """The nodes for rows whose parts are held by some processes."""
        n_nodes = self.bonds.shape[0]
        if not (n_nodes and weight):
            return self.backend.asarray(np.zeros((n_nodes, W.shape[1])))
        at, places, solver = self.prepared(weight)
        known = self.backend.to_numpy(self.backend.xp.take(W, at, axis=0))
        target = weight * (places.T @ np.asarray(known, np.float64))
        target = np.ascontiguousarray(processes.sum_over(target))
        return self.backend.asarray(solver.solve(target))

    def label_grams(
        self, W: Array, factor: Array, weight: float
    ) -> tuple[Array, Array]:
        """Gram matrices of the term and of the penalty on the nodes."""
        backend, xp = self.backend, self.backend.xp
        centres = backend.sparse_product(self.places, factor)
        bent = backend.sparse_product(self.placed_bonds, factor)
        C, W, P, QP = (xp.astype(x, xp.float64) for x in (centres, W, factor, bent))
        across = xp.matmul(C.T, W)
        of_term = weight * (xp.matmul(C.T, C) - across - across.T)
        return of_term, self.stiffness * xp.matmul(P.T, QP)
