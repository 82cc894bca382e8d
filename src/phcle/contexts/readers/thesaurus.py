"""Thesaurus: a taxonomy whose nodes have names and texts, from whatever holds one."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.relational.data import RelationalContext
from phcle.errors import ContextError

__all__ = ["Thesaurus"]


@dataclass(frozen=True)
class Thesaurus:
    """Edges from child to parent, a readable name of each node, and texts about some.

    >>> pets = Thesaurus("pets", (("cat", "pet"), ("dog", "pet")))
    >>> pets.hierarchy().labels
    ('cat', 'dog')
    """

    name: str
    edges: tuple[tuple[str, str], ...]
    names: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        nodes = {end for edge in self.edges for end in edge}
        return (
            f"Thesaurus({self.name!r}: {len(nodes)} nodes, {len(self.edges)} edges, "
            f"{len(self.texts)} texts)"
        )

    def beyond(self, known: Container[str]) -> Thesaurus:
        """What it says about the nodes that are not among these."""
        return Thesaurus(
            self.name,
            tuple(edge for edge in self.edges if edge[0] not in known),
            {node: name for node, name in self.names.items() if node not in known},
            {node: text for node, text in self.texts.items() if node not in known},
        )

    def hierarchy(self, **options: Any) -> RelationalContext:
        """The taxonomy as a context; options as `from_hierarchy` has them."""
        if not self.edges:
            raise ContextError(
                f"{self.name!r} has no node above another, so it is no taxonomy; "
                "check that it states broader or narrower terms."
            )
        return RelationalContext.from_hierarchy(
            self.edges, **{"name": self.name, **options}
        )

    def descriptions(self, **options: Any) -> DescriptiveContext:
        """The texts as a context; options as `from_texts` has them."""
        if not self.texts:
            raise ContextError(f"{self.name!r} has no text about any of its nodes.")
        own = {"name": f"{self.name} texts", **options}
        return DescriptiveContext.from_texts(self.texts, **own)
