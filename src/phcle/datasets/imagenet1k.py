"""The 1000 labels of ImageNet-1K with their place in WordNet 3.0, embedded.

Derived by `tools/derive_imagenet1k.py`; WordNet's licence lies beside the data.
"""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from importlib.resources import files

from phcle.contexts import DescriptiveContext, RelationalContext

__all__ = ["ImageNet1K", "load_imagenet1k"]


@dataclass(frozen=True)
class ImageNet1K:
    """Labels are wnids in class order; hypernyms reach up to the root."""

    labels: tuple[str, ...]
    names: dict[str, str]  # of labels and of all nodes above them
    edges: tuple[tuple[str, str], ...]  # (child, parent)
    parts: dict[str, tuple[str, ...]]  # own part meronyms: only some labels have any
    glosses: dict[str, str]

    def hierarchy(self, kind: str = "ancestors") -> RelationalContext:
        """The hypernym closure as a relational context."""
        return RelationalContext.from_hierarchy(
            self.edges, name="hierarchy", kind=kind, labels=self.labels
        )

    def contexts(self) -> list[RelationalContext | DescriptiveContext]:
        """Hierarchy, parts, and words of the glosses."""
        return [
            self.hierarchy(),
            DescriptiveContext.from_tags(self.parts, name="parts"),
            DescriptiveContext.from_texts(self.glosses, name="gloss words"),
        ]


def load_imagenet1k() -> ImageNet1K:
    """Load the embedded data.

    >>> data = load_imagenet1k()
    >>> len(data.labels), data.names["n03063689"]
    (1000, 'coffeepot')
    """
    packed = files("phcle.datasets").joinpath("data/imagenet1k.tsv.gz").read_bytes()
    text = io.StringIO(gzip.decompress(packed).decode("utf-8"))
    rows = list(csv.DictReader(text, delimiter="\t"))
    labels = [row for row in rows if row["class"]]
    return ImageNet1K(
        labels=tuple(row["wnid"] for row in labels),
        names={row["wnid"]: row["name"] for row in rows},
        edges=tuple(
            (row["wnid"], parent)
            for row in rows
            for parent in row["parents"].split("|")
            if parent
        ),
        parts={
            row["wnid"]: tuple(row["parts"].split("|"))
            for row in labels
            if row["parts"]
        },
        glosses={row["wnid"]: row["gloss"] for row in labels},
    )
