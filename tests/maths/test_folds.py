"""What is predicted out of fold has not seen what it predicts."""

from __future__ import annotations

import numpy as np
import pytest
from problems import table, tree_of

from phcle import DescriptiveContext
from phcle.backends.protocol import choose_backend
from phcle.contexts import align
from phcle.model.choose import pose_chosen
from phcle.model.folds import out_of_fold
from phcle.model.problem import DeviceProblem
from phcle.model.trials import Chosen, Setting
from phcle.model.weights import equal_weights
from phcle.options import DEFAULTS

N_LABELS, N_COLUMNS = 400, 40
LABELS = tuple(f"label{i}" for i in range(N_LABELS))
GROUP = np.arange(N_LABELS) // 5


def held_out(contexts):
    chosen = Chosen(Setting(dim=20, shrinkage={"table": 0.1}))
    problem, _ = pose_chosen(align(contexts), DEFAULTS, chosen)
    device = DeviceProblem(choose_backend("numpy"), problem)
    return out_of_fold(device, equal_weights(problem), seed=0)["table"]


@pytest.mark.parametrize("role", ["counts", "family"])
def test_nothing_is_known_of_hidden_noise(role):
    """From 16,000 cells, a correlation of chance has a standard error of 0.008."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(N_LABELS, N_COLUMNS))
    tree = tree_of(LABELS, GROUP, role=role)
    held = held_out([tree, table("table", LABELS, noise)])
    row, column = np.indices(noise.shape)
    said = held.without_cells[held.cell_fold, row, column].astype(float)
    for found in (said, held.without_row.astype(float)):
        assert found.std() > 0.01  # something was learned, all of it by chance
        assert abs(np.corrcoef(found.ravel(), noise[held.rows].ravel())[0, 1]) < 0.03


def test_nothing_is_known_of_hidden_tags():
    rng = np.random.default_rng(0)
    has = rng.random((N_LABELS, N_COLUMNS)) < 0.3
    tags = {
        x: [f"t{i}" for i in np.flatnonzero(own)]
        for x, own in zip(LABELS, has, strict=True)
    }
    contexts = [
        tree_of(LABELS, GROUP, role="family"),
        DescriptiveContext.from_tags(tags, name="table"),
    ]
    held = held_out(contexts)
    assert held.steps.std() > 0.01
    assert abs(np.corrcoef(held.steps, held.has_it)[0, 1]) < 0.03
