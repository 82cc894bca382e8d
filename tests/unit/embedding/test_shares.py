"""Columns that are shares of a whole are filled so that they add up."""

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext

LABELS = [f"bird{i}" for i in range(60)]
TREE = [(x, f"family{i % 6}") for i, x in enumerate(LABELS)]
DIET = ("seeds", "fruit", "fish")


def diets(total, rng):
    """Diets by family, a fifth of them without one part, some without two."""
    usual = rng.dirichlet(np.ones(3), 6)
    true = np.array([rng.dirichlet(20 * usual[i % 6] + 0.2) for i in range(60)]) * total
    shown = true.copy()
    shown[:12, 0] = np.nan
    shown[6:9, 1] = np.nan
    return true, shown


def filled(shown, **more):
    cells = {title: list(shown[:, j]) for j, title in enumerate(DIET)} | more
    table = DescriptiveContext.from_cells(LABELS, cells, "table")
    tree = RelationalContext.from_hierarchy(TREE)
    found = shown.copy(), shown.copy(), shown.copy()
    for cell in PHCLE().fit([table, tree]).embedding_.complete().cells:
        if cell.column in DIET:
            at = LABELS.index(cell.label), DIET.index(cell.column)
            for values, own in zip(
                found, (cell.value, cell.low, cell.high), strict=True
            ):
                values[at] = own
    return found


@pytest.mark.parametrize("total", [1.0, 100.0])
def test_predicted_shares_fill_what_the_known_ones_leave(total, rng):
    true, shown = diets(total, rng)
    value, low, high = filled(shown, size=list(rng.normal(size=60)))
    gaps = np.isnan(shown)
    assert value.sum(axis=1) == pytest.approx(total, rel=1e-4)
    assert ((low <= value + 1e-6) & (value <= high + 1e-6))[gaps].all()
    assert (low[gaps] >= 0).all()
    assert (high[gaps] <= total * 1.0001).all()
    alone = gaps.sum(axis=1) == 1
    assert value[alone] == pytest.approx(true[alone], abs=1e-3 * total)


def test_numbers_that_add_up_to_nothing_stay_as_they_are_predicted(rng):
    _, shown = diets(1.0, rng)
    shown[:, 1] *= rng.uniform(0.5, 2.0, 60)
    value, _, _ = filled(shown)
    assert np.abs(np.nansum(value[:12], axis=1) - 1.0).max() > 0.01
