"""Where trials are kept, so that several processes can add to one study."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.errors import BackendError, FileError, OptionError

if TYPE_CHECKING:
    import optuna

__all__ = ["load_optuna", "open_study"]

DATABASES = (".db", ".sqlite", ".sqlite3")
JOURNALS = (".log", ".journal", ".jsonl")

ATTEMPTS, PAUSE = 20, 0.1
"""How often, and after how many seconds, a database is tried that another process is
just making."""


def load_optuna() -> Any:
    """Optuna, quiet about each trial; or the way to get it."""
    try:
        import optuna
    except ImportError as error:
        raise BackendError("tuning needs Optuna: pip install 'phcle[tune]'.") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # errors are told by us
    return optuna


def open_study(
    storage: str | Path | None, name: str, sampler: Any, pruner: Any
) -> optuna.Study:
    """A study in memory, in a file, or in a database by its address; made if new."""
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
    from optuna.storages.journal import JournalFileBackend

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
            return JournalStorage(JournalFileBackend(str(path)))
    raise OptionError(
        f"{path}: a study is kept in a file that ends in {', '.join(DATABASES)} "
        f"(SQLite) or {', '.join(JOURNALS)} (Optuna's journal), or at the address of "
        "a database."
    )


def _database(address: str) -> Any:
    """A database, which another process may be making at the same moment."""
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import IntegrityError, OperationalError

    # Writers of one SQLite file wait for each other.
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
    """Say which storage it is that cannot be used."""
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
