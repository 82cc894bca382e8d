"""Word similarity on a small WordNet that a test can read."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.contexts import RelationalContext
from phcle.datasets.wordnet import WordNetNouns
from phcle.errors import ContextError, OptionError
from phcle_paper.datasets.men import WordPair
from phcle_paper.studies import noun_contexts, noun_pairs, word_similarity
from phcle_paper.studies.noun_contexts import gloss_texts, noun_sentences
from phcle_paper.studies.noun_pairs import NounPairs
from phcle_paper.studies.registry import Request
from phcle_paper.studies.word_similarity import Settings, path_similarity

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
QUICK = {"dim": 3, "max_iter": 20, "calibrate": False}
SETTINGS = Settings(3, 0, [1.0, 2.0], QUICK, [{}])


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


@pytest.fixture
def run(pairs, nouns, tmp_path, monkeypatch):
    """The study on these pairs and nouns, with sentence vectors or without."""
    monkeypatch.setattr(word_similarity, "load_men", lambda path: pairs)
    monkeypatch.setattr(word_similarity, "load_wordnet_nouns", lambda: nouns)
    monkeypatch.setattr(noun_pairs, "N_DRAWS", 10)
    monkeypatch.setattr(noun_contexts, "has_sentence_encoder", lambda: False)
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(
        "".join(  # in another order than the pairs
            f"{x} {int('beast' in PARENTS[x])} 0.5\n" for x in reversed(PARENTS)
        )
    )

    def make(settings=SETTINGS, *, sentences=True, tell=lambda message: None):
        path = vectors if sentences else None
        return word_similarity.run(
            settings, Request(tmp_path, tmp_path, path, tell=tell)
        )

    return make


def test_every_method_agrees_with_people_where_all_say_the_same(run):
    table = run()
    assert [row["method"] for row in table["rows"]] == [
        "path similarity",
        "gloss words, cosine",
        "gloss words, centred cosine",
        "sentences, cosine",
        "sentences, centred cosine",
        "PHCLE, hierarchy",
        "PHCLE, hierarchy + gloss words",
        "PHCLE, hierarchy + sentences",
        "PHCLE, hierarchy + gloss words + sentences",
    ]
    for row in table["rows"]:
        assert row["spearman"] > 0.75, row["method"]
        assert "similarities" not in row
    assert len(table["findings"]) == 5


def test_without_an_encoder_there_are_no_sentences(run):
    table = run(sentences=False)
    assert not any("sentences" in row["method"] for row in table["rows"])
    assert "phcle[sentences]" in table["caveats"][-1]


def test_pairs_with_a_word_that_is_no_noun_are_left_out(pairs, nouns):
    words = NounPairs(pairs, nouns, 3, 0)
    assert len(words.scores) == 15
    assert len(words.synsets) == 6
    assert words.row("same", np.eye(6))["n_pairs"] == 8


def test_options_and_powers_are_chosen_on_the_other_half(run):
    options = [{"ridge": 1e7, "random_state": 4}, {"ridge": 10.0}]
    both = Settings(3, 0, [1.0, 2.0], QUICK, options)
    chosen = run(both, sentences=False)["rows"][3:]
    apart = [
        run(Settings(3, 0, [power], QUICK, [own]), sentences=False)["rows"][3:]
        for own in options
        for power in both.powers
    ]
    for i, row in enumerate(chosen):
        best = max((rows[i] for rows in apart), key=lambda row: row["chosen_on"])
        assert row["chosen_on"] == best["chosen_on"]
        assert row["options"] == best["options"]


def test_the_study_goes_on_where_it_stopped(run):
    told = []
    assert run(tell=told.append)["rows"] == run(tell=told.append)["rows"]
    assert told == [f"{n} of 4 fits" for n in (1, 2, 3, 4)]


def test_the_senses_nearest_to_each_other_decide(nouns):
    words = NounPairs(
        [WordPair("mandrill", name, 1.0) for name in ("dog", "wolf", "saw", "hammer")],
        nouns,
        2,
        0,
    )
    assert words.senses[0] == (("drill", "cat"), ("dog",))
    similarity = np.zeros((len(words.synsets),) * 2)
    cat, dog = words.synsets.index("cat"), words.synsets.index("dog")
    similarity[cat, dog] = 1.0
    words.chooses = np.array([False, False, False, True])
    assert words.row("some", similarity)["similarities"] == [1.0, 0.0, 0.0]


def test_path_similarity_counts_the_steps(nouns):
    labels = ("dog", "wolf", "saw")
    context = RelationalContext.from_hierarchy(nouns.edges(labels), labels=labels)
    np.testing.assert_allclose(path_similarity(context)[0], [1, 1 / 3, 1 / 5])


def test_a_method_has_no_lead_over_itself(pairs, nouns, monkeypatch):
    monkeypatch.setattr(noun_pairs, "N_DRAWS", 50)
    words = NounPairs(pairs, nouns, 3, 0)
    rng = np.random.default_rng(0)
    one, other = (words.row("x", rng.random((6, 6))) for _ in range(2))
    assert words.lead_error(one, one) == 0.0
    assert words.lead_error(one, other) > 0.05


def test_rank_correlation_averages_ties_and_is_zero_for_constants():
    from scipy.stats import spearmanr

    found, scores = np.array([1.0, 1.0, 3.0, 2.0]), np.array([1.0, 2.0, 4.0, 4.0])
    expected = spearmanr(found, scores).statistic
    assert noun_pairs._spearman(found, scores) == pytest.approx(expected)
    assert noun_pairs._spearman(np.ones(4), scores) == 0.0


def test_a_synset_without_a_vector_is_like_nothing():
    vectors = np.array([[1.0, 0.0], [np.nan, np.nan], [1.0, 0.0]])
    np.testing.assert_array_equal(
        word_similarity._cosines(vectors), [[1, 0, 1], [0, 0, 0], [1, 0, 1]]
    )


def test_texts_are_names_and_definitions(nouns):
    assert gloss_texts(nouns, ["saw"]) == {"saw": "saw: a hard metal thing"}


def test_rows_without_names_are_refused(nouns, tmp_path):
    with pytest.raises(OptionError, match="cannot be matched to nouns"):
        noun_sentences(nouns, ["saw"], tmp_path / "vectors.npy")


def test_wrong_requests_are_refused(run, pairs, nouns):
    with pytest.raises(OptionError, match="n_senses must be 1 or more"):
        NounPairs(pairs, nouns, 0, 0)
    with pytest.raises(OptionError, match="at least one choice"):
        run(Settings(3, 0, [1.0], QUICK, []))
    with pytest.raises(ContextError, match="0 pairs are two nouns"):
        NounPairs([WordPair("runs", "red", 1.0)], nouns, 3, 0)
