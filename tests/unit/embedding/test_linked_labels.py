"""Gaps are filled from labels that are linked, where their values say something."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext

N = 300
PARTNER = np.arange(N) ^ 1


@pytest.mark.parametrize("is_planted", [True, False])
def test_linked_values_fill_gaps_and_noise_does_not(is_planted):
    """A label "below" another has 5 more; "beside" stand labels of any values."""
    rng = np.random.default_rng(0)
    heights = rng.normal(0, 10, N)
    if is_planted:
        heights[::2] = heights[1::2] + 5 + rng.normal(0, 0.1, N // 2)
    labels = tuple(f"x{i}" for i in range(N))
    triples = [(labels[i], "below", labels[i + 1]) for i in range(0, N, 2)]
    others = rng.integers(0, N, (N, 2))
    triples += [(labels[a], "beside", labels[b]) for a, b in others if a != b]
    known = rng.random(N) < 0.7
    values = np.where(known, heights, np.nan)[:, None]
    contexts = [
        RelationalContext.from_triples(triples),
        DescriptiveContext("table", labels, ("height",), values),
    ]
    model = PHCLE(dim=8, choose=False).fit(contexts)
    cells = {cell.label: cell for cell in model.embedding_.complete(why=False).cells}
    told = [cells[labels[i]] for i in np.flatnonzero(~known & known[PARTNER])]
    truth = heights[~known & known[PARTNER]]
    width = np.mean([cell.high - cell.low for cell in told])
    if is_planted:
        assert np.abs(truth - [cell.value for cell in told]).mean() < 3.0  # the mean: 8
        assert width < 22
    else:  # four fifths of all values are within ±12.8
        assert width > 0.85 * 2 * 12.8
