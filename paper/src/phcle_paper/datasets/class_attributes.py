"""Attributes of classes, from a source without pictures."""

from __future__ import annotations

from dataclasses import dataclass, field

from phcle.contexts import DescriptiveContext

__all__ = ["ClassAttributes"]


@dataclass(frozen=True, eq=False)
class ClassAttributes:
    """Attributes of classes without pictures, and the class lists of the source."""

    attributes: DescriptiveContext
    splits: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the source."""
        return self.attributes.labels
