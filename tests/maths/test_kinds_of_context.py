"""What every kind of fitted context promises to the solver, storage and fold-in."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from problems import family_contexts, make_problem, random_contexts
from scipy.optimize import approx_fprime

import phcle
from phcle.contexts.kinds import FITTED_KINDS
from phcle.errors import ContextError
from phcle.files.tensor_store import TensorStore

SOURCE = Path(phcle.__file__).parent
N_CONTEXTS = 7


@pytest.fixture
def problem(rng):
    return make_problem([*random_contexts(rng, 8), *family_contexts(8)])


@pytest.fixture(params=range(N_CONTEXTS))
def context(request, problem):
    return problem.contexts[request.param]


@pytest.fixture
def learned(context, problem, rng):
    factor = rng.normal(size=(len(context.columns), problem.dim))
    return context.learned(problem.labels, 0.7, factor)


def test_the_contexts_of_these_tests_are_of_every_kind(problem):
    assert len(problem.contexts) == N_CONTEXTS
    assert {context.kind for context in problem.contexts} == set(FITTED_KINDS)


def test_taking_all_labels_changes_nothing(context, problem, rng):
    everyone = np.arange(len(problem.labels))
    W = rng.normal(size=(len(everyone), problem.dim))
    factor = rng.normal(size=(len(context.columns), problem.dim))
    lam = problem.penalties
    same = context.take(everyone)
    assert same.loss(W, factor, lam) == pytest.approx(context.loss(W, factor, lam))
    assert np.array_equal(same.observed, context.observed)


def test_no_loss_is_below_the_floor(context, problem, rng):
    lam = problem.penalties
    floor = context.floor(lam)
    for _ in range(20):
        W = 3 * rng.normal(size=(len(problem.labels), problem.dim))
        factor = rng.normal(size=(len(context.columns), problem.dim))
        loss = context.loss(W, factor, lam)
        if context.turns_with_labels:  # it is a part of a square, with the ridge
            loss += 0.5 * (W**2).sum()
        assert loss >= floor - 1e-9 * abs(floor)


def test_pull_is_minus_the_gradient_of_the_weighted_loss(context, problem, rng):
    lam = problem.penalties
    factor = rng.normal(size=(len(context.columns), problem.dim))
    learned = context.learned(problem.labels, 0.7, factor)
    weight = context.term_weight(0.7, lam)
    W = rng.normal(size=(len(problem.labels), problem.dim))
    for row, label in enumerate(problem.labels):

        def value(w, row=row):
            return weight * context.loss(
                np.vstack([W[:row], w, W[row + 1 :]]), factor, lam
            )

        gradient = approx_fprime(W[row], value, 1e-6)
        pull = learned.pull(label, W[row], lam) @ factor
        assert np.allclose(
            pull, -gradient, rtol=1e-3, atol=1e-2 * (1 + abs(pull).max())
        )


def test_a_learned_context_returns_from_a_file_as_it_was(learned, problem):
    store = TensorStore({})
    store.put_names("columns", learned.columns)
    store["factor"] = learned.factor
    packed = learned.pack(store) | {
        "name": learned.name,
        "weight": learned.weight,
        "has_data": True,
    }
    again = FITTED_KINDS[learned.kind].unpack(packed, store)
    again.check()
    assert again.observed_labels == learned.observed_labels
    vector = np.ones(problem.dim)
    for label in problem.labels:
        assert again.knows(label) == learned.knows(label)
        assert np.allclose(
            again.pull(label, vector, problem.penalties),
            learned.pull(label, vector, problem.penalties),
        )


def test_new_labels_get_the_numbers_that_the_fit_gave_them(learned, context, problem):
    known = [problem.labels[i] for i in np.flatnonzero(context.observed)]
    again = learned.for_new_labels(learned.data, known)
    own = context.take(np.flatnonzero(context.observed))
    W = np.ones((len(known), problem.dim))
    lam = problem.penalties
    assert again.loss(W, learned.factor, lam) == pytest.approx(
        own.loss(W, learned.factor, lam)
    )


def test_new_labels_without_the_context_are_not_observed(learned):
    assert not learned.for_new_labels(None, ["new", "other"]).observed.any()


def test_rows_of_later_labels_are_joined(learned):
    renamed = tuple(f"later {label}" for label in learned.data.labels)
    later = replace(learned, data=replace(learned.data, labels=renamed))
    both = learned.joined(later)
    assert both.data.labels == (*learned.data.labels, *renamed)
    assert both.observed_labels == (*learned.observed_labels, *later.observed_labels)


def test_another_kind_under_the_same_name_is_refused(learned, problem):
    other = next(c.data for c in problem.contexts if c.kind != learned.kind)
    with pytest.raises(ContextError, match=f"was {learned.kind} at the fit"):
        learned.for_new_labels(other, ["new"])


def test_solver_embedding_and_checkpoints_never_ask_for_the_kind():
    kinds = {"FittedRelational", "FittedDescriptive", "FittedFamily"}
    kinds |= {"RelationalContext", "DescriptiveContext", "FamilyContext"}
    for package in ("solver", "embedding"):
        for path in (SOURCE / package).rglob("*.py"):
            names = {
                node.id
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Name)
            }
            assert not names & kinds, path
