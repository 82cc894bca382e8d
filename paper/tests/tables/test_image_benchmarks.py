from __future__ import annotations

from dataclasses import replace

import pytest

from phcle_paper.tables import label_sentences as sentences
from phcle_paper.tables.embeddings import available, make_embeddings
from phcle_paper.tables.image_benchmarks import load_benchmark
from phcle_paper.tables.settings import load_shipped


@pytest.fixture
def no_encoder(monkeypatch):
    monkeypatch.setattr(sentences, "has_sentence_encoder", lambda: False)


def shortened(plan):
    """One variant, and of PHCLE one sweep: here only the labels matter."""
    fewer = {"max_iter": 1, "dim": 5} if plan.method.startswith("PHCLE") else {}
    return replace(plan, variants=({**plan.variants[0], **fewer},))


def test_descriptions_cover_the_classes_and_the_hierarchy_covers_all(small_data):
    benchmark = load_benchmark("awa", small_data)
    assert (len(benchmark.task.seen), len(benchmark.task.unseen)) == (20, 6)
    assert set(benchmark.descriptions["attributes"].labels) == set(benchmark.classes)
    assert set(benchmark.descriptions["words"].labels) == set(benchmark.classes)
    assert len(benchmark.hierarchy().labels) == 1000


def test_without_an_encoder_words_of_glosses_stand_in(small_data, no_encoder):
    benchmark = load_benchmark("tiny-imagenet", small_data)
    assert "TF-IDF" in benchmark.notes[0]
    assert len(benchmark.descriptions["words"].labels) == 1000


@pytest.mark.filterwarnings("ignore::phcle.errors.ConvergenceWarning")
@pytest.mark.parametrize("table", ["table2", "table3"])
def test_every_embedding_covers_the_classes(small_data, table):
    benchmark = load_benchmark("apy", small_data)
    experiment, notes = available(load_shipped(table, "apy"), benchmark)
    plans = tuple(shortened(plan) for plan in experiment.embeddings)
    experiment = replace(experiment, embeddings=plans)
    made = make_embeddings(experiment, benchmark)
    assert "WLE" not in made
    assert any("WLE" in note for note in notes) == (table == "table2")
    for plan in experiment.embeddings:
        assert len(made[plan.name]) == len(plan.variants)
        for embedding in made[plan.name].values():
            assert set(benchmark.classes) <= set(embedding.labels)
