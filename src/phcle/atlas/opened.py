"""An embedding that is open, with its map and what makes answers about it quick.

An embedding of many labels shows a sample of them on its map: neighbours and places of
a million labels would take hours, and a browser could not move them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats, Ints
from phcle.atlas.layout import sketch
from phcle.atlas.prepared import (
    Prepared,
    Progress,
    load_prepared,
    prepare,
    prepared_file,
)
from phcle.atlas.regions import Branches, find_branches
from phcle.contexts.hierarchy import Hierarchy
from phcle.contexts.labels import hash_names
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.labels import Labels
from phcle.errors import FileError
from phcle.files.container import checksum

Tell = Callable[[str], None]
T = TypeVar("T")

N_BETWEEN, STEEP = 3, 16
"""A label that is not on the map lies between this many nearest ones on it, with their
cosines to this power as weights."""


def silent(message: str) -> None:
    """Tell nobody."""


class Work(Generic[T]):
    """Something that a thread computes, while the page can be read.

    Parameters
    ----------
    compute : callable
        Computes it; called with a function that takes stage, labels done and in all.
    n : int
        Number of all labels.
    tell : callable
        Called with a message if it fails.
    tell_progress : callable
        Called with a message at each stage.

    Attributes
    ----------
    result : object or None
        What was computed; None until then.
    """

    def __init__(
        self,
        compute: Callable[[Progress], T],
        n: int,
        tell: Tell = silent,
        tell_progress: Tell = silent,
    ) -> None:
        self._compute, self._tell, self._tell_progress = compute, tell, tell_progress
        self.result: T | None = None
        self._stage = "waiting", 0, n
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start the thread, if there is something to compute."""
        if self.result is None:
            with suppress(RuntimeError):  # it was started before
                self._thread.start()

    def wait(self) -> T:
        """Wait for the result.

        Returns
        -------
        object
            The result.
        """
        self.start()
        if self.result is None:
            self._thread.join()
        if self.result is None:
            raise RuntimeError("the background work has failed") from self._failure
        return self.result

    def status(self) -> dict[str, Any]:
        """Say how far the work is, for the API.

        Returns
        -------
        dict
            Whether it is ready or has failed, its stage, and labels done and in all.
        """
        stage, done, total = self._stage
        return {
            "ready": self.result is not None,
            "failed": self._failure is not None,
            "stage": stage,
            "done": done,
            "total": total,
        }

    def _run(self) -> None:
        """Compute the result; runs in the thread."""
        try:
            self.result = self._compute(self._progress)
        except BaseException as error:  # shown by the status
            self._failure = error
            self._tell(f"the map could not be computed: {error}")
            raise

    def _progress(self, stage: str, done: int, total: int) -> None:
        """Keep the stage for the page, and report it."""
        if stage != self._stage[0]:
            is_done = stage == "done"
            self._tell_progress(
                "map ready" if is_done else f"{stage} ({total:,} labels)"
            )
        self._stage = (stage, done, total)


class Opened:
    """An embedding with its map.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    title : str
        Its title on the page.
    file : Path or None, default=None
        Its file. The map is stored beside it; None stores nothing.
    tell, tell_progress : callable
        Called with messages about faults and about stages. Default: ignore them.
    stores : bool, default=True
        Whether a new map is stored.

    Attributes
    ----------
    most_on_map, n_sampled : int
        Largest number of labels that are all on the map, and size of the sample of
        more. The map of 50,000 labels moves smoothly in a browser.
    rows : array of int or None
        Rows of the labels on the map; None: all. Embeddings of the same labels have the
        same.
    shown : LabelEmbedding
        The labels on the map.
    map : Work
        Their neighbours and places.
    """

    most_on_map, n_sampled = 100_000, 50_000

    def __init__(
        self,
        embedding: LabelEmbedding,
        title: str,
        file: Path | None = None,
        tell: Tell = silent,
        tell_progress: Tell = silent,
        *,
        stores: bool = True,
    ) -> None:
        self._stores = stores
        self.embedding, self.title, self.file, self.tell = embedding, title, file, tell
        self.rows: Ints | None = None
        self.shown = embedding
        if len(embedding) > self.most_on_map:
            # By a hash of the label, so that two files with the same labels show the
            # same.
            hashes = hash_names(embedding.labels)
            self.rows = np.sort(np.argsort(hashes, kind="stable")[: self.n_sampled])
            self.shown = _part(embedding, self.rows)
        self.map = Work(self._prepare, len(self.shown), tell, tell_progress)
        if file is not None:
            self._keep(load_prepared(prepared_file(file), self.shown))

    def _prepare(self, progress: Progress) -> Prepared:
        """Compute the map and store it."""
        found = prepare(self.shown, progress)
        if self.rows is not None:
            n = f"{len(self.rows):,} of {len(self.embedding):,}"
            found = replace(found, method=f"{found.method}; a sample of {n} labels")
        self._keep(found)
        try:
            if self.file is not None and self._stores:
                found.save(prepared_file(self.file), self.shown)
        except FileError as error:
            self.tell(f"{error} The map will be computed again at the next start.")
        return found

    def _keep(self, found: Prepared | None) -> None:
        """Keep the map; the embedding then looks neighbours up."""
        if found is not None:
            self.shown.search.table = found.table
        self.map.result = found

    @property
    def places(self) -> npt.NDArray[np.float32]:
        """Places of the labels on the map; a sketch until it is ready."""
        found = self.map.result
        return self._sketch if found is None else found.places

    @cached_property
    def _sketch(self) -> npt.NDArray[np.float32]:
        return sketch(np.asarray(self.shown.unit_vectors, np.float32)).places

    def places_near(self, units: AnyFloats) -> npt.NDArray[np.float32]:
        """Find places for labels that are not on the map.

        Parameters
        ----------
        units : array of shape (labels, dim)
            Their vectors at length one.

        Returns
        -------
        array of shape (labels, 2)
            Places between their nearest labels, closer to the more similar ones.
        """
        cosines = units @ self.shown.unit_vectors.T
        near = np.argsort(-cosines, axis=1)[:, :N_BETWEEN]
        weight = np.maximum(np.take_along_axis(cosines, near, axis=1), 0) ** STEEP
        weight = (weight + 1e-9)[:, :, None]
        found = (self.places[near] * weight).sum(axis=1) / weight.sum(axis=1)
        return np.asarray(found, np.float32)

    @cached_property
    def taxonomy(self) -> tuple[str, Hierarchy]:
        """The hierarchy that knows most labels, and the name of its context.

        Without any it has no nodes, and no name.
        """
        found = [
            (len(context.observed_labels), context.given_name, context.hierarchy)
            for context in self.embedding.contexts
            if context.hierarchy is not None
        ]
        nothing = 0, "", Hierarchy((), np.zeros((0, 2), np.int64))
        return max(found, key=lambda each: each[0], default=nothing)[1:]

    @cached_property
    def nodes(self) -> Labels:
        """Nodes of the hierarchy by id or name."""
        return self.embedding.nodes(self.taxonomy[1])

    @cached_property
    def row_of_node(self) -> Ints:
        """Row of the label that each node of the hierarchy is; −1 for the others."""
        row_of = self.embedding.row_of
        found = [row_of.get(node, -1) for node in self.taxonomy[1].nodes]
        return np.array(found, np.int64)

    def rows_below(self, node: str) -> Ints:
        """Find the labels below a node of the hierarchy, with the node if it is one.

        Parameters
        ----------
        node : str
            The node's id.

        Returns
        -------
        array of int
            Rows of the labels, in ascending order.
        """
        rows = self.row_of_node[self.taxonomy[1].nodes_below(node)]
        return np.sort(rows[rows >= 0])

    @cached_property
    def branches(self) -> Branches:
        """Branches of the hierarchy to colour the map by."""
        return find_branches(self.taxonomy[1], self.shown.labels)

    @cached_property
    def digest(self) -> str:
        """A short digest of the vectors, to tell embeddings apart."""
        return checksum("", {"vectors": self.embedding.vectors})[:12]


def _part(embedding: LabelEmbedding, rows: Ints) -> LabelEmbedding:
    """Some labels, with what was predicted for them."""
    stored = {name: table.stored for name, table in embedding.tables.items()}
    return replace(
        embedding,
        labels=tuple(embedding.labels[i] for i in rows.tolist()),
        vectors=embedding.vectors[rows],
        predictions={k: x.take(rows) for k, x in stored.items() if x is not None},
    )


def named(opened: Opened, label: str) -> dict[str, str]:
    """Add the readable name to a label.

    Parameters
    ----------
    opened : Opened
        The embedding.
    label : str
        The label's id.

    Returns
    -------
    dict
        The id and the name, for JSON.
    """
    return {"label": label, "name": opened.embedding.name_of(label)}
