"""Thesaurus: a taxonomy whose nodes have names and texts."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from phcle.contexts.base.context import Context
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.relational.data import RelationalContext
from phcle.errors import ContextError

__all__ = ["Thesaurus"]

FEW_TEXTS = 50
"""Below this many texts, words that occur in one text count too: few texts share few
words."""


@dataclass(frozen=True)
class Thesaurus:
    """A taxonomy with names and texts, as vocabularies and ontologies have.

    Attributes
    ----------
    name : str
        Name of the thesaurus and of its taxonomy as a context.
    edges : tuple of (str, str)
        Pairs of child and parent.
    names : mapping
        Readable names by node.
    texts : mapping
        Texts by node; nodes may lack one.

    Examples
    --------
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
        """Return the part about nodes that are not known yet.

        Parameters
        ----------
        known : container of str
            The known nodes.

        Returns
        -------
        Thesaurus
            Edges, names and texts of all other nodes.
        """
        return Thesaurus(
            self.name,
            tuple(edge for edge in self.edges if edge[0] not in known),
            {node: name for node, name in self.names.items() if node not in known},
            {node: text for node, text in self.texts.items() if node not in known},
        )

    def hierarchy(self, **options: Any) -> RelationalContext:
        """Return the taxonomy as a context.

        Parameters
        ----------
        **options : object
            Arguments of `RelationalContext.from_hierarchy`.

        Returns
        -------
        RelationalContext
            The context, with the name of the thesaurus unless `name` is given.
        """
        if not self.edges:
            raise ContextError(
                f"{self.name!r} has no node above another, so it is no taxonomy; "
                "check that it states broader or narrower terms."
            )
        return RelationalContext.from_hierarchy(
            self.edges, **{"name": self.name, **options}
        )

    def descriptions(self, **options: Any) -> DescriptiveContext:
        """Return the texts as a context.

        Parameters
        ----------
        **options : object
            Arguments of `DescriptiveContext.from_texts`.

        Returns
        -------
        DescriptiveContext
            The context, named after the thesaurus unless `name` is given.
        """
        if not self.texts:
            raise ContextError(f"{self.name!r} has no text about any of its nodes.")
        own = {"name": f"{self.name} texts", **options}
        return DescriptiveContext.from_texts(self.texts, **own)

    def contexts(self, hierarchy_kind: str, role: str) -> list[Context]:
        """Return the taxonomy, and the texts if there are any, as contexts.

        Parameters
        ----------
        hierarchy_kind : str
            How the taxonomy relates its labels.
        role : str
            What the fit makes of the taxonomy.

        Returns
        -------
        list of contexts
            One or two.
        """
        found: list[Context] = [self.hierarchy(kind=hierarchy_kind, role=role)]
        if self.texts:
            min_count = 1 if len(self.texts) < FEW_TEXTS else 2
            found.append(self.descriptions(min_count=min_count))
        return found
