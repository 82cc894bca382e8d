"""Settings in TOML files; one file can inherit from another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from phcle.errors import FileError, OptionError, did_you_mean
from phcle.files import parse_toml
from phcle_paper.reading import read_text

__all__ = ["SHIPPED", "check_keys", "read_config", "settings_of"]

SHIPPED = Path(__file__).parent / "configs"
"""Folder of the settings that come with the package."""

Settings = TypeVar("Settings")


def read_config(path: str | Path) -> dict[str, Any]:
    """Settings of a file and of those that it inherits from.

    With `base = "table2-awa.toml"` a file inherits the settings of another, which lies
    beside it or in `SHIPPED`. Tables are merged key by key; any other value replaces
    that of the base.
    """
    chain: list[Path] = []
    found: dict[str, Any] = {}
    following: Path | None = Path(path)
    while following is not None:
        if following in chain:
            raise OptionError(f"{path}: inherits from itself; see 'base' in its bases.")
        chain.append(following)
        own = parse_toml(read_text(following), str(following))
        base = own.pop("base", None)
        found = _merged(own, found)
        following = None if base is None else _base_of(following, str(base))
    return found


def _base_of(path: Path, name: str) -> Path:
    """The file that another one inherits from."""
    for folder in (path.parent, SHIPPED):
        if (folder / name).is_file():
            return folder / name
    raise FileError(
        f"{path}: there is no base {name!r}, neither beside it nor in {SHIPPED}."
    )


def _merged(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Settings of both; those of `own` hold."""
    found = dict(base)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = _merged(found[key], value) if both else value
    return found


def settings_of(kind: type[Settings], raw: dict[str, Any], where: str) -> Settings:
    """A dataclass of settings, all of which must be given."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    check_keys(raw, known, where)
    missing = [key for key in known if key not in raw]
    if missing:
        raise OptionError(f"{where}: needs the key {missing[0]!r} too.")
    return kind(**raw)


def check_keys(raw: Any, allowed: Iterable[str], where: str) -> None:
    """Refuse a key that nothing reads: a setting misspelt is a setting not made."""
    if not isinstance(raw, dict):
        raise OptionError(f"{where}: must be a table of keys. Got {raw!r} instead.")
    listed = list(allowed)
    for key in raw:
        if key not in listed:
            raise OptionError(
                f"{where}: the key {key!r} is unknown.{did_you_mean(key, listed)}"
            )
