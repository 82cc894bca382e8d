"""All sections of the page, served and from disk, in headless Chromium."""

from __future__ import annotations

import csv
import hashlib
import io
import re

import numpy as np
import pytest
from command_line import call
from watched_pages import SLOW_MS, pick, until, watched

from phcle import PHCLE, DescriptiveContext, RelationalContext

ONE = "table.heat td:text-is('1.00')"
"""Cells of labels with themselves."""

LONG = "a very_long_name_without_any_place_to_break_it_" * 4


@pytest.fixture(scope="module")
def odd_address(serving):
    """Names that are long, or have colons, or are written from right to left."""
    from phcle.atlas import Opened, Workspace

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
    workspace = Workspace(Opened(model.fit(contexts, names=names).embedding_, "odd"))
    workspace.opened.map.wait()
    with serving(workspace) as address:
        yield address.rstrip("/")


@pytest.fixture
def open_page(browser, address, patchy_address, odd_address):
    """Open a part of the page of one of the embeddings."""
    homes = {"zoo": address.rstrip("/"), "patchy": patchy_address, "odd": odd_address}
    with watched(browser, *homes.values(), may_be_missing=True) as new_page:

        def opened(path="", of="zoo", **options):
            page = new_page(**options)
            page.goto(f"{homes[of]}/#{path}")
            return page

        yield opened


def map_is_ready(page):
    page.wait_for_selector("#map[data-ready=yes]")


def go(page, path):
    """Go to another part, and wait until it is drawn."""
    page.evaluate(
        "path => { document.body.dataset.shown = ''; location.assign(`#${path}`); }",
        path,
    )
    page.wait_for_selector("body:not([data-shown=''])")


# -- Search, labels and addresses


def test_search_forgives_a_slip_and_opens_the_label_by_keyboard(open_page):
    page = open_page("/about")
    page.wait_for_selector("h1")
    page.keyboard.press("/")
    page.keyboard.type("tigr")
    page.wait_for_selector("#finder-found li >> text=tiger")
    assert page.get_attribute("#finder", "aria-expanded") == "true"
    page.keyboard.press("Enter")
    page.wait_for_url("**#/label?label=tiger")
    page.wait_for_selector("h1 >> text=tiger")
    go(page, "/label?label=lyon")
    page.locator(".failed a", has_text="lion").click()  # what may be meant
    page.wait_for_selector("h1 >> text=lion")


def test_why_two_labels_are_similar_is_told_when_it_is_opened(open_page):
    page = open_page("/label?label=dog")
    page.locator("details.why summary").first.click()
    told = page.locator("details.why[open] .why-body")
    told.locator("text=adds up to a similarity").wait_for()
    assert "tree" in told.inner_text()
    told.get_by_role("link", name="Compare the two").click()
    page.wait_for_selector("table.heat")
    assert page.locator(ONE).count() == 2
    pick(page, "another", "owl")
    until(page, lambda: page.locator(ONE).count() == 3)


def test_the_address_keeps_colours_groups_and_several_chosen_labels(open_page):
    page = open_page()
    map_is_ready(page)
    pick(page, "map-attribute", "claw")
    page.wait_for_selector(".map-of >> text=claws")
    page.wait_for_url(re.compile("context=looks&column=claws"))
    page.get_by_role("button", name="List what is in view").click()
    page.wait_for_selector(".map-card h2 >> text=13 labels")
    page.wait_for_url(re.compile("rows="))
    page.locator(".map-legend button").first.click()
    page.wait_for_url(re.compile("group="))
    again = open_page(page.url.split("#")[1])
    map_is_ready(again)
    again.wait_for_selector(".map-legend button[aria-pressed=true] >> text=no")
    again.wait_for_selector(".map-card h2 >> text=13 labels")


def test_names_with_markup_are_shown_as_they_are(open_page, zoo_embedding):
    name = zoo_embedding.name_of("lynx")
    page = open_page("/label?label=lynx")
    page.wait_for_selector("h1")
    assert page.inner_text("h1") == name
    page.fill("#finder", "script")
    page.wait_for_selector("#finder-found li")
    assert zoo_embedding.name_of("jackal") in page.inner_text("#finder-found li")
    go(page, "/?label=lynx&panel=table")
    map_is_ready(page)
    page.wait_for_selector(".map-card h2")
    assert page.inner_text(".map-card h2") == name
    page.evaluate("Phcle.map.hover(Phcle.map.point_of('lynx'))")
    assert page.inner_text(".map-tip strong") == name
    page.locator("th[scope=row] >> text=<img src=x").wait_for()
    assert page.locator("main img, main script").count() == 0


def test_another_embedding_moves_the_points_and_back(open_page):
    page = open_page()
    map_is_ready(page)
    places = "Array.from(Phcle.map.data.x)"
    before = page.evaluate(places)
    page.get_by_label("places in noise").check()
    page.wait_for_selector(".map-note >> text=Places in noise")
    assert not np.allclose(page.evaluate(places), before, atol=0.05)
    assert page.evaluate("Phcle.map.colouring.title") == "moved"
    page.get_by_role("button", name="Table", exact=True).click()
    title = page.locator("thead th", has_text="moved")
    for order in ("ascending", "descending"):
        title.locator(".sorting").click()
        page.wait_for_selector(f"th[aria-sort={order}] >> text=moved")
    of_points = page.evaluate("Array.from(Phcle.map.colouring.values)")
    in_table = page.locator("tbody tr td:nth-child(2) bdi").all_inner_texts()
    np.testing.assert_allclose(
        [float(x) for x in in_table], sorted(of_points)[::-1], atol=1e-5
    )
    page.get_by_label("places in noise").uncheck()
    until(page, lambda: np.allclose(page.evaluate(places), before))


# -- Filters and the table


def n_labels(page):
    return int(page.inner_text(".label-table [role=status]").split()[0])


def test_bars_and_histograms_filter_the_table_and_each_other(open_page):
    page = open_page("/?panel=filters&panel=table", of="patchy")
    page.wait_for_selector(".facet-value")
    page.wait_for_selector(".label-table [role=status]")
    assert n_labels(page) == 120
    bar = page.locator(".facet-value", has_text="large")
    n = int(bar.locator(".facet-n").inner_text())
    bar.click()
    page.wait_for_selector(".label-table [role=status] >> text=of 120")
    assert n_labels(page) == n
    page.wait_for_selector(".facet-value[aria-pressed=true] >> text=large")
    chart = page.locator(".facet .histogram-bars").first
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
    page.reload()  # the address holds the filters
    page.wait_for_selector(".filters-in-use li >> text=mass at least")
    page.wait_for_selector(".label-table [role=status] >> text=of 120")
    assert n_labels(page) == fewer
    page.go_back()
    until(page, lambda: n_labels(page) == n)
    with page.expect_download() as download:
        page.locator(".label-table").get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8"))))
    assert len(rows) == n
    assert {row["size"] for row in rows} == {"large"}


def test_labels_are_ranked_by_wanted_attributes(open_page):
    page = open_page("/?panel=filters&panel=table")
    page.wait_for_selector("#wanted")
    pick(page, "wanted", "wing")
    page.wait_for_selector("th[aria-sort] >> text=Match")
    birds = {"robin", "wren", "hawk", "eagle"}
    first = page.locator("tbody th")
    until(page, lambda: set(first.all_inner_texts()[:4]) == birds)
    page.locator(".chip-turn").click()
    until(page, lambda: not birds & set(first.all_inner_texts()[:4]))


def test_an_address_that_names_nothing_still_opens_the_map(open_page):
    page = open_page("/?label=nobody&context=a&column=b&filter=%5B1%5D&rows=999&at=x")
    map_is_ready(page)
    page.wait_for_selector(".map-note:not(:empty)")
    go(page, "/nothing")
    page.wait_for_selector(".failed >> text=no such page")


# -- Complete


def test_gaps_are_accepted_changed_and_refused_and_the_decisions_saved(
    open_page, patchy, tmp_path
):
    page = open_page("/complete", of="patchy")
    page.click('.profile h3 a >> text="size"')
    page.wait_for_selector(".gap .decide-accept")
    first, second, third = (page.locator(".gap").nth(i) for i in range(3))
    labels = page.evaluate(
        "[...document.querySelectorAll('.gap')].map((x) => x.cell.label)"
    )
    value = page.evaluate("document.querySelector('.gap').cell.value")
    first.locator(".decide-accept").click()
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    bar = page.locator(".decisions")
    other = {"small", "medium", "large"} - {third.locator("strong").inner_text()}
    changed = sorted(other)[0]
    third.locator("select").select_option(changed)
    bar.locator("text=2 accepted, 1 refused").wait_for()
    page.reload()
    bar.locator("text=2 accepted, 1 refused").wait_for()
    assert "accepted" in first.get_attribute("class")
    assert "rejected" in second.get_attribute("class")
    page.locator(".gap-why summary").first.click()
    page.locator(".gap-why[open] p").first.wait_for()
    page.get_by_role("link", name="Look for them").click()
    page.wait_for_selector(".gap >> text=is large, expected small")
    page.get_by_role("button", name="Use small as size of x7").click()
    for kind in ("CSV", "JSON"):
        with page.expect_download() as download:
            bar.get_by_role("button", name=kind).click()
        file = tmp_path / f"decisions.{kind.lower()}"
        download.value.save_as(file)
        saved, out = tmp_path / "patchy.phcle", tmp_path / "filled.csv"
        patchy.save(saved)
        call("complete", saved, "--decisions", file, "--out", out)
        with out.open(newline="", encoding="utf-8") as filled:
            cells = {(x["label"], x["column"]): x for x in csv.DictReader(filled)}
        assert cells[labels[0], "size"]["value"] == value
        assert (labels[1], "size") not in cells
        assert cells[labels[2], "size"]["value"] == changed
        assert cells["x7", "size"]["value"] == "small"
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator(".gap .decide-accept[aria-pressed=true]").first.click()
    bar.locator("text=2 accepted, 1 refused").wait_for()


# -- Add and understand


def test_a_label_is_added_where_its_parent_is(open_page):
    page = open_page("/add")
    page.fill("#new-label", "puma")
    pick(page, "new-parent", "cats")
    page.wait_for_selector("#landing[data-landed=puma] .neighbours li")
    near = page.locator("#landing .neighbours a").all_inner_texts()[:4]
    assert {"lion", "tiger"} & set(near)
    page.wait_for_selector(".map-small .map-points")
    pick(page, "new-attribute", "claws")
    page.wait_for_selector("#values .chip")
    page.wait_for_url(re.compile("claws"))
    again = open_page(page.url.split("#")[1])
    again.wait_for_selector("#landing[data-landed=puma]")
    assert again.locator("#parents .chip, #values .chip").count() == 2
    again.fill("#new-label", "LION")
    again.wait_for_selector("#landing .failed >> text=is in the embedding already")
    again.fill("#new-label", "")
    again.wait_for_selector("#landing >> text=Enter its name")
    assert not again.locator(".map-small").is_visible()


def test_dropped_features_are_understood(open_page, zoo_embedding):
    page = open_page("/understand")
    page.wait_for_selector("#file")
    content = io.BytesIO()
    np.save(content, zoo_embedding["wolf"])
    page.set_input_files(
        "#file",
        {"name": "wolf.npy", "mimeType": "x/npy", "buffer": content.getvalue()},
    )
    page.wait_for_selector(".neighbours li")
    assert "wolf" in page.inner_text(".neighbours")


# -- For everyone


def test_light_and_dark_follow_the_system_until_somebody_chooses(open_page):
    background = "getComputedStyle(document.querySelector('.top')).backgroundColor"
    assert open_page(color_scheme="light").evaluate(background) == "rgb(255, 255, 255)"
    page = open_page("/about", color_scheme="dark")
    assert page.evaluate(background) == "rgb(25, 28, 34)"
    page.click("#theme")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate(background) == "rgb(255, 255, 255)"


PAGES = {
    "/node?node=g0": "patchy",
    "/complete": "patchy",
    "/complete?context=looks&column=mass": "patchy",
    "/complete?label=x7": "patchy",
    "/complete?suspicious=1": "patchy",
    "/?panel=filters": "patchy",
    "/?panel=table": "patchy",
    "/?label=lynx": "zoo",
    "/label?label=nobody": "zoo",
    "/label?label=cat": "zoo",
    "/label?label=cat&label=owl&label=lynx": "zoo",
    '/add?form={"name":"puma","parents":[{"node":"felid","name":"cats"}]}': "zoo",
    "/understand": "zoo",
    "/about": "zoo",
    "/label?label=thing 1": "odd",
    "/?label=thing 0&panel=table": "odd",
}
"""Parts of the page, and the embedding that they show."""

SEEN = {
    "/?label": ".map-card .neighbours li",
    "/?panel=filters": ".facet-value",
    "/?panel=table": "tbody th",
    "/add": "#landing[data-landed=puma]",
}


@pytest.mark.parametrize("size", [(390, 844), (1400, 900)], ids=["phone", "wide"])
def test_every_part_can_be_used_by_all_and_fits_its_window(open_page, size):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    barriers = []
    width, height = size
    options = {"viewport": {"width": width, "height": height}}
    for home in ("patchy", "zoo", "odd"):
        page = open_page(of=home, has_touch=width < 500, **options)
        map_is_ready(page)
        for path in (path for path, of in PAGES.items() if of == home):
            go(page, path)
            for start, selector in SEEN.items():
                if path.startswith(start):
                    page.wait_for_selector(selector)
            if path == "/label?label=cat":
                page.locator("#content .why summary").first.click()
                page.locator("#content >> text=adds up to a similarity").wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            for scheme in ("light", "dark") if width < 500 else ("light",):
                page.emulate_media(color_scheme=scheme)
                # A phone shows all barriers and what must scroll; colours the rest.
                is_whole = scheme == "light" and width < 500
                rules = {} if is_whole else {"runOnly": ["color-contrast"]}
                answer = axe.Axe().run(page, options=rules).response
                barriers += [
                    (path, scheme, each["id"], node["target"], node["html"][:150])
                    for each in answer["violations"]
                    for node in each["nodes"]
                ]
            page.emulate_media(color_scheme="light")
    assert barriers == []


# -- The report


@pytest.fixture
def open_report(browser, report_files):
    """Open a report from disk, which asks for nothing but itself."""
    with watched(browser, "file:") as new_page:

        def opened(path="", of="zoo", **options):
            page = new_page(**options)
            page.goto(f"{report_files[of].as_uri()}#{path}")
            return page

        yield opened


def test_a_report_has_map_table_filters_and_cards_without_a_server(open_report):
    page = open_report("/?panel=filters&panel=table", of="patchy")
    map_is_ready(page)
    page.locator(".facet-value", has_text="large").click()
    page.wait_for_selector(".label-table [role=status] >> text=of 120")
    page.evaluate("Phcle.explore.filter([])")
    page.evaluate("Phcle.map.go_to_label('x3')")
    page.wait_for_selector(".map-card .cells dt >> text=mass")
    page.wait_for_selector(".map-card .neighbours li")
    pick(page, "finder", "x71")
    page.wait_for_selector(".map-card h2 >> text=x71")
    page.get_by_role("link", name="Open its page").click()
    page.wait_for_selector("h1 >> text=x71")
    for path in ("/complete", "/about", "/node?node=g0"):
        go(page, path)
        page.wait_for_selector(".card")
    assert page.locator(".top nav li").count() == 3  # nothing that needs a server
    page.evaluate("Phcle.get('/api/second').catch((error) => (window.told = error))")
    until(page, lambda: page.evaluate("Boolean(window.told)"))
    assert "phcle explore" in page.evaluate("window.told.message")


def test_a_report_refuses_what_only_a_server_can_answer(open_report):
    page = open_report("/label?label=x3&label=x71", of="patchy")
    page.wait_for_selector("[role=alert] >> text=phcle explore")  # no made-up numbers
    go(page, "/add")
    page.wait_for_selector("[role=alert] >> text=phcle explore")
    go(page, "/")
    map_is_ready(page)
    page.evaluate("Phcle.map.choose_many([0, 1, 2])")
    page.wait_for_selector(".map-card h2 >> text=3 labels")
    assert page.get_by_role("button", name="What do these share?").count() == 0


def test_a_report_shows_hostile_names_as_text(open_report):
    page = open_report("/?label=lynx")
    map_is_ready(page)
    page.wait_for_selector(".map-card h2")
    assert page.inner_text(".map-card h2") == "<img src=x onerror=alert(1)>"
    assert page.inner_text("#brand") == "zoo <i>x</i>"
    go(page, "/label?label=%20%3CIMG+src%3Dx+onerror%3Dalert(1)%3E")  # by its name
    page.wait_for_selector("h1 >> text=<img src=x onerror=alert(1)>")
    assert page.locator("main img, main script, .top i").count() == 0


def test_a_notebook_shows_the_page_in_a_frame_that_stays_on_it(browser, patchy):
    page = browser.new_page()
    page.set_default_timeout(SLOW_MS)
    page.set_content(f"<h1>Notebook</h1>{patchy.explore()._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.locator("#map[data-ready=yes]").wait_for()
    frame.get_by_role("link", name="Complete").click()
    frame.locator(".profile h3 a >> text=size").click()
    frame.locator(".decide-accept").first.click()  # although storage is blocked
    frame.locator(".decisions >> text=1 accepted").wait_for()
    frame.get_by_role("link", name="Explore").click()
    frame.locator(".map-stage").wait_for()
    frame.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")
    assert frame.locator("#main").evaluate("x => x === document.activeElement")
    page.close()


# -- Scripts of others


def test_the_vendored_script_is_the_published_one():
    from importlib.resources import files

    folder = files("phcle.atlas").joinpath("static/vendor")
    for line in folder.joinpath("SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split()
        content = folder.joinpath(name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest
