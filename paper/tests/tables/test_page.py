"""All tables in one page."""

from __future__ import annotations

import base64
import json
import re

import pytest

from phcle.errors import FileError
from phcle_paper.tables.page import assemble

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)


def table(**changes):
    return {
        "table": "study",
        "version": "1",
        "title": "A study of <b>zebras</b>",
        "columns": {"name": ["name"], "score": ["score", ".2f"]},
        "rows": [{"name": "<script>alert(1)</script>", "score": 0.5}],
        "figures": [{"title": "A figure", "file": "study.png"}],
        "findings": ["Stripes help."],
        "caveats": ["One zebra."],
        "command": "phcle reproduce study",
        **changes,
    }


def test_tables_and_figures_are_assembled_into_one_page(tmp_path):
    (tmp_path / "study.json").write_text(json.dumps(table()))
    (tmp_path / "study.png").write_bytes(PNG)
    (tmp_path / "cells.json").write_text('{"not": "a table"}')
    page = assemble(tmp_path).read_text("utf-8")
    assert "A study of &lt;b&gt;zebras" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "0.50" in page
    assert "Stripes help." in page
    assert "data:image/png;base64," in page


def test_tables_stand_in_the_order_of_the_paper(tmp_path):
    for name in ("clusters", "completion", "table3-awa", "table2-awa"):
        (tmp_path / f"{name}.json").write_text(json.dumps(table()))
    page = assemble(tmp_path).read_text("utf-8")
    found = re.findall(r'<section id="([\w-]+)"', page)
    assert found == ["table2-awa", "table3-awa", "clusters", "completion"]


def test_a_picture_outside_the_folder_is_not_put_into_the_page(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    figures = [{"title": "A secret", "file": "../secret.png"}]
    (out / "study.json").write_text(json.dumps(table(figures=figures)))
    assert "data:image/png" not in assemble(out).read_text("utf-8")


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(FileError, match="holds no table"):
        assemble(tmp_path)
