"""What the explorer holds while it runs: embeddings, and a map of pictures."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from phcle.errors import OptionError
from phcle.explorer.answers import Progress, Status
from phcle.explorer.differences import Differences, neighbourhood_differences
from phcle.explorer.opened_embedding import Opened

if TYPE_CHECKING:
    from phcle.images import FeatureNetwork, ImageMap


class Workspace:
    """The opened embedding, a second one to compare with, and a map of pictures.

    Parameters
    ----------
    opened : Opened
        The embedding to explore.
    other : Opened or None, default=None
        An embedding to compare with.
    image_map : ImageMap or None, default=None
        A map of pictures, learned by `phcle understand --learn`.
    network : callable or None, default=None
        Opens the network that makes features of pictures; called when first needed.

    Attributes
    ----------
    second_map : Progress or None
        How far the second of two maps is; None if nobody has asked for them.
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
        self.second_map: Progress | None = None
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
            self.second_map,
        )
