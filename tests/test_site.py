"""The site builds without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed")

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "src", ROOT / "paper" / "src")
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']([^\"']+)"
    r"|<link\b(?=[^>]*rel=[\"'](?:stylesheet|icon|preload|prefetch|preconnect))"
    r"[^>]*\bhref=[\"']([^\"']+)"
)
IN_STYLES = re.compile(r"(?:url\(|@import\s+)[\"']?([^\"')]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build = (sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q")
    where = ("-d", folder / "doctrees", ROOT / "docs", folder / "html")
    done = subprocess.run(
        [*build, *map(str, where)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCES))},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def test_pages_load_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        found = [a or b for a, b in LOADED.findall(page.read_text("utf-8"))]
        assert found
        assert [x for x in found if x.startswith(("http", "//"))] == [], page
    for style in site.rglob("*.css"):
        found = IN_STYLES.findall(style.read_text("utf-8"))
        assert [x for x in found if x.startswith(("http", "//"))] == [], style


def test_learned_attributes_keep_their_underscore(site):
    page = (site / "api" / "model.html").read_text("utf-8")
    for name in ("embedding_", "history_", "weights_"):
        assert re.search(rf">{name}</(strong|span|code)>", page), name


def test_a_browser_fetches_files_of_the_site_alone_and_finds_by_search(site, browser):
    fetched, complaints = [], []
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.on("request", lambda request: fetched.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for name in ("index", "quickstart", "experiments", "api/embedding"):
        page.goto((site / f"{name}.html").as_uri())
        # No page is wider than a phone.
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, name
    page.goto((site / "search.html").as_uri() + "?q=explain")
    page.wait_for_selector("ul.search li a")
    assert complaints == []
    assert [u for u in fetched if not u.startswith(("file:", "data:"))] == []
    page.close()
