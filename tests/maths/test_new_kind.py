"""A third kind of context needs no change outside its package; see tests/votes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from votes.context import VotesContext

from phcle import PHCLE, RelationalContext, fold_in, load
from phcle.contexts.alignment import KINDS

TREE = [
    *((label, "felid") for label in ("cat", "lion", "lynx")),
    *((label, "canid") for label in ("dog", "wolf")),
    *[("felid", "animal"), ("canid", "animal")],
]
VOTES = [
    *[("cat", "tame", 2), ("dog", "tame", 3), ("lion", "tame", -2)],
    *[("wolf", "tame", -1), ("wolf", "howls", 2), ("cat", "howls", -2)],
]


def votes_of(rows):
    """Rows of (label, property, vote)."""
    names, properties, numbers = zip(*rows, strict=True)
    labels, columns = (tuple(dict.fromkeys(x)) for x in (names, properties))
    at = [labels.index(x) for x in names], [columns.index(x) for x in properties]
    votes = sp.coo_array((numbers, at), (len(labels), len(columns)), dtype=float)
    return VotesContext("votes", labels, columns, sp.csr_array(votes))


@pytest.fixture
def contexts(monkeypatch):
    monkeypatch.setitem(KINDS, "votes", VotesContext)
    return [RelationalContext.from_hierarchy(TREE), votes_of(VOTES)]


def test_a_new_kind_is_learned_stored_explained_and_extended(
    contexts, backend_options, tmp_path
):
    options = {"dim": 3, "max_iter": 400, "dtype": "float64"}
    model = PHCLE(**options, **backend_options).fit(contexts)
    objective = [record["objective"] for record in model.history_]
    assert all(np.diff(objective) <= 1e-6 * objective[0])
    model.embedding_.save(tmp_path / "labels.phcle")
    found = load(tmp_path / "labels.phcle")
    votes = found.contexts[1]
    assert isinstance(votes, VotesContext)
    assert votes.knows("cat")
    assert not votes.knows("lynx")
    x = found["cat"] @ votes.factor.T
    assert x[0] > 0 > x[1]
    parts = found.explain("cat", "dog")
    assert {part.context for part in parts.parts} == {"hierarchy", "votes"}
    assert abs(parts.rest) < 1e-2
    fox = fold_in(found, votes_of([("fox", "howls", 3)]))
    both = found.joined(fox)
    assert both.contexts[1].knows("fox")
    assert both.nearest("fox", k=1, among=["wolf", "cat"])[0][0] == "wolf"


def test_a_fit_with_a_new_kind_is_resumed(contexts, tmp_path):
    file = tmp_path / "fit.checkpoint"
    options = {"dim": 3, "tol": 0.0, "completion": "none"}
    with pytest.warns(match="not converged"):
        whole = PHCLE(max_iter=4, **options).fit(contexts)
    with pytest.warns(match="not converged"):
        PHCLE(max_iter=2, **options).fit(contexts, checkpoint=file)
    with pytest.warns(match="not converged"):
        again = PHCLE(max_iter=4, **options).fit(contexts, checkpoint=file, resume=True)
    assert np.array_equal(whole.embedding_.vectors, again.embedding_.vectors)
