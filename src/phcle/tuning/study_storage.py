"""Storage of trials, which several processes can share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.errors import BackendError, FileError, OptionError, PhcleWarning

if TYPE_CHECKING:
    import optuna

__all__ = ["load_optuna", "open_study"]

DATABASES = (".db", ".sqlite", ".sqlite3")
JOURNALS = (".log", ".journal", ".jsonl")

JOURNAL_START = b'{"op_code":'
"""How a journal of Optuna begins. Other files are never changed."""

ATTEMPTS, PAUSE = 20, 0.1
"""How often to try, and seconds to wait, while another process creates the database."""


def load_optuna() -> Any:
    """Import Optuna and turn off its messages about single trials.

    Returns
    -------
    module
        Optuna.

    Raises
    ------
    BackendError
        If it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise BackendError("tuning needs Optuna: pip install 'phcle[tune]'.") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def open_study(
    storage: str | Path | None, name: str, sampler: Any, pruner: Any
) -> optuna.Study:
    """Open a study, or create it.

    Parameters
    ----------
    storage : str or Path or None
        A file or the address of a database; None keeps the study in memory.
    name : str
        Name of the study.
    sampler : optuna.samplers.BaseSampler
        What proposes parameters.
    pruner : optuna.pruners.BasePruner
        What stops trials early.

    Returns
    -------
    optuna.Study
        The study, which maximises its score.
    """
    optuna = load_optuna()
    with _told(storage):
        return optuna.create_study(
            study_name=name,
            storage=_storage(storage),
            sampler=sampler,
            pruner=pruner,
            direction="maximize",
            load_if_exists=True,
        )


def _storage(storage: str | Path | None) -> Any:
    """Optuna's storage of a file by its ending, or of an address."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    if storage is None:
        return None
    if "://" in str(storage):
        return _database(str(storage))
    path = Path(storage)
    if not path.parent.is_dir():
        raise FileError(f"{path}: the folder {path.parent} does not exist; make it.")
    if path.suffix in DATABASES:
        return _database(f"sqlite:///{path}")
    if path.suffix in JOURNALS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where it is new it is "experimental"
            lock = JournalFileOpenLock(str(path))
            backend = JournalFileBackend(str(path), lock)
        _drop_torn_line(path, lock)
        return JournalStorage(backend)
    raise OptionError(
        f"{path}: a study is kept in a file that ends in {', '.join(DATABASES)} "
        f"(SQLite) or {', '.join(JOURNALS)} (Optuna's journal), or at the address of "
        "a database."
    )


def _drop_torn_line(path: Path, lock: Any) -> None:
    """Remove the end of a line that a killed process has not finished.

    Optuna would write the next line behind it, and could never read that one. A process
    that is writing holds the lock, so its line is whole once we have the lock.
    """
    if not _torn(path):
        return
    lock.acquire()
    try:
        torn = _torn(path)
        if not torn:
            return
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - torn)
    finally:
        lock.release()
    message = f"{path}: its last line was cut short and is dropped ({torn} bytes)."
    warnings.warn(message, PhcleWarning, stacklevel=2)


def _torn(path: Path) -> int:
    """Bytes after the last whole line of a journal; 0 for files of other programs."""
    data = path.read_bytes()
    start = data[: len(JOURNAL_START)]
    return len(data) - data.rfind(b"\n") - 1 if JOURNAL_START.startswith(start) else 0


def _database(address: str) -> Any:
    """Open a database, which another process may be creating at the same time."""
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import IntegrityError, OperationalError

    # Processes that write to one SQLite file wait for each other.
    options = {"timeout": 60} if address.startswith("sqlite") else {}
    for attempt in range(ATTEMPTS):
        try:
            return RDBStorage(address, engine_kwargs={"connect_args": options})
        except (IntegrityError, OperationalError):
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(PAUSE)
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def _told(storage: object) -> Iterator[None]:
    """Turn errors of the libraries into ours, which name the storage."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, ModuleNotFoundError, OSError, ValueError) as error:
        if isinstance(error, (FileError, OptionError)):
            raise
        first = str(error).splitlines()[0]
        raise FileError(
            f"{storage}: is no study that can be used ({first})."
        ) from error
    except Exception as error:  # Optuna's own, of a schema that is not its own
        if type(error).__module__.startswith(("optuna", "alembic")):
            raise FileError(f"{storage}: is no study ({error}).") from error
        raise
