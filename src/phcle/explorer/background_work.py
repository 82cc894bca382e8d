"""Prepare attributes, neighbours and the map in a thread, while pages can be read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.answers import Progress
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError, PhcleError
from phcle.explorer.precomputed import (
    Precomputed,
    Supports,
    load_precomputed,
    precompute,
    precomputed_file,
    support_of_all,
)

__all__ = ["BackgroundWork", "NotReady"]

MANY, STEPS = 20_000, 10
"""Report progress in this many steps, if there are at least so many labels."""


PREPARING = "preparing attributes"

PATIENCE_S = 1.0
"""A request waits this long for what is being prepared; then its page says so."""


class NotReady(PhcleError):
    """What was asked for is still being prepared; ask again in a second."""


class BackgroundWork:
    """Load what an earlier start computed, or compute it in a thread.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    file : Path or None, default=None
        The embedding's file. The result is stored beside it; None stores nothing.
    tell : callable
        Called with a message if the result cannot be computed or stored. Default:
        ignores it.
    tell_progress : callable or None, default=None
        Called with a message at each stage; None calls `tell`.
    whole : LabelEmbedding or None, default=None
        The embedding that this one is a sample of, if any.
    has_map : bool, default=True
        Whether neighbours and a map are wanted, and not only supports.

    Attributes
    ----------
    result : Precomputed or None
        Neighbours and map; None until they are ready.
    supports : dict from str to array
        How near every label is to a described label, by name of the context; complete
        before the result is.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        file: Path | None = None,
        tell: Callable[[str], None] = lambda message: None,
        tell_progress: Callable[[str], None] | None = None,
        *,
        whole: LabelEmbedding | None = None,
        has_map: bool = True,
    ) -> None:
        self.embedding = embedding
        self._whole = embedding if whole is None else whole
        self._has_map = has_map
        self.result: Precomputed | None = None
        self.supports: Supports = {}
        self._file = None if file is None else precomputed_file(file)
        self._tell = tell
        self._tell_progress = tell_progress or tell
        self._stage: tuple[str, int, int] = ("waiting", 0, len(embedding))
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._has_supports = threading.Event()
        if self._file is not None:
            self.result = load_precomputed(self._file, embedding)
        if self.result is not None:
            self.supports = dict(self.result.supports)
        if self.supports.keys() == _calibrated(embedding):
            self._has_supports.set()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to prepare."""
        has_map = self.result is not None or not self._has_map
        return has_map and self._has_supports.is_set()

    def start(self) -> None:
        """Start the thread, if there is something to prepare."""
        if not self.is_complete and self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def wait(self) -> Precomputed:
        """Wait for the result.

        Returns
        -------
        Precomputed
            The result.
        """
        self.start()
        if self._thread is not None:
            self._thread.join()
        if self.result is None:
            raise RuntimeError("the background work has failed") from self._failure
        return self.result

    def support(self, context: str) -> npt.NDArray[np.float64] | None:
        """Look up the support of all labels in a context, or wait a moment for it.

        Parameters
        ----------
        context : str
            Name of the context.

        Returns
        -------
        array of shape (labels,) or None
            The support; None if the context has no calibration.

        Raises
        ------
        NotReady
            If it is still being computed.
        """
        self.start()
        if context not in self.supports and not self._has_supports.wait(PATIENCE_S):
            if self._failure is not None:
                raise PhcleError(f"attributes could not be prepared: {self._failure}")
            if context not in self.supports:
                stage, done, total = self._stage
                share = f" ({done / total:.0%})" if stage == PREPARING else ""
                raise NotReady(
                    f"attributes of {len(self.embedding):,} labels are being "
                    f"prepared{share}; ask again in a second."
                )
        return self.supports.get(context)

    @property
    def status(self) -> Progress:
        """How far the work is."""
        stage, done, total = self._stage
        if self.result is not None:
            stage, done, total = "done", len(self.embedding), len(self.embedding)
        return Progress(
            self.result is not None, self._failure is not None, stage, done, total
        )

    def _run(self) -> None:
        """Compute what is missing and store it; runs in the thread."""
        try:
            self._prepare_supports()
            if not self._has_map:
                return
            found = self.result or precompute(self.embedding, self._progress)
            if len(self._whole) > len(self.embedding) and self.result is None:
                found = replace(found, method=found.method + self._sample_note)
            self.result = replace(found, supports=self.supports)
        except BaseException as error:  # shown by the status
            self._failure = error
            self._tell(f"the map could not be computed: {error}")
            raise
        if self._file is None:
            return
        try:
            self.result.save(self._file, self.embedding)
        except FileError as error:
            self._tell(f"{error} The map will be computed again at the next start.")

    @property
    def _sample_note(self) -> str:
        """Says that the map does not hold all labels."""
        n, total = len(self.embedding), len(self._whole)
        return f"; a sample of {n:,} of {total:,} labels"

    def _prepare_supports(self) -> None:
        """Compute the supports that are missing."""

        def told(done: int, total: int) -> None:
            self._progress(PREPARING, done, total)

        for context in self.embedding.predicting:
            is_missing = context.name not in self.supports
            if is_missing and context.calibration is not None:
                found = support_of_all(self.embedding, context, told, whole=self._whole)
                self.supports[context.name] = found
        self._has_supports.set()

    def _progress(self, stage: str, done: int, total: int) -> None:
        """Keep the stage for pages, and report it."""
        before, was_done, _ = self._stage
        if stage == "done":
            self._tell_progress("map ready")
        elif stage != before:
            self._tell_progress(f"{stage} ({total:,} labels)")
        elif total >= MANY and done * STEPS // total > was_done * STEPS // total:
            self._tell_progress(f"{stage}: {done / total:.0%}")
        self._stage = (stage, done, total)


def _calibrated(embedding: LabelEmbedding) -> set[str]:
    """Names of the contexts whose predictions have a support."""
    return {x.name for x in embedding.predicting if x.calibration is not None}
