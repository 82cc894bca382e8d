"""Compute neighbours and the map in a thread, while pages can be read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError
from phcle.explorer.answers import Progress
from phcle.explorer.precomputed import (
    Precomputed,
    load_precomputed,
    precompute,
    precomputed_file,
)

MANY, STEPS = 20_000, 10
"""Report progress in this many steps, if there are at least so many labels."""


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
    n_whole : int or None, default=None
        Number of labels of the embedding that this one is a sample of, if any.

    Attributes
    ----------
    result : Precomputed or None
        Neighbours and map; None until they are ready.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        file: Path | None = None,
        tell: Callable[[str], None] = lambda message: None,
        tell_progress: Callable[[str], None] | None = None,
        *,
        n_whole: int | None = None,
    ) -> None:
        self.embedding = embedding
        self._n_whole = n_whole
        self.result: Precomputed | None = None
        self._file = None if file is None else precomputed_file(file)
        self._tell = tell
        self._tell_progress = tell_progress or tell
        self._stage: tuple[str, int, int] = ("waiting", 0, len(embedding))
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        if self._file is not None:
            self._keep(load_precomputed(self._file, embedding))

    def _keep(self, found: Precomputed | None) -> None:
        """Keep the result; the embedding then looks neighbours up."""
        if found is not None:
            self.embedding.search.table = found.table
        self.result = found

    def start(self) -> None:
        """Start the thread, if there is something to compute."""
        with self._lock:
            if self.result is None and self._thread is None:
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
        """Compute the result and store it; runs in the thread."""
        try:
            found = precompute(self.embedding, self._progress)
            if self._n_whole is not None:
                note = (
                    f"; a sample of {len(self.embedding):,} of {self._n_whole:,} labels"
                )
                found = replace(found, method=found.method + note)
            self._keep(found)
        except BaseException as error:  # shown by the status
            self._failure = error
            self._tell(f"the map could not be computed: {error}")
            raise
        if self._file is None:
            return
        try:
            found.save(self._file, self.embedding)
        except FileError as error:
            self._tell(f"{error} The map will be computed again at the next start.")

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
