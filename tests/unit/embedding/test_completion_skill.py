from __future__ import annotations

import numpy as np
import pytest
from patchy_table import write_patchy_table

from phcle import (
    PHCLE,
    DescriptiveContext,
    RelationalContext,
    completion_skill,
    read_contexts,
)

N = 300


@pytest.fixture(scope="module")
def embedding():
    """A column that follows two others, one that follows the family, and noise."""
    rng = np.random.default_rng(0)
    labels = tuple(f"label {i}" for i in range(N))
    edges = [(label, f"group {i // 10}") for i, label in enumerate(labels)]
    edges += [(f"group {g}", "all") for g in range(N // 10)]
    a, b, noise = rng.normal(size=(3, N))
    by_group = rng.normal(size=N // 10).repeat(10)
    cells = {
        "a": a,
        "b": b,
        "both": a + b,
        "other": a - b,
        "of the family": by_group + 0.1 * rng.normal(size=N),
        "noise": noise,
        "sign": np.where(a + b > 0, "plus", "minus"),
    }
    left = {
        title: [x if rng.random() < 0.8 else None for x in own]
        for title, own in cells.items()
    }
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_cells(labels, left, "table"),
    ]
    return PHCLE().fit(contexts).embedding_


def test_columns_are_scored_beside_simple_rules(embedding):
    found = {x.column: x for x in completion_skill(embedding).columns}
    assert found["both"].score > 0.7
    assert found["both"].verdict == "better"
    assert found["both"].family < 0.2
    assert found["of the family"].score == pytest.approx(
        found["of the family"].family, abs=0.1
    )
    assert found["noise"].score < 0.1
    assert found["sign"].measure == "share right"
    assert found["sign"].score > found["sign"].usual + 0.04
    for title in ("a", "both", "noise"):
        assert found[title].usual == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("seed", [4, 7])
def test_noise_is_never_better_though_families_are_small(tmp_path, seed):
    # A mean of the other folds tells the values of a fold to whoever learned from them.
    write_patchy_table(tmp_path, seed)
    files = {"hierarchy": tmp_path / "tree.csv", "attributes": tmp_path / "looks.csv"}
    model = PHCLE(dim=8).fit(read_contexts(**files))
    found = {x.column: x for x in completion_skill(model.embedding_).columns}
    assert found["noise"].verdict != "better"
    assert found["noise"].score < 0.1
    assert found["mass"].verdict == "better"
