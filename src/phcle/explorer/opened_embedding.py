"""An embedding that is open in the explorer, with what makes answers quick."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.answers import Named
from phcle.contexts.hierarchy import Hierarchy, SpecificNodes
from phcle.contexts.labels import hash_names
from phcle.embedding.family_means import MOST_WITH_FAMILIES
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.labels import Labels
from phcle.errors import OptionError
from phcle.explorer.background_work import BackgroundWork
from phcle.explorer.label_columns import LabelColumns
from phcle.files.container import checksum
from phcle.report.hierarchy_branches import Branches, find_branches, hierarchy_of
from phcle.report.map_layout import principal_layout

Tell = Callable[[str], None]


class Opened:
    """An embedding, with what makes questions about it quick.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    title : str
        Its title on pages.
    file : Path or None, default=None
        Its file. Results of background work are stored beside it; None stores nothing.
    tell : callable
        Called with messages about faults of background work. Default: ignores them.
    tell_progress : callable or None, default=None
        Called with its stages; None calls `tell`.
    n_whole : int or None, default=None
        Number of labels of the embedding that this one is a sample of, if any.

    Attributes
    ----------
    most_on_map, n_sampled : int
        Largest number of labels that are all on the map, with a table of neighbours,
        and size of the sample of more. The map of 50,000 labels moves smoothly in a
        browser.
    on_map : Opened
        What the map shows: this embedding, or a sample of it if it is large.
    sample : array of int or None
        Rows of the labels of that sample; embeddings of the same labels have the same.
    file : Path or None
        The file of the embedding.
    tell : callable
        Called with messages about faults.
    """

    most_on_map, n_sampled = 100_000, 50_000

    def __init__(
        self,
        embedding: LabelEmbedding,
        title: str,
        file: Path | None = None,
        tell: Tell = lambda message: None,
        tell_progress: Tell | None = None,
        *,
        n_whole: int | None = None,
    ) -> None:
        self.embedding = embedding
        self.title = title
        self.file = file
        self.tell = tell
        self.sample: npt.NDArray[np.int64] | None = None
        self.on_map = self
        told = tell, tell_progress
        if len(embedding) <= self.most_on_map:
            self.background = BackgroundWork(embedding, file, *told, n_whole=n_whole)
            return
        # By a hash of the label, so that two files with the same labels show the same.
        hashes = hash_names(embedding.labels)
        self.sample = np.sort(np.argsort(hashes, kind="stable")[: self.n_sampled])
        self.on_map = Opened(
            _part(embedding, self.sample), title, file, *told, n_whole=len(embedding)
        )
        # Neighbours of a million labels would take hours; each search takes a moment.
        self.background = BackgroundWork(embedding)

    def finds_quickly(self, label: str, k: int) -> bool:
        """Whether the neighbours of a label are in the table.

        Parameters
        ----------
        label : str
            A label's id, or what else was typed.
        k : int
            Number of neighbours.

        Returns
        -------
        bool
            False if labels or neighbours must be searched for.
        """
        return self.embedding.search.holds(k) and label in self.embedding

    @property
    def places(self) -> npt.NDArray[np.float32]:
        """Places of the labels on the map; principal components until it is ready."""
        found = self.background.result
        return self._first_places if found is None else found.places

    @cached_property
    def _first_places(self) -> npt.NDArray[np.float32]:
        """Places by principal components, which are quick to compute."""
        return principal_layout(
            np.asarray(self.embedding.unit_vectors, np.float32)
        ).places

    def places_of(self, labels: Sequence[str]) -> npt.NDArray[np.float32]:
        """Find the places of labels on the map, also of those that it leaves out.

        Parameters
        ----------
        labels : sequence of str
            Ids of labels.

        Returns
        -------
        array of shape (labels, 2)
            Their places; one that is not on the map lies between its nearest labels.
        """
        rows = [self.embedding.row_of[label] for label in labels]
        if self.on_map is self:
            return self.places[rows]
        shown = self.on_map
        cosines = self.embedding.unit_vectors[rows] @ shown.embedding.unit_vectors.T
        near = np.argsort(-cosines, axis=1)[:, :3]
        weight = np.maximum(np.take_along_axis(cosines, near, axis=1), 0) ** 16 + 1e-9
        found = (shown.places[near] * weight[:, :, None]).sum(axis=1)
        return np.asarray(found / weight.sum(axis=1, keepdims=True), np.float32)

    def named(self, label: str) -> Named:
        """Add the readable name to a label.

        Parameters
        ----------
        label : str
            The label's id.

        Returns
        -------
        Named
            The id and the name.
        """
        return Named(label, self.embedding.name_of(label))

    @cached_property
    def rows_by_name(self) -> npt.NDArray[np.int32]:
        """Rows of all labels in the alphabet of names."""
        return _sorted([self.embedding.name_of(x) for x in self.embedding.labels])

    @cached_property
    def rows_by_id(self) -> npt.NDArray[np.int32]:
        """Rows of all labels in the alphabet of ids."""
        return _sorted(self.embedding.labels)

    @cached_property
    def taxonomy(self) -> tuple[str, Hierarchy] | None:
        """The hierarchy that knows most labels, and the name of its context."""
        return hierarchy_of(self.embedding)

    @cached_property
    def _row_of_node(self) -> npt.NDArray[np.int64]:
        """Row of the label that each node of the hierarchy is; −1 for the others."""
        assert self.taxonomy is not None
        row_of = self.embedding.row_of
        nodes = self.taxonomy[1].nodes
        found = (row_of.get(node, -1) for node in nodes)
        return np.fromiter(found, np.int64, len(nodes))

    def rows_below(self, node: str) -> npt.NDArray[np.int64]:
        """Find the labels below a node of the hierarchy, with the node if it is one.

        Parameters
        ----------
        node : str
            The node's id; an unknown one is refused.

        Returns
        -------
        array of int
            Rows of the labels, in ascending order.
        """
        if self.taxonomy is None or node not in self.taxonomy[1].index:
            raise OptionError(f"no node {node!r} in the hierarchy of this embedding.")
        rows = self._row_of_node[self.taxonomy[1].nodes_below(node)]
        return np.sort(rows[rows >= 0])

    def known_in(self, context: str) -> npt.NDArray[np.bool_]:
        """Find the labels that a context knows.

        Parameters
        ----------
        context : str
            Name of the context; an unknown one is refused.

        Returns
        -------
        array of bool of shape (labels,)
            Which labels it knows.
        """
        if context not in self._known:
            found = [x for x in self.embedding.contexts if x.name == context]
            if not found:
                raise OptionError(f"no context {context!r} in this embedding.")
            known = set(found[0].observed_labels)
            self._known[context] = np.array([x in known for x in self.embedding.labels])
        return self._known[context]

    @cached_property
    def _known(self) -> dict[str, npt.NDArray[np.bool_]]:
        return {}

    @cached_property
    def columns(self) -> LabelColumns:
        """Attributes of all labels."""
        return LabelColumns(self.embedding)

    @property
    def has_families(self) -> bool:
        """Whether pages say what families say; with too many labels it takes long."""
        return len(self.embedding) <= MOST_WITH_FAMILIES

    @cached_property
    def digest(self) -> str:
        """A short digest of the vectors, to tell embeddings apart."""
        return checksum("", {"vectors": self.embedding.vectors})[:12]

    @cached_property
    def specific_nodes(self) -> SpecificNodes | None:
        """Which nodes of the hierarchy say much about a label."""
        if self.taxonomy is None:
            return None
        return SpecificNodes(self.taxonomy[1], self.embedding.labels)

    @cached_property
    def nodes(self) -> Labels:
        """Nodes of the hierarchy by id or name."""
        return self.embedding.nodes(
            Hierarchy.from_edges([]) if self.taxonomy is None else self.taxonomy[1]
        )

    @cached_property
    def attributes(self) -> list[tuple[str, str]]:
        """Context and column of every readable attribute."""
        return [
            (context.name, column)
            for context in self.embedding.predicting
            for column in context.columns
        ]

    @cached_property
    def attributes_called(self) -> Labels:
        """Attributes by name, or by context and name."""
        ids = [f"{context}: {column}" for context, column in self.attributes]
        names = [column for _, column in self.attributes]
        return Labels(ids, dict(zip(ids, names, strict=True)))

    @cached_property
    def branches(self) -> Branches | None:
        """Branches of the hierarchy to colour labels by."""
        if self.taxonomy is None:
            return None
        if self.on_map is not self:
            return self.on_map.branches
        found = find_branches(self.taxonomy[1], self.embedding.labels)
        return found if found.nodes else None

    @cached_property
    def branch_rows(self) -> dict[str, npt.NDArray[np.int64]]:
        """Labels of each branch, by its node."""
        nodes = () if self.branches is None else self.branches.nodes
        return {node: self.rows_below(node) for node in nodes}


def _part(embedding: LabelEmbedding, rows: npt.NDArray[np.int64]) -> LabelEmbedding:
    """Some labels, with what was predicted for them."""
    stored = {name: table.stored for name, table in embedding.tables.items()}
    return replace(
        embedding,
        labels=tuple(embedding.labels[i] for i in rows.tolist()),
        vectors=embedding.vectors[rows],
        predictions={k: x.take(rows) for k, x in stored.items() if x is not None},
    )


def _sorted(texts: Sequence[str]) -> npt.NDArray[np.int32]:
    """Positions of texts in the alphabet, with "thing 9" before "thing 10"."""
    keys = [re.sub(r"\d+", lambda x: x[0].zfill(12), x.casefold()) for x in texts]
    return np.array(sorted(range(len(texts)), key=keys.__getitem__), np.int32)
