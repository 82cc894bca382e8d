"""The search by itself: what is searched, when trials stop, what is written."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import phcle
from phcle import DescriptiveContext, RelationalContext
from phcle.errors import ContextError, FileError, OptionError, PhcleWarning
from phcle.tuning import (
    Candidate,
    CompletionScore,
    FunctionScore,
    SoFar,
    Tuned,
    Tuning,
)
from phcle.tuning.space import space_for
from phcle.tuning.study_storage import open_study

EDGES = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]
EDGES += [("felid", "beast"), ("canid", "beast")]
TREE = RelationalContext.from_hierarchy(EDGES)
TAGS = DescriptiveContext.from_tags({"cat": ["pet"], "dog": ["pet"], "wolf": []})
MORE = DescriptiveContext.from_tags({"lion": ["big"], "cat": ["small"]}, name="size")
QUICK = {"dim": (2, 4), "max_iter": 3, "tol": 0.9}


class Counted:
    """A score of three parts that is the ridge's logarithm, and counts its parts."""

    title = "counted"

    def __init__(self):
        self.parts = []

    def so_far(self, candidate):
        self.parts.append(0)
        for _ in range(3):
            self.parts[-1] += 1
            value = float(np.log(candidate.options["ridge"]))
            yield SoFar(value, is_whole=self.parts[-1] == 3)

    def test(self, candidate):
        return None


def test_only_what_matters_for_the_contexts_is_searched():
    assert set(space_for([TREE]).searched) == {
        *("dim", "negatives", "ridge", "context_ridge", "hierarchy_kind")
    }
    assert set(space_for([TAGS]).searched) == {"dim", "sparsity", "ridge", "shrinkage"}
    edges = RelationalContext.from_edges([("cat", "dog")])
    assert "hierarchy_kind" not in space_for([edges]).searched
    both = space_for([TREE, TAGS, MORE]).searched
    assert {"descriptive_weight", "role", "weight:tags", "weight:size"} <= set(both)
    assert "weight:hierarchy" not in both  # the only relational one


def test_defaults_lie_inside_and_weigh_alike():
    space = space_for([TREE, TAGS, MORE])
    weights = space.options(space.defaults)["weights"]
    assert weights == {"hierarchy": 1.0, "tags": 1.0, "size": 1.0}
    assert space.holds(space.defaults)
    narrow = space_for([TREE], {"dim": (2, 4)})
    assert not narrow.holds(narrow.defaults)


def test_one_value_is_fixed_and_weights_given_are_not_searched():
    space = space_for([TREE, TAGS, MORE], {"dim": 7, "weights": "auto", "ridge": "2:5"})
    assert space.fixed == {"dim": 7, "weights": "auto"}
    assert not any(name.startswith("weight:") for name in space.searched)
    assert (space.searched["ridge"].low, space.searched["ridge"].high) == (2, 5)
    with pytest.raises(OptionError, match="nothing is left to search"):
        space_for([TAGS], {"dim": 2, "ridge": 1, "sparsity": 0, "shrinkage": 1})


def test_a_function_is_a_score_and_the_search_beats_the_defaults():
    told = []
    found = phcle.tune(
        [TREE, TAGS],
        lambda embedding: -abs(embedding.options["ridge"] - 1.0),
        n_trials=25,
        search={
            **{"max_iter": 3, "tol": 0.9, "hierarchy_kind": "ancestors", "dim": 2},
            **{"shrinkage": 0.2, "role": "counts"},
        },
        on_trial=lambda done, best: told.append(done),
    )
    assert told == list(range(1, 26))
    assert found.default_score == -9  # the default ridge is 10
    assert found.n_pruned == 0  # a single number is whole at once
    assert found.score > -0.5
    assert next(iter(found.importances)) == "ridge"
    assert sum(found.importances.values()) == pytest.approx(1)
    assert found.model().ridge == pytest.approx(1, abs=0.5)
    assert found.hierarchy_kind == "ancestors"
    assert found.role == "counts"
    assert found.options["choose"] is False


def test_the_same_seed_gives_the_same_trials():
    scores = [
        phcle.tune([TREE], Counted(), n_trials=12, search=QUICK, seed=seed).scores
        for seed in (4, 4, 5)
    ]
    assert scores[0] == scores[1] != scores[2]


def test_trials_below_the_median_stop_after_their_first_part():
    score = Counted()
    found = phcle.tune([TREE], score, n_trials=20, search=QUICK)
    assert found.n_pruned > 0
    assert score.parts.count(1) == found.n_pruned
    assert score.parts[:5] == [3] * 5  # there is nothing to compare with before
    whole = Counted()
    phcle.tune([TREE], whole, n_trials=20, search=QUICK, prune=False)
    assert whole.parts == [3] * 20


def test_an_interrupted_study_keeps_what_is_finished_and_goes_on(tmp_path):
    def impatient(embedding):
        impatient.calls += 1
        if impatient.calls == 4:
            raise KeyboardInterrupt
        return embedding.options["ridge"]

    impatient.calls = 0
    kept = {"search": QUICK, "storage": tmp_path / "study.log"}
    tuning = Tuning([TREE], FunctionScore(impatient), **kept)
    with pytest.raises(KeyboardInterrupt):
        tuning.run(6)
    assert tuning.n_finished == 3
    again = Tuning([TREE], FunctionScore(impatient), **kept)
    again.run(6)
    assert again.n_finished == 6
    assert again.outcome().score >= tuning.outcome().score


def test_before_a_finished_trial_there_is_nothing_to_choose():
    with pytest.raises(OptionError, match="no trial was finished"):
        Tuning([TREE], Counted()).outcome()


@settings(deadline=None, max_examples=30)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
        st.floats(0, 1),
        min_size=1,
        max_size=3,
    )
)
def test_any_name_survives_the_configuration_file(tmp_path_factory, weights):
    path = tmp_path_factory.mktemp("toml") / "best.toml"
    options = {"weights": weights, "dim": 3, "complete_only": False}
    Tuned("a\ntitle", options, 0.5, None, 1, 0, {}, (0.5,)).write_config(
        path, {"hierarchy": ['C:\\a "b".csv', "ü=\x7f.csv"]}
    )
    found = tomllib.loads(path.read_text(encoding="utf-8"))["fit"]
    assert found["weights"] == weights
    assert found["hierarchy"] == ['C:\\a "b".csv', "ü=\x7f.csv"]
    assert found["complete-only"] is False


def test_a_plot_is_made_of_few_trials_too(tmp_path):
    Tuned("t", {}, 0.5, 0.4, 2, 1, {}, (0.5, None)).plot(tmp_path / "few.png")
    assert (tmp_path / "few.png").stat().st_size > 1000


def test_a_hierarchy_is_counted_in_another_way():
    other = TREE.of_kind("path")
    plain = RelationalContext.from_hierarchy(EDGES, kind="path")
    assert other.columns == plain.columns
    np.testing.assert_array_equal(other.counts.toarray(), plain.counts.toarray())
    assert TREE.of_kind("ancestors") is TREE
    with pytest.raises(ContextError, match="comes from no hierarchy"):
        RelationalContext.from_edges([("cat", "dog")]).of_kind("path")


def test_labels_and_names_reach_the_fit():
    made = Candidate((TREE,), {"dim": 2}, ("lion", "cat"), {"cat": "house cat"})
    embedding = made.embedding()
    assert embedding.labels == ("lion", "cat")
    assert embedding.name_of("cat") == "house cat"


def patchy(rng, n=60):
    """A table of rank 2 with gaps, and one without."""
    truth = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 8))
    gaps = np.where(rng.random(truth.shape) < 0.2, np.nan, truth)
    labels, columns = [f"x{i}" for i in range(n)], list("abcdefgh")
    return [
        DescriptiveContext("gaps", labels, columns, gaps),
        DescriptiveContext("whole", labels, columns, truth),
    ]


@pytest.mark.parametrize("metric", ["r2", "auc"])
def test_single_cells_are_predicted_where_a_table_has_gaps(rng, metric):
    gaps, _ = patchy(rng)
    options = {"dim": 4, "choose": False, "shrinkage": 0.1, "calibrate": False}
    score = CompletionScore("gaps", metric, n_splits=2)
    made = Candidate((gaps,), options)  # no other context is needed
    found = list(score.so_far(made))
    assert [x.is_whole for x in found] == [False, True]
    assert found[-1].score > 0.6
    assert score.test(made) > 0.6
    noise = DescriptiveContext(
        "gaps", gaps.labels, gaps.columns, rng.permuted(gaps.matrix.arrays[0], axis=0)
    )
    assert score.test(Candidate((noise,), options)) < 0.6


def test_whole_labels_are_hidden_where_a_table_is_complete(rng):
    _, whole = patchy(rng)
    with pytest.raises(OptionError, match="known in no other context"):
        CompletionScore("whole").test(Candidate((whole,), {"dim": 2}))
    cells = CompletionScore("whole", "r2", hide="cells")
    assert "hidden cells" in cells.title
    assert cells.test(Candidate((whole,), {"dim": 2, "choose": False})) > 0.5
    with pytest.raises(OptionError, match="hide"):
        CompletionScore("whole", hide="rows")


@pytest.mark.parametrize("torn", [b'{"op_code":4,"worker_id":"1', b"{"])
def test_a_journal_with_a_torn_line_goes_on(tmp_path, torn):
    import optuna

    path = tmp_path / "study.log"

    def opened():
        sampler, pruner = optuna.samplers.RandomSampler(), optuna.pruners.NopPruner()
        return open_study(path, "study", sampler, pruner)

    opened().optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    with pytest.warns(PhcleWarning, match=rf"last line .* dropped \({len(torn)} bytes"):
        study = opened()
    assert path.read_bytes().startswith(whole)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert [trial.number for trial in opened().trials] == [0, 1, 2]


def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path):
    path = tmp_path / "notes.log"
    path.write_bytes(b"first\nsecond")
    with pytest.raises(FileError, match=r"notes\.log"):
        open_study(path, "study", None, None)
    assert path.read_bytes().startswith(b"first\nsecond")
