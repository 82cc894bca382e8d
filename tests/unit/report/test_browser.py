"""The report in headless Chromium: it draws, answers, and loads nothing."""

from __future__ import annotations

import pytest


@pytest.fixture
def open_page(browser, zoo_report):
    """Open the report; at the end nothing may have failed or been fetched."""
    contexts, complaints, fetched = [], [], []

    def listen(page):
        page.on(
            "console",
            lambda message: message.type == "error" and complaints.append(message.text),
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))

    def opened(query="", **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        listen(page)
        page.goto((zoo_report[1] / "report.html").as_uri() + query)
        page.wait_for_function("window.Phcle && Phcle.map")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in fetched if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize("kind", ["canvas", "webgl"])
def test_search_goes_to_a_label_and_hover_names_it(open_page, kind):
    page = open_page(f"?map={kind}", reduced_motion="reduce")
    assert page.get_attribute("#map", "data-view") == kind
    page.fill("#map-search", "hawk")
    assert page.inner_text("#map-search-found li").startswith("hawk")
    page.keyboard.press("Enter")
    assert page.inner_text(".map-panel h2") == "hawk"
    near = page.locator(".map-panel .neighbours li")
    assert near.count() == 5
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


def test_names_with_markup_are_shown_as_they_are(open_page, nasty_names):
    page = open_page()
    page.fill("#map-search", "</script>")
    page.keyboard.press("Enter")
    assert page.inner_text(".map-panel h2") == nasty_names["dog"]
    assert page.locator("h1 i").count() == 0


def test_the_map_is_reached_and_moved_by_the_keyboard(open_page):
    page = open_page(reduced_motion="reduce")
    page.focus("#map-search")
    page.keyboard.type("o")
    page.keyboard.press("ArrowDown")
    second = page.inner_text("#map-search-found li[aria-selected=true]").split("\n")[0]
    page.keyboard.press("Enter")
    assert page.inner_text(".map-panel h2") == second
    before = page.locator(".map-stage").screenshot()
    page.focus(".map-stage")
    for key in ("0", "ArrowLeft", "+"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert page.locator(".map-stage").screenshot() != before


def test_a_group_can_be_seen_alone(open_page):
    page = open_page()
    button = page.locator(".map-legend button").first
    button.click()
    pressed = page.locator(".map-legend button[aria-pressed=true]")
    assert pressed.count() == 1
    pressed.click()
    assert page.locator(".map-legend button[aria-pressed=true]").count() == 0


def test_dark_and_light_follow_the_reader(open_page):
    shown = {
        scheme: open_page(color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert shown == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 28)"}


def test_a_phone_needs_no_scrolling_sideways(open_page):
    page = open_page(viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_print_shows_the_drawn_map(open_page):
    page = open_page()
    page.emulate_media(media="print")
    assert page.locator(".print-only img").first.is_visible()
    assert not page.locator("#map").is_visible()
