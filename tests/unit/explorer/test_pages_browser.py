"""Repairs of the pages, in headless Chromium."""

from __future__ import annotations

import csv
import re
from urllib.parse import urlsplit

import numpy as np
import pytest
from command_line import call
from watched_pages import SLOW_MS, until, watched

from phcle import PHCLE, DescriptiveContext, RelationalContext

LONG = "a very_long_name_without_any_place_to_break_it_" * 4


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def odd_workspace():
    for module in ("fastapi", "jinja2", "rapidfuzz", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    from phcle.explorer import Opened, Workspace

    rng = np.random.default_rng(0)
    labels = [f"thing {i}" for i in range(20)]
    tags = {x: ["x::y", f"{LONG}tag"] if i % 2 else ["r"] for i, x in enumerate(labels)}
    edges = [(x, "a::b" if i % 2 else "c: d") for i, x in enumerate(labels)]
    edges += [("a::b", "all"), ("c: d", "all")]
    numbers = rng.normal(size=(20, 2))
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_tags(tags, name="k::v"),
        DescriptiveContext("sizes", labels, ("mass: kg", "len::m"), numbers),
    ]
    names = {"thing 0": LONG, "thing 1": f"{LONG}1", "thing 2": "شاي ٢"}
    model = PHCLE(dim=4, backend="numpy", random_state=0)
    made = Workspace(Opened(model.fit(contexts, names=names).embedding_, "odd"))
    made.opened.background.wait()
    return made


@pytest.fixture(scope="module")
def odd_address(odd_workspace, serving):
    with serving(odd_workspace) as address:
        yield address.rstrip("/")


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(SLOW_MS)
    yield page
    page.close()


def test_enter_on_an_unknown_name_leads_to_help(page, odd_address):
    page.goto(f"{odd_address}/about")
    page.locator("#finder").press_sequentially("qqqq")
    page.keyboard.press("Enter")
    page.wait_for_url("**/label?label=qqqq")
    assert page.inner_text("h1") == "Not found"


def test_add_forgets_what_belongs_to_other_inputs(page, odd_address):
    page.goto(f"{odd_address}/add")
    page.fill("#new-label", "new")
    page.fill("#new-parent", "a::b")
    page.wait_for_selector("#new-parent-found li")
    page.press("#new-parent", "Enter")
    page.wait_for_selector("#landing[data-landed=new] .neighbours li")
    page.click("#parents .chip-off")
    page.wait_for_selector("#landing >> text=Enter its name")
    assert page.locator("#landing .neighbours").count() == 0
    assert not page.is_visible("#map")


def test_add_warns_of_a_name_that_exists(page, odd_address):
    page.goto(f"{odd_address}/add?label=thing%207")
    page.wait_for_selector("#new-twin >> text=exists")
    assert page.locator("#new-twin a").get_attribute("href") == "/label?label=thing+7"
    page.fill("#new-label", "thing 77")
    page.wait_for_selector("#new-twin", state="hidden")


def test_add_keeps_names_with_colons_over_a_reload(page, odd_address):
    page.goto(f"{odd_address}/add?label=new")
    page.fill("#new-parent", "c: d")
    page.wait_for_selector("#new-parent-found li")
    page.press("#new-parent", "Enter")
    page.fill("#new-attribute", "len::m")
    page.wait_for_selector("#new-attribute-found li")
    page.press("#new-attribute", "Enter")
    page.wait_for_selector("#values .chip")
    page.wait_for_selector("#landing[data-landed=new]")
    page.goto(f"{odd_address}/add?{urlsplit(page.url).query}")
    page.wait_for_selector("#landing[data-landed=new]")
    assert page.inner_text("#parents .chip bdi") == "c: d"
    assert page.inner_text("#values .chip bdi") == "len::m"


@pytest.mark.parametrize("width", [390, 1400])
def test_long_names_stay_inside_the_page(page, odd_address, width):
    page.set_viewport_size({"width": width, "height": 800})
    tag = f'["k::v","{LONG}tag"]'
    for path in (
        "/label?label=thing%200",
        "/compare?label=thing%200&label=thing%201&label=thing%202",
        f"/match?has={tag}",
    ):
        page.goto(odd_address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        cells = page.locator("th, td, .chip").evaluate_all(
            "all => all.filter(x => x.scrollWidth > x.clientWidth + 1).length"
        )
        assert cells == 0, path
        if width > 1000:
            wide = "all => all.some(x => x.scrollWidth > x.clientWidth + 1)"
            assert not page.locator(".scroll").evaluate_all(wide), path
    page.set_viewport_size({"width": 1400, "height": 800})


def n_labels(page):
    return int(page.inner_text("#count").split()[0].replace(",", ""))


def test_bars_and_histograms_filter_the_table_and_each_other(page, patchy_address):
    page.goto(f"{patchy_address}/table")
    page.wait_for_selector(".facet-value")
    assert n_labels(page) == 120
    bar = page.locator(".facet-value", has_text="large")
    n = int(bar.locator(".facet-n").inner_text())
    bar.click()
    page.wait_for_selector("#count >> text=of 120")
    assert n_labels(page) == n
    page.wait_for_selector(".facet-value[aria-pressed=true] >> text=large")
    chart = page.locator(".histogram-bars").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.6 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, y, steps=4)
    page.mouse.up()
    page.wait_for_selector(".filters-in-use li >> text=mass at least")
    until(page, lambda: n_labels(page) < n)
    fewer = n_labels(page)
    page.goto(page.url)  # the address holds the filters
    page.wait_for_selector(".filters-in-use li >> text=mass at least")
    assert n_labels(page) == fewer
    page.go_back()
    until(page, lambda: n_labels(page) == n)
    page.locator(".filters-in-use .chip-off").first.click()
    until(page, lambda: n_labels(page) == 120)


def test_gaps_are_accepted_and_rejected_and_the_decisions_exported(
    page, patchy, patchy_address, tmp_path
):
    page.goto(f"{patchy_address}/complete")
    page.click('a >> text="size"')
    page.wait_for_selector(".gap .decide-accept")
    first, second, third = (page.locator(".gap").nth(i) for i in range(3))
    value = first.get_attribute("data-value")
    first.locator(".decide-accept").click()
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    page.keyboard.press("a")
    page.wait_for_selector("#decisions >> text=2 accepted, 1 rejected")
    page.reload()
    page.wait_for_selector("#decisions >> text=2 accepted, 1 rejected")
    assert "accepted" in first.get_attribute("class")
    assert "rejected" in second.get_attribute("class")
    third.locator(".decide-accept").click()  # the same again takes it back
    page.wait_for_selector("#decisions >> text=1 accepted, 1 rejected")
    with page.expect_download() as download:
        page.locator("#decisions button", has_text="CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0].startswith("kind,label,name,context,column,value")
    assert f",looks,size,{value}," in lines[1]
    assert ",accept," in lines[1]
    assert ",reject," in lines[2]
    page.click("#suspect")
    page.wait_for_selector(".gap[data-kind=suspicious]", timeout=60_000)
    page.locator(".gap[data-kind=suspicious][data-label=x7] .decide-accept").click()
    refused = lines[2].split(",")[1]
    for kind in ("CSV", "JSON"):
        with page.expect_download() as download:
            page.locator("#decisions button", has_text=kind).click()
        file = tmp_path / f"decisions.{kind.lower()}"
        download.value.save_as(file)
        out = tmp_path / "filled.csv"
        patchy.save(tmp_path / "patchy.phcle")
        call("complete", tmp_path / "patchy.phcle", "--decisions", file, "--out", out)
        cells = {(x["label"], x["column"]): x for x in rows_of(out)}
        assert cells[lines[1].split(",")[1], "size"]["value"] == value
        assert (refused, "size") not in cells
        assert cells["x7", "size"]["value"] == "small"
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#decisions button", has_text="Clear").click()
    page.wait_for_selector("#decisions", state="hidden")


def test_suspicious_cells_are_shown_with_what_is_expected(page, patchy_address):
    page.goto(f"{patchy_address}/complete")
    page.click("#suspect")
    page.wait_for_selector(".gap[data-kind=suspicious]", timeout=60_000)
    wrong = page.locator(".gap[data-kind=suspicious][data-label=x7]").first
    assert wrong.get_attribute("data-value") == "small"
    assert wrong.get_attribute("data-known") == "large"


# Pages of the patchy table, and of the zoo, which has names with markup.
PAGES = [
    "/table",
    "/node?node=g0",
    "/complete",
    '/complete?column=["looks","size"]',
    "/complete?label=x7",
    "/label?label=nobody",
]
ZOO_PAGES = [
    "/?label=lynx",
    "/label?label=cat",
    "/node?node=felid",
    "/compare?label=cat&label=owl&label=lynx",
    '/match?has=["looks","claws"]',
    '/add?label=puma&parent=["felid","cats"]',
    "/understand",
    "/embeddings?label=cat",
    "/about",
]
WAIT_FOR = {
    "/?": "#map[data-ready=yes]",
    "/add": "#landing[data-landed=puma]",
    "/table": ".facet-value",
}


def shortened(html):
    return re.sub(r"\s+", " ", html)[:150]


@pytest.fixture
def new_page(browser, address, patchy_address):
    """Pages of both explorers."""
    both = address.rstrip("/"), patchy_address
    with watched(browser, *both, may_be_missing=True) as new_page:
        yield new_page


@pytest.mark.parametrize("size", [(390, 844), (1400, 900)], ids=["phone", "wide"])
def test_every_page_can_be_used_by_all_and_fits_its_window(
    new_page, address, patchy_address, size
):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    barriers = []
    width, height = size
    page = new_page(viewport={"width": width, "height": height}, has_touch=width < 500)
    home = address.rstrip("/")
    for path in [*(patchy_address + x for x in PAGES), *(home + x for x in ZOO_PAGES)]:
        page.goto(path)
        if path.endswith("/table") and width < 500:
            page.locator("summary").click()
        for start, selector in WAIT_FOR.items():
            if urlsplit(path)._replace(scheme="", netloc="").geturl().startswith(start):
                page.wait_for_selector(selector)
        if "/label?label=cat" in path:
            page.locator("details.why summary").first.click()
            page.locator("text=adds up to a similarity").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        for scheme in ("light", "dark") if width < 500 else ("light",):
            page.emulate_media(color_scheme=scheme)
            # A phone shows all barriers, and what must scroll; other colours the rest.
            is_whole = scheme == "light" and width < 500
            rules = {} if is_whole else {"runOnly": ["color-contrast"]}
            answer = axe.Axe().run(page, options=rules).response
            assert "color-contrast" in {each["id"] for each in answer["passes"]}
            barriers += [
                (path, scheme, each["id"], node["target"], shortened(node["html"]))
                for each in answer["violations"]
                for node in each["nodes"]
            ]
        page.emulate_media(color_scheme="light")
    assert barriers == []


def test_the_map_takes_the_last_choice_of_colours(page, patchy_address):
    page.goto(patchy_address)
    page.wait_for_selector("#map[data-ready=yes]")
    page.route(re.compile("column=wild"), lambda route: None)  # it takes too long
    choose = "([table, column]) => void Phcle.map.colour_by_attribute(table, column)"
    page.evaluate(choose, ["looks", "wild"])
    page.evaluate(choose, ["looks", "mass"])
    until(page, lambda: page.evaluate("Phcle.map.base.column") == "mass")
    page.unroute_all()
