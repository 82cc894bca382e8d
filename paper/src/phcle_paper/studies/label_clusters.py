"""Clusters of AWA's labels by every embedding: the paper's Figure 3, with numbers.

The paper describes heat maps in words. This study draws the same pictures and measures
how well each agrees with WordNet, whether the weasel is with its family, and whether
dogs and cats are together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from phcle.contexts import Hierarchy
from phcle.embedding import LabelEmbedding
from phcle.errors import ConvergenceWarning
from phcle.files import write_whole
from phcle_paper.studies.cluster_agreement import agreement, families
from phcle_paper.tables.embeddings import make_embedding
from phcle_paper.tables.image_benchmarks import ImageBenchmark, load_benchmark

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Clusters", "Settings", "cluster_labels", "draw_panels", "run"]

NEEDS = ("xlsa17/AWA1", "awa")

COLUMNS = 2  # of panels
WEASEL, SKUNK = "n02441942", "n02445715"
# Dalmatian, German shepherd, Chihuahua and collie; Siamese and Persian cat.
DOGS_AND_CATS = (
    *("n02110341", "n02106662", "n02085620", "n02106030"),
    *("n02123597", "n02123394"),
)


class Clusters(NamedTuple):
    """Clusters of labels, and the cosines of all pairs of labels in this order."""

    groups: Sequence[tuple[str, ...]]
    labels: Sequence[str]
    similarity: npt.NDArray[np.float64]


def cluster_labels(embedding: LabelEmbedding, n: int) -> Clusters:
    """The clusters of all labels of an embedding."""
    named = embedding.groups(n).clusters
    groups = [tuple(each.label for each in group) for group in named]
    labels = list(chain.from_iterable(groups))
    units = np.asarray(embedding.select(labels).unit_vectors, np.float64)
    return Clusters(groups, labels, np.clip(units @ units.T, -1.0, 1.0))


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    datasets: Sequence[str]
    n_clusters: int  # in the pictures
    cuts: Sequence[int]  # over which the Rand index is averaged
    family_level: int  # steps below WordNet's root
    embeddings: Mapping[str, Mapping[str, Any]]  # method and options by name
    caveats: Sequence[str]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: agreement and verdicts of every embedding, with its pictures."""
    rows: list[dict[str, Any]] = []
    figures, notes = [], []
    for dataset in settings.datasets:
        request.tell(f"{dataset}: {len(settings.embeddings)} embeddings")
        benchmark = load_benchmark(dataset, request.data)
        panels: dict[str, Clusters] = {}
        own_rows = []
        for name, plan in settings.embeddings.items():
            embedding = _embedding(plan, benchmark)
            clusters = cluster_labels(embedding, n=settings.n_clusters)
            row = _row(dataset, name, embedding, clusters, settings, benchmark)
            own_rows.append(row)
            panels[_title(row)] = clusters
        figures += _draw(dataset, panels, benchmark, request)
        rows += own_rows
        notes += [note for note in benchmark.notes if "word vectors" in note]
    return _table(settings, rows, figures, notes)


def _embedding(plan: Mapping[str, Any], benchmark: ImageBenchmark) -> LabelEmbedding:
    """Vectors of the classes."""
    options = {key: value for key, value in plan.items() if key != "method"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        made = make_embedding(plan["method"], options, benchmark)
    return made.select(benchmark.classes)


def _row(
    dataset: str,
    name: str,
    embedding: LabelEmbedding,
    clusters: Clusters,
    settings: Settings,
    benchmark: ImageBenchmark,
) -> dict[str, Any]:
    """Agreement of one embedding with WordNet, and the paper's verdicts on it."""
    tree = Hierarchy.from_edges(benchmark.imagenet.edges)
    level = settings.family_level
    cophenetic, rand_index = agreement(clusters, tree, level)
    cut = (cluster_labels(embedding, n) for n in settings.cuts)
    rand_indices = [agreement(each, tree, level)[1] for each in cut]
    near = [label for label, _ in embedding.nearest(WEASEL, k=3)]
    family = dict(
        zip(benchmark.classes, families(tree, benchmark.classes, level), strict=True)
    )
    group_of = {label: group for group in clusters.groups for label in group}
    together = {group_of[label] for label in DOGS_AND_CATS}
    names = benchmark.imagenet.names
    return {
        "dataset": dataset,
        "embedding": name,
        "cophenetic": cophenetic,
        "rand_index": rand_index,
        "mean_rand_index": float(np.mean(rand_indices)),
        "weasel_near": ", ".join(names[label] for label in near),
        "weasel_in_family": _yes(family[near[0]] == family[WEASEL]),
        "weasel_with_skunk": _yes(SKUNK in group_of[WEASEL]),
        "pets_in": len(together),
        "mean_similarity": _off_diagonal_mean(clusters),
        "clusters": "; ".join(
            ", ".join(names[label] for label in group) for group in clusters.groups
        ),
    }


def _off_diagonal_mean(clusters: Clusters) -> float:
    n = len(clusters.labels)
    return float((clusters.similarity.sum() - n) / (n * (n - 1)))


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _title(row: Mapping[str, Any]) -> str:
    return (
        f"{row['embedding']}\ncophenetic {row['cophenetic']:.2f}, "
        f"Rand {row['rand_index']:.2f}"
    )


def _draw(
    dataset: str,
    panels: Mapping[str, Clusters],
    benchmark: ImageBenchmark,
    request: Request,
) -> list[dict[str, str]]:
    """The pictures as PNG and SVG; the page shows the first."""
    names = benchmark.imagenet.names
    for ending in (".png", ".svg"):
        draw_panels(
            panels,
            request.out / f"clusters-{dataset}{ending}",
            name_of=lambda label: names[label],
        )
    title = f"Cosine similarity of the {len(benchmark.classes)} labels of {dataset}"
    return [{"title": title, "file": f"clusters-{dataset}.png"}]


def draw_panels(
    panels: Mapping[str, Clusters], path: Path, name_of: Callable[[str], str]
) -> None:
    """Draw clusters, by the title of their panel, into a .png or .svg file."""
    rows = -(-len(panels) // COLUMNS)
    most = max(len(clusters.labels) for clusters in panels.values())
    side = min(max(most * 0.12, 2.6), 16.0) + 0.8  # inches
    figure = Figure(figsize=(COLUMNS * side + 0.6, rows * side), layout="compressed")
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    ends = _ends(panels)
    for axis, (title, clusters) in zip(axes, panels.items(), strict=False):
        image = _draw_heatmap(axis, clusters, name_of, ends)
        axis.set_title(title, fontsize=9)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    figure.colorbar(
        image, ax=axes, shrink=0.5, aspect=40, pad=0.01, label="cosine similarity"
    )
    with write_whole(path) as temporary:
        ending = path.suffix.removeprefix(".")
        figure.savefig(
            temporary, format=ending, dpi=150, bbox_inches="tight", pad_inches=0.05
        )


def _draw_heatmap(
    axis: Any,
    clusters: Clusters,
    name_of: Callable[[str], str],
    ends: tuple[float, float],
) -> Any:
    """Similarities with label names and a box around each cluster."""
    low, high = ends
    image = axis.imshow(clusters.similarity, cmap="viridis", vmin=low, vmax=high)
    axis.set_xticks([])
    names = [name_of(label) for label in clusters.labels]
    axis.set_yticks(np.arange(len(names)), names, fontsize=7)
    axis.tick_params(length=0, pad=2)
    start = 0
    for group in clusters.groups:
        corner, size = (start - 0.5, start - 0.5), len(group)
        for colour, width in (("white", 2.8), ("black", 1.4)):  # seen on any colour
            box = Rectangle(corner, size, size, fill=False, ec=colour, lw=width)
            axis.add_patch(box)
        start += size
    return image


def _ends(panels: Mapping[str, Clusters]) -> tuple[float, float]:
    """The least and the largest cosine of two different labels."""
    found = np.concatenate(
        [x.similarity[~np.eye(len(x.labels), dtype=bool)] for x in panels.values()]
    )
    return float(found.min()), float(found.max())


def _table(
    settings: Settings,
    rows: list[dict[str, Any]],
    figures: list[dict[str, str]],
    notes: Sequence[str],
) -> dict[str, Any]:
    cuts = settings.cuts
    return {
        "title": "Clusters of the labels of AWA, and their agreement with WordNet",
        "dataset": ", ".join(settings.datasets),
        "lead": [
            "Average linkage on the cosine. Cophenetic: correlation of the heights at "
            "which labels join with their paths in WordNet. Rand: adjusted Rand index "
            f"of {settings.n_clusters} clusters against WordNet's nodes "
            f"{settings.family_level} steps below its root (canine, feline, musteline "
            f"mammal, …), and its mean over cuts into {min(cuts)} to {max(cuts)} "
            "clusters."
        ],
        "columns": {
            "dataset": ("labels",),
            "embedding": ("embedding",),
            "cophenetic": ("cophenetic", ".3f"),
            "rand_index": ("Rand", ".3f"),
            "mean_rand_index": ("Rand, mean of cuts", ".3f"),
            "mean_similarity": ("mean cosine", "+.2f"),
            "weasel_near": ("nearest to the weasel",),
            "weasel_in_family": ("nearest is a musteline",),
            "weasel_with_skunk": ("weasel with skunk",),
            "pets_in": ("clusters of dogs and cats",),
        },
        "rows": rows,
        "figures": figures,
        "caveats": [*settings.caveats, *dict.fromkeys(notes)],
    }
