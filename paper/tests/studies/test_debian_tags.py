"""Hidden tags of packages: the study runs, and hides what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from debian_index import index_text

from phcle.errors import FileError
from phcle_paper.datasets import debian
from phcle_paper.studies import cell_tasks, debian_tags
from phcle_paper.studies.cell_tasks import cell_task
from phcle_paper.studies.completion_rivals import neighbours_mean
from phcle_paper.studies.registry import Request, run_study

CONFIG = """
most = 24
min_facets = 3
min_count = 2
share = 0.3
n_splits = 2
split_seed = 1
n_validations = 1
rivals = ["softimpute"]
[shared]
dim = 6
calibrate = false
sparsity = 0.0
[[options]]
ridge = 1.0
weights = { section = 0.5, depends = 0.5, tags = 0.5, words = 0.3, sentences = 0.2 }
"""


@pytest.fixture
def request_on_hand_written_data(tmp_path, monkeypatch):
    folder = tmp_path / "debian"
    folder.mkdir()
    (folder / "Packages").write_text(index_text())
    monkeypatch.setattr(debian, "has_sentence_encoder", lambda: False)
    return Request(tmp_path, tmp_path / "out")


def test_every_method_is_scored(request_on_hand_written_data, tmp_path):
    config = tmp_path / "debian.toml"
    config.write_text(CONFIG)
    table = run_study("debian", request_on_hand_written_data, config=config)
    scores = {(row["dataset"], row["method"]): row for row in table["rows"]}
    hidden = debian_tags.WHOLE
    assert scores[hidden, "attribute mean"]["r2"] == pytest.approx(0, abs=1e-9)
    # Kinds differ in every context, so that all but the mean know the tags.
    assert scores[hidden, "PHCLE, chosen reading"]["r2"] > 0.5
    assert scores[hidden, "ridge regression (all contexts)"]["r2"] > 0.5
    assert scores[hidden, "10 nearest (words)"]["auc"] > 0.5
    written = json.loads((tmp_path / "out" / "debian.json").read_text())
    assert written["dataset"] == "debian"


def test_a_folder_without_an_index_gets_the_remedy(tmp_path):
    with pytest.raises(FileError, match="debian: no such folder"):
        run_study("debian", Request(tmp_path, tmp_path / "out"))
    (tmp_path / "debian").mkdir()
    with pytest.raises(FileError, match="apt-cache dumpavail > Packages"):
        run_study("debian", Request(tmp_path, tmp_path / "out"))


def test_facets_are_hidden_whole_and_completed(
    request_on_hand_written_data, monkeypatch
):
    request = request_on_hand_written_data
    few = partial(debian.load_debian, min_facets=3, min_count=2)
    monkeypatch.setattr(cell_tasks, "load_debian", few)
    task = cell_task("debian-facets", request.data)
    known = ~np.isnan(task.left)
    for i, own in enumerate(task.table.slices):
        assert (known[:, own] == known[:, own][:, :1]).all()
        assert not known[task.hidden[:, i], own].any()
    methods = ["phcle", "mean", "family", "ridge"]
    table = run_study("debian-facets", replace(request, methods=methods))
    scores = {row["method"]: row for row in table["rows"]}
    assert scores["most common or mean"]["r2"] == pytest.approx(0, abs=1e-9)
    for method in ("PHCLE", "family mean", "ridge on all contexts"):
        assert scores[method]["r2"] > 0.5
        assert scores[method]["auc"] > 0.7


def test_the_mean_of_neighbours_leaves_out_those_whose_value_is_unknown():
    known = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    values = np.vstack([[[np.nan, 2.0]], [[1.0, 4.0]], [[3.0, 6.0]]])
    predicted = neighbours_mean(known[:1], known, values)
    assert predicted.tolist() == [[2.0, 4.0]]
