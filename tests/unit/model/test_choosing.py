"""Settings chosen on hidden cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import ContextError

N_GROUPS, N_IN_GROUP = 30, 6
N = N_GROUPS * N_IN_GROUP
LABELS = [f"label {i}" for i in range(N)]
GROUP = np.arange(N) // N_IN_GROUP
TREE = [(label, f"group {g}") for label, g in zip(LABELS, GROUP, strict=True)]
TREE += [(f"group {g}", "root") for g in range(N_GROUPS)]


def tree(**options):
    return RelationalContext.from_hierarchy(TREE, name="tree", **options)


def table(values, **options):
    frame = pd.DataFrame(values, index=LABELS).add_prefix("c")
    return DescriptiveContext.from_frame(frame, name="table", **options)


def family_values(seed=0, hidden=0.3):
    """Labels of a group share the mean of their values."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(N_GROUPS, 8))[GROUP] + 0.3 * rng.normal(size=(N, 8))
    return np.where(rng.random(values.shape) < hidden, np.nan, values)


def fit(*contexts, **options):
    return PHCLE(**{"completion": "none", **options}).fit(contexts)


def test_values_that_follow_the_tree_make_it_a_family():
    chosen = fit(tree(), table(family_values())).chosen_
    assert chosen.setting.roles == {"tree": "family"}
    assert chosen.trials[0].skill < max(trial.skill for trial in chosen.trials)
    assert "hidden cells" in chosen.reason


def test_trials_without_counts_have_no_longer_vectors_than_the_fit():
    model = fit(tree(), table(family_values()))
    dims = {t.change: t.setting.dim for t in model.chosen_.trials}
    assert dims.pop("at first") == 50
    assert set(dims.values()) == {model.embedding_.dim} == {8}


def test_what_the_user_sets_is_not_changed():
    options = {"dim": 7, "shrinkage": 0.3}
    given = fit(tree(role="counts"), table(family_values()), **options)
    setting = given.chosen_.setting
    assert setting.dim == given.embedding_.dim == 7
    assert setting.shrinkage == {"table": 0.3}
    assert setting.roles == {}
    assert "tree" in [context.name for context in given.embedding_.contexts]


def test_without_a_readable_table_the_defaults_stay():
    rng = np.random.default_rng(0)
    vectors = dict(zip(LABELS, rng.normal(size=(N, 5)), strict=True))
    model = fit(tree(), DescriptiveContext.from_vectors(vectors))
    assert model.chosen_.trials == ()
    assert "The defaults stay" in model.chosen_.reason


@pytest.mark.parametrize("choose", [True, False])
def test_vectors_have_no_more_dimensions_than_columns_and_counts_can_fill(choose):
    wide = table(np.random.default_rng(0).normal(size=(N, 28)))
    words = RelationalContext("words", LABELS, "ab", np.ones((N, 2)) + np.eye(N, 2))
    nodes = tree(role="counts")
    assert fit(wide, choose=choose).embedding_.dim <= 28
    assert fit(words, nodes, choose=choose).embedding_.dim <= 2 + len(nodes.columns)
    assert fit(wide, nodes, choose=choose).embedding_.dim <= 28 + len(nodes.columns)


def test_a_checkpoint_keeps_the_choice_and_measured_weights(tmp_path):
    path = tmp_path / "fit.ckpt"
    contexts = [tree(), table(family_values())]
    options = {"weights": "auto", "completion": "none"}
    whole = PHCLE(**options).fit(contexts)
    with pytest.warns(UserWarning, match="not converged"):
        PHCLE(**options, max_iter=2).fit(contexts, checkpoint=path)
    resumed = PHCLE(**options).fit(contexts, checkpoint=path, resume=True)
    assert resumed.chosen_.to_dict() == whole.chosen_.to_dict()
    assert resumed.weights_ == whole.weights_
    assert resumed.embedding_.vectors.tobytes() == whole.embedding_.vectors.tobytes()


# ---- labels and columns that say nothing ----


def test_a_label_that_only_a_context_of_weight_zero_knows_is_refused():
    values = family_values(hidden=0.0)
    half = table(values).rows_for(LABELS[:90])
    with pytest.raises(ContextError, match=r"nothing tells 'label 90', 'label 91'"):
        fit(tree(role="counts"), half, weights={"tree": 0, "table": 1})


def test_a_label_that_only_constant_columns_know_is_refused():
    values = np.full((N, 2), np.nan)
    values[:, 0] = 1.0
    values[:20, 1] = np.arange(20)
    with pytest.raises(ContextError, match="columns whose values are all equal"):
        fit(table(values))


@pytest.mark.parametrize("standardize", [True, False])
def test_unknown_and_constant_columns_do_not_change_the_fit(standardize):
    values = family_values(hidden=0.2)
    more = np.column_stack([values, np.full((N, 5), np.nan), np.full((N, 5), 3.0)])
    options = {"choose": False, "dim": 8, "tol": 1e-6, "dtype": "float64"}
    one, other = (
        fit(table(x, standardize=standardize), **options).embedding_.vectors
        for x in (values, more)
    )
    gram = one @ one.T
    assert np.allclose(other @ other.T, gram, atol=1e-2 * abs(gram).max())


# ---- numbers on a log scale ----


def skewed(seed=0):
    rng = np.random.default_rng(seed)
    logs = 2 * rng.normal(size=N_GROUPS)[GROUP] + 0.2 * rng.normal(size=N)
    level = rng.normal(size=N_GROUPS)[GROUP] + 0.2 * rng.normal(size=N)
    return np.column_stack([np.exp(logs), level, np.arange(N) % 2])


def test_positive_skewed_columns_are_fitted_on_a_log_scale():
    context = table(skewed())
    assert context.log_columns == ("c0",)
    assert table(skewed(), log=False).log_columns == ()
    assert table(skewed(), log=["c0"]).log_columns == ("c0",)
    with pytest.raises(Exception, match="log column"):
        table(skewed(), log=["c9"])
    with pytest.raises(ContextError, match=r"log scale.*above 0.*'label \d"):
        table(skewed(), log=["c1"])


def test_skewed_columns_with_zeros_are_fitted_on_the_log_of_a_shifted_number():
    values = skewed()
    values[::5, 0] = 0.0
    context = table(values)
    assert context.log_columns == ("c0",)
    above = values[values[:, 0] > 0, 0]
    assert context.log_shifts == (pytest.approx(np.median(above)),)
    values[::7, 0] = np.nan
    embedding = fit(tree(role="family"), table(values), choose=False).embedding_
    fitted = next(x for x in embedding.contexts if x.name == "table")
    known = fitted.observed_row(LABELS[5])
    scaled = fitted.on_fit_scale(known)
    assert np.allclose(fitted.in_units(scaled), known)


def test_predictions_of_log_columns_are_positive_and_in_the_users_units():
    values = skewed()
    truth = values[::7, 0].copy()
    values[::7, 0] = np.nan
    options = {"choose": False, "shrinkage": 0.05}
    embedding = fit(tree(role="family"), table(values), **options).embedding_
    fitted = next(x for x in embedding.contexts if x.name == "table")
    predicted = fitted.predict(embedding.select(LABELS[::7]).vectors)[:, 0]
    assert (predicted > 0).all()
    errors = np.log(predicted) - np.log(truth)
    assert np.std(errors) < 0.5 * np.std(np.log(truth))
