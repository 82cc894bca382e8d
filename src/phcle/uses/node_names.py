"""Nodes of a taxonomy, found by id or by readable name."""

from __future__ import annotations

from functools import cached_property

from phcle.contexts.labels import match_key
from phcle.contexts.relational.taxonomy import Hierarchy
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, did_you_mean, some


class NodeNames:
    """Find nodes of a taxonomy by id or by readable name.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that knows the readable names.
    tree : Hierarchy
        The taxonomy to search.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("n1", "n2")])
    >>> pets = LabelEmbedding(("n1",), [[1.0]], names={"n2": "pet"})
    >>> NodeNames(pets, tree).node_called("Pet")
    'n2'
    """

    def __init__(self, embedding: LabelEmbedding, tree: Hierarchy) -> None:
        self.embedding = embedding
        self.tree = tree

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for node in self.tree.nodes:
            found.setdefault(match_key(self.embedding.name_of(node)), []).append(node)
        return found

    @cached_property
    def _by_key(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for node in self.tree.nodes:
            found.setdefault(match_key(node), []).append(node)
        return found

    def node_called(self, text: str) -> str:
        """Return the node with this id or readable name.

        Parameters
        ----------
        text : str
            An id or a name in any case, or another spelling that the fit joined.

        Returns
        -------
        str
            The id of the node.

        Raises
        ------
        ContextError
            If no node has this name, or more than one.
        """
        text = self.embedding.spellings.get(text, text)
        if text in self.tree.index:
            return text
        key = match_key(text)
        found = self._by_name.get(key) or self._by_key.get(key, [])
        if len(found) == 1:
            return found[0]
        if found:
            raise ContextError(
                f"the parent {text!r} is the name of {len(found)} nodes: "
                f"{some(found)}; use the id."
            )
        known = [self.embedding.name_of(node) for node in self.tree.nodes]
        raise ContextError(
            f"the parent {text!r} is not in the taxonomy."
            f"{did_you_mean(text, [*known, *self.tree.nodes])} Name a known node, or "
            "give it a parent too."
        )
