"""Coordinates in the plane for every label, near the labels it is similar to.

t-SNE of the vectors at length one, started from their principal components: by
scikit-learn up to a few thousand labels, by openTSNE (whose time grows linearly) for
more. It uses exact neighbours, which the map shows too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from phcle.arrays import Ints
from phcle.embedding.search import Neighbours

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

EXAGGERATION = 12
"""Factor of the attraction in the early iterations, the default of both."""

SMALL, WIDE = 1e-4, 30.0
"""Standard deviation of the places to start from: of principal components, and of
another map, at most. Finished maps of 72 and 510 labels have 10 and 22; half of that
is as good, three times as much is not."""

EVERY = 25
"""Iterations after which openTSNE reports; it measures its error then."""

SAME = 4
"""Vectors that agree to this many decimals are taken as equal."""

ROOM = 0.4
"""Share of the map that the labels fill together if each has a cell of its own."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of labels on a map, and their neighbours.

    Attributes
    ----------
    places : ndarray of float32, shape (labels, 2)
        Coordinates from −1 to 1.
    neighbours : ndarray of int, shape (labels, k)
        Rows of the most similar labels, best first.
    method : str
        How the places were computed, for readers.
    """

    places: Floats
    neighbours: Ints
    method: str


def lay_out(
    units: Floats,
    *,
    k: int = 6,
    seed: int = 0,
    jobs: int = 2,
    table: Neighbours | None = None,
    start: Floats | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Layout:
    """Compute a place for each label, near the labels it is similar to.

    Parameters
    ----------
    units : ndarray of shape (labels, dim)
        Vectors of length one.
    k : int, default 6
        Number of neighbours to return for each label.
    seed : int, default 0
        Seed of t-SNE.
    jobs : int, default 2
        Number of threads.
    table : Neighbours, optional
        The neighbours of all labels, if they are known already.
    start : ndarray of shape (labels, 2), optional
        Places on another map to start from. Labels stay near them as far as their
        neighbours allow. Default: principal components.
    progress : callable, optional
        Called with the numbers of iterations done and in total; the total is 0 where
        they cannot be counted.

    Returns
    -------
    Layout
        Places and neighbours.
    """
    from threadpoolctl import threadpool_limits

    n = len(units)
    progress(0, 0)
    # For few labels, threads that wait for each other are slower than one.
    with threadpool_limits(1 if n <= FEW else jobs):
        # Siblings of a hierarchy may have equal vectors. t-SNE gets each vector once:
        # with copies, the neighbours of a label would all be its copies, and the map
        # would fall apart.
        kept, copy_of = _distinct(units)
        perplexity = min(PERPLEXITY, max(2.0, (len(kept) - 1) / 4))
        wanted = int(3 * perplexity)
        n_near = min(n - 1, k if len(kept) < n else max(k, wanted))
        near = _from_table(table, n_near) or _nearest(units, n_near, jobs)
        among = near
        if len(kept) < n:
            among = _among_distinct(units, table, kept, copy_of, wanted, jobs)
        begin = None if start is None else start[kept]
        places, method = _arrange(
            units[kept], among, perplexity, seed, jobs, progress, begin
        )
    return Layout(_spread(_fit_square(places[copy_of])), near[1][:, :k], method)


def principal_layout(units: Floats) -> Layout:
    """Place labels by two principal components, which is fast but less clear.

    Parameters
    ----------
    units : ndarray of shape (labels, dim)
        Vectors of length one.

    Returns
    -------
    Layout
        Places, without neighbours.
    """
    places = _spread(_fit_square(_principal(units)))
    return Layout(places, np.zeros((len(units), 0), int), "principal components")


def _from_table(table: Neighbours | None, k: int) -> tuple[Floats, Ints] | None:
    """Distances and rows of k neighbours from the table, if it has as many."""
    if table is None or table.rows.shape[1] < k:
        return None
    return _of_cosines(table.cosines[:, :k]), table.rows[:, :k].astype(np.int64)


def _of_cosines(cosines: npt.NDArray[np.float64]) -> Floats:
    """Distances of vectors of length one."""
    return np.sqrt(np.maximum(2 - 2 * cosines, 0)).astype(np.float32)


def _distinct(units: Floats) -> tuple[Ints, Ints]:
    """Rows that differ, and for each row which of them it equals up to rounding."""
    _, kept, copy_of = np.unique(
        units.round(SAME), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(kept)  # in the order of the labels
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return kept[order], rank[copy_of.reshape(-1)]


def _among_distinct(
    units: Floats,
    table: Neighbours | None,
    kept: Ints,
    copy_of: Ints,
    wanted: int,
    jobs: int,
) -> tuple[Floats, Ints]:
    """Distances and rows of the nearest distinct vectors.

    They are searched for only where the table holds too few of them besides copies.
    """
    own, k = units[kept], min(len(kept) - 1, wanted)
    if table is None:
        return _nearest(own, k, jobs)
    near, n = copy_of[table.rows[kept]], len(kept)
    # Of equal rows, only the first counts, and the vector itself never does.
    order = np.argsort(near, axis=1, kind="stable")
    is_again = np.diff(np.take_along_axis(near, order, axis=1), prepend=-1) == 0
    is_other = np.empty(near.shape, dtype=bool)
    np.put_along_axis(is_other, order, ~is_again, axis=1)
    is_other &= near != np.arange(n)[:, None]
    first = np.argsort(~is_other, axis=1, kind="stable")[:, :k]
    distances = _of_cosines(np.take_along_axis(table.cosines[kept], first, axis=1))
    rows = np.take_along_axis(near, first, axis=1)
    lacking = np.flatnonzero(is_other.sum(axis=1) < k)
    if first.shape[1] < k:
        return _nearest(own, k, jobs)
    if len(lacking):
        distances[lacking], rows[lacking] = _nearest(own, k, jobs, lacking)
    return distances, rows


def _arrange(
    units: Floats,
    near: tuple[Floats, Ints],
    perplexity: float,
    seed: int,
    jobs: int,
    progress: Callable[[int, int], None],
    begin: Floats | None,
) -> tuple[Floats, str]:
    """Places of distinct vectors, and the method used."""
    start = _principal(units) if begin is None else begin - begin.mean(axis=0)
    if len(units) < FEWEST:
        return _principal(units), "principal components"
    # As t-SNE needs it along the first component: small for principal components, about
    # as wide as a finished map for places of one, so that no group must cross another.
    wanted = SMALL if begin is None else min(WIDE, len(units) ** 0.5)
    start = np.asarray(start / (float(start[:, 0].std()) or 1.0) * wanted, np.float32)
    if len(units) <= FEW:
        from sklearn.manifold import TSNE

        tsne = TSNE(
            perplexity=perplexity,
            init=start,
            max_iter=N_ITERATIONS,
            early_exaggeration=EXAGGERATION if begin is None else 1,
            random_state=seed,
        )
        return np.asarray(tsne.fit_transform(units), np.float32), "t-SNE (scikit-learn)"
    if find_spec("openTSNE"):
        phases = [(EARLY, EXAGGERATION, 0.5), (LATE, 1, 0.8)]
        if begin is not None:
            phases = [(FROM_MAP, 1, 0.8)]
        places = _by_open_tsne(*near, start, perplexity, seed, jobs, progress, phases)
        return places, "t-SNE (openTSNE)"
    return _principal(units), (
        "principal components; pip install 'phcle[report]' for a better map of this "
        "many labels"
    )


def _nearest(
    units: Floats, k: int, jobs: int, asked: Ints | None = None
) -> tuple[Floats, Ints]:
    """Distances and rows of the k nearest other rows of each row, or of those asked."""
    from sklearn.neighbors import NearestNeighbors

    if k < 1:
        return np.zeros((len(units), 0), np.float32), np.zeros((len(units), 0), int)
    index = NearestNeighbors(n_neighbors=k, algorithm="brute", n_jobs=jobs).fit(units)
    # Without a query, each row is left out of its own neighbours.
    if asked is None:
        distances, neighbours = index.kneighbors()
        return distances, neighbours
    distances, neighbours = index.kneighbors(units[asked], k + 1)
    # The row itself goes last, also where rounding hides it among its nearest.
    is_own = neighbours == asked[:, None]
    order = np.argsort(is_own, axis=1, kind="stable")[:, :k]
    return (
        np.take_along_axis(distances, order, axis=1),
        np.take_along_axis(neighbours, order, axis=1),
    )


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


def _by_open_tsne(
    distances: Floats,
    neighbours: Ints,
    start: Floats,
    perplexity: float,
    seed: int,
    jobs: int,
    progress: Callable[[int, int], None],
    phases: Sequence[tuple[int, float, float]],
) -> Floats:
    """Places by openTSNE; a phase has iterations, exaggeration and momentum."""
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PerplexityBasedNN
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    affinities = PerplexityBasedNN(
        perplexity=perplexity,
        knn_index=PrecomputedNeighbors(neighbours, distances),
        n_jobs=jobs,
        random_state=seed,
    )
    places = TSNEEmbedding(
        start.astype(np.float64),
        affinities,
        negative_gradient_method="fft",
        n_jobs=jobs,
        random_state=seed,
    )

    total, before = sum(n for n, _, _ in phases), 0

    def count(iteration: int, _error: float, _places: object) -> None:
        progress(before + iteration, total)

    for n, exaggeration, momentum in phases:
        places.optimize(
            n,
            exaggeration=exaggeration,
            momentum=momentum,
            callbacks=count,
            callbacks_every_iters=EVERY,
            inplace=True,
        )
        before += n
    return np.asarray(places, np.float32)


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
