"""Size of a report, and how long it takes to write it, to open it and to filter it.

    python benchmarks/report_size.py 1000 50000

The labels are made up: a hierarchy of four levels, a table of 20 numbers and 24
categories with gaps, and tags. The page is opened in headless Chromium without a
graphics card; `playwright` and `chromium` must be installed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext
from phcle.report import write_report

PARTS = [first + second for first in "bklmnrstvz" for second in "aeiou"]


def made(n: int) -> LabelEmbedding:
    """Fit n labels."""
    rng = np.random.default_rng(0)
    words = ["".join(three) for three in rng.choice(PARTS, (2 * n, 3))]
    labels = [f"{words[2 * i]} {words[2 * i + 1]} {i}" for i in range(n)]
    groups = np.arange(n) // 25
    families = groups // 12
    edges = {(label, f"group {x}") for label, x in zip(labels, groups, strict=True)}
    edges |= {(f"group {x}", f"family {x // 12}") for x in groups}
    edges |= {(f"family {x}", f"order {x // 12}") for x in families}
    edges |= {(f"order {x // 12}", "all") for x in families}
    columns: dict[str, object] = {}
    for i in range(20):
        numbers = rng.normal(families % (7 + i), 1).round(2)
        columns[f"number {i}"] = np.where(rng.random(n) < 0.8, numbers, np.nan)
    for i in range(24):
        values = [f"v{x}" for x in families * (i + 3) % 9]
        is_known = rng.random(n) < 0.6
        columns[f"kind {i}"] = [
            value if known else None
            for value, known in zip(values, is_known, strict=True)
        ]
    table = pd.DataFrame(columns, index=pd.Index(labels, name="label"))
    tags = {
        label: sorted({f"tag {x * k % 300}" for k in range(1, 6)})
        for label, x in zip(labels[::2], families[::2], strict=True)
    }
    contexts = [
        RelationalContext.from_hierarchy(sorted(edges), name="tree"),
        DescriptiveContext.from_frame(table[rng.random(n) < 0.7], name="table"),
        DescriptiveContext.from_tags(tags, name="tags"),
    ]
    return PHCLE(dim=32, random_state=0).fit(contexts).embedding_


def opened(page: Path) -> tuple[float, float]:
    """Seconds until the map is drawn, and until a filter has been applied."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        tab = browser.new_page(viewport={"width": 1400, "height": 900})
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_function("window.Phcle && Phcle.map", timeout=120_000)
        drawn = time.perf_counter() - start
        tab.get_by_role("button", name="Filter").click()
        value = tab.locator(".facet-value", has_text="v1").first
        value.wait_for()
        start = time.perf_counter()
        value.click()
        tab.wait_for_selector(".filters-in-use li")
        filtered = time.perf_counter() - start
        browser.close()
    return drawn, filtered


def main(sizes: list[int]) -> None:
    """Print a line for each size."""
    print(f"{'labels':>8} {'MB':>6} {'write s':>8} {'open s':>7} {'filter s':>9}")
    for n in sizes:
        embedding = made(n)
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            write_report(embedding, Path(folder))
            seconds = time.perf_counter() - start
            page = Path(folder) / "report.html"
            drawn, filtered = opened(page)
            size = page.stat().st_size / 1e6
        print(f"{n:8,} {size:6.2f} {seconds:8.1f} {drawn:7.1f} {filtered:9.1f}")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]])
