"""Word similarity on a small WordNet that a test can read."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.datasets.men import WordPair
from phcle.datasets.wordnet import WordNetNouns
from phcle.errors import ContextError, OptionError
from phcle.experiments import word_similarity
from phcle.experiments.word_similarity import compare_word_similarity, gloss_texts

pytest.importorskip("pandas")

PARENTS = {
    "thing": (),
    "beast": ("thing",),
    "tool": ("thing",),
    "dog": ("beast",),
    "wolf": ("beast",),
    "cat": ("beast",),
    "saw": ("tool",),
    "hammer": ("tool",),
    "drill": ("tool",),
}
QUICK = {"dim": 3, "max_iter": 20}


@pytest.fixture
def nouns():
    glosses = {
        name: f"a {'living furry' if 'beast' in above else 'hard metal'} thing"
        for name, above in PARENTS.items()
    }
    senses = {name: (name,) for name in PARENTS} | {"mandrill": ("drill", "cat")}
    lemmas = {name: (name,) for name in PARENTS}
    return WordNetNouns(lemmas, PARENTS, {}, glosses, senses)


@pytest.fixture
def pairs():
    kinds = {"dog": 0, "wolf": 0, "cat": 0, "saw": 1, "hammer": 1, "drill": 1}
    names = list(kinds)
    return [
        WordPair(a, b, 50.0 * (kinds[a] == kinds[b]))
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    ] + [WordPair("dog", "runs", 40.0)]


def encode(texts):
    return np.array([[text.count("furry"), 1.0] for text in texts])


def test_every_method_agrees_with_people_where_all_say_the_same(pairs, nouns):
    frame = compare_word_similarity(pairs, nouns, encoder=encode, options=QUICK)
    assert list(frame["method"]) == [
        "path similarity",
        "gloss words, cosine",
        "sentences, cosine",
        "PHCLE, hierarchy",
        "PHCLE, hierarchy + gloss words",
        "PHCLE, hierarchy + sentences",
        "PHCLE, hierarchy + gloss words + sentences",
    ]
    assert (frame["spearman"] > 0.75).all()


def test_pairs_with_a_word_that_is_no_noun_are_left_out(pairs, nouns):
    frame = compare_word_similarity(pairs, nouns, options=QUICK)
    assert set(frame["n_pairs"]) == {8}  # half of 15
    assert set(frame["n_synsets"]) == {6}
    assert len(frame) == 4  # without an encoder no sentences


def test_options_are_chosen_on_the_other_half(pairs, nouns):
    options = [{**QUICK, "ridge": 1e7, "random_state": 4}, QUICK]
    frame = compare_word_similarity(pairs, nouns, options=options)
    apart = [
        compare_word_similarity(pairs, nouns, options=choice) for choice in options
    ]
    for i in (2, 3):
        best = max(apart, key=lambda f, i=i: f["chosen_on"][i])
        assert frame.loc[i].equals(best.loc[i])


def test_the_senses_nearest_to_each_other_decide(nouns):
    words = word_similarity._Words(
        [WordPair("mandrill", name, 1.0) for name in ("dog", "wolf", "saw", "hammer")],
        nouns,
        2,
        0,
    )
    assert words.senses[0] == (("drill", "cat"), ("dog",))
    seen = []

    def similarity(one, other):
        seen.append((one, other))
        return float((one, other) == ("cat", "dog"))

    words.row("some", similarity)
    assert seen[:2] == [("drill", "dog"), ("cat", "dog")]


def test_path_similarity_counts_the_steps(pairs, nouns):
    from phcle.contexts import RelationalContext

    labels = ("dog", "wolf", "saw")
    context = RelationalContext.from_hierarchy(nouns.edges(labels), labels=labels)
    similarity = word_similarity._by_path(context)
    assert similarity("dog", "dog") == 1.0
    assert similarity("dog", "wolf") == pytest.approx(1 / 3)
    assert similarity("dog", "saw") == pytest.approx(1 / 5)


def test_rank_correlation_averages_ties_and_is_zero_for_constants():
    from scipy.stats import spearmanr

    found, scores = np.array([1.0, 1.0, 3.0, 2.0]), np.array([1.0, 2.0, 4.0, 4.0])
    expected = spearmanr(found, scores).statistic
    assert word_similarity._spearman(found, scores) == pytest.approx(expected)
    assert word_similarity._spearman(np.ones(4), scores) == 0.0


def test_texts_are_names_and_definitions(nouns):
    assert gloss_texts(nouns, ["saw"]) == {"saw": "saw: a hard metal thing"}


def test_wrong_requests_are_refused(pairs, nouns):
    with pytest.raises(OptionError, match="n_senses must be 1 or more"):
        compare_word_similarity(pairs, nouns, n_senses=0)
    with pytest.raises(OptionError, match="at least one choice"):
        compare_word_similarity(pairs, nouns, options=[])
    with pytest.raises(ContextError, match="0 pairs are two nouns"):
        compare_word_similarity([WordPair("runs", "red", 1.0)], nouns)
