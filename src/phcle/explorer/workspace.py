"""What the explorer holds while it runs: embeddings, searches, a map of pictures."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.answers import Status
from phcle.contexts.base import PredictingContext
from phcle.contexts.family_means import Groups
from phcle.contexts.labels import normal
from phcle.contexts.relational.specific_nodes import SpecificNodes
from phcle.embedding.complete import completable
from phcle.embedding.family_values import FamilyValues
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError, some
from phcle.explorer.background_work import BackgroundWork
from phcle.explorer.label_suggestions import Suggestions
from phcle.explorer.suspicion_work import SuspicionWork
from phcle.explorer.taxonomy_index import TaxonomyIndex
from phcle.files.archive import checksum
from phcle.report.hierarchy_branches import Branches, find_branches, hierarchy_of
from phcle.report.map_layout import principal_layout
from phcle.uses.label_columns import LabelColumns
from phcle.uses.neighbour_table import StoredNeighbours
from phcle.uses.neighbourhood_comparison import Differences, neighbourhood_differences

if TYPE_CHECKING:
    from phcle.contexts.relational.taxonomy import Hierarchy
    from phcle.uses.pictures import FeatureNetwork, ImageMap

__all__ = ["LabelNotFound", "Opened", "Workspace"]

Tell = Callable[[str], None]


MOST_SUGGESTED = 20
"""Labels of one name that a page lists."""


MOST_ON_MAP, N_SAMPLED = 100_000, 50_000
"""Largest number of labels that are all on the map, with a table of neighbours, and
size of the sample of more. The map of 50,000 labels moves smoothly in a browser."""

MOST_WITH_FAMILIES = 200_000
"""Labels above which pages do not say what the family says: that takes gigabytes."""


class LabelNotFound(UnknownLabelError):
    """A text that names no label, or several.

    Parameters
    ----------
    message : str
        What went wrong.
    text : str
        The text.
    near : tuple of str
        Labels that may be meant.
    """

    def __init__(self, message: str, text: str, near: tuple[str, ...]) -> None:
        super().__init__(message)
        self.text = text
        self.near = near


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
    whole : LabelEmbedding or None, default=None
        The embedding that this one is a sample of, if any.

    Attributes
    ----------
    on_map : Opened
        What the map shows: this embedding, or a sample of it if it is large.
    sample : array of int or None
        Rows of the labels of that sample.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        title: str,
        file: Path | None = None,
        tell: Tell = lambda message: None,
        tell_progress: Tell | None = None,
        *,
        whole: LabelEmbedding | None = None,
    ) -> None:
        self.embedding = embedding
        self.title = title
        self.search = StoredNeighbours(embedding)
        self.sample: npt.NDArray[np.int64] | None = None
        self.on_map = self
        told = tell, tell_progress
        if len(embedding) <= MOST_ON_MAP:
            self.background = BackgroundWork(embedding, file, *told, whole=whole)
            return
        rng = np.random.default_rng(0)
        self.sample = np.sort(rng.choice(len(embedding), N_SAMPLED, replace=False))
        labels = tuple(embedding.labels[i] for i in self.sample.tolist())
        part = replace(embedding, labels=labels, vectors=embedding.vectors[self.sample])
        self.on_map = Opened(part, title, file, *told, whole=embedding)
        # Neighbours of a million labels would take hours; each search takes a moment.
        self.background = BackgroundWork(embedding, None, *told, has_map=False)

    @property
    def neighbours(self) -> StoredNeighbours:
        """The search for nearest labels; uses the stored table once it is ready."""
        found = self.background.result
        if self.search.table is None and found is not None:
            self.search.table = found.table
        return self.search

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
        table = self.neighbours.table
        return (
            table is not None and k <= table.rows.shape[1] and label in self.embedding
        )

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
        rows = [self.search.position(label) for label in labels]
        if self.on_map is self:
            return self.places[rows]
        shown = self.on_map
        cosines = self.embedding.unit_vectors[rows] @ shown.embedding.unit_vectors.T
        near = np.argsort(-cosines, axis=1)[:, :3]
        weight = np.maximum(np.take_along_axis(cosines, near, axis=1), 0) ** 16 + 1e-9
        found = (shown.places[near] * weight[:, :, None]).sum(axis=1)
        return np.asarray(found / weight.sum(axis=1, keepdims=True), np.float32)

    def resolve(self, text: str) -> str:
        """Find a label by id or name.

        Parameters
        ----------
        text : str
            An id or a readable name.

        Returns
        -------
        str
            The id.

        Raises
        ------
        LabelNotFound
            If no label or several labels match; it suggests others.
        """
        if text in self.embedding:
            return normal(text)
        labels = self.embedding.labels
        # Faster than LabelEmbedding.resolve, which compares with every label.
        found = [labels[i] for i in self.suggestions.exactly(text)]
        if len(found) == 1:
            return found[0]
        if found:
            raise LabelNotFound(
                f"{text!r} is the name of {len(found)} labels: {some(found)}; "
                "use the id.",
                text,
                tuple(found[:MOST_SUGGESTED]),
            )
        near = tuple(labels[i] for i in self.suggestions.find(text, 3))
        alike = [self.embedding.name_of(label) for label in near]
        hint = f" Did you mean {' or '.join(map(repr, alike))}?" if alike else ""
        raise LabelNotFound(f"no label {text!r} in this embedding.{hint}", text, near)

    @cached_property
    def suggestions(self) -> Suggestions:
        """Search for labels by id or name."""
        labels = self.embedding.labels
        names = [self.embedding.name_of(x) for x in labels]
        return Suggestions(labels, names, self.embedding.spellings)

    @cached_property
    def taxonomy(self) -> tuple[str, Hierarchy] | None:
        """The hierarchy that knows most labels, and the name of its context."""
        return hierarchy_of(self.embedding)

    @cached_property
    def taxonomy_index(self) -> TaxonomyIndex | None:
        """Walks the hierarchy up and down."""
        if self.taxonomy is None:
            return None
        return TaxonomyIndex(self.taxonomy[1], self.embedding.labels)

    def rows_below(self, node: str) -> npt.NDArray[np.int64]:
        """Find the labels below a node of the hierarchy.

        Parameters
        ----------
        node : str
            The node's id; an unknown one is refused.

        Returns
        -------
        array of int
            Rows of the labels.
        """
        index = self.taxonomy_index
        if index is None or node not in index.tree.index:
            raise OptionError(f"no node {node!r} in the hierarchy of this embedding.")
        return index.rows_below(node)

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
    def name_ranks(self) -> npt.NDArray[np.int32]:
        """Place of every label in the alphabet of names."""
        return _ranks([self.embedding.name_of(x) for x in self.embedding.labels])

    @cached_property
    def id_ranks(self) -> npt.NDArray[np.int32]:
        """Place of every label in the alphabet of ids."""
        return _ranks(self.embedding.labels)

    @cached_property
    def columns(self) -> LabelColumns:
        """Attributes of all labels."""
        return LabelColumns(self.embedding, self.support)

    @cached_property
    def families(self) -> dict[str, FamilyValues]:
        """What the families of all labels say about their cells, by context."""
        embedding = self.embedding
        groups = Groups(())
        if len(embedding) <= MOST_WITH_FAMILIES:
            groups = FamilyValues.groups_of(embedding)
        return {
            x.name: FamilyValues(embedding, x, groups) for x in completable(embedding)
        }

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
    def node_suggestions(self) -> Suggestions:
        """Search for nodes of the hierarchy by id or name."""
        nodes = () if self.taxonomy is None else self.taxonomy[1].nodes
        names = [self.embedding.name_of(x) for x in nodes]
        return Suggestions(nodes, names, self.embedding.spellings)

    @cached_property
    def attributes(self) -> list[tuple[str, str]]:
        """Context and column of every readable attribute."""
        return [
            (context.name, column)
            for context in self.embedding.predicting
            for column in context.columns
        ]

    @cached_property
    def attribute_suggestions(self) -> Suggestions:
        """Search for attributes by name, or by context and name."""
        return Suggestions(
            [f"{context}: {column}" for context, column in self.attributes],
            [column for _, column in self.attributes],
        )

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

    def support(self, context: PredictingContext) -> npt.NDArray[np.float64] | None:
        """Look up how near every label is to a label that a context describes.

        Parameters
        ----------
        context : PredictingContext
            A context with readable attributes.

        Returns
        -------
        array of shape (labels,) or None
            The support of predictions, prepared in the background; None if the context
            has no calibration.

        Raises
        ------
        NotReady
            If it is still being prepared.
        """
        return self.background.support(context.name)


def _ranks(texts: Sequence[str]) -> npt.NDArray[np.int32]:
    """Places of texts in the alphabet, where numbers inside them count as numbers."""
    keys = [_alphabetical(text) for text in texts]
    found = np.empty(len(texts), np.int32)
    found[sorted(range(len(texts)), key=keys.__getitem__)] = np.arange(len(texts))
    return found


def _alphabetical(text: str) -> str:
    """A text that sorts as people expect: "thing 9" before "thing 10"."""
    lower = text.casefold()
    return re.sub(r"\d+", lambda x: x[0].zfill(12), lower)


class Workspace:
    """The opened embedding, a second one to compare with, and a map of pictures.

    Parameters
    ----------
    opened : Opened
        The embedding to explore.
    other : Opened or None, default=None
        An embedding to compare with.
    image_map : ImageMap or None, default=None
        A map of pictures, learned by `phcle map`.
    network : callable or None, default=None
        Opens the network that makes features of pictures; called when first needed.
    """

    def __init__(
        self,
        opened: Opened,
        other: Opened | None = None,
        image_map: ImageMap | None = None,
        network: Callable[[], FeatureNetwork] | None = None,
    ) -> None:
        if image_map is not None:
            image_map.check_belongs_to(opened.embedding)
        self.opened = opened
        self.other = other
        self.image_map = image_map
        self._open_network = network
        self._network: FeatureNetwork | None = None
        self._differences: Differences | None = None
        self.suspicion = SuspicionWork(opened.embedding)
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the background work, one embedding after the other."""
        own = self.opened.on_map.background
        if self.other is None:
            own.start()
            return
        other = self.other.on_map.background

        def both() -> None:
            own.wait()
            other.start()

        threading.Thread(target=both, daemon=True).start()

    @property
    def takes_pictures(self) -> bool:
        """Whether pictures can be described, and not only their features."""
        return self._open_network is not None

    def network(self) -> FeatureNetwork:
        """Open the network that makes features of pictures; later calls return it.

        Returns
        -------
        FeatureNetwork
            The network.
        """
        if self._open_network is None:
            raise OptionError(
                "pictures cannot be read here: give features (.npy), or start the "
                "explorer with a map that was learned from photos (--model)."
            )
        with self._lock:
            if self._network is None:
                self._network = self._open_network()
            return self._network

    @property
    def compared(self) -> Opened:
        """The embedding to compare with; raises OptionError if there is none."""
        if self.other is None:
            raise OptionError(
                "there is nothing to compare with; start the explorer with "
                "--compare OTHER.phcle."
            )
        return self.other

    def differences(self) -> Differences | None:
        """Compare the neighbours of all labels in the two embeddings.

        Returns
        -------
        Differences or None
            The comparison; None until the background work is done.
        """
        other = self.compared
        shown = self.opened.on_map, other.on_map
        one, two = (x.background.result for x in shown)
        if one is None or two is None:
            return None
        with self._lock:
            if self._differences is None:
                self._differences = neighbourhood_differences(
                    shown[0].embedding, shown[1].embedding, (one.table, two.table)
                )
            return self._differences

    def status(self) -> Status:
        """Say how far the background work is.

        Returns
        -------
        Status
            Progress for each embedding.
        """
        return Status(
            self.opened.on_map.background.status,
            None if self.other is None else self.other.on_map.background.status,
        )
