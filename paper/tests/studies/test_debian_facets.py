"""Hidden facets of packages: the study runs, and hides what it says."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from debian_index import index_text

from phcle.errors import FileError
from phcle_paper.datasets import debian
from phcle_paper.studies import cell_tasks
from phcle_paper.studies.cell_tasks import cell_task
from phcle_paper.studies.registry import Request, run_study


@pytest.fixture
def request_on_hand_written_data(tmp_path, monkeypatch):
    folder = tmp_path / "debian"
    folder.mkdir()
    (folder / "Packages").write_text(index_text())
    monkeypatch.setattr(debian, "has_sentence_encoder", lambda: False)
    return Request(tmp_path, tmp_path / "out")


def test_a_folder_without_an_index_gets_the_remedy(tmp_path):
    with pytest.raises(FileError, match="debian: no such folder"):
        run_study("debian-facets", Request(tmp_path, tmp_path / "out"))
    (tmp_path / "debian").mkdir()
    with pytest.raises(FileError, match="apt-cache dumpavail > Packages"):
        run_study("debian-facets", Request(tmp_path, tmp_path / "out"))


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
    methods = ["phcle", "mean", "family"]
    table = run_study("debian-facets", replace(request, methods=methods))
    scores = {row["method"]: row for row in table["rows"]}
    assert scores["most common or mean"]["r2"] == pytest.approx(0, abs=1e-9)
    for method in ("PHCLE", "family mean"):
        assert scores[method]["r2"] > 0.5
        assert scores[method]["auc"] > 0.7
