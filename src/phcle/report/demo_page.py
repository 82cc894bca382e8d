"""The page of `phcle demo`: the map of the labels and a few answers about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phcle.answers import Cell, Explanation
from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.datasets import ImageNet1K
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.summary import summarise
from phcle.model.foldin import fold_in
from phcle.report.hierarchy_branches import branches_of
from phcle.report.html_page import write_page
from phcle.report.label_cards import N_ON_CARD, page_data
from phcle.report.map_data import colourings
from phcle.report.map_layout import lay_out

RELATED = ("coffeepot", "Siberian husky", "accordion", "laptop", "lemon")
"""Labels whose neighbours are shown."""
GAPS = (
    "snow leopard", "bald eagle", "goldfish", "ladybug", "pizza",
    "trench coat", "mountain bike", "submarine", "cellular telephone",
)  # fmt: skip
"""Labels for which nobody answered the questions."""
NEW, NEW_PARENT = "kayak", "boat"
NEW_TEXT = "a small narrow boat that is moved with a paddle"
"""A label that ImageNet lacks, and all that is said about it."""
N_NEAREST = 4
"""Neighbours shown for each label; as many fit on a line of a terminal."""
N_REASONS = 2
"""Shared groups and shared words named for each pair."""
GLOSSES, PROPERTIES = "gloss words", "properties"


@dataclass(frozen=True)
class RelatedLabels:
    """A label, its nearest labels, and why the first is the nearest.

    Attributes
    ----------
    name : str
        The label's name.
    neighbours : tuple of str
        Names of the nearest labels, best first.
    why : Explanation
        The similarity to the first of them, and its parts.
    groups : tuple of str
        Groups of the hierarchy that hold both, the narrowest first.
    words : tuple of str
        Words of both definitions.
    """

    name: str
    neighbours: tuple[str, ...]
    why: Explanation
    groups: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class DemoAnswers:
    """What the demo shows.

    Attributes
    ----------
    embedding : LabelEmbedding
        The embedding with the added label.
    related : tuple of RelatedLabels
        Some labels with their neighbours.
    gaps : dict of str to tuple of Cell
        Predicted answers to all questions, by the name of the label.
    right, usual : float
        Share of hidden answers that were predicted, and that the most common answer
        gets right.
    added : str
        The label that was added without a new fit.
    near_added : tuple of str
        Names of its nearest labels.
    added_cells : tuple of Cell
        Its predicted answers.
    """

    embedding: LabelEmbedding
    related: tuple[RelatedLabels, ...]
    gaps: dict[str, tuple[Cell, ...]]
    right: float
    usual: float
    added: str
    near_added: tuple[str, ...]
    added_cells: tuple[Cell, ...]


def answer_demo(embedding: LabelEmbedding, data: ImageNet1K) -> DemoAnswers:
    """Ask an embedding of the ImageNet labels what the demo shows.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding, from the contexts "hierarchy", "gloss words" and "properties".
    data : ImageNet1K
        The labels and their hierarchy.

    Returns
    -------
    DemoAnswers
        The answers.
    """
    joined = embedding.joined(_new_label(embedding, data))
    right, usual = _skill(embedding)
    return DemoAnswers(
        embedding=joined,
        related=tuple(_related(embedding, label) for label in RELATED),
        gaps={label: _answers(embedding, label) for label in GAPS},
        right=right,
        usual=usual,
        added=NEW,
        near_added=_near(joined, NEW),
        added_cells=_answers(joined, NEW),
    )


def write_demo_page(path: Path, answers: DemoAnswers, *, seconds: float) -> None:
    """Write the page: one file that loads nothing else.

    Parameters
    ----------
    path : Path
        The file to write.
    answers : DemoAnswers
        The answers to show.
    seconds : float
        How long the fit took.
    """
    embedding = answers.embedding
    layout = lay_out(np.asarray(embedding.unit_vectors, np.float32), k=N_ON_CARD)
    ways = colourings(embedding, branches_of(embedding))
    write_page(
        path,
        "demo.html.j2",
        title="The 1000 labels of ImageNet",
        seconds=seconds,
        summary=summarise(embedding),
        answers=answers,
        new_text=NEW_TEXT,
        new_parent=NEW_PARENT,
        method=layout.method,
        map=page_data(embedding, layout, ways).text,
    )


def _new_label(embedding: LabelEmbedding, data: ImageNet1K) -> LabelEmbedding:
    """The new label alone, placed by its parent and its text."""
    node = next(x for x, name in data.names.items() if name == NEW_PARENT)
    return fold_in(
        embedding,
        [
            RelationalContext.from_hierarchy([(NEW, node)], name="hierarchy"),
            DescriptiveContext.from_texts({NEW: NEW_TEXT}, name=GLOSSES, min_count=1),
        ],
    )


def _near(embedding: LabelEmbedding, label: str) -> tuple[str, ...]:
    """The names of the nearest labels."""
    return tuple(embedding.name_of(x) for x, _ in embedding.nearest(label, N_NEAREST))


def _related(embedding: LabelEmbedding, label: str) -> RelatedLabels:
    """A label with its neighbours and the reasons for the first."""
    near = _near(embedding, label)
    why = embedding.explain(label, near[0], N_REASONS)
    groups = [node.name for part in why.parts for node in part.shared]
    words = [
        column.name
        for part in why.parts
        for group in part.groups
        for column in group.columns
        if part.context == GLOSSES and group.group == "both" and column.part > 0
    ]
    return RelatedLabels(
        label, near, why, tuple(groups[:N_REASONS]), tuple(words[:N_REASONS])
    )


def _answers(embedding: LabelEmbedding, label: str) -> tuple[Cell, ...]:
    """The predicted answers to all questions about a label."""
    return embedding.complete([label], contexts=[PROPERTIES]).cells


def _skill(embedding: LabelEmbedding) -> tuple[float, float]:
    """Share of hidden answers that are right: predicted, and by the most common one."""
    completion = summarise(embedding).completion
    columns = [] if completion is None else completion.columns
    own = [x for x in columns if x.context == PROPERTIES]
    return (
        _mean([x.score for x in own], [x.cells for x in own]),
        _mean([x.usual for x in own], [x.cells for x in own]),
    )


def _mean(scores: Sequence[Any], cells: Sequence[int]) -> float:
    """The mean of columns' scores, each as often as it has cells."""
    return float(np.average(scores, weights=cells))
