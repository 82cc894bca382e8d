"""The 1000 labels of ImageNet-1K and their hypernyms in WordNet 3.0, shipped here.

`tools/derive_imagenet1k.py` made the file; WordNet's licence is beside the data. The
properties were written by hand for phcle and are under its licence.
"""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from importlib.resources import files

from phcle.contexts import DescriptiveContext, RelationalContext


@dataclass(frozen=True)
class ImageNet1K:
    """The labels of ImageNet-1K and what WordNet says about them.

    Attributes
    ----------
    labels : tuple of str
        Ids of the synsets (wnids), in the order of the classes.
    names : dict of str to str
        Readable names of the labels and of all nodes above them.
    edges : tuple of (str, str)
        Pairs (child, parent) of the hierarchy, up to the root.
    parts : dict of str to tuple of str
        Parts of the labels; only some labels have any.
    glosses : dict of str to str
        Definitions of the labels.
    """

    labels: tuple[str, ...]
    names: dict[str, str]
    edges: tuple[tuple[str, str], ...]
    parts: dict[str, tuple[str, ...]]
    glosses: dict[str, str]

    def hierarchy(self, kind: str = "ancestors") -> RelationalContext:
        """The hierarchy as a relational context.

        Parameters
        ----------
        kind : str
            How the hierarchy becomes counts; see `RelationalContext.from_hierarchy`.

        Returns
        -------
        RelationalContext
            The context "hierarchy".
        """
        return RelationalContext.from_hierarchy(
            self.edges, name="hierarchy", kind=kind, labels=self.labels
        )

    def contexts(self) -> list[RelationalContext | DescriptiveContext]:
        """All contexts.

        Returns
        -------
        list of contexts
            "hierarchy", "parts" and "gloss words".
        """
        return [
            self.hierarchy(),
            DescriptiveContext.from_tags(self.parts, name="parts"),
            DescriptiveContext.from_texts(self.glosses, name="gloss words"),
        ]

    def properties(self) -> DescriptiveContext:
        """Nine yes-or-no questions, answered by hand for every fourth label.

        They are common knowledge: has it fur, can it fly, is it food, and so on. Where
        yes and no are both right, the answer is left open.

        Returns
        -------
        DescriptiveContext
            The context "properties" of 250 labels.

        Examples
        --------
        >>> properties = load_imagenet1k().properties()
        >>> len(properties.labels), properties.columns[:3]
        (250, ('has fur', 'can fly', 'goes in water'))
        """
        rows = list(csv.DictReader(io.StringIO(_data("imagenet1k_properties.csv"))))
        titles = [title for title in rows[0] if title not in ("wnid", "name")]
        return DescriptiveContext.from_cells(
            tuple(row["wnid"] for row in rows),
            {title: [row[title] for row in rows] for title in titles},
            "properties",
        )


def load_imagenet1k() -> ImageNet1K:
    """Load the data that ships with phcle.

    Returns
    -------
    ImageNet1K
        Labels, hierarchy, parts and glosses.

    Examples
    --------
    >>> data = load_imagenet1k()
    >>> len(data.labels), data.names["n03063689"]
    (1000, 'coffeepot')
    """
    text = io.StringIO(_data("imagenet1k.tsv.gz"))
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


def _data(name: str) -> str:
    """The text of a file that ships with phcle; one that ends in gz is unpacked."""
    found = files("phcle.datasets").joinpath(f"data/{name}").read_bytes()
    return (gzip.decompress(found) if name.endswith(".gz") else found).decode("utf-8")
