"""The studies of related labels and of clusters, on the real data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from phcle_paper.config import SHIPPED, read_config, settings_of
from phcle_paper.studies import label_clusters as clusters
from phcle_paper.studies import label_retrieval as retrieval
from phcle_paper.studies import registry as studies

pytest.importorskip("matplotlib", reason="the extra 'figures' is not installed")


def shipped(name, kind):
    return settings_of(kind, read_config(SHIPPED / f"{name}.toml"), name)


def test_clusters_study_checks_the_papers_verdicts(shared_data, tmp_path):
    settings = shipped("clusters", clusters.Settings)
    kept = ("ALE", "CCA", "PHCLE")
    settings = replace(
        settings,
        datasets=["awa"],
        embeddings={name: settings.embeddings[name] for name in kept},
    )
    table = clusters.run(settings, studies.Request(shared_data, tmp_path))
    rows = {row["embedding"]: row for row in table["rows"]}
    assert rows["PHCLE"]["cophenetic"] > rows["ALE"]["cophenetic"]
    assert rows["PHCLE"]["cophenetic"] > rows["CCA"]["cophenetic"]
    assert rows["PHCLE"]["weasel_with_skunk"] == "yes"
    assert rows["PHCLE"]["pets_in"] == 1
    assert rows["ALE"]["weasel_with_skunk"] == "no"  # as the paper says
    assert {path.name for path in tmp_path.iterdir()} == {
        "clusters-awa.png",
        "clusters-awa.svg",
    }
    json.dumps(table)


def test_retrieval_study_takes_any_labels(shared_data, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "phcle_paper.tables.label_sentences.has_sentence_encoder", lambda: False
    )
    settings = shipped("retrieval", retrieval.Settings)
    plain = {"dim": 30, "max_iter": 5, "choose": False, "completion": "none"}
    plans = {
        "PHCLE": {"method": "PHCLE", **plain},
        "HLE": {"method": "HLE"},
        "WLE": {"method": "WLE"},
    }
    settings = replace(settings, queries=["coffeepot", "n02441942"], embeddings=plans)
    table = retrieval.run(settings, studies.Request(shared_data, tmp_path))
    assert [row["query"] for row in table["rows"]] == ["coffeepot"] * 5 + [
        "n02441942"
    ] * 5
    first = table["rows"][0]
    # The paper's five by HLE are ours: the hierarchy is the same.
    by_hle = {row["HLE"] for row in table["rows"][:5]}
    assert by_hle == {row["HLE in the paper"] for row in table["rows"][:5]}
    assert first["PHCLE similarity"] <= 1
    assert {first["PHCLE"], table["rows"][1]["PHCLE"]} == {"teapot", "caldron"}
    assert "2 of the paper's 5" in table["findings"][1]
