"""A report holds the answers of the API, opens alone, and fits nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext
from phcle.atlas import Opened, write_report
from phcle.errors import ContextError


@pytest.fixture(scope="module")
def page(report_files):
    return report_files["patchy"].read_text("utf-8")


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/api/map", {}),
        ("/api/columns", {}),
        ("/api/hierarchy", {}),
        ("/api/suspicious", {}),
        ("/api/column", {"context": "looks", "column": "size"}),
        ("/api/node", {"node": "g0"}),
    ],
)
def test_a_report_holds_what_the_api_answers(
    answers_in, page, patchy_client, path, params
):
    key = json.dumps([*params.values()], separators=(",", ":"))
    assert answers_in(page)[path][key] == patchy_client.get(path, params=params).json()


def test_a_report_has_the_card_of_every_label_with_few_digits(
    answers_in, page, patchy_client, patchy
):
    answers = answers_in(page)
    assert len(answers["/api/label"]) == len(patchy)
    for label in patchy.labels[:9]:
        own, row = (answers[x][json.dumps([label])] for x in ("/api/label", "/api/row"))
        whole = patchy_client.get("/api/row", params={"label": label}).json()
        assert set(row) == set(whole)
        for cell, expected in zip(row["cells"], whole["cells"], strict=True):
            assert (cell["value"], cell["why"]) == (expected["value"], expected["why"])
        for near in own["neighbours"][:3]:
            why = answers["/api/explain"][
                json.dumps([label, near["label"]], separators=(",", ":"))
            ]
            assert why["similarity"] == pytest.approx(near["similarity"], abs=1e-3)
            assert why["lines"]
    info = answers["/api/info"]["[]"]
    assert info["is_report"]
    assert info["left_out"] == []
    branches = answers["/api/map"]["[]"]["colourings"][0]["groups"][:-1]
    shared = answers["/api/shared"]
    assert {json.dumps(["branch", x], separators=(",", ":")) for x in branches} <= set(
        shared
    )


def test_a_report_loads_nothing_and_runs_its_own_scripts_alone(page):
    assert not re.search(r'(?:src|href)="(?!data:|#)', page.partition("<script")[0])
    policy = html.unescape(
        re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1]
    )
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    styles = re.findall(r"<style>(.*?)</style>", page, re.S)
    assert scripts
    assert styles
    for part in (*scripts, *styles):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert 'src="static/' not in page
    assert 'href="static/' not in page


def test_names_and_titles_with_markup_stay_text(report_files):
    page = report_files["zoo"].read_text("utf-8")
    assert "<title>zoo &lt;i&gt;x&lt;/i&gt;</title>" in page
    assert "onerror=alert" not in page
    assert "alert(2)" not in page


def test_a_report_of_a_thousand_labels_has_two_megabytes_at_most(tmp_path, rng):
    labels = [f"a label of the table, number {i}" for i in range(1_000)]
    tree = [(label, f"group {i % 50}") for i, label in enumerate(labels)]
    tree += [(f"group {i}", f"part {i % 7}") for i in range(50)]
    cells = rng.lognormal(size=(1_000, 20))
    cells[rng.random(cells.shape) < 0.5] = np.nan
    contexts = [
        RelationalContext.from_hierarchy(tree),
        DescriptiveContext("table", labels, [f"column {i}" for i in range(20)], cells),
    ]
    options = {"dim": 16, "choose": False, "completion": "none"}
    embedding = PHCLE(**options).fit(contexts).embedding_
    made = write_report(embedding, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 2 << 20
    assert made.left_out == ""


def test_what_has_no_room_is_named(answers_in, patchy, tmp_path):
    made = write_report(patchy, tmp_path / "report.html", most_letters=900)
    info = answers_in((tmp_path / "report.html").read_text())["/api/info"]["[]"]
    assert any(x.startswith("looks: ") for x in info["left_out"])
    assert "cards of 120 labels" in info["left_out"]
    assert "no room" in made.left_out


def test_too_many_labels_are_a_sample(answers_in, patchy, tmp_path, monkeypatch):
    monkeypatch.setattr(Opened, "most_on_map", 100)
    monkeypatch.setattr(Opened, "n_sampled", 40)
    made = write_report(patchy, tmp_path / "report.html")
    answers = answers_in((tmp_path / "report.html").read_text())
    assert len(answers["/api/map"]["[]"]["names"]) == 40
    assert answers["/api/info"]["[]"]["labels"] == 40
    assert "80 labels" in made.left_out


def test_an_interrupted_report_leaves_the_old_one(zoo_embedding, tmp_path, monkeypatch):
    file = tmp_path / "report.html"
    write_report(zoo_embedding, file)
    before = file.read_bytes()

    def stop(*_args, **_values):
        raise KeyboardInterrupt

    monkeypatch.setattr("gzip.compress", stop)
    with pytest.raises(KeyboardInterrupt):
        write_report(zoo_embedding, file, title="another")
    assert file.read_bytes() == before
    assert [x.name for x in tmp_path.iterdir()] == ["report.html"]


def test_an_embedding_without_contexts_has_a_report_too(tmp_path, rng):
    plain = LabelEmbedding(("a", "b", "c"), rng.standard_normal((3, 2)))
    made = write_report(plain, tmp_path / "report.html")
    assert made.labels == 3
    with pytest.raises(ContextError, match="two labels or more"):
        write_report(plain.select(["a"]), tmp_path / "one.html")


def test_a_stored_map_is_shown_and_none_is_stored(answers_in, zoo_embedding, tmp_path):
    file = tmp_path / "zoo.phcle"
    write_report(zoo_embedding, tmp_path / "first.html", file=file)
    assert not (tmp_path / "zoo.phcle.explorer").exists()
    opened = Opened(zoo_embedding, "zoo", file)
    opened.map.wait()
    moved = opened.map.result.places[::-1].copy()
    np.copyto(opened.map.result.places, moved)
    opened.map.result.save(tmp_path / "zoo.phcle.explorer", zoo_embedding)
    write_report(zoo_embedding, tmp_path / "report.html", file=file)
    drawn = answers_in((tmp_path / "report.html").read_text())["/api/map"]["[]"]
    x = np.frombuffer(base64.b64decode(drawn["x"].removeprefix("f4:")), "<f4")
    assert np.array_equal(x, moved[:, 0])


def test_a_notebook_shows_the_report_in_a_frame_of_its_own(answers_in, zoo_embedding):
    frame = zoo_embedding.explore('a "zoo"')._repr_html_()
    assert frame.startswith('<iframe title="a &quot;zoo&quot;"')
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])
    assert answers_in(page)["/api/info"]["[]"]["labels"] == len(zoo_embedding)
