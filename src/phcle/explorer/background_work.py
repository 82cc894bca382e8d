"""Preparing an embedding while its pages can already be read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError
from phcle.explorer.precomputed import (
    Precomputed,
    digest_of,
    load_precomputed,
    precompute,
    precomputed_file,
)

__all__ = ["BackgroundWork"]

MANY, STEPS = 20_000, 10
"""With so many labels progress is told in so many steps."""


class BackgroundWork:
    """What was kept beside an embedding, or else a thread that finds it.

    Parameters
    ----------
    file
        The embedding's file, beside which the result is kept; None keeps nothing.
    tell
        Is told each stage, and if the result cannot be kept.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        file: Path | None = None,
        tell: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.embedding = embedding
        self.result: Precomputed | None = None
        self._file = None if file is None else precomputed_file(file)
        self._tell = tell
        self._stage: tuple[str, int, int] = ("waiting", 0, len(embedding))
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        if self._file is not None:
            self.result = load_precomputed(self._file, embedding)

    def start(self) -> None:
        """Begin to prepare, if nothing was kept."""
        if self.result is None and self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def wait(self) -> Precomputed:
        """The result, as soon as it is there."""
        self.start()
        if self._thread is not None:
            self._thread.join()
        if self.result is None:
            raise RuntimeError("the preparation has failed") from self._failure
        return self.result

    @property
    def status(self) -> dict[str, Any]:
        """How far it is, for pages that wait."""
        stage, done, total = self._stage
        if self.result is not None:
            stage, done, total = "done", len(self.embedding), len(self.embedding)
        return {
            "ready": self.result is not None,
            "failed": self._failure is not None,
            "stage": stage,
            "done": done,
            "total": total,
        }

    def _run(self) -> None:
        try:
            found = precompute(self.embedding, self._progress)
        except BaseException as error:  # told to whoever asks for the status
            self._failure = error
            self._tell(f"the map could not be prepared: {error}")
            raise
        self.result = found
        if self._file is None:
            return
        try:
            found.save(self._file, digest_of(self.embedding))
        except FileError as error:
            self._tell(f"{error} The map will be prepared again at the next start.")

    def _progress(self, stage: str, done: int, total: int) -> None:
        before, was_done, _ = self._stage
        if stage == "done":
            self._tell("map ready")
        elif stage != before:
            self._tell(f"{stage} ({total:,} labels)")
        elif total >= MANY and done * STEPS // total > was_done * STEPS // total:
            self._tell(f"{stage}: {done / total:.0%}")
        self._stage = (stage, done, total)
