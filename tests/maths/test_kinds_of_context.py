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
from phcle.contexts.alignment import KINDS
from phcle.model.objective import objective_terms

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


def term_of(context, problem, W, factor, weight):
    """The term of one context of the problem, with its weight."""
    alone = replace(problem, contexts=(context,))
    terms = objective_terms(alone, W, [factor], {context.name: weight})
    return terms[f"{context.kind}:{context.name}"]


def test_the_contexts_of_these_tests_are_of_every_kind(problem):
    assert len(problem.contexts) == N_CONTEXTS
    assert {context.kind for context in problem.contexts} == set(KINDS)


def test_no_loss_is_below_the_floor(context, problem, rng):
    lam = problem.penalties
    weight = context.term_weight(1.0, lam)
    floor = weight * context.floor(lam)
    for _ in range(20):
        W = 3 * rng.normal(size=(len(problem.labels), problem.dim))
        factor = rng.normal(size=(len(context.columns), problem.dim))
        loss = term_of(context, problem, W, factor, 1.0)
        if context.turns_with_labels:  # it is a part of a square, with the ridge
            loss += 0.5 * weight * (W**2).sum()
        assert loss >= floor - 1e-9 * abs(floor)


def test_pull_is_minus_the_gradient_of_the_weighted_loss(context, problem, rng):
    lam = problem.penalties
    factor = rng.normal(size=(len(context.columns), problem.dim))
    learned = context.learned(problem.labels, 0.7, factor)
    W = rng.normal(size=(len(problem.labels), problem.dim))
    for row, label in enumerate(problem.labels):

        def value(w, row=row):
            changed = np.vstack([W[:row], w, W[row + 1 :]])
            return term_of(context, problem, changed, factor, 0.7)

        gradient = approx_fprime(W[row], value, 1e-6)
        pull = learned.pull(label, W[row], lam) @ factor
        assert np.allclose(
            pull, -gradient, rtol=1e-3, atol=1e-2 * (1 + abs(pull).max())
        )


def test_new_labels_without_the_context_are_not_observed(learned):
    assert not learned.for_new_labels(None, ["new", "other"], {}).observed.any()


def test_model_embedding_and_checkpoints_never_ask_for_the_kind():
    # What predicts is called DescriptiveContext in annotations, for its methods.
    kinds = {"RelationalContext", "FamilyContext"}
    for package in ("model", "embedding"):
        for path in (SOURCE / package).rglob("*.py"):
            names = {
                node.id
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Name)
            }
            assert not names & kinds, path
