"""The explorer in headless Chromium: it works, stays at home, and all can use it."""

from __future__ import annotations

import io
import re
from urllib.parse import urlsplit

import numpy as np
import pytest
from watched_pages import SLOW_MS, watched


@pytest.fixture
def open_page(browser, address):
    """Open a page."""
    with watched(browser, address) as new_page:

        def opened(path="/", **options):
            page = new_page(**options)
            page.goto(address.rstrip("/") + path)
            return page

        yield opened


def map_is_ready(page):
    page.wait_for_selector("#map[data-ready=yes]")


def test_search_forgives_a_slip_and_opens_the_label_by_keyboard(open_page):
    page = open_page("/about")
    page.keyboard.press("/")
    page.keyboard.type("tigr")
    page.wait_for_selector("#finder-found li >> text=tiger")
    assert page.get_attribute("#finder", "aria-expanded") == "true"
    page.keyboard.press("Enter")
    page.wait_for_url("**/label?label=tiger")
    assert page.inner_text("h1") == "tiger"


def test_why_is_told_and_stands_in_the_address(open_page):
    page = open_page("/label?label=dog")
    page.locator("details.why summary").first.click()
    told = page.locator("details.why[open] .why-body")
    told.locator("text=adds up to a similarity").wait_for()
    assert "tree" in told.inner_text()
    assert "both are" in told.inner_text()
    again = open_page(f"/label?{urlsplit(page.url).query}")
    again.locator("details.why[open] >> text=adds up to a similarity").wait_for()


def test_the_address_keeps_colours_groups_and_several_chosen_labels(open_page):
    page = open_page()
    map_is_ready(page)
    page.fill("#map-attribute", "claw")
    page.wait_for_selector("#map-attribute-found li >> text=claws")
    page.press("#map-attribute", "Enter")
    page.wait_for_selector(".map-legend >> text=has it")
    page.wait_for_url(re.compile("context=looks&column=claws"))
    page.get_by_role("button", name="List what is in view").click()
    page.wait_for_selector(".map-panel h2 >> text=13 labels")
    page.wait_for_url(re.compile("rows="))
    page.locator(".map-legend button").first.click()
    page.wait_for_url(re.compile("group="))
    again = open_page(f"/?{urlsplit(page.url).query}")
    map_is_ready(again)
    again.wait_for_selector(".map-legend button[aria-pressed=true] >> text=has it")
    again.wait_for_selector(".map-panel h2 >> text=13 labels")


def test_back_returns_to_what_was_chosen_before(open_page):
    page = open_page()
    map_is_ready(page)
    for label in ("owl", "cat"):
        page.evaluate("x => Phcle.map.choose(Phcle.map.row_of(x))", label)
        page.wait_for_url(re.compile(f"label={label}"))
    page.evaluate("Phcle.map.view.zoom(2)")  # moving makes no entry
    page.wait_for_timeout(400)  # until it has settled
    page.go_back()
    page.wait_for_selector(".map-panel h2 >> text=owl")
    page.go_back()
    page.wait_for_selector(".map-card", state="hidden")
    page.go_forward()
    page.wait_for_selector(".map-panel h2 >> text=owl")


def test_filters_of_the_table_apply_to_the_map(open_page):
    page = open_page("/table")
    page.fill("[aria-label='Part of a name or id']", "ow")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("filter="))
    page.click("#on-map[href*=filter]")
    page.wait_for_url(re.compile(r"/\?filter="))
    map_is_ready(page)
    page.wait_for_selector(".map-note >> text=1 of 13 labels")
    assert page.evaluate("Phcle.map.view.in_view().length") == 1
    page.get_by_role("button", name="Remove the filter").click()
    page.wait_for_url(re.compile("^((?!filter).)*$"))
    assert page.evaluate("Phcle.map.view.in_view().length") == 13
    page.get_by_role("button", name="Filters", exact=True).click()
    assert page.locator("section[aria-label=Filters]").is_hidden()


def test_a_sketch_of_the_map_is_replaced_when_the_map_is_ready(browser, address):
    def not_ready(route):
        response = route.fetch()
        answer = response.json()
        progress = answer["labels"] if "status" in route.request.url else answer
        progress["ready"] = False
        route.fulfill(response=response, json=answer)

    page = browser.new_page()
    page.set_default_timeout(SLOW_MS)
    page.route("**/api/map", not_ready)
    page.route("**/api/status", not_ready)
    page.goto(address)
    page.wait_for_selector("#map[data-ready=no] .map-points")
    page.wait_for_selector(".map-note >> text=A first sketch")
    page.fill("#finder", "tigr")
    page.wait_for_selector("#finder-found li >> text=tiger")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map-panel .neighbours li")
    page.unroute_all()
    page.wait_for_selector("#map[data-ready=yes]")
    page.wait_for_selector(".map-panel h2 >> text=tiger")  # as the address says
    page.close()


def test_a_label_is_added_where_its_parent_is_and_exported(open_page):
    page = open_page("/add")
    page.fill("#new-label", "puma")
    page.fill("#new-parent", "cats")
    page.wait_for_selector("#new-parent-found li")
    page.press("#new-parent", "Enter")
    page.wait_for_selector("#landing[data-landed=puma] .neighbours li")
    near = page.locator("#landing .neighbours a").all_inner_texts()[:4]
    assert {"lion", "tiger"} & set(near)
    page.wait_for_selector("#map .map-points")
    page.fill("#new-attribute", "claws")
    page.wait_for_selector("#new-attribute-found li")
    page.press("#new-attribute", "Enter")
    page.wait_for_selector("#values .chip")
    again = open_page(f"/add?{urlsplit(page.url).query}")
    again.wait_for_selector("#landing[data-landed=puma]")
    assert again.locator("#parents .chip, #values .chip").count() == 2
    with again.expect_download() as download:
        again.get_by_role("button", name="Embedding with this label").click()
    from phcle import load

    assert load(download.value.path()).labels[-1] == "puma"


def test_labels_are_compared_by_adding_them_one_by_one(open_page):
    page = open_page("/compare?label=cat")
    page.fill("#another", "owl")
    page.wait_for_selector("#another-found li")
    page.press("#another", "Enter")
    page.wait_for_url("**/compare?label=cat&label=owl")
    assert page.locator("table.heat td.heat-10").count() == 2
    with page.expect_download() as download:
        page.locator(".downloads a", has_text="CSV").first.click()
    assert download.value.path().read_text().startswith("label,name,cat,owl")
    page.locator(".chip-off").first.click()
    page.wait_for_url("**/compare?label=owl")


def test_a_description_is_turned_round(open_page):
    page = open_page("/match")
    page.fill("#attribute", "wing")
    page.wait_for_selector("#attribute-found li")
    page.press("#attribute", "Enter")
    page.wait_for_url("**/match?has=*")
    birds = {"robin", "wren", "hawk", "eagle"}
    first = page.locator("tbody th").all_inner_texts()[:4]
    assert set(first) == birds
    page.locator(".chip-turn").click()
    page.wait_for_url("**/match?not=*")
    assert not birds & set(page.locator("tbody th").all_inner_texts()[:4])


def test_a_dropped_vector_is_understood(open_page, zoo_embedding):
    page = open_page("/understand")
    content = io.BytesIO()
    np.save(content, zoo_embedding["wolf"])
    page.set_input_files(
        "#file",
        {"name": "wolf.npy", "mimeType": "x/npy", "buffer": content.getvalue()},
    )
    page.wait_for_selector("#understood .neighbours li")
    assert "wolf" in page.inner_text("#understood .neighbours")


def test_light_and_dark_follow_the_system_until_somebody_chooses(open_page):
    background = "getComputedStyle(document.querySelector('.top')).backgroundColor"
    assert open_page(color_scheme="light").evaluate(background) == "rgb(255, 255, 255)"
    page = open_page("/about", color_scheme="dark")
    assert page.evaluate(background) == "rgb(25, 28, 34)"
    page.click("#theme")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_names_with_markup_are_shown_as_they_are(open_page, zoo_embedding):
    page = open_page("/label?label=lynx")
    assert page.inner_text("h1") == zoo_embedding.name_of("lynx")
    page.fill("#finder", "script")
    page.wait_for_selector("#finder-found li")
    shown = page.inner_text("#finder-found li")
    assert zoo_embedding.name_of("jackal") in shown
    page = open_page("/?label=lynx")
    map_is_ready(page)
    assert page.inner_text(".map-panel h2") == zoo_embedding.name_of("lynx")
