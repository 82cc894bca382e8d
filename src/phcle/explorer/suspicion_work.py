"""Look for suspicious cells in a thread, as long as somebody waits for them."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from phcle.answers import Answer, SuspiciousCell
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import PhcleError
from phcle.solver.suspicious_cells import FOLDS, suspicious_cells

ALONE_S = 30.0
"""The work ends if nobody asks for its state for so long: the visitor has gone on."""


@dataclass(frozen=True)
class NamedSuspicion(SuspiciousCell):
    """A suspicious cell with the name of its label.

    Attributes
    ----------
    name : str
        Readable name of the label.
    """

    name: str


@dataclass(frozen=True)
class Suspicions(Answer):
    """Known cells that are unlikely, or how far the search for them is.

    Attributes
    ----------
    state : {"waiting", "running", "done", "failed"}
        Whether the search has begun and ended.
    done, total : int
        Fits that are done, and all of them.
    message : str
        Why it failed, if it did.
    cells : tuple of NamedSuspicion
        The cells, the most suspicious first.
    """

    state: str
    done: int
    total: int
    message: str
    cells: tuple[NamedSuspicion, ...]


class _StoppedError(Exception):
    """The visitor has gone on."""


class SuspicionWork:
    """Runs `suspicious_cells` once, on request.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    """

    def __init__(self, embedding: LabelEmbedding) -> None:
        self.embedding = embedding
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._state, self._done, self._message = "waiting", 0, ""
        self._cells: tuple[NamedSuspicion, ...] = ()
        self._asked = 0.0
        self._is_stopped = False

    def start(self) -> Suspicions:
        """Begin, unless it runs or is done.

        Returns
        -------
        Suspicions
            The state.
        """
        with self._lock:
            self._asked, self._is_stopped = time.monotonic(), False
            if self._state in ("waiting", "failed") and not self._is_alive:
                self._state, self._done, self._message = "running", 0, ""
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
        return self.state()

    def stop(self) -> Suspicions:
        """End the work after the present fit.

        Returns
        -------
        Suspicions
            The state.
        """
        self._is_stopped = True
        return self.state()

    def state(self) -> Suspicions:
        """Say how far it is; somebody waits for it.

        Returns
        -------
        Suspicions
            The state, with the cells once they are found.
        """
        self._asked = time.monotonic()
        return Suspicions(self._state, self._done, FOLDS, self._message, self._cells)

    @property
    def _is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        """Look for the cells; runs in the thread."""
        try:
            found = suspicious_cells(self.embedding, progress=self._progress)
            name_of = self.embedding.name_of
            self._cells = tuple(
                NamedSuspicion(**vars(x), name=name_of(x.label)) for x in found
            )
        except _StoppedError:
            self._state = "waiting"
        except PhcleError as error:
            self._state, self._message = "failed", str(error)
        except Exception as error:
            self._state, self._message = "failed", f"it ended with an error: {error}"
        else:
            self._state = "done"

    def _progress(self, done: int, total: int) -> None:
        """Keep how far it is, and stop if nobody waits."""
        self._done = done
        is_left = time.monotonic() - self._asked > ALONE_S
        if done < total and (self._is_stopped or is_left):
            raise _StoppedError
