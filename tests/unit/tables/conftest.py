"""Tables that are filled with values which a test chooses."""

from __future__ import annotations

import pytest

from phcle import PHCLE, DescriptiveContext
from phcle.answers import Cell
from phcle.tables import complete_table

COLUMNS = ["weight", "wild", "size", "seen", "price", "opened", "ready", "n", "x", "y"]
LABELS = [
    *(f"label {i}" for i in range(5)),
    *("animal", "lion", "dog", "cat", "bar", "caf\u00e9", "new", "\u732b"),
    *("a", "b", "c", "d", "e", "x", "y", "=a", "=b", "-c"),
]


@pytest.fixture(scope="session")
def fill():
    """Fill a table with the same values for every label, or by label."""
    cells = {x: [(i * 7 + len(x)) % 11 for i in range(len(LABELS))] for x in COLUMNS}
    context = DescriptiveContext.from_cells(LABELS, cells, "mine")
    model = PHCLE(dim=2, choose=False, completion="none", max_iter=2, tol=1)
    embedding = model.fit(context).embedding_

    def fill(table, values, out=None, **options):
        out = out or table.with_name("filled" + table.suffix)
        decided = {}
        for label in LABELS:
            own = values.get(label)
            for title, value in (own if isinstance(own, dict) else values).items():
                if title in COLUMNS:
                    cell = Cell(label, label, "mine", title, "category", value)
                    decided[label, "mine", title] = cell
        options["decisions"] = decided
        return complete_table(embedding, table, out, **options), out

    return fill
