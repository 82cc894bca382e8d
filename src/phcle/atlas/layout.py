"""Coordinates in the plane for every label, near the labels it is similar to.

t-SNE of the vectors at length one, started from their principal components: by
scikit-learn up to a few thousand labels, by openTSNE (whose time grows linearly) for
more. It uses exact neighbours, which the map shows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from phcle.arrays import Ints
from phcle.embedding.search import Neighbours, Search

Floats = npt.NDArray[np.float32]

FEW = 3_000
"""Up to this many labels scikit-learn's t-SNE is used, which takes seconds."""

FEWEST = 8
"""With fewer labels t-SNE makes no sense, and principal components are used."""

PERPLEXITY = 15
N_ITERATIONS = 500
"""Iterations of scikit-learn's t-SNE."""
EARLY, LATE = 100, 300
"""Iterations of openTSNE, with exaggerated attraction and without."""

FROM_MAP = 50
"""Iterations of openTSNE that starts from the places of another map. They take longer
than those of a new map, which is narrow at first. The divergence of 4,000 planted
labels is 1.33 after 50 and 1.31 after 100."""

EXAGGERATION = 12.0
"""Factor of the attraction in the early iterations, the default of both."""

SMALL, WIDE = 1e-4, 30.0
"""Standard deviation of the places to start from: of principal components, and of
another map, at most. Finished maps of 72 and 510 labels have 10 and 22; half of that
is as good, three times as much is not."""

JOBS = 2
"""Threads for more labels than a few."""

SAME = 4
"""Vectors that agree to this many decimals are taken as equal."""

ROOM = 0.4
"""Share of the map that the labels fill together if each has a cell of its own."""

SKETCH = "principal components"


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of labels on a map.

    Attributes
    ----------
    places : ndarray of float32, shape (labels, 2)
        Coordinates from −1 to 1.
    method : str
        How they were computed, for readers.
    """

    places: Floats
    method: str


def lay_out(
    units: Floats, *, table: Neighbours | None = None, start: Floats | None = None
) -> Layout:
    """Compute a place for each label, near the labels it is similar to.

    Parameters
    ----------
    units : ndarray of shape (labels, dim)
        Vectors of length one.
    table : Neighbours, optional
        The neighbours of all labels, if they are known already.
    start : ndarray of shape (labels, 2), optional
        Places on another map to start from. Labels stay near them as far as their
        neighbours allow. Default: principal components.

    Returns
    -------
    Layout
        The places.
    """
    from threadpoolctl import threadpool_limits

    # For few labels, threads that wait for each other are slower than one.
    with threadpool_limits(1 if len(units) <= FEW else JOBS):
        # Siblings of a hierarchy may have equal vectors. t-SNE gets each vector once:
        # with copies, the neighbours of a label would all be its copies, and the map
        # would fall apart.
        kept, copy_of = _distinct(units)
        has_copies = len(kept) < len(units)
        places, method = _arrange(
            units[kept],
            None if has_copies else table,
            None if start is None else start[kept],
        )
    return Layout(_spread(_fit_square(places[copy_of])), method)


def sketch(units: Floats) -> Layout:
    """Place labels by two principal components, which is fast but less clear.

    Parameters
    ----------
    units : ndarray of shape (labels, dim)
        Vectors of length one.

    Returns
    -------
    Layout
        The places.
    """
    return Layout(_spread(_fit_square(_principal(units))), SKETCH)


def _distinct(units: Floats) -> tuple[Ints, Ints]:
    """Rows that differ, and for each row which of them it equals up to rounding."""
    _, kept, copy_of = np.unique(
        units.round(SAME), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(kept)  # in the order of the labels
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return kept[order], rank[copy_of.reshape(-1)]


def _arrange(
    units: Floats, table: Neighbours | None, begin: Floats | None
) -> tuple[Floats, str]:
    """Places of distinct vectors, and the method used."""
    if len(units) < FEWEST:
        return _principal(units), SKETCH
    start = _principal(units) if begin is None else begin - begin.mean(axis=0)
    # As t-SNE needs it along the first component: small for principal components, about
    # as wide as a finished map for places of one, so that no group must cross another.
    wanted = SMALL if begin is None else min(WIDE, len(units) ** 0.5)
    start = np.asarray(start / (float(start[:, 0].std()) or 1.0) * wanted, np.float32)
    perplexity = min(PERPLEXITY, max(2.0, (len(units) - 1) / 4))
    if len(units) <= FEW:
        from sklearn.manifold import TSNE

        tsne = TSNE(
            perplexity=perplexity,
            init=start,
            max_iter=N_ITERATIONS,
            early_exaggeration=EXAGGERATION if begin is None else 1,
            random_state=0,
        )
        return np.asarray(tsne.fit_transform(units), np.float32), "t-SNE (scikit-learn)"
    if not find_spec("openTSNE"):
        remedy = "pip install 'phcle[report]' for a better map of this many labels"
        return _principal(units), f"{SKETCH}; {remedy}"
    k = int(3 * perplexity)
    if table is None or table.rows.shape[1] < k:
        table = Search(units).neighbour_table(k)
    near = Neighbours(table.rows[:, :k], table.cosines[:, :k])
    phases = [(EARLY, EXAGGERATION, 0.5), (LATE, 1.0, 0.8)]
    if begin is not None:
        phases = [(FROM_MAP, 1.0, 0.8)]
    return _by_open_tsne(near, start, perplexity, phases), "t-SNE (openTSNE)"


def _by_open_tsne(
    near: Neighbours,
    start: Floats,
    perplexity: float,
    phases: list[tuple[int, float, float]],
) -> Floats:
    """Places by openTSNE; a phase has iterations, exaggeration and momentum."""
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PerplexityBasedNN
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    # Distances of vectors of length one.
    distances = np.sqrt(np.maximum(2 - 2 * near.cosines, 0)).astype(np.float32)
    affinities = PerplexityBasedNN(
        perplexity=perplexity,
        knn_index=PrecomputedNeighbors(near.rows.astype(np.int64), distances),
        n_jobs=JOBS,
        random_state=0,
    )
    places = TSNEEmbedding(
        start.astype(np.float64),
        affinities,
        negative_gradient_method="fft",
        n_jobs=JOBS,
        random_state=0,
    )
    for n, exaggeration, momentum in phases:
        places.optimize(n, exaggeration=exaggeration, momentum=momentum, inplace=True)
    return np.asarray(places, np.float32)


def _principal(units: Floats) -> Floats:
    """The two strongest principal components; zeros where there are fewer."""
    found = np.zeros((len(units), 2), np.float32)
    centred = units - units.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    strongest = directions[:, ::-1][:, :2]
    # Fix the sign of each direction: its largest component is positive.
    largest = np.abs(strongest).argmax(axis=0)
    strongest = strongest * np.sign(strongest[largest, np.arange(len(largest))])
    found[:, : strongest.shape[1]] = centred @ strongest
    return found


def _spread(places: Floats) -> Floats:
    """Move labels that share a place apart, in a spiral around it.

    Siblings of a hierarchy may have the same vector, and hundreds of labels under one
    point could not be seen or selected.
    """
    side = (4 * ROOM / len(places)) ** 0.5
    cells = np.floor(places / side).astype(np.int64)
    _, cell = np.unique(cells, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    rank = np.empty(len(places))
    rank[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    # As in a sunflower, every point gets the same area.
    radius = side * np.sqrt(rank / np.pi)
    angle = rank * np.pi * (3 - 5**0.5)
    shift = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _fit_square(np.asarray(places + shift, np.float32))


def _fit_square(places: Floats) -> Floats:
    """Shift and scale into −1 … 1 on both axes, with the same scale on both."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = float((high - low).max()) / 2
    return np.asarray((places - (low + high) / 2) / (half or 1.0), np.float32)
