"""A made-up shop: categories of products with gaps, and the truth behind them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.readers.delimited import read_text
from phcle.files import parse_json
from phcle_paper.datasets.patchy_table import (
    CATEGORY,
    NUMBER,
    TRUTH,
    Field,
    Floats,
    PatchyTable,
    numbers_of,
    read_cells,
)
from phcle_paper.datasets.releases import Release
from phcle_paper.studies.cell_tasks import CellTask

SHOP = Release("the made-up shop", "388 categories with gaps, beside the project")
LABEL, CHILD, PARENT = "category", "child", "parent"
NUMBERS = {"avg price": "price", "returns %": "returns"}  # by their names in the truth
TRUTHS = ("electric", "perishable")
CATEGORIES = ("season", "size")
YES_NO = {"yes": "1", "no": "0", "": ""}


def shop_task(data: str | Path) -> CellTask:
    """What the shop's table lacks; tags and baskets stand beside the table."""
    folder = Path(data) / "shop"
    columns = (*NUMBERS, *TRUTHS, *CATEGORIES)
    rows = read_cells(SHOP, folder, "attributes_clean.csv", needs=[LABEL, *columns])
    path = SHOP.file(folder, "truth.json")
    truth = parse_json(read_text(path), str(path))
    labels = tuple(truth)
    fields = (
        *(Field(x, NUMBER) for x in NUMBERS),
        *(Field(x, TRUTH) for x in TRUTHS),
        *(
            Field(x, CATEGORY, tuple(sorted({r[x] for r in rows} - {""})))
            for x in CATEGORIES
        ),
    )
    known = {row[LABEL]: row for row in rows}
    empty = dict.fromkeys(columns, "")
    cells = [known.get(label, empty) for label in labels]
    complete = [
        {
            **{x: str(truth[label][own]) for x, own in NUMBERS.items()},
            **{x: "yes" if truth[label][x] else "no" for x in TRUTHS},
            **{x: truth[label][x] for x in CATEGORIES},
        }
        for label in labels
    ]
    edges = read_cells(SHOP, folder, "taxonomy_utf8.csv", needs=[CHILD, PARENT])
    table = PatchyTable(
        "attributes",
        labels,
        fields,
        _values(cells, fields, folder),
        tuple(
            # One category is its own parent in the file.
            dict.fromkeys((x[CHILD], x[PARENT]) for x in edges if x[CHILD] != x[PARENT])
        ),
        (_tags(folder, labels), _baskets(folder)),
    )
    return CellTask(table, ~table.known, _values(complete, fields, folder))


def _values(
    cells: list[dict[str, str]], fields: tuple[Field, ...], folder: Path
) -> Floats:
    """Columns of all fields."""
    path = folder / "attributes_clean.csv"
    found = []
    for field in fields:
        texts = [row[field.title] for row in cells]
        if field.kind == CATEGORY:
            own = np.array([[float(x == y) for y in field.values] for x in texts])
            own[[x == "" for x in texts]] = np.nan
            found.append(own)
            continue
        if field.kind == TRUTH:
            texts = [YES_NO.get(x, x) for x in texts]
        found.append(numbers_of([{"": x} for x in texts], [""], path))
    return np.hstack(found)


def _tags(folder: Path, labels: tuple[str, ...]) -> DescriptiveContext:
    """Tags of categories, whose names are written in several ways."""
    names = {label.casefold(): label for label in labels}
    tags: dict[str, list[str]] = {}
    for row in read_cells(SHOP, folder, "tags.csv", needs=["label", "tag"]):
        label = names.get(row["label"].strip().casefold())
        if label is not None:
            tags.setdefault(label, []).append(row["tag"])
    return DescriptiveContext.from_tags(tags)


def _baskets(folder: Path) -> RelationalContext:
    """Which categories are bought together."""
    rows = read_cells(SHOP, folder, "baskets.csv", needs=["item", "label"])
    bought = list(dict.fromkeys((row["item"], row["label"]) for row in rows))
    return RelationalContext.from_annotations(bought, name="baskets")
