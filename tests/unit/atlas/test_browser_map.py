"""The map and what stands beside it, in headless Chromium.

Every test has the canvas in a wide window; those that depend on the painter also have
WebGL, those that depend on the size also a phone. One page serves all tests of a case;
before each test it is put back to its start.
"""

from __future__ import annotations

import io
import json
import re
from itertools import pairwise

import numpy as np
import pytest
from watched_pages import pick, until, watched

WIDE = {"viewport": {"width": 1400, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
SIZES = {"wide": WIDE, "phone": PHONE}
CANVAS = ("canvas", "wide", "light")
WEBGL = ("webgl", "wide", "dark")
ON_PHONE = ("canvas", "phone", "dark")


def cases(*cases):
    return pytest.mark.parametrize("opened", cases, indirect=True, ids="-".join)


every_painter = cases(CANVAS, WEBGL)
every_size = cases(CANVAS, ON_PHONE)

RESET = """() => {
  const {map} = Phcle;
  Phcle.draw_all_names ??= Phcle.draw_names;
  Phcle.draw_names = Phcle.draw_all_names;
  for (const name of ["filters", "table"]) Phcle.explore.open_panel(name, false);
  map.clear();
  map.colour_by(map.data.colourings[0]);
  document.activeElement.blur();
}"""


class MapPage:
    """The map in a browser, and the gestures of its size."""

    def __init__(self, page, size):
        self.page, self.size = page, size
        self.is_phone = size == "phone"

    def js(self, code, *given):
        return self.page.evaluate(code, *given)

    def until(self, code, *given):
        until(self.page, lambda: self.js(code, *given))

    def settle(self):
        self.until("!Phcle.map.is_moving && !Phcle.map.view.is_asked")

    def stage(self):
        return self.page.locator(".map-stage").bounding_box()

    def place(self, point):
        """Where a point is in the window."""
        x, y = self.js("i => Phcle.map.view.place(i)", point)
        return self.stage()["x"] + x, self.stage()["y"] + y

    def reach(self):
        return self.js("Phcle.map.view.reach")

    def tool(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def press(self, x, y):
        self.page.touchscreen.tap(x, y) if self.is_phone else self.page.mouse.click(
            x, y
        )

    def fingers(self, *steps):
        """Put fingers on the page, move them and take them off."""
        session = self.page.context.new_cdp_session(self.page)
        kinds = ["touchStart", *["touchMove"] * (len(steps) - 1), "touchEnd"]
        for kind, places in zip(kinds, [*steps, ()], strict=True):
            at = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
        session.detach()

    def drag(self, *places):
        """Move a finger or the mouse, pressed, along a line."""
        line = [places[0]]
        for (a, b), (c, d) in pairwise(places):
            line += [(a + (c - a) * t, b + (d - b) * t) for t in (0.25, 0.5, 0.75, 1)]
        if self.is_phone:
            self.fingers(*([place] for place in line))
            return
        self.page.mouse.move(*line[0])
        self.page.mouse.down()
        for place in line[1:]:
            self.page.mouse.move(*place)
        self.page.mouse.up()

    def inner_point(self):
        """A point in the middle of the free room, with none near."""
        return self.js(
            """() => {
              const {view} = Phcle.map;
              const {left, right, top, bottom} = Phcle.map.room();
              let [best, most] = [null, -1];
              for (let i = 0; i < view.n; i++) {
                const [x, y] = view.place(i);
                if (x < left + 60 || x > right - 60) continue;
                if (y < top + 60 || y > bottom - 60) continue;
                let least = 1e9;
                for (let j = 0; j < view.n; j++) {
                  const [a, b] = view.place(j);
                  if (j !== i) least = Math.min(least, Math.hypot(a - x, b - y));
                }
                if (least > most) [best, most] = [i, least];
              }
              return best;
            }"""
        )

    def card(self):
        return self.page.locator(".map-card h2")


@pytest.fixture(scope="module", params=[CANVAS], ids="-".join)
def opened(request, browser, patchy_address):
    """The map page of one case."""
    kind, size, scheme = request.param
    with watched(browser, patchy_address) as new_page:
        made = MapPage(new_page(color_scheme=scheme, **SIZES[size]), size)
        made.page.goto(f"{patchy_address}/?map={kind}")
        made.page.wait_for_selector("#map[data-ready=yes]")
        assert made.page.get_attribute("#map", "data-view") == kind
        yield made


@pytest.fixture
def atlas(opened):
    opened.js(RESET)
    opened.settle()
    return opened


@every_size
def test_the_map_fills_the_window_and_shows_all(atlas):
    view = SIZES[atlas.size]["viewport"]
    box = atlas.page.locator("#map").bounding_box()
    assert (box["x"], box["width"]) == (0, view["width"])
    assert box["y"] + box["height"] == pytest.approx(view["height"], abs=0.5)
    assert atlas.js("document.documentElement.scrollHeight") <= view["height"]
    assert atlas.js("document.documentElement.scrollWidth") <= view["width"]
    outside = atlas.js(
        """() => {
          const {left, right, top, bottom} = Phcle.map.room();
          return Phcle.map.data.names.filter((_, i) => {
            const [x, y] = Phcle.map.view.place(i);
            return x < left || x > right || y < top || y > bottom;
          }).length;
        }"""
    )
    assert outside == 0
    legend = atlas.page.locator(".map-legend button").first.bounding_box()
    assert 0 < legend["y"] < view["height"] - legend["height"]


@every_size
def test_a_drag_moves_and_a_pinch_or_the_wheel_zooms_about_its_place(atlas):
    stage, point = atlas.stage(), atlas.inner_point()
    x, y = stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2
    before = np.array(atlas.place(point))
    atlas.drag((x, y), (x + 40, y + 30))
    np.testing.assert_allclose(np.array(atlas.place(point)) - before, (40, 30), atol=2)
    assert atlas.js("Phcle.map.chosen") is None  # a drag is no click
    x, y, reach = *(round(v) for v in atlas.place(point)), atlas.reach()
    middle = atlas.place(point)
    if atlas.is_phone:
        atlas.fingers(*([(x - r, y), (x + r, y)] for r in (20, 30, 40)))
        assert atlas.reach() == pytest.approx(reach / 2, rel=0.05)
    else:
        atlas.page.mouse.move(x, y)
        atlas.page.mouse.wheel(0, -300)
        atlas.until("reach => Phcle.map.view.reach < reach / 1.5", reach)
    np.testing.assert_allclose(atlas.place(point), middle, atol=3)
    reach = atlas.reach()
    atlas.tool("Zoom in")
    assert atlas.reach() < reach
    atlas.tool("Zoom out")
    atlas.tool("Zoom out")
    assert atlas.reach() > reach
    atlas.tool("Show all")
    assert atlas.js("Phcle.map.view.is_home")


@every_size
def test_a_press_chooses_a_label_and_back_returns(atlas):
    first = atlas.inner_point()
    name = atlas.js("i => Phcle.map.data.names[i]", first)
    x, y = atlas.place(first)
    if not atlas.is_phone:
        for slip in (3, 0):  # a pointer that jumps in from afar has not moved yet
            atlas.page.mouse.move(x + slip, y)
        tip = atlas.page.locator(".map-tip")
        tip.wait_for()
        assert tip.locator("strong").inner_text() == name
        assert "branch" in tip.inner_text()
        assert "near " in tip.inner_text()
    atlas.press(x, y)
    atlas.page.wait_for_selector(f'.map-card h2:has-text("{name}")')
    atlas.page.locator(".map-card .neighbours li").first.wait_for()
    assert f"label={name}" in atlas.page.url
    free = atlas.js("Phcle.map.room()")
    at = atlas.js("i => Phcle.map.view.place(i)", first)
    assert free["left"] <= at[0] <= free["right"]
    assert free["top"] <= at[1] <= free["bottom"]  # the card does not cover it
    atlas.page.locator(".map-card .neighbours a").first.click()
    atlas.until("name => Phcle.map.chosen_label() !== name", name)
    atlas.js("Phcle.map.view.zoom(2)")  # moving makes no entry in the history
    atlas.settle()
    atlas.page.go_back()
    atlas.until("name => Phcle.map.chosen_label() === name", name)
    atlas.page.get_by_role("button", name="Close", exact=True).click()
    assert atlas.js("Phcle.map.chosen") is None


def test_several_are_chosen_by_lasso_list_and_shift(atlas):
    point = atlas.inner_point()
    x, y = atlas.place(point)
    atlas.tool("Lasso")
    # It begins and ends on a point, which is no click.
    room, top = atlas.js("Phcle.map.room()"), atlas.stage()["y"]
    left, right = room["left"] + 20, room["right"] - 20
    high, low = top + room["top"] + 20, top + room["bottom"] - 120
    atlas.drag((x, y), (right, high), (right, low), (left, low), (x, y))
    atlas.page.wait_for_selector(".map-card h2:has-text('labels')")
    chosen = atlas.js("Phcle.map.many")
    assert atlas.js("Phcle.map.chosen") is None
    assert len(chosen) == atlas.page.locator(".listed li").count() > 1
    atlas.js("Phcle.map.clear_choice(); Phcle.map.encircle(true)")
    x, y = atlas.place(point)
    atlas.drag((x, y), (x + 3, y + 6), (x, y + 7), (x, y))  # an empty one
    assert atlas.js("Phcle.map.chosen") is None
    atlas.js(RESET)
    atlas.settle()
    atlas.tool("List what is in view")
    assert atlas.card().inner_text() == "120 labels"
    with atlas.page.expect_download() as download:
        atlas.page.locator(".map-card button", has_text="JSON").click()
    assert len(json.loads(download.value.path().read_text())) == 120
    if not atlas.is_phone:
        atlas.js(RESET)
        atlas.settle()
        # The card opens at the right.
        other = atlas.js("i => Phcle.map.view.beside(i, -1, 0)", point)
        for each in (point, other):
            atlas.page.keyboard.down("Shift")
            atlas.page.mouse.click(*atlas.place(each))
            atlas.page.keyboard.up("Shift")
            atlas.settle()
        assert set(atlas.js("Phcle.map.many")) == {point, other}


def test_names_do_not_overlap_and_change_with_zoom(atlas):
    placed = atlas.js("Phcle.map.placed")
    regions = {x["text"] for x in placed if x["kind"] == "region"}
    assert {f"g{i}" for i in range(6)} <= regions
    boxes = atlas.js(
        """Phcle.map.placed.map(({x, y, left, top, wide}) => {
          const [px, py] = Phcle.map.view.place_of(x, y);
          return [px + left, py + top - 9, px + left + wide - 8, py + top];
        })"""
    )
    for i, (a, b, c, d) in enumerate(boxes):
        for e, f, g, h in boxes[:i]:
            assert not (a < g and e < c and b < h and f < d)
    named = {x.get("point") for x in placed}
    unnamed = next(i for i in range(120) if i not in named)
    atlas.js("i => Phcle.map.view.look_at([i])", unnamed)
    atlas.js("Phcle.map.view.zoom(16)")
    atlas.settle()
    assert unnamed in {x.get("point") for x in atlas.js("Phcle.map.placed")}


def test_colours_tell_numbers_categories_and_what_is_known(atlas):
    page = atlas.page
    pick(page, "map-attribute", "mass")
    page.wait_for_selector(".map-ramp")
    low, middle, high = (float(x) for x in page.inner_text(".map-ends").split())
    assert low < middle < high
    assert len(set(atlas.js("Array.from(Phcle.map.colours.rgba)"))) > 20
    assert "faint: predicted" in page.inner_text(".map-legend")
    pick(page, "map-attribute", "size")
    page.wait_for_selector(".map-legend button:has-text('medium')")
    page.select_option("#map-colour", label="branch")
    # The legend shows one group alone, and then all.
    group = page.locator(".map-legend button").first
    group.click()
    assert atlas.js("Phcle.map.view.in_view().length") == 20
    group.click()
    assert atlas.js("Phcle.map.view.in_view().length") == 120


def pixel(page, x, y):
    """The colour on the screen, as red, green and blue."""
    from PIL import Image

    box = {"x": round(x) - 1, "y": round(y) - 1, "width": 3, "height": 3}
    shot = Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")
    return shot.getpixel((shot.width // 2, shot.height // 2))


def css_rgb(text):
    return tuple(int(x) for x in re.findall(r"\d+", text)[:3])


def swatch(atlas, point):
    """The colour that the legend has for the group of a point."""
    name = atlas.js("i => Phcle.map.said_by(Phcle.map.colouring, i)", point)
    entry = atlas.page.locator(".map-legend button").filter(has_text=name).first
    colour = "x => getComputedStyle(x).backgroundColor"
    return css_rgb(entry.locator(".map-swatch").evaluate(colour))


NEAR = """() => {
  Phcle.draw_names = () => {};
  Phcle.map.view.look_at([70]);
  Phcle.map.view.zoom(12);
}"""
"""Shows one label of the group g3 from near, without what is drawn over it."""


@every_painter
def test_points_have_the_colours_of_the_legend(atlas):
    atlas.js(NEAR)
    atlas.settle()
    shown = pixel(atlas.page, *atlas.place(70))
    np.testing.assert_allclose(shown, swatch(atlas, 70), atol=2)


def test_the_keyboard_alone_is_enough(atlas):
    page = atlas.page
    page.focus(".map-stage")
    page.keyboard.press("ArrowRight")
    first = atlas.js("Phcle.map.chosen")
    page.keyboard.press("ArrowRight")
    second = atlas.js("Phcle.map.chosen")
    x = atlas.js("Array.from(Phcle.map.data.x)")
    assert x[second] > x[first]
    reach = atlas.reach()
    page.keyboard.press("+")
    assert atlas.reach() < reach
    before = atlas.js("Phcle.map.view.where()")
    page.keyboard.press("Shift+ArrowUp")
    assert atlas.js("Phcle.map.view.where()")[1] > before[1]
    page.keyboard.press("Escape")
    assert atlas.js("Phcle.map.chosen") is None
    page.keyboard.press("0")
    assert atlas.js("Phcle.map.view.is_home")


@cases(ON_PHONE)
def test_filters_filter_the_map_and_leave_it_in_sight(atlas):
    page = atlas.page
    atlas.tool("Filters")
    page.wait_for_selector(".facet-value")
    chart = page.locator(".facet .histogram-bars").first
    chart.scroll_into_view_if_needed()
    atlas.settle()
    hidden = atlas.js(
        """() => Phcle.map.data.names.filter((_, i) => {
          const [x, y] = Phcle.map.view.place(i);
          const {left, right, bottom} = Phcle.map.room();
          return x < left || x > right || y > bottom;
        }).length"""
    )
    assert hidden == 0
    box = chart.bounding_box()
    y = box["y"] + box["height"] / 2
    atlas.drag((box["x"] + 0.6 * box["width"], y), (box["x"] + box["width"] - 2, y))
    page.wait_for_selector(".filters-in-use li:has-text('mass at least')")
    page.wait_for_selector(".map-note:text-matches('of 120 labels')", state="attached")
    shown = atlas.js("Phcle.map.view.in_view().length")
    assert 0 < shown < 120
    page.get_by_role("button", name="What do these share?").click()
    page.wait_for_selector(".map-card h3:has-text('What they share')")
    assert atlas.card().inner_text() == f"{shown} labels"
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("button", name="Remove the filter").first.click()
    atlas.until("Phcle.map.view.in_view().length === 120")
    page.get_by_role("button", name="Close Filters").click()
    assert page.get_by_role("region", name="Filters").is_hidden()


def test_the_table_stands_beside_the_map_and_follows_its_filters(atlas):
    page = atlas.page
    atlas.tool("Table")
    table = page.get_by_role("region", name="Table")
    first = table.locator('tbody th[scope="row"] a').first
    first.wait_for()
    atlas.settle()
    room = atlas.js("Phcle.map.room()")
    assert room["right"] - room["left"] > 0.25 * atlas.stage()["width"]
    for order in ("ascending", "descending"):
        table.get_by_role("button", name="mass", exact=False).first.click()
        table.locator(f'[aria-sort="{order}"]').wait_for()
    chosen = first.inner_text()
    first.click()
    atlas.until("name => Phcle.map.data.names[Phcle.map.chosen] === name", chosen)
    atlas.js("Phcle.map.clear()")
    atlas.js("Phcle.explore.filter([['', 'text', 'has', '7']])")
    table.locator("[role=status]:text-matches('of 120 labels')").wait_for()
    shown = int(table.locator("[role=status]").inner_text().split()[0])
    assert 0 < shown < 120
    atlas.until("n => Phcle.map.view.in_view().length === n", shown)
    atlas.js("Phcle.explore.filter([])")
    table.locator("[role=status]:text-is('120 labels')").wait_for()
    page.get_by_role("button", name="Close Table").click()
    assert table.is_hidden()


def test_the_map_keeps_its_room_between_both_panels_and_a_card(atlas):
    atlas.tool("Filters")
    atlas.tool("Table")
    atlas.tool("List what is in view")
    atlas.settle()
    assert atlas.js("Phcle.map.view.is_home")
    places = atlas.js("Phcle.map.data.names.map((_, i) => Phcle.map.view.place(i))")
    stage = atlas.stage()
    wide, high = np.ptp(places, axis=0)
    assert wide > 0.5 * stage["width"]
    assert high > 0.3 * stage["height"]
    atlas.js(RESET)
    # What the card says comes later, and takes no more room then.
    room = atlas.js("() => { Phcle.map.go_to(7); return Phcle.map.room(); }")
    atlas.page.locator(".map-card .neighbours li").first.wait_for()
    assert atlas.js("Phcle.map.room()") == room


@cases(ON_PHONE)
def test_a_phone_has_sheets_that_are_half_or_nearly_whole(atlas):
    side = atlas.page.locator(".map-card, .panel-filters").filter(visible=True)
    whole = atlas.page.locator("#map").bounding_box()["height"]

    def share():
        return side.bounding_box()["height"] / whole

    atlas.js("Phcle.map.choose(7)")
    side.wait_for()
    for expected in (0.45, 0.92, 0.45):
        assert share() == pytest.approx(expected, abs=0.02)
        side.locator(".handle").click()
    side.get_by_role("button", name="Close", exact=True).click()
    side.wait_for(state="hidden")
    assert atlas.js("Phcle.map.chosen") is None
    atlas.tool("Filters")
    side.wait_for()
    assert share() == pytest.approx(0.45, abs=0.02)


def test_the_view_is_saved_as_a_sharp_picture(atlas):
    from PIL import Image

    with atlas.page.expect_download() as download:
        atlas.tool("Save as a picture")
    picture = Image.open(download.value.path())
    stage = atlas.stage()
    sharp = 3 * stage["width"], 3 * stage["height"]
    assert picture.size == pytest.approx(sharp, abs=3)
    colours = np.asarray(picture.convert("RGB")).reshape(-1, 3)[::97]
    assert len(np.unique(colours, axis=0)) > 30


@cases(WEBGL)
def test_the_graphics_card_may_go(atlas):
    atlas.js(
        "document.querySelector('.map-points').getContext('webgl2')"
        ".getExtension('WEBGL_lose_context').loseContext()"
    )
    atlas.until("Phcle.map.view.kind === 'canvas'")
    atlas.press(*atlas.place(atlas.inner_point()))
    assert atlas.js("Phcle.map.chosen") is not None
