"""The report in headless Chromium: it answers without a server, and loads nothing.

The map itself is tested in the explorer's test_map.py.
"""

from __future__ import annotations

import pytest
from watched_pages import watched


@pytest.fixture
def open_page(browser, zoo_report):
    """Open the report, which asks for nothing but itself."""
    with watched(browser, "file:") as new_page:

        def opened(query="", **options):
            page = new_page(**options)
            page.goto((zoo_report[1] / "report.html").as_uri() + query)
            page.wait_for_function("window.Phcle && Phcle.map")
            return page

        yield opened


def test_search_goes_to_a_label_and_hover_names_it(open_page):
    page = open_page()
    page.fill("#map-search", "hawk")
    assert page.inner_text("#map-search-found li").startswith("hawk")
    page.keyboard.press("Enter")
    assert page.inner_text(".map-panel h2") == "hawk"
    near = page.locator(".map-panel .neighbours li")
    assert near.count() == 8
    page.wait_for_timeout(300)  # until the map has settled
    hover(page, "hawk")
    page.wait_for_selector(".map-tip:not([hidden])")
    assert page.inner_text(".map-tip strong") == "hawk"
    first = near.first.locator("button").inner_text()
    near.first.locator("button").click()
    assert page.inner_text(".map-panel h2") == first


def hover(page, name):
    """Put the pointer on a label's point."""
    page.locator(".map-stage").scroll_into_view_if_needed()
    stage = page.locator(".map-stage").bounding_box()
    x, y = page.evaluate(
        "name => Phcle.map.view.place(Phcle.map.data.names.indexOf(name))", name
    )
    for slip in (3, 0):  # a pointer that jumps in from afar has not moved yet
        page.mouse.move(stage["x"] + x + slip, stage["y"] + y)


def test_related_labels_lead_to_the_map(open_page):
    page = open_page()
    link = page.locator("#retrieval td .on-map").first
    name = link.inner_text()
    link.click()
    page.wait_for_selector(".map-panel h2")
    assert page.inner_text(".map-panel h2") == name
    page.wait_for_function(
        "window.scrollY < document.getElementById('map').offsetTop + 9"
    )
    page.go_back()
    page.wait_for_selector(".map-card", state="hidden")


def test_dark_and_light_follow_the_reader_in_figures_too(open_page):
    page = open_page(color_scheme="dark")
    look = "(part) => getComputedStyle(document.querySelector(part))"
    page_colour = f"({look})('body').backgroundColor"
    assert page.evaluate(page_colour) == "rgb(21, 23, 28)"
    assert page.evaluate(f"({look})('figure.heat svg').color") == "rgb(236, 236, 240)"
    assert "#ffffff" not in page.inner_html("figure.heat svg #patch_1")
    page.emulate_media(color_scheme="light")
    assert page.evaluate(page_colour) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [390, 1400])
def test_names_with_markup_and_long_names_stay_text_and_inside(
    open_page, nasty_names, width
):
    phone = {"has_touch": True, "is_mobile": True} if width < 500 else {}
    viewport = {"width": width, "height": 844}
    page = open_page(viewport=viewport, **phone)
    page.evaluate("document.getElementById('made').open = true")
    for label in ("cat", "dog", "fox"):
        page.evaluate("x => Phcle.map.go_to(Phcle.map.row_of(x))", label)
        assert page.inner_text(".map-panel h2").strip() == nasty_names[label]
        page.evaluate("x => Phcle.map.hover(Phcle.map.row_of(x))", label)
        assert page.inner_text(".map-tip strong").strip() == nasty_names[label]
        page.evaluate("Phcle.map.hover(null)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#map img, h1 i").count() == 0


def test_a_phone_scrolls_the_page_beside_the_stage(open_page):
    phone = {"width": 390, "height": 844}
    page = open_page(viewport=phone, has_touch=True, is_mobile=True)
    page.locator("#retrieval").scroll_into_view_if_needed()
    before = page.evaluate("window.scrollY")
    session = page.context.new_cdp_session(page)
    for y in range(700, 300, -40):
        kind = "touchStart" if y == 700 else "touchMove"
        at = [{"x": 100, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("before => window.scrollY > before + 50", arg=before)


def test_a_misspelled_name_is_found(open_page):
    page = open_page()
    page.fill("#map-search", "jakcall")
    shown = page.locator("#map-search-found li").all_inner_texts()
    assert shown[0] == "no such label; did you mean"
    assert shown[1].startswith("jackal")
    page.keyboard.press("Enter")
    assert page.inner_text(".map-panel h2") == "jackal"


def test_a_card_says_what_is_known_predicted_and_shared(open_page):
    page = open_page()
    page.fill("#map-search", "robin")
    page.keyboard.press("Enter")
    card = page.inner_text(".map-panel .attributes")
    assert card.split("\n")[:2] == ["below", "bird › animal"]
    assert "looks\nwings" in card
    wren = page.locator(".map-panel .neighbours li", has_text="wren")
    assert "both: wings, bird" in wren.inner_text()
    assert 0 < float(wren.locator(".map-count").inner_text()) <= 1
    page.fill("#map-search", "hawk")
    page.keyboard.press("Enter")
    assert "tree + looks" in page.inner_text(".map-panel .map-said")


def test_the_address_holds_what_the_map_shows(open_page):
    page = open_page("?map=canvas")
    page.fill("#map-attribute", "wing")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map-legend:has-text('has it')")
    page.fill("#map-search", "hawk")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Filters", exact=True).click()
    page.locator(".facet-value", has_text="claws").click()
    page.wait_for_function("location.hash.includes('filter=')")
    shared = page.evaluate("location.hash")
    assert "label=hawk" in shared
    assert "column=wings" in shared

    other = open_page("?map=canvas" + shared)
    assert other.inner_text(".map-panel h2") == "hawk"
    assert "has it" in other.inner_text(".map-legend")
    assert other.evaluate("Phcle.map.filter.reduce((a, b) => a + b)") == 3
    where = "Phcle.map.view.where()"  # the address has three decimals
    assert other.evaluate(where) == pytest.approx(page.evaluate(where), abs=2e-3)
    page.go_back()  # to the map before the filter
    page.wait_for_function("Phcle.map.filter === null")
    assert page.inner_text(".map-panel h2") == "hawk"


def test_an_address_that_names_nothing_still_opens_the_map(open_page):
    for asked in (
        "#map?label=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "#map?filter=%5B%22none%22%2C%22none%22%2C%22in%22%2C%5B%22x%22%5D%5D",
        "#map?context=none&column=none&at=NaN,1,1&rows=99999",
    ):
        page = open_page(asked)
        page.fill("#map-search", "hawk")
        page.keyboard.press("Enter")
        assert page.inner_text(".map-panel h2") == "hawk"


def test_what_only_makers_need_is_closed_at_first(open_page):
    page = open_page()
    assert not page.locator("#convergence h2").is_visible()
    page.locator("a[href='#made']").click()
    assert page.locator("#convergence h2").is_visible()


def test_print_shows_the_drawn_map(open_page):
    page = open_page()
    page.emulate_media(media="print")
    assert page.locator(".print-only img").first.is_visible()
    assert not page.locator("#map").is_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1400)])
def test_axe_finds_no_barriers(open_page, scheme, width):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    viewport = {"width": width, "height": 850}
    page = open_page(color_scheme=scheme, viewport=viewport)
    page.get_by_role("button", name="Filters", exact=True).click()
    page.wait_for_selector(".facet")
    page.fill("#map-search", "robin")
    page.keyboard.press("Enter")
    page.evaluate("document.getElementById('made').open = true")
    answer = axe.Axe().run(page).response
    assert [(x["id"], x["nodes"][0]["html"]) for x in answer["violations"]] == []
