"""Completion of single cells on planted tables, where the answer is known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from phcle.errors import OptionError
from phcle_paper.datasets.patchy_table import (
    CATEGORY,
    NUMBER,
    TRUTH,
    Field,
    PatchyTable,
)
from phcle_paper.studies.cell_completion import METHODS, NEEDS
from phcle_paper.studies.cell_rivals import RIVALS, group_means, means_as_features
from phcle_paper.studies.cell_tasks import CellTask, cell_task, complete, draw_cells
from phcle_paper.studies.registry import Request, run_study

N = 60
LABELS = tuple(f"label {i}" for i in range(N))
GROUPS = np.arange(N) % 6
EDGES = tuple(
    edge
    for label, group in zip(LABELS, GROUPS, strict=True)
    for edge in ((label, f"genus {group}"), (f"genus {group}", f"family {group % 2}"))
)


def one_hot(codes, n):
    return np.eye(n)[codes]


@pytest.fixture
def planted():
    """Numbers, truth values and categories that the group of a label decides."""
    fields = (
        Field("mass", NUMBER, is_log=True),
        Field("length", NUMBER),
        Field("flies", TRUTH),
        Field("diet", CATEGORY, ("fish", "fruit", "meat")),
    )
    values = np.column_stack(
        [
            np.log(1.0 + GROUPS),
            GROUPS**2 / 4,
            GROUPS % 2,
            one_hot(GROUPS % 3, 3),
        ]
    )
    table = PatchyTable("traits", LABELS, fields, values, tuple(dict.fromkeys(EDGES)))
    return CellTask(
        table, draw_cells(table.known, 0.2, np.random.default_rng(0)), values
    )


def test_a_hidden_cell_is_hidden_whole(planted):
    known = ~np.isnan(planted.left)
    assert (known[:, 3] == known[:, 5]).all()
    assert (known[:, [0, 1, 2, 3]] == ~planted.hidden).all()
    context = planted.contexts[0]
    assert context.columns == ("mass", "length", "flies", *planted.table.columns[3:])
    seen = context.values
    assert seen[known[:, 0], 0] == pytest.approx(1.0 + GROUPS[known[:, 0]])
    assert (np.isnan(seen) == ~known).all()


def test_the_mean_of_the_family_is_exact_where_the_family_decides(planted, rng):
    scores = planted.scores(RIVALS["family"][1](planted, rng))
    assert scores["accuracy"] == 1.0
    assert scores["r2"] == pytest.approx(1.0, abs=1e-6)
    scores = planted.scores(RIVALS["mean"][1](planted, rng))
    assert scores["r2"] == pytest.approx(0.0, abs=1e-9)
    assert scores["accuracy"] < 0.7


def test_boosting_uses_the_family(planted, rng, monkeypatch):
    monkeypatch.setattr("phcle_paper.studies.cell_rivals.TREES", ((0.2, 50, 3),))
    scores = planted.scores(RIVALS["boosting"][1](planted, rng))
    assert scores["accuracy"] > 0.9
    assert scores["r2"] > 0.9


def test_phcle_is_scored_in_logs_and_never_below_the_least_known_value(planted):
    options = {"dim": 20, "ridge": 1.0, "context_ridge": 1.0, "completion": "none"}
    predicted = complete(planted, options)
    assert predicted.shape == planted.left.shape
    assert predicted[:, 0].min() >= np.nanmin(planted.left[:, 0]) - 1e-9
    scores = planted.scores(predicted)
    assert scores["accuracy"] > 0.9
    assert scores["r2"] > 0.5


@pytest.mark.parametrize("method", RIVALS)
def test_no_rival_reads_the_hidden_cells(planted, method, monkeypatch):
    monkeypatch.setattr("phcle_paper.studies.cell_rivals.TREES", ((0.1, 5, 3),))
    values = np.where(planted.hidden[:, planted.table.field_of], 0.25, planted.truth)
    other = CellTask(replace(planted.table, values=values), planted.hidden, values)
    one, two = (
        RIVALS[method][1](task, np.random.default_rng(1)) for task in (planted, other)
    )
    assert np.array_equal(one, two)


def test_group_means_as_features_never_show_a_cell_its_own_value(planted):
    table, values = planted.table, planted.left
    before = means_as_features(table, values)
    row = int(np.flatnonzero(~planted.hidden[:, 1])[0])
    changed = values.copy()
    changed[row, 1] += 100
    after = means_as_features(table, changed)
    assert after[row, 1] == pytest.approx(before[row, 1], abs=1e-3)
    assert not np.allclose(after[:, 1], before[:, 1])
    unknown = np.isnan(values)
    assert before[unknown] == pytest.approx(group_means(table, values)[unknown])


def test_the_study_resumes_and_adds_methods(tmp_path):
    folder = tmp_path / "pantheria"
    folder.mkdir()
    rows = ["species,Genus,Family,Order"]
    traits = ["species,mass,length"]
    for label, group in zip(LABELS, GROUPS, strict=True):
        rows.append(f"{label},G{group},F{group % 2},O")
        traits.append(f"{label},{group + 1},{group + 2 if group else ''}")
    (folder / "taxonomy.csv").write_text("\n".join(rows))
    (folder / "traits.csv").write_text("\n".join(traits))
    told = []
    request = Request(
        tmp_path,
        tmp_path / "out",
        splits=2,
        methods=["mean", "family"],
        tell=told.append,
    )
    table = run_study("pantheria", request)
    scores = {row["method"]: row for row in table["rows"]}
    assert scores["family mean"]["r2"] == pytest.approx(1.0, abs=1e-4)
    assert len(told) == 4
    more = replace(request, methods=["mean", "family", "boosting", "phcle"])
    table = run_study("pantheria", more)
    assert "4 of 8 cells are finished already" in told
    assert len(told) == 4 + 1 + 4
    assert table["rows"][1]["r2_lead"] < 0.5
    assert "PHCLE **is not first**" in table["findings"][0]
    written = json.loads((tmp_path / "out" / "pantheria.json").read_text())
    assert [row["method"] for row in written["rows"]] == [
        METHODS[x] for x in more.methods
    ]
    with pytest.raises(OptionError, match="Did you mean 'family'"):
        run_study("pantheria", replace(request, methods=["famly"]))


@pytest.mark.parametrize(
    ("dataset", "score", "expected"),
    [
        ("pantheria", "r2", 0.741),
        ("grambank", "accuracy", 0.82),
        ("sigtyp", "accuracy", 0.667),
    ],
)
def test_the_family_mean_on_real_tables(shared_data, dataset, score, expected, rng):
    if not all((shared_data / folder).is_dir() for folder in NEEDS[dataset]):
        pytest.skip(f"no {dataset} among the shared data")
    task = cell_task(dataset, shared_data)
    found = task.scores(RIVALS["family"][1](task, rng))[score]
    assert found == pytest.approx(expected, abs=0.005)
