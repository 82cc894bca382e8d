"""`phcle evaluate --contexts`, and what `fit` and `info` say was chosen."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

N, GROUPS = 120, 24


@pytest.fixture
def shop(phcle, zoo):
    """Files of a tree, of a table that it explains, and of noise, and a fit of them."""
    rng = np.random.default_rng(0)
    group = np.arange(N) // (N // GROUPS)
    looks = rng.normal(size=(GROUPS, 6))[group] + 0.2 * rng.normal(size=(N, 6))
    price = np.exp(2 * rng.normal(size=GROUPS)[group] + 0.1 * rng.normal(size=N))
    tables = {
        "traits": np.column_stack([looks, price]),
        "noise": rng.normal(size=(N, 6)),
    }
    for name, values in tables.items():
        frame = pd.DataFrame(values, [f"x{i}" for i in range(N)]).add_prefix(name)
        frame.to_csv(zoo / f"{name}.csv", index_label="label")
    edges = [f"x{i},g{g}" for i, g in enumerate(group)]
    edges += [f"g{g},root" for g in range(GROUPS)]
    (zoo / "groups.csv").write_text("\n".join(["child,parent", *edges]))
    return phcle(
        *("fit", "--hierarchy", "groups.csv", "--attributes", "traits.csv"),
        *("--attributes", "noise.csv", "--completion", "none", "--out", "shop.phcle"),
    )


def test_fit_and_info_say_what_was_chosen(phcle, shop):
    for said in (shop.stdout, phcle("info", "shop.phcle").stdout):
        said = " ".join(said.split())
        assert "groups as family" in said
        assert "Nothing predicts 'noise'" in said
        assert "traits: 'traits6' fitted on a log scale" in said
    answer = json.loads(phcle("info", "shop.phcle", "--json").stdout)["chosen"]
    assert answer["setting"]["roles"] == {"groups": "family"}
    assert answer["trials"][0]["change"] == "at first"
    assert "groups as family" in " ".join(answer["words"])


def test_evaluate_says_which_context_helps(phcle, shop):
    said = phcle("evaluate", "shop.phcle", "--contexts").stdout
    assert "it helps" in said
    assert "without noise" in said
    answer = json.loads(phcle("evaluate", "shop.phcle", "--contexts", "--json").stdout)
    assert answer["file"] == "shop.phcle"
    verdicts = {x["context"]: x["verdict"] for x in answer["contexts"]}
    assert verdicts["groups"] == "helps"
    assert verdicts["noise"] == "no effect"
