"""The files a report consists of, without a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from patchy_table import write_patchy_table

from phcle import (
    PHCLE,
    DescriptiveContext,
    LabelEmbedding,
    RelationalContext,
    read_contexts,
)
from phcle.errors import PhcleError, UnknownLabelError
from phcle.report import write_report


def test_every_figure_is_there_as_png_and_svg(zoo_report):
    _, out = zoo_report
    names = {path.name for path in (out / "figures").iterdir()}
    figures = ("clusters", "convergence", "coverage", "map", "sparsity", "weights")
    assert names == {f"{x}.{ending}" for x in figures for ending in ("png", "svg")}


def test_the_page_names_no_address_elsewhere(zoo_report):
    made, out = zoo_report
    assert made.report == str(out / "report.html")
    page = (out / "report.html").read_text("utf-8")
    for address in re.findall(r"""(?:src|href)=["']([^"']+)""", page):
        assert address.startswith(("data:", "#")), address
    assert "@import" not in page
    assert "url(http" not in page


def test_names_never_become_markup(zoo_report):
    page = (zoo_report[1] / "report.html").read_text("utf-8")
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert "<b>co</b>" not in page
    assert "<i>zoo</i>" not in page
    assert "A &lt;i&gt;zoo&lt;/i&gt;" in page


def test_the_map_data_holds_every_label_and_its_neighbours(zoo_report, zoo_embedding):
    page = (zoo_report[1] / "report.html").read_text("utf-8")
    data = data_in(page)
    assert data["labels"] == list(zoo_embedding.labels)
    assert data["names"] == [zoo_embedding.name_of(x) for x in zoo_embedding.labels]
    kinds, content = zip(
        *(data[x].split(":") for x in ("x", "neighbours")), strict=True
    )
    assert kinds == ("f4", "u2")
    x, near = map(base64.b64decode, content)
    assert len(np.frombuffer(x, "<f4")) == len(zoo_embedding)
    near = np.frombuffer(near, "<u2").reshape(13, 8)
    row = zoo_embedding.labels.index("lion")
    cosines = zoo_embedding.unit_vectors[near[row]] @ zoo_embedding.unit_vectors[row]
    expected = [cosine for _, cosine in zoo_embedding.nearest("lion", k=8)]
    np.testing.assert_allclose(cosines, expected, atol=1e-5)
    packed = base64.b64decode(data["cosines"].partition(":")[2])
    rounded = np.frombuffer(packed, "<u1").reshape(13, 8)[row] / 100 - 1
    np.testing.assert_allclose(rounded, expected, atol=0.0051)


def data_in(page):
    """The data of a page's map."""
    (text,) = re.findall(r'id="map-data">(.*?)</script>', page, re.S)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_an_interrupted_report_leaves_the_old_one(zoo_embedding, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    write_report(zoo_embedding, tmp_path)
    before = {x: x.read_bytes() for x in tmp_path.rglob("*.*") if x.is_file()}

    def stop(*_args, **_values):
        raise KeyboardInterrupt

    monkeypatch.setattr("jinja2.Template.render", stop)
    with pytest.raises(KeyboardInterrupt):
        write_report(zoo_embedding, tmp_path, title="another", shown=["lion"])
    after = {x: x.read_bytes() for x in tmp_path.rglob("*.*") if x.is_file()}
    assert after == before


def test_a_stop_between_figures_never_mixes_old_and_new(
    zoo_embedding, tmp_path, monkeypatch
):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    written = write_report(zoo_embedding, tmp_path)
    for old in map(Path, written.figures):
        old.write_text("old")
    move, moved = Path.replace, []

    def stop_after_two(file, target):
        if Path(target).parent.name == "figures":
            moved.append(target)
            if len(moved) > 2:
                raise KeyboardInterrupt
        return move(file, target)

    monkeypatch.setattr(Path, "replace", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        write_report(zoo_embedding, tmp_path)
    left = sorted((tmp_path / "figures").iterdir())
    assert left == sorted(moved[:2])
    assert all(x.read_bytes() != b"old" for x in left)


def test_a_picture_on_the_page_is_inside_it_once(zoo_report):
    page = (zoo_report[1] / "report.html").read_text("utf-8")
    assert "default-src 'none'" in page
    pictures = re.findall(r"data:image/png;base64,[^\"]+", page)
    assert len(pictures) == len(set(pictures))


def test_an_embedding_without_contexts_has_a_report_too(tmp_path, rng):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    plain = LabelEmbedding(("a", "b", "c"), rng.standard_normal((3, 2)))
    write_report(plain, tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "no history of a fit" in page
    assert "vectors only" in page


def test_the_report_says_how_good_the_completion_is(tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    write_patchy_table(tmp_path)
    found = read_contexts(
        hierarchy=tmp_path / "tree.csv", attributes=tmp_path / "looks.csv"
    )
    embedding = PHCLE(dim=8).fit(found.contexts).embedding_
    made = write_report(embedding, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "How good is the completion? Completion of 5 columns on hidden" in text
    check_cards(data_in(page), embedding)
    columns = made.summary["completion"]["columns"]
    assert len(columns) == 5
    for x in columns:
        than = "as" if x["verdict"] == "as good" else "than"
        shown = f"{x['column']} looks {x['cells']} {x['measure']} {x['score']:.2f}"
        assert shown in text
        assert f"{x['verdict']} {than} the {x['best_rule']}" in text


def check_cards(data, embedding):
    """Cards hold what the embedding predicts, if it is sure."""
    sizes = {"u1": np.uint8, "u2": np.uint16, "f4": np.float32}
    fields = {field["title"]: field for field in data["fields"]}

    def array(field, key):
        kind, _, content = field[key].partition(":")
        return np.frombuffer(base64.b64decode(content), sizes[kind])

    cells = embedding.complete().cells
    assert cells
    for cell in cells:
        field, row = fields[cell.column], embedding.labels.index(cell.label)
        how = array(field, "how")[row]
        if field["kind"] == "number":
            assert array(field, "numbers")[row] == pytest.approx(cell.value, rel=1e-3)
            continue
        code = array(field, "codes")[row]
        if cell.confidence is not None and cell.confidence < 0.495:
            assert code == 255
        elif code != 255:
            said = field["values"][code]
            assert said == {True: "yes", False: "no"}.get(cell.value, cell.value)
            assert how == pytest.approx(100 * cell.confidence, abs=1)


def test_a_report_on_an_unmeasured_fit_says_how_to_measure(zoo_embedding, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    origin = {k: v for k, v in zoo_embedding.origin.items() if k != "completion"}
    write_report(replace(zoo_embedding, origin=origin), tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "--completion full" in page


def test_an_unknown_label_is_refused_before_anything_is_written(
    tmp_path, zoo_embedding
):
    with pytest.raises(UnknownLabelError, match=r"lyon.*Did you mean.*'lion'"):
        write_report(zoo_embedding, tmp_path / "out", shown=["lyon"])
    assert not (tmp_path / "out").exists()


def test_without_the_extra_the_remedy_is_named(tmp_path, zoo_embedding, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(PhcleError, match=r"pip install 'phcle\[report\]'"):
        write_report(zoo_embedding, tmp_path)


def test_the_heat_map_shows_the_labels_asked_about_with_their_neighbours(
    zoo_embedding, tmp_path
):
    (asked,) = zoo_embedding.labels[:1]
    near = [label for label, _ in zoo_embedding.nearest(asked, k=5)]
    made = write_report(zoo_embedding, tmp_path / "out", shown=[asked])
    assert made.clustered == (asked, *near)


def test_cards_hold_the_likely_tags_of_labels_without_any(tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    labels = [f"x{i}" for i in range(40)]
    edges = [(x, f"g{i // 20}") for i, x in enumerate(labels)]
    tags = {x: [f"tag{i // 20}"] for i, x in enumerate(labels) if i % 4}
    tree = RelationalContext.from_hierarchy([*edges, ("g0", "all"), ("g1", "all")])
    looks = DescriptiveContext.from_tags(tags, name="looks")
    embedding = PHCLE(dim=2).fit([tree, looks]).embedding_
    write_report(embedding, tmp_path)
    facts = data_in((tmp_path / "report.html").read_text("utf-8"))["facts"]
    (own,) = [fact for fact in facts if fact["context"] == "looks"]
    guessed = base64.b64decode(own["guess_counts"].removeprefix("u1:"))
    assert [x for x, n in zip(embedding.labels, guessed, strict=True) if n] == [
        x for x in embedding.labels if x not in tags
    ]
    cells = embedding.complete().cells
    sure = base64.b64decode(own["guess_sure"].removeprefix("u1:"))
    assert list(sure) == [round(100 * cell.confidence) for cell in cells]
