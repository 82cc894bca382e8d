"""Suggestions while a user of the explorer types."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer, Named, ValueSort

__all__ = [
    "AttributeName",
    "AttributesFound",
    "LabelsFound",
    "Node",
    "NodeFound",
    "NodesFound",
]


@dataclass(frozen=True)
class LabelsFound(Answer):
    """Labels that match what was typed.

    Attributes
    ----------
    typed : str
        What was typed.
    labels : tuple of Named
        Matching labels, best first.
    """

    typed: str
    labels: tuple[Named, ...]


@dataclass(frozen=True)
class Node(Answer):
    """A node of the hierarchy.

    Attributes
    ----------
    node, name : str
        The node's id and its readable name.
    is_label : bool
        Whether the node is a label of the embedding.
    """

    node: str
    name: str
    is_label: bool


@dataclass(frozen=True)
class NodeFound(Node):
    """A node that matches what was typed.

    Attributes
    ----------
    above : tuple of str
        Names of its parents, which tell apart nodes of the same name.
    """

    above: tuple[str, ...]


@dataclass(frozen=True)
class NodesFound(Answer):
    """Nodes that match what was typed.

    Attributes
    ----------
    typed : str
        What was typed.
    nodes : tuple of NodeFound
        Matching nodes, best first.
    """

    typed: str
    nodes: tuple[NodeFound, ...]


@dataclass(frozen=True)
class AttributeName(Answer):
    """An attribute that labels can have.

    Attributes
    ----------
    context, name : str
        The attribute and its context.
    sort : {"tags", "text", "numbers"}
        How its values are given.
    """

    context: str
    name: str
    sort: ValueSort


@dataclass(frozen=True)
class AttributesFound(Answer):
    """Attributes that match what was typed.

    Attributes
    ----------
    typed : str
        What was typed.
    attributes : tuple of AttributeName
        Matching attributes, best first.
    """

    typed: str
    attributes: tuple[AttributeName, ...]
