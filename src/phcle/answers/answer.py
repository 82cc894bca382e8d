"""The base of all answers, and labels with names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

__all__ = [
    "Answer",
    "Named",
    "ValueSort",
    "as_json",
]


ValueSort = Literal["tags", "text", "numbers"]
"""How the values of a context are given."""


class Answer:
    """Base of all answers.

    A field with the metadata `exclude` is for Python alone. `to_dict` leaves it out,
    and so does pydantic, which knows the same key.
    """

    def to_dict(self) -> dict[str, Any]:
        """Convert the answer to plain values, for JSON.

        Returns
        -------
        dict
            The fields by name; answers inside it are dictionaries too.
        """
        return {
            each.name: as_json(getattr(self, each.name))
            for each in fields(self)  # type: ignore[arg-type]
            if not each.metadata.get("exclude")
        }


def as_json(value: object) -> Any:
    """Convert an answer, or values that hold answers, to what JSON can hold.

    Parameters
    ----------
    value : object
        An answer, a mapping, a list, a tuple or a plain value.

    Returns
    -------
    object
        The same with dictionaries and lists.

    Examples
    --------
    >>> as_json((Named("n1", "coffeepot"),))
    [{'label': 'n1', 'name': 'coffeepot'}]
    """
    if isinstance(value, Answer):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    return value


@dataclass(frozen=True)
class Named(Answer):
    """A label and its readable name.

    Attributes
    ----------
    label : str
        The label's id.
    name : str
        Its readable name; the id if it has none.
    """

    label: str
    name: str
