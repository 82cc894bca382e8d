"""The map in headless Chromium, alone in a file without a server.

Gestures and controls on both painters and sizes are tested in the explorer's
test_map_controls.py.
"""

from __future__ import annotations

import io
import json
import re
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.report.map_data import map_data
from phcle.report.map_layout import Layout
from phcle.web import MAP_SCRIPTS

STATIC = files("phcle.web").joinpath("static")
WIDE = {"viewport": {"width": 1400, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
KINDS = ["canvas", "webgl"]
SIZES = {"wide": WIDE, "phone": PHONE}

MARKUP = "<img src=x onerror=alert(1)>"
LONG = "a very long name " * 20
ARABIC = "قطة صغيرة (12)"
N_GROUPS = 20
HUB = 437  # the label that most others are near to


def make_data(n):
    """Labels in 20 groups all over the map; the map data of them."""
    rng = np.random.default_rng(0)
    codes = np.sort(np.arange(n) % N_GROUPS)
    centres = np.column_stack([codes % 5 / 2 - 1, codes // 5 / 1.5 - 1])
    places = np.clip(centres + rng.normal(0, 0.07, (n, 2)), -1, 1).astype(np.float32)
    labels = [f"label {i}" for i in range(n)]
    labels[0], labels[1], labels[2] = MARKUP, LONG, ARABIC
    groups = [f"group {i}" for i in range(N_GROUPS)]
    groups[3] = MARKUP
    embedding = LabelEmbedding(tuple(labels), rng.standard_normal((n, 3)))
    near = (np.arange(n)[:, None] + [1, 2]) % n
    near = np.column_stack([near, np.where(np.arange(n) == HUB, 0, HUB % n)])
    has_it = np.full(n, 2)
    has_it[::7] = 0
    shades = [{"colour": x, "is_faint": False} for x in (5, 5, None)]
    ways = [
        {"title": "branch", "groups": [*groups, "other"], "codes": codes},
        {
            "title": "tag",
            "groups": ["has it", "maybe", "has it not"],
            "codes": has_it,
            "shades": shades,
        },
        {"title": "size", "values": places[:, 0] * 50, "low": -50.0, "high": 50.0},
    ]
    return map_data(embedding, Layout(places, near, "test"), ways)


def write_page(path, n):
    """A page that holds the map and its data, as reports do."""
    data = json.dumps(make_data(n)).replace("<", "\\u003c")
    scripts = [
        STATIC.joinpath(name).read_text("utf-8")
        for name in ("elements.js", "combobox.js", *MAP_SCRIPTS)
    ]
    styles = [STATIC.joinpath(x).read_text("utf-8") for x in ("page.css", "map.css")]
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>map</title>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        + "".join(f"<style>{x}</style>" for x in styles)
        + "<main><h1>A map</h1><div id=map></div><p id=after>After the map</p>"
        + "<p style='height: 60rem'>More</p></main>"
        + f"<script type=application/json id=data>{data}</script>"
        + "".join(f"<script>{x}</script>" for x in scripts)
        + "<script>const provider = {map: async () => "
        + "JSON.parse(document.getElementById('data').textContent)};"
        + "Phcle.mount_map(document.getElementById('map'), provider)"
        + ".then((map) => { Phcle.map = map; });</script></html>",
        encoding="utf-8",
    )
    return path.as_uri()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("map")
    return {n: write_page(folder / f"{n}.html", n) for n in (1000, 21_000)}


@pytest.fixture
def open_map(browser, addresses):
    """Open the page; at the end nothing may have failed or been fetched."""
    contexts, complaints, fetched = [], [], []

    def opened(kind="canvas", n=1000, **options):
        context = browser.new_context(reduced_motion="reduce", **(options or WIDE))
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda x: x.type == "error" and complaints.append(x.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(f"{addresses[n]}?map={kind}")
        page.wait_for_function("window.Phcle && Phcle.map && Phcle.map.drawn_at")
        assert page.get_attribute("#map", "data-view") == kind
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert [x for x in fetched if not x.startswith(("file:", "data:", "blob:"))] == []


def settle(page):
    """Wait until names are placed and all is drawn."""
    page.wait_for_function("!Phcle.map.is_moving && !Phcle.map.view.is_asked")


def place(page, point):
    """Where a point is in the window."""
    stage = page.locator(".map-stage").bounding_box()
    x, y = page.evaluate("i => Phcle.map.view.place(i)", point)
    return stage["x"] + x, stage["y"] + y


def alone(page, n=1000):
    """A point without another one near, in the middle of the stage."""
    return page.evaluate(
        """n => {
          const {view} = Phcle.map;
          const room = Phcle.map.room();
          let best = null, most = 0;
          for (let i = 3; i < n; i++) {
            const [x, y] = view.place(i);
            if (x < room.left + 90 || x > room.right - 90 || y < 60) continue;
            if (y > room.bottom - 90) continue;
            let least = 1e9;
            for (let j = 0; j < n; j++) {
              if (j === i) continue;
              const [a, b] = view.place(j);
              least = Math.min(least, Math.hypot(a - x, b - y));
            }
            if (least > most) [best, most] = [i, least];
          }
          return best;
        }""",
        n,
    )


def where(page):
    return np.array(page.evaluate("Phcle.map.view.where()"))


def pixel(page, x, y):
    """The colour on the screen, as red, green and blue."""
    from PIL import Image

    box = {"x": round(x) - 1, "y": round(y) - 1, "width": 3, "height": 3}
    shot = Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")
    return shot.getpixel((shot.width // 2, shot.height // 2))


def css_rgb(text):
    return tuple(int(x) for x in re.findall(r"\d+", text)[:3])


# -- Where things are


def touch(page, *steps):
    """Put fingers on the page, move them and take them off; a step has their places."""
    session = page.context.new_cdp_session(page)
    kinds = ["touchStart", *["touchMove"] * (len(steps) - 1), "touchEnd"]
    for kind, points in zip(kinds, [*steps, ()], strict=True):
        at = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    session.detach()


def test_a_phone_scrolls_the_page_beside_the_stage(open_map):
    page = open_map(**PHONE)
    box = page.locator("#after").bounding_box()
    y = min(box["y"], 800)
    touch(page, *([(100, y - step)] for step in range(0, 200, 20)))
    page.wait_for_function("window.scrollY > 50")


# -- Names


@pytest.mark.parametrize("size", SIZES)
def test_names_cover_the_view_and_all_groups_are_named(open_map, size):
    page = open_map(**SIZES[size])
    settle(page)
    placed = page.evaluate("Phcle.map.placed")
    regions = {x["text"] for x in placed if x["kind"] == "region"}
    assert {f"group {i}" for i in range(N_GROUPS) if i != 3} <= regions
    assert MARKUP in regions
    labels = [x for x in placed if x["kind"] == "label"]
    for right in (False, True):
        for up in (False, True):
            shown = labels if size == "wide" else placed  # regions fill a phone
            here = [x for x in shown if (x["x"] > 0, x["y"] > 0) == (right, up)]
            assert len(here) >= 3
    boxes = page.evaluate(
        """Phcle.map.placed.map(({x, y, left, top, wide}) => {
          const [px, py] = Phcle.map.view.place_of(x, y);
          return [px + left, py + top - 9, px + left + wide - 8, py + top];
        })"""
    )
    for i, (a, b, c, d) in enumerate(boxes):
        for e, f, g, h in boxes[:i]:
            assert not (a < g and e < c and b < h and f < d)


def test_important_labels_are_named_first(open_map):
    page = open_map()
    page.evaluate("Phcle.map.data.regions = []; Phcle.map.place_names()")
    placed = page.evaluate("Phcle.map.placed")
    assert placed[0]["point"] == HUB
    assert len(placed) > 30


# Names of labels on the stage, with the number of shown points that each of them hides.
HIDDEN = """Phcle.map.placed.filter(({kind}) => kind === "label").map((name) => {
  const [px, py] = Phcle.map.view.place_of(name.x, name.y);
  const [left, right] = [px + name.left, px + name.left + name.wide];
  return Phcle.map.view.in_view().filter((i) => {
    const [x, y] = Phcle.map.view.place(i);
    return i !== name.point && x > left && x < right && Math.abs(y - py) < 4;
  }).length;
})"""


def test_most_names_of_labels_hide_no_point(open_map):
    page = open_map()
    page.evaluate("Phcle.map.data.regions = []; Phcle.map.place_names()")
    hidden = page.evaluate(HIDDEN)
    assert len(hidden) > 30
    assert np.mean(np.array(hidden) > 0) < 0.4


def test_a_name_beside_its_region_has_a_line_to_it(open_map):
    page = open_map()
    page.evaluate(
        """() => {
          const crowd = Array.from({ length: 9 }, (_, i) => (
            { name: `crowd ${i}`, x: 0.2, y: 0.2, reach: 0.1, labels: 9, of: "branch" }
          ));
          Phcle.map.data.regions = crowd;
          Phcle.map.place_names();
        }"""
    )
    placed = page.evaluate("Phcle.map.placed.filter(({kind}) => kind === 'region')")
    assert len(placed) == 9
    assert placed[0]["lead"] is None
    with_line = [x for x in placed if x["lead"]]
    assert with_line
    svg = page.evaluate("Phcle.map_as_svg(Phcle.map)")
    assert svg.count("<line ") == len(with_line)


def test_groups_that_are_filtered_out_have_no_name(open_map):
    page = open_map()
    page.evaluate(
        """Phcle.map.keep(
          Array.from(Phcle.map.data.colourings[0].codes, (x, i) => (x === 7 ? i : -1))
            .filter((i) => i >= 0),
        )"""
    )
    settle(page)
    placed = page.evaluate("Phcle.map.placed.filter(({kind}) => kind === 'region')")
    assert [x["text"] for x in placed] == ["group 7"]
    page.evaluate("Phcle.map.keep(null)")
    settle(page)
    placed = page.evaluate("Phcle.map.placed.filter(({kind}) => kind === 'region')")
    assert len(placed) == N_GROUPS


def test_a_search_shows_the_surroundings_of_a_label(open_map):
    page = open_map()
    page.evaluate("Phcle.map.go_to(500)")
    settle(page)
    assert page.evaluate("Phcle.map.view.in_view().length") > 20


def test_a_scale_of_ratios_tells_small_numbers_apart(open_map):
    page = open_map()
    page.evaluate(
        """() => Phcle.map.pick_colours({
          title: "mass", context: "traits", column: "mass in kilograms",
          values: Float32Array.from({ length: Phcle.map.n }, (_, i) => 10 ** (i % 5)),
          low: 1, high: 10000, is_log: true,
        })"""
    )
    colours = page.evaluate("[0, 1, 2, 3, 4].map((i) => Phcle.map.css_of(i))")
    assert len(set(colours)) == 5
    assert page.inner_text(".map-ends").split() == ["1", "100", "10000"]
    assert "mass in kilograms" in page.inner_text(".map-legend")


def test_the_map_makes_room_for_a_list_of_labels(open_map):
    page = open_map()
    page.get_by_role("button", name="List what is in view").click()
    settle(page)
    card = page.locator(".map-card").bounding_box()
    right = page.evaluate(
        "Math.max(...Phcle.map.view.in_view().map((i) => Phcle.map.view.place(i)[0]))"
    )
    left = page.locator(".map-stage").bounding_box()["x"]
    assert page.evaluate("Phcle.map.view.in_view().length") == 1000
    assert left + right < card["x"]


def test_finer_names_replace_those_of_groups_as_one_zooms_in(open_map):
    page = open_map()
    page.evaluate("Phcle.map.view.look_at([500, 501, 502])")
    settle(page)
    far = {x["point"] for x in page.evaluate("Phcle.map.placed") if "point" in x}
    page.evaluate("Phcle.map.view.look_at([500])")
    page.evaluate("Phcle.map.view.zoom(20)")
    settle(page)
    near = page.evaluate("Phcle.map.placed")
    assert all(x["kind"] != "region" for x in near)
    assert 500 in {x["point"] for x in near}
    assert far != {x["point"] for x in near}


# -- Colours


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("n", [1000, 21_000])
@pytest.mark.parametrize("kind", KINDS)
def test_points_have_the_colours_of_the_legend(open_map, kind, n, scheme):
    page = open_map(kind, n, color_scheme=scheme, **WIDE)
    page.evaluate("Phcle.map.view.look_at([700])")
    page.evaluate("Phcle.map.view.zoom(12)")
    page.evaluate("Phcle.draw_names = () => {}")
    settle(page)
    legend = page.locator(".map-swatch").evaluate_all(
        "all => all.map((x) => getComputedStyle(x).backgroundColor)"
    )
    group = make_data_group(700, n)
    shown = pixel(page, *place(page, 700))
    np.testing.assert_allclose(shown, css_rgb(legend[group]), atol=2)


def make_data_group(point, n):
    return int(np.sort(np.arange(n) % N_GROUPS)[point])


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_have_it_are_drawn_above_the_rest(open_map, kind):
    page = open_map(kind)
    # The same place for a label that has it and for one that follows and has it not.
    page.evaluate(
        """() => {
          const {x, y} = Phcle.map.data;
          [x[708], y[708]] = [x[707], y[707]];
          Phcle.draw_names = () => {};
          Phcle.map.colour_by("tag");
          Phcle.map.view.look_at([707]);
          Phcle.map.view.zoom(12);
        }"""
    )
    settle(page)
    swatch = page.locator(".map-swatch").first
    colour = swatch.evaluate("x => getComputedStyle(x).backgroundColor")
    assert "has it" in page.locator(".map-legend button").first.inner_text()
    shown = pixel(page, *place(page, 707))
    np.testing.assert_allclose(shown, css_rgb(colour), atol=2)


@pytest.mark.parametrize("kind", KINDS)
def test_points_that_touch_are_kept_apart_by_a_rim(open_map, kind):
    page = open_map(kind)
    # Two labels of one group side by side, so that one covers a part of the other.
    page.evaluate(
        """() => {
          const {view, data} = Phcle.map;
          Phcle.draw_names = () => {};
          view.look_at([700]);
          view.zoom(12);
          const {unit, radius} = view.frame();
          [data.x[701], data.y[701]] = [data.x[700] + radius / unit, data.y[700]];
          Phcle.map.clouds.hidden = true;
          view.painter.colour(view.order, view.rgba, view.page);
          view.draw();
        }"""
    )
    settle(page)
    x, y = place(page, 701)
    radius = page.evaluate("Phcle.map.view.frame().radius")
    below = css_rgb(page.evaluate("Phcle.as_css(Phcle.map.colour_of('--page'))"))
    shown = [pixel(page, x - radius - step, y) for step in (0, 0.5, 1)]
    nearest = min(np.abs(np.subtract(each, below)).max() for each in shown)
    assert nearest < 100  # half of what it is without a rim
    np.testing.assert_allclose(pixel(page, x, y), pixel(page, x - 1, y), atol=2)


def test_density_lies_under_the_points_and_fades_as_one_zooms_in(open_map):
    page = open_map()
    opacities = page.evaluate(
        """() => {
          const {clouds} = Phcle.map;
          const [pen, {width, height}] = [clouds.getContext("2d"), clouds];
          const {data} = pen.getImageData(0, 0, width, height);
          return Array.from(data).filter((_, k) => k % 4 === 3);
        }"""
    )
    assert page.locator(".map-density").is_visible()
    assert 0.1 < np.mean(np.array(opacities) > 10) < 0.9
    style = "Number(getComputedStyle(Phcle.map.clouds).opacity)"
    assert page.evaluate(style) == 1
    page.evaluate("Phcle.map.view.zoom(4)")
    settle(page)
    assert page.evaluate(style) < 0.6
    page.evaluate("Phcle.map.show_group(2)")  # too few for a density
    assert not page.locator(".map-density").is_visible()


def test_numbers_have_a_scale(open_map):
    page = open_map()
    page.select_option("#map-colour", label="size")
    assert page.inner_text(".map-ends").split() == ["-50", "0", "50"]
    assert page.locator(".map-ramp").is_visible()
    colours = page.evaluate(
        "[...Phcle.map.data.x.keys()].map((i) => Phcle.map.colours.rgba[i])"
    )
    assert len(set(colours)) > 30


def test_a_group_can_be_seen_alone(open_map):
    page = open_map()
    page.locator(".map-legend button").nth(2).click()
    assert page.locator(".map-legend button[aria-pressed=true]").count() == 1
    assert page.evaluate("Phcle.map.view.in_view().length") == 1000 // N_GROUPS
    x, y = place(page, 900)  # of another group: a ghost
    page.mouse.click(x, y)
    assert page.evaluate("Phcle.map.chosen") is None
    page.locator(".map-legend button[aria-pressed=true]").click()
    assert page.evaluate("Phcle.map.view.in_view().length") == 1000


# -- Choosing


@pytest.mark.parametrize("kind", KINDS)
def test_a_chosen_label_stands_out_from_its_neighbours(open_map, kind):
    page = open_map(kind)
    point = alone(page)
    x, y = place(page, point)
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    page.wait_for_selector(".map-tip:not([hidden])")
    assert page.inner_text(".map-tip strong") == f"label {point}"
    page.mouse.click(x, y)
    page.wait_for_selector(f".map-panel h2 >> text=label {point}")
    assert page.locator(".map-panel .neighbours li").count() == 3
    page.evaluate("Phcle.draw_names = () => {}; Phcle.map.view.draw()")
    x, y = place(page, point)
    own = page.evaluate("i => Phcle.map.css_of(i)", point)
    np.testing.assert_allclose(pixel(page, x, y), css_rgb(own), atol=2)
    ink = css_rgb(page.evaluate("Phcle.map.ink().ink"))
    ring = page.evaluate("Phcle.map.view.radius()") + 6.75
    np.testing.assert_allclose(pixel(page, x - ring, y), ink, atol=30)
    near = page.evaluate("i => Phcle.map.nearest_to(i)", point)
    for x, y in (place(page, other) for other in near if other != point):
        assert min(pixel(page, x - ring, y)) > max(ink) + 30


def draw_line(page, points):
    page.mouse.move(*points[0])
    page.mouse.down()
    for x, y in points[1:]:
        page.mouse.move(x, y, steps=6)
    page.mouse.up()


@pytest.mark.parametrize("kind", KINDS)
def test_a_lasso_that_ends_on_a_point_is_no_click(open_map, kind):
    page = open_map(kind)
    point = alone(page)
    x, y = place(page, point)
    page.get_by_role("button", name="Lasso").click()
    corners = [(x, y), (x + 80, y - 80), (x + 160, y), (x + 80, y + 80), (x, y)]
    draw_line(page, corners)
    page.wait_for_selector(".map-panel h2 >> text=labels")
    n_listed = page.locator(".map-panel .listed li").count()
    assert n_listed == page.evaluate("Phcle.map.many.length") > 0
    assert page.evaluate("Phcle.map.chosen") is None
    # An empty one chooses nothing either.
    page.keyboard.press("Escape")
    page.evaluate("Phcle.map.clear_choice(); Phcle.map.encircle(true)")
    x, y = place(page, point)
    draw_line(page, [(x, y), (x + 3, y + 6), (x, y + 7), (x, y)])
    assert page.evaluate("Phcle.map.chosen") is None


def test_shift_chooses_several(open_map):
    page = open_map()
    first = alone(page)
    page.mouse.click(*place(page, first))
    other = page.evaluate("i => Phcle.map.view.beside(i, 1, 0)", first)
    page.keyboard.down("Shift")
    page.mouse.click(*place(page, other))
    page.keyboard.up("Shift")
    page.wait_for_selector(".map-panel h2 >> text=2 labels")
    assert set(page.evaluate("Phcle.map.many")) == {first, other}


def test_the_keyboard_alone_is_enough(open_map):
    page = open_map()
    page.focus(".map-stage")
    page.keyboard.press("ArrowRight")
    first = page.evaluate("Phcle.map.chosen")
    page.keyboard.press("ArrowRight")
    second = page.evaluate("Phcle.map.chosen")
    x = page.evaluate("Array.from(Phcle.map.data.x)")
    assert x[second] > x[first]
    reach = where(page)[2]
    page.keyboard.press("+")
    assert where(page)[2] < reach
    before = where(page)
    page.keyboard.press("Shift+ArrowUp")
    assert where(page)[1] > before[1]
    page.keyboard.press("Escape")
    assert page.evaluate("Phcle.map.chosen") is None
    page.keyboard.press("0")
    assert page.evaluate("Phcle.map.view.is_home")
    page.keyboard.press("/")
    page.keyboard.type("label 93")
    page.keyboard.press("Enter")
    page.wait_for_selector(".map-panel h2 >> text=label 93")


def test_the_graphics_card_may_go(open_map):
    page = open_map("webgl")
    page.evaluate(
        "document.querySelector('.map-points').getContext('webgl2')"
        ".getExtension('WEBGL_lose_context').loseContext()"
    )
    page.wait_for_function("Phcle.map.view.kind === 'canvas'")
    page.mouse.click(*place(page, alone(page)))
    assert page.evaluate("Phcle.map.chosen") is not None


# -- Saving, hostile names


@pytest.mark.parametrize("kind", KINDS)
def test_the_view_is_saved_as_svg_and_png(open_map, kind):
    from PIL import Image

    page = open_map(kind)
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SVG").click()
    text = download.value.path().read_text("utf-8")
    root = ElementTree.fromstring(text)
    texts = {x.text for x in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"group 7", MARKUP} <= texts
    dots = sum(
        x.get("d").count("M") for x in root.iter("{http://www.w3.org/2000/svg}path")
    )
    assert dots == 1000
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as PNG").click()
    picture = Image.open(download.value.path())
    stage = page.locator(".map-stage").bounding_box()
    assert picture.size == (2 * stage["width"], 2 * stage["height"])
    assert (
        len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3)[::97], axis=0))
        > 30
    )


def test_a_saved_view_shows_what_is_chosen(open_map):
    page = open_map("canvas")

    def circles(do):
        page.evaluate(f"() => {{ {do} }}")
        root = ElementTree.fromstring(page.evaluate("Phcle.map_as_svg(Phcle.map)"))
        found = list(root.iter("{http://www.w3.org/2000/svg}circle"))
        lines = list(root.iter("{http://www.w3.org/2000/svg}line"))
        rings, lines = (
            [x for x in each if x.get("stroke-width") == "1.5"]
            for each in (found, lines)
        )
        return rings, found, lines

    rings, before, lines = circles("Phcle.map.choose_many([3, 4, 5])")
    assert (len(rings), len(lines)) == (3, 0)
    places = page.evaluate("[3, 4, 5].map((i) => Phcle.map.view.place(i))")
    shown = [(float(x.get("cx")), float(x.get("cy"))) for x in rings]
    np.testing.assert_allclose(shown, places, atol=0.06)
    rings, after, lines = circles("Phcle.map.choose(3)")
    n_near = page.evaluate("Phcle.map.nearest_to(3).length")
    assert len(rings) == len(lines) == n_near > 0
    # The dot of the chosen label: two rings and its middle.
    legend = len(before) - 3
    assert len(after) == legend + n_near + 3


@pytest.mark.parametrize("size", SIZES)
def test_hostile_names_stay_text_and_inside(open_map, size):
    page = open_map(**SIZES[size])
    width = SIZES[size]["viewport"]["width"]
    for i, name in enumerate((MARKUP, LONG, ARABIC)):
        page.evaluate("i => Phcle.map.go_to(i)", i)
        assert page.inner_text(".map-panel h2").strip() == name.strip()
        assert page.locator(".map-panel h2 bdi").count() == 1
        page.evaluate("i => Phcle.map.hover(i)", i)
        box = page.locator(".map-tip").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] < 200
        page.evaluate("Phcle.map.hover(null)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#map img").count() == 0
