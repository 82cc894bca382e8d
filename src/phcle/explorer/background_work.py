"""Prepare attributes, neighbours and the map in a thread, while pages can be read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import Supports, fill_supports
from phcle.errors import FileError, PhcleError
from phcle.explorer.answers import Progress
from phcle.explorer.precomputed import (
    Precomputed,
    load_precomputed,
    load_supports,
    precompute,
    precomputed_file,
    save_supports,
    supports_file,
)

MANY, STEPS = 20_000, 10
"""Report progress in this many steps, if there are at least so many labels."""


PREPARING = "preparing attributes"

LEFT_S = 10.0
"""Attributes of a large embedding are prepared as long as a page asks for them, which
it does every second. Nobody asking for this long, the work pauses where it is."""

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
        self._file: Path | None = None
        if file is not None:
            self._file = precomputed_file(file) if has_map else supports_file(file)
        self._tell = tell
        self._tell_progress = tell_progress or tell
        self._stage: tuple[str, int, int] = ("waiting", 0, len(embedding))
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._has_supports = threading.Event()
        self._steps: Iterator[tuple[int, int]] | None = None
        self._asked_at, self._is_paused = time.monotonic(), False
        self._lock = threading.Lock()
        if self._file is not None and has_map:
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
        """Start the thread, or let it go on, if there is something to prepare."""
        with self._lock:
            self._asked_at = time.monotonic()
            is_idle = self._thread is None or self._is_paused
            if not self.is_complete and is_idle:
                self._is_paused = False
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
                self._store_supports()
                return
            found = self.result or precompute(self.embedding, self._progress)
            n, total = len(self.embedding), len(self._whole)
            if total > n and self.result is None:
                note = f"; a sample of {n:,} of {total:,} labels"
                found = replace(found, method=found.method + note)
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

    def _prepare_supports(self) -> None:
        """Compute the supports that are missing; pause when nobody waits for them."""
        if self._steps is None:
            if self._file is not None and not self._has_map:
                self.supports |= load_supports(self._file, self.embedding)
            self._steps = fill_supports(
                self.embedding, self.supports, whole=self._whole
            )
        for done, total in self._steps:
            self._progress(PREPARING, done, total)
            with self._lock:
                waited = time.monotonic() - self._asked_at
                if not self._has_map and waited > LEFT_S:
                    self._is_paused = True
                    return
        self._has_supports.set()

    def _store_supports(self) -> None:
        """Store the supports for the next start, unless the work paused."""
        if self._file is None or not self._has_supports.is_set():
            return
        try:
            save_supports(self._file, self.embedding, self.supports)
        except FileError as error:
            self._tell(f"{error} Attributes will be prepared again at the next start.")

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
