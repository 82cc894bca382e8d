"""The page of a node of the taxonomy: its labels, what they share, and what is odd.

Shared is what is common among the node's labels and rare among the others. Odd is a
label far from the middle of the node, and a cell that differs from nearly all others.
Only observed cells count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.answers import Answer, Named
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.fields import Field
from phcle.embedding.cell_texts import number_text
from phcle.errors import UnknownLabelError
from phcle.explorer.answers import Node
from phcle.explorer.label_suggestions import LabelNotFound
from phcle.explorer.opened_embedding import Opened
from phcle.uses.named_answers import named

__all__ = ["NodePage", "node_page"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_LABELS = 60
MOST_CHILDREN = 60
MOST_SHARED = 12
MOST_ODD = 8

FEWEST = 3
"""Known labels of a node below which nothing is said to be shared or odd."""

SURE = 2.5
"""Shared is a difference of this many standard errors at least."""

COMMON = 0.5
"""Shared is what at least this share of the node's labels has."""

NEARLY_ALL = 0.8
"""A cell is odd if at least this share of the node's labels has one other value."""

FAR = 3.0
"""A number is odd if it is further from the node's median than this many of its usual
distances; a label is, if it is that much further from the middle than others."""


@dataclass(frozen=True)
class SharedAttribute(Answer):
    """An attribute that is common in a node and rare elsewhere.

    Attributes
    ----------
    context, column : str
        The field.
    value : str
        Its value, in words.
    inside, outside : float
        Shares of the known labels that have it; for numbers, the means.
    n_known : int
        Labels of the node whose value is known.
    is_number : bool
        Whether `inside` and `outside` are means.
    """

    context: str
    column: str
    value: str
    inside: float
    outside: float
    n_known: int
    is_number: bool


@dataclass(frozen=True)
class OddCell(Named):
    """A cell that differs from those of nearly all other labels of the node.

    Attributes
    ----------
    context, column : str
        The field.
    value : str
        The label's value.
    usual : str
        The value of the others.
    """

    context: str
    column: str
    value: str
    usual: str


@dataclass(frozen=True)
class OddLabel(Named):
    """A label far from the middle of its node.

    Attributes
    ----------
    similarity : float
        Cosine with the mean of the node's vectors.
    usual : float
        The median of these cosines.
    """

    similarity: float
    usual: float


@dataclass(frozen=True)
class ChildNode(Node):
    """A child of a node.

    Attributes
    ----------
    n_labels : int
        Number of labels below it.
    """

    n_labels: int

    @property
    def is_single(self) -> bool:
        """Whether it is a label without others below it."""
        return self.is_label and self.n_labels == 1


@dataclass(frozen=True)
class NodePage(Node):
    """All that the page of a node shows.

    Attributes
    ----------
    context : str
        Name of the hierarchy.
    path : tuple of Node
        The way from a root to the node.
    parents : tuple of Node
        Its parents.
    children : tuple of ChildNode
        Its children, those with most labels first.
    n_children : int
        Number of all children.
    labels : tuple of Named
        Labels below it, the most typical first.
    n_labels : int
        Number of all labels below it.
    shared : tuple of SharedAttribute
        What they share.
    odd_labels : tuple of OddLabel
        Labels that are far from the others.
    odd_cells : tuple of OddCell
        Cells that differ.
    """

    context: str
    path: tuple[Node, ...]
    parents: tuple[Node, ...]
    children: tuple[ChildNode, ...]
    n_children: int
    labels: tuple[Named, ...]
    n_labels: int
    shared: tuple[SharedAttribute, ...]
    odd_labels: tuple[OddLabel, ...]
    odd_cells: tuple[OddCell, ...]


def node_page(opened: Opened, text: str) -> NodePage:
    """Collect all that the page of a node shows.

    Parameters
    ----------
    opened : Opened
        The embedding.
    text : str
        The node's id or its readable name.

    Returns
    -------
    NodePage
        Its place, labels, what they share and what is odd.
    """
    node = _resolved(opened, text)
    assert opened.taxonomy is not None
    context, tree = opened.taxonomy
    rows = opened.rows_below(node)
    children = [(x, len(opened.rows_below(x))) for x in tree.children_of(node)]
    children.sort(key=lambda x: -x[1])
    labels = opened.embedding.labels
    nearness, order = _typical(opened, rows)
    shared, odd_cells = _attributes(opened, rows)
    return NodePage(
        **vars(_node(opened, node)),
        context=context,
        path=tuple(_node(opened, x) for x in tree.path_to(node)),
        parents=tuple(_node(opened, x) for x in tree.parents_of(node)),
        children=tuple(
            ChildNode(**vars(_node(opened, x)), n_labels=n)
            for x, n in children[:MOST_CHILDREN]
        ),
        n_children=len(children),
        labels=tuple(
            named(opened.embedding, labels[rows[i]]) for i in order[:MOST_LABELS]
        ),
        n_labels=len(rows),
        shared=shared,
        odd_labels=_odd_labels(opened, rows, nearness),
        odd_cells=odd_cells,
    )


def _resolved(opened: Opened, text: str) -> str:
    """The node with an id or a name."""
    if opened.taxonomy is None:
        raise UnknownLabelError("this embedding has no hierarchy, so it has no nodes.")
    tree = opened.taxonomy[1]
    if text in tree.index:
        return text
    nodes = tree.nodes
    exact = [nodes[i] for i in opened.node_suggestions.exactly(text)]
    if len(exact) == 1:
        return exact[0]
    near = exact or [nodes[i] for i in opened.node_suggestions.find(text, 3)]
    said = "is the name of several nodes" if exact else "is no node of the hierarchy"
    raise LabelNotFound(f"{text!r} {said}.", text, tuple(near[:20]))


def _node(opened: Opened, node: str) -> Node:
    embedding = opened.embedding
    return Node(node, embedding.name_of(node), node in embedding)


def _typical(opened: Opened, rows: Ints) -> tuple[Floats, list[int]]:
    """Cosines of labels with their mean, and their order, nearest first."""
    if not len(rows):
        return np.zeros(0), []
    units = np.asarray(opened.embedding.unit_vectors[rows], np.float32)
    middle = units.mean(axis=0)
    middle /= float(np.linalg.norm(middle)) or 1.0
    nearness = (units @ middle).astype(np.float64)
    return nearness, np.argsort(-nearness, kind="stable").tolist()


def _odd_labels(opened: Opened, rows: Ints, nearness: Floats) -> tuple[OddLabel, ...]:
    """Labels that are much further from the middle than most."""
    if len(rows) <= FEWEST:
        return ()
    usual = float(np.median(nearness))
    spread = float(np.median(np.abs(nearness - usual)))
    far = np.flatnonzero(nearness < usual - FAR * max(spread, 1e-3))
    far = far[np.argsort(nearness[far], kind="stable")][:MOST_ODD]
    labels = opened.embedding.labels
    return tuple(
        OddLabel(
            **vars(named(opened.embedding, labels[rows[i]])),
            similarity=float(nearness[i]),
            usual=usual,
        )
        for i in far
    )


def _attributes(
    opened: Opened, rows: Ints
) -> tuple[tuple[SharedAttribute, ...], tuple[OddCell, ...]]:
    """What the labels share, and the cells that differ; the clearest first."""
    is_inside = np.zeros(len(opened.embedding), dtype=bool)
    is_inside[rows] = True
    shared: list[tuple[float, SharedAttribute]] = []
    odd: list[tuple[float, OddCell]] = []
    for table in opened.columns.tables.values():
        if table.data is None:
            continue
        at = opened.columns.positions(table)
        inside = (at >= 0) & is_inside[at]
        if inside.sum() < FEWEST:
            continue
        if table.fields and table.fields[0].kind == "tag":
            shared += _shared_tags(table, *opened.columns.tags(table), inside)
            continue
        for field in table.fields:
            columns = [
                table.data.matrix.column(i)
                for i in range(field.at.start, field.at.stop)
            ]
            if field.kind == "number":
                is_log = bool(table.is_log[field.at.start])
                found = _numbers(
                    opened, table, field, columns[0], inside, is_log=is_log
                )
            else:
                found = _values(opened, table, field, columns, inside)
            shared += found[0]
            odd += found[1]
    shared.sort(key=lambda x: -x[0])
    odd.sort(key=lambda x: -x[0])
    return tuple(x for _, x in shared[:MOST_SHARED]), tuple(
        x for _, x in odd[:MOST_ODD]
    )


Found = tuple[list[tuple[float, SharedAttribute]], list[tuple[float, OddCell]]]


def _surprise(
    n_in: Floats, known_in: Floats, n_out: Floats, known_out: Floats
) -> Floats:
    """Difference of two shares in standard errors."""
    p_in = n_in / np.maximum(known_in, 1)
    p_out = n_out / np.maximum(known_out, 1)
    both = (n_in + n_out) / np.maximum(known_in + known_out, 1)
    error = np.sqrt(
        both * (1 - both) * (1 / np.maximum(known_in, 1) + 1 / np.maximum(known_out, 1))
    )
    return np.divide(p_in - p_out, error, out=np.zeros_like(error), where=error > 0)


def _shared_tags(
    table: PredictingContext,
    rows: Ints,
    columns: Ints,
    inside: npt.NDArray[np.bool_],
) -> list[tuple[float, SharedAttribute]]:
    """Tags that are common inside and rare outside."""
    described = np.asarray(table.data.has_values)
    n_in, n_out = (
        np.bincount(columns[x[rows]], minlength=len(table.columns)).astype(np.float64)
        for x in (inside, ~inside)
    )
    known_in, known_out = (
        float((inside & described).sum()),
        float((~inside & described).sum()),
    )
    if known_in < FEWEST:
        return []
    surprise = _surprise(
        n_in, np.full_like(n_in, known_in), n_out, np.full_like(n_out, known_out)
    )
    found = np.flatnonzero((surprise > SURE) & (n_in >= COMMON * known_in))
    return [
        (
            float(surprise[i]),
            SharedAttribute(
                table.name,
                table.columns[i],
                "yes",
                n_in[i] / known_in,
                n_out[i] / max(known_out, 1),
                int(known_in),
                is_number=False,
            ),
        )
        for i in found.tolist()
    ]


def _values(
    opened: Opened,
    table: PredictingContext,
    field: Field,
    columns: Sequence[Floats],
    inside: npt.NDArray[np.bool_],
) -> Found:
    """The shared values of a category or truth value, and the labels without them."""
    is_known = ~np.isnan(columns[0])
    known_in, known_out = (
        float((is_known & inside).sum()),
        float((is_known & ~inside).sum()),
    )
    if known_in < FEWEST:
        return [], []
    if field.values:
        names, has = field.values, np.array([x > 0 for x in columns])
    else:
        names, has = ("yes", "no"), np.array([columns[0] > 0, columns[0] <= 0])
    has &= is_known
    n_in, n_out = (has[:, x].sum(axis=1).astype(np.float64) for x in (inside, ~inside))
    every_in, every_out = np.full_like(n_in, known_in), np.full_like(n_out, known_out)
    surprise = _surprise(n_in, every_in, n_out, every_out)
    shared: list[tuple[float, SharedAttribute]] = []
    odd: list[tuple[float, OddCell]] = []
    for i in np.flatnonzero(n_in >= COMMON * known_in).tolist():
        share = n_in[i] / known_in
        if surprise[i] > SURE:
            own = SharedAttribute(
                table.name,
                field.title,
                names[i],
                share,
                n_out[i] / max(known_out, 1),
                int(known_in),
                is_number=False,
            )
            shared.append((float(surprise[i]), own))
        if share >= NEARLY_ALL and known_in > FEWEST:
            for at in np.flatnonzero(inside & is_known & ~has[i]).tolist():
                label = table.data.labels[at]
                value = names[int(has[:, at].argmax())]
                odd.append(
                    (
                        share,
                        OddCell(
                            **vars(named(opened.embedding, label)),
                            context=table.name,
                            column=field.title,
                            value=value,
                            usual=names[i],
                        ),
                    )
                )
    return shared, odd


def _numbers(
    opened: Opened,
    table: PredictingContext,
    field: Field,
    values: Floats,
    inside: npt.NDArray[np.bool_],
    *,
    is_log: bool,
) -> Found:
    """Whether a number differs inside, and which labels differ from the others."""
    is_known = ~np.isnan(values)
    own, others = values[is_known & inside], values[is_known & ~inside]
    if len(own) < FEWEST:
        return [], []
    if is_log:
        own, others = np.log(own), np.log(others)

    def unit(number: float) -> float:
        return float(np.exp(number) if is_log else number)

    def shown(number: float) -> str:
        return number_text(unit(number))

    shared: list[tuple[float, SharedAttribute]] = []
    if len(others) >= FEWEST:
        spread = np.sqrt(own.var() / len(own) + others.var() / len(others))
        steps = (own.mean() - others.mean()) / (float(spread) or 1.0)
        # Much more than chance, and also much: half the spread of all labels.
        is_much = abs(own.mean() - others.mean()) > 0.5 * float(others.std())
        if abs(steps) > SURE and is_much:
            said = f"{'about' if is_log else 'mean'} {shown(own.mean())}"
            found = SharedAttribute(
                table.name,
                field.title,
                said,
                unit(own.mean()),
                unit(others.mean()),
                len(own),
                is_number=True,
            )
            shared.append((abs(float(steps)), found))
    odd: list[tuple[float, OddCell]] = []
    middle = float(np.median(own))
    usual = 1.4826 * float(np.median(np.abs(own - middle)))
    if len(own) > 2 * FEWEST and usual > 0:
        rows = np.flatnonzero(is_known & inside)
        far = np.abs(own - middle) / usual
        for i in np.flatnonzero(far > FAR).tolist():
            label = table.data.labels[rows[i]]
            odd.append(
                (
                    min(float(far[i]) / (2 * FAR), 1.0),
                    OddCell(
                        **vars(named(opened.embedding, label)),
                        context=table.name,
                        column=field.title,
                        value=shown(own[i]),
                        usual=f"about {shown(middle)}",
                    ),
                )
            )
    return shared, odd
