"""All that the explorer knows while it runs: embeddings, searches, pictures."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.descriptive.fitted import FittedDescriptive
from phcle.embedding.describe import support_by
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError, some
from phcle.explorer.background_work import BackgroundWork
from phcle.explorer.label_suggestions import Suggestions
from phcle.report.hierarchy_branches import Branches, find_branches, hierarchy_of
from phcle.report.map_layout import principal_layout
from phcle.uses.neighbour_table import StoredNeighbours
from phcle.uses.neighbourhood_comparison import Differences, neighbourhood_differences

if TYPE_CHECKING:
    from phcle.contexts.relational.taxonomy import Hierarchy
    from phcle.uses.pictures import FeatureNetwork, ImageMap

__all__ = ["Opened", "Workspace"]

Tell = Callable[[str], None]


class Opened:
    """One embedding, with all that makes questions about it quick."""

    def __init__(
        self,
        embedding: LabelEmbedding,
        title: str,
        file: Path | None = None,
        tell: Tell = lambda message: None,
    ) -> None:
        self.embedding = embedding
        self.title = title
        self.background = BackgroundWork(embedding, file, tell)
        self.search = StoredNeighbours(embedding)
        self._supports: dict[str, npt.NDArray[np.float64]] = {}

    @property
    def neighbours(self) -> StoredNeighbours:
        """The search for nearest labels, with the table as soon as there is one."""
        found = self.background.result
        if self.search.table is None and found is not None:
            self.search.table = found.table
        return self.search

    @property
    def places(self) -> npt.NDArray[np.float32]:
        """Where labels lie on the map; for a start, along principal components."""
        found = self.background.result
        return self._first_places if found is None else found.places

    @cached_property
    def _first_places(self) -> npt.NDArray[np.float32]:
        return principal_layout(
            np.asarray(self.embedding.unit_vectors, np.float32)
        ).places

    def resolve(self, text: str) -> str:
        """The label meant by an id or a name; suggests others for an unknown one."""
        found = self.embedding.labels_called(text)
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownLabelError(
                f"{text!r} is the name of {len(found)} labels: {some(found)}; "
                "use the id."
            )
        # The embedding's own suggestion compares with every label, which takes long.
        alike = [self.name_at(i) for i in self.suggestions.find(text, 3)]
        hint = f" Did you mean {' or '.join(map(repr, alike))}?" if alike else ""
        raise UnknownLabelError(f"no label {text!r} in this embedding.{hint}")

    def name_at(self, row: int) -> str:
        """The readable name of the label in a row."""
        return self.embedding.name_of(self.embedding.labels[row])

    @cached_property
    def suggestions(self) -> Suggestions:
        """Labels by id or name."""
        labels = self.embedding.labels
        return Suggestions(labels, [self.embedding.name_of(x) for x in labels])

    @cached_property
    def taxonomy(self) -> tuple[str, Hierarchy] | None:
        """The hierarchy that knows most labels, and the name of its context."""
        return hierarchy_of(self.embedding)

    @cached_property
    def node_suggestions(self) -> Suggestions:
        """Nodes of the hierarchy by id or name."""
        nodes = () if self.taxonomy is None else self.taxonomy[1].nodes
        return Suggestions(nodes, [self.embedding.name_of(x) for x in nodes])

    @cached_property
    def attributes(self) -> list[tuple[str, str]]:
        """(context, column) of every attribute that people can read."""
        return [
            (context.name, column)
            for context in self.embedding.contexts
            if isinstance(context, FittedDescriptive) and context.readable
            for column in context.columns
        ]

    @cached_property
    def attribute_suggestions(self) -> Suggestions:
        """Attributes by their name, or by context and name."""
        return Suggestions(
            [f"{context}: {column}" for context, column in self.attributes],
            [column for _, column in self.attributes],
        )

    @cached_property
    def branches(self) -> Branches | None:
        """Branches of the hierarchy to colour labels by."""
        if self.taxonomy is None:
            return None
        found = find_branches(self.taxonomy[1], self.embedding.labels)
        return found if found.nodes else None

    def support(self, context: FittedDescriptive) -> npt.NDArray[np.float64] | None:
        """How near every label is to one that a context describes; kept."""
        if context.name not in self._supports:
            found = support_by(self.embedding, context, self.embedding.vectors)
            if found is None:
                return None
            self._supports[context.name] = found
        return self._supports[context.name]


class Workspace:
    """An opened embedding, perhaps another one beside it, and a map of pictures.

    Parameters
    ----------
    opened, other
        The embedding to explore, and one to compare it with.
    image_map
        Where pictures lie in the embedding, as `phcle map` has learned it.
    network
        Opens the network that makes features of pictures, when first needed.
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
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to prepare whatever was not kept, one embedding after the other."""
        if self.other is None:
            self.opened.background.start()
            return
        other = self.other.background

        def both() -> None:
            self.opened.background.wait()
            other.start()

        threading.Thread(target=both, daemon=True).start()

    @property
    def takes_pictures(self) -> bool:
        """Whether pictures themselves can be understood, not only their features."""
        return self._open_network is not None

    def network(self) -> FeatureNetwork:
        """The network that makes features of pictures, opened once."""
        if self._open_network is None:
            raise OptionError(
                "pictures cannot be read here: give features (.npy), or start the "
                "explorer with a map that was learned from photos (--model)."
            )
        with self._lock:
            if self._network is None:
                self._network = self._open_network()
            return self._network

    def differences(self) -> Differences | None:
        """Where the two embeddings differ; None until both are prepared."""
        if self.other is None:
            raise OptionError(
                "there is nothing to compare with; start the explorer with "
                "--compare OTHER.phcle."
            )
        one, two = self.opened.background.result, self.other.background.result
        if one is None or two is None:
            return None
        with self._lock:
            if self._differences is None:
                self._differences = neighbourhood_differences(
                    self.opened.embedding,
                    self.other.embedding,
                    (one.table, two.table),
                )
            return self._differences

    def status(self) -> dict[str, Any]:
        """How far the preparations are."""
        return {
            "labels": self.opened.background.status,
            "other": None if self.other is None else self.other.background.status,
        }
