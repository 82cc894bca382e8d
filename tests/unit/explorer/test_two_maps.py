"""Two embeddings on two maps: the numbers, and the page in headless Chromium."""

from __future__ import annotations

import base64
import re
import time
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import procrustes
from watched_pages import SLOW_MS, until, watched

from phcle import LabelEmbedding

pytest.importorskip("fastapi", reason="fastapi is not installed")

SIZES = {"desk": (1400, 900), "phone": (390, 844)}
N_EACH, N_GROUPS = 12, 6
ONLY_IN_OLD = "</script><script>alert(1)</script>"
ONLY_IN_NEW = "<img src=x onerror=alert(2)>"
MOVED = "group 0, label 3"
NAMES = {"group 1, label 1": 'a "quoted" & <b>bold</b> name'}


# -- The data


def embeddings():
    """Groups of labels; in the second embedding turned, without some, and one moved."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N_GROUPS, 8)) * 3
    labels = [f"group {g}, label {i}" for g in range(N_GROUPS) for i in range(N_EACH)]
    vectors = np.repeat(centres, N_EACH, axis=0)
    vectors = vectors + 0.4 * rng.standard_normal(vectors.shape)
    old = LabelEmbedding(
        (*labels, ONLY_IN_OLD), np.vstack([vectors, vectors[:1]]), names=NAMES
    )
    vectors = vectors + 0.05 * rng.standard_normal(vectors.shape)
    vectors[labels.index(MOVED)] = vectors[-1] + 0.05
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    vectors = np.vstack([vectors, vectors[-1:] + 0.1]) @ turn
    return old, LabelEmbedding((*labels, ONLY_IN_NEW), vectors, names=NAMES)


def workspace(old, new, files=(None, None), *told):
    from phcle.explorer import Opened, Workspace

    made = Workspace(Opened(old, "old", files[0]), Opened(new, "new", files[1], *told))
    made.opened.background.wait()
    made.other.background.wait()
    return made


@pytest.fixture(scope="module")
def pair():
    return workspace(*embeddings())


def array(text):
    kind, content = text.split(":")
    return np.frombuffer(base64.b64decode(content), f"<{kind}")


def places_in(answer):
    """Places on both maps."""
    return [
        np.column_stack([array(answer[side][axis]) for axis in "xy"])
        for side in ("one", "other")
    ]


def until_true(holds):
    """Wait for what another thread does."""
    for _ in range(SLOW_MS // 50):
        if found := holds():
            return found
        time.sleep(0.05)
    raise AssertionError


def first_and_final(client):
    """The maps as they are at once, and once the better second one is ready."""

    def asked():
        return client.get("/api/two-maps").json()

    return asked(), until_true(lambda: (x := asked())["ready"] and x)


@pytest.fixture(scope="module")
def answers(pair, client_of):
    with client_of(pair) as client:
        return first_and_final(client)


def test_changes_are_those_of_the_comparison(pair, answers):
    _, answer = answers
    found = pair.differences()
    changed = array(answer["changed"])
    labels = answer["one"]["labels"]
    share = dict(zip(found.labels, found.shared, strict=True))
    for label, own in zip(labels, changed, strict=True):
        expected = 255 if label == ONLY_IN_OLD else round(10 * (1 - share[label]))
        assert own == expected, label
    assert answer["k"] == found.k == 10
    assert changed[labels.index(MOVED)] == 10


def test_a_label_that_moved_lies_farthest_from_its_old_place(answers):
    _, answer = answers
    places = places_in(answer)
    assert max(np.abs(x).max() for x in places) <= 1
    rows = {label: i for i, label in enumerate(answer["other"]["labels"])}
    far = {
        label: np.linalg.norm(places[0][i] - places[1][rows[label]])
        for i, label in enumerate(answer["one"]["labels"])
        if label in rows
    }
    assert max(far, key=far.get) == MOVED
    assert far[MOVED] > 3 * np.median(list(far.values()))
    assert answer["agreement"] > 0.9


def test_the_second_map_is_turned_mirrored_and_scaled_onto_the_first(pair, answers):
    first, final = answers
    stored = pair.opened.places, pair.other.places
    for shown, layout in zip(places_in(first), stored, strict=True):
        assert procrustes(shown, layout)[2] == pytest.approx(0, abs=1e-6)
    for answer in (first, final):
        labels = [answer[side]["labels"] for side in ("one", "other")]
        both = [x for x in labels[0] if x != ONLY_IN_OLD]
        one, other = (
            places[[own.index(x) for x in both]]
            for places, own in zip(places_in(answer), labels, strict=True)
        )
        np.testing.assert_allclose(one.mean(axis=0), other.mean(axis=0), atol=1e-5)
        one, other = one - one.mean(axis=0), other - other.mean(axis=0)
        assert np.linalg.norm(one) == pytest.approx(np.linalg.norm(other), rel=1e-4)
        turn, _ = orthogonal_procrustes(other, one)
        np.testing.assert_allclose(turn, np.eye(2), atol=1e-3)
        disparity = procrustes(one, other)[2]
        assert answer["agreement"] == pytest.approx(1 - disparity, abs=1e-4)


def test_the_second_map_is_stored_beside_its_file(tmp_path, client_of):
    old, new = embeddings()
    files = tmp_path / "old.phcle", tmp_path / "new.phcle"

    def opened(first=old, second=new):
        return client_of(workspace(first, second, files))

    def is_stored(*given):
        with opened(*given) as client:
            return client.get("/api/two-maps").json()["ready"]

    with opened() as client:
        assert client.get("/api/status").json()["second_map"] is None
        first, answer = first_and_final(client)
        assert not first["ready"]
        status = client.get("/api/status").json()["second_map"]
    assert (status["ready"], status["done"]) == (True, len(new))
    before = {files[0].name + ".explorer", files[1].name + ".explorer"}
    (stored,) = until_true(
        lambda: [x for x in tmp_path.iterdir() if x.name not in before]
    )
    with opened() as client:
        assert client.get("/api/two-maps").json() == answer
        assert client.get("/api/status").json()["second_map"]["ready"]
    content = stored.read_bytes()
    # Not for another embedding, nor for another first map, nor if it is damaged.
    for given in (
        (old, replace(new, vectors=new.vectors[::-1])),
        (replace(old, vectors=old.vectors[::-1]), new),
    ):
        stored.write_bytes(content)
        assert not is_stored(*given)
    stored.write_bytes(b"nonsense")
    assert not is_stored()


def test_a_layout_that_cannot_be_stored_is_shown_all_the_same(tmp_path, client_of):
    file, told = tmp_path / "new.phcle", []
    made = workspace(*embeddings(), (None, file), told.append)
    told.clear()
    # Nothing can be written there.
    file.with_name("new.phcle.explorer-compared").mkdir()
    with client_of(made) as client:
        assert first_and_final(client)[1]["ready"]
        until_true(lambda: told)
    assert "The second map will be computed again." in told[0]


def test_large_files_show_the_same_labels(monkeypatch, rng):
    from phcle.explorer import Opened

    monkeypatch.setattr(Opened, "most_on_map", 100)
    monkeypatch.setattr(Opened, "n_sampled", 40)
    labels = np.array([f"label {i}" for i in range(200)])

    def shown(own):
        embedding = LabelEmbedding(tuple(own), rng.standard_normal((len(own), 3)))
        return set(Opened(embedding, "x").on_map.embedding.labels)

    one = shown(labels)
    assert len(one) == 40
    assert shown(rng.permutation(labels)) == one
    # With other labels too, there is no room for all, but those in common agree.
    fewer = shown(labels[:150])
    assert one & set(labels[:150]) <= fewer


def test_the_page_waits_for_neighbours_and_needs_a_second_file(pair, client_of):
    from starlette.testclient import TestClient

    from phcle.explorer import Opened, Rules, Workspace, make_app

    rules = Rules(frozenset({"testserver"}), most_bytes=1 << 20)
    old, new = embeddings()
    waiting = make_app(Workspace(Opened(old, "old"), Opened(new, "new")), rules)
    # Without its lifespan the app computes nothing.
    assert TestClient(waiting).get("/api/two-maps").status_code == 503
    with client_of(old) as alone:
        assert alone.get("/api/two-maps").status_code == 400
    with client_of(pair) as ready:
        asked = {"label": ONLY_IN_NEW}
        sides = ready.get("/api/side-by-side", params=asked).json()
        assert (sides["one"], len(sides["other"])) == ([], 10)
        assert "&lt;img src=x" in ready.get("/embeddings", params=asked).text


# -- The page


@pytest.fixture(scope="module")
def pair_address(pair, serving):
    with serving(pair) as address:
        yield address.rstrip("/")


def test_the_page_says_how_far_the_second_map_is(browser, pair_address):
    def changed(change):
        def answered(route):
            response = route.fetch()
            route.fulfill(response=response, json={**response.json(), **change})

        return answered

    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(SLOW_MS)
    half = {"ready": False, "failed": False, "stage": "", "done": 22, "total": 73}
    page.route("**/api/two-maps", changed({"ready": False}))
    page.route("**/api/status", changed({"second_map": half}))
    page.goto(f"{pair_address}/embeddings")
    page.wait_for_selector("#two-maps[data-ready=yes]")
    note = page.get_by_text("A second map that agrees better is being computed: 30")
    note.wait_for()
    page.unroute_all()
    note.wait_for(state="detached")
    page.wait_for_selector("#two-maps[data-ready=yes]")
    assert page.evaluate("Phcle.two_maps.data.ready")
    page.close()


@pytest.fixture
def open_maps(browser, pair_address):
    """Open the page, and wait for its better second map."""
    with watched(browser, pair_address) as new_page:

        def opened(query="", size="desk", scheme="light"):
            width, height = SIZES[size]
            viewport = {"width": width, "height": height}
            is_phone = size == "phone"
            page = new_page(viewport=viewport, has_touch=is_phone, color_scheme=scheme)
            page.goto(f"{pair_address}/embeddings?{query}")
            page.wait_for_selector("#two-maps[data-ready=yes]")
            # The better second map replaces the first version.
            until(page, lambda: page.evaluate("Phcle.two_maps.data.ready"))
            page.wait_for_selector("#two-maps[data-ready=yes]")
            return page

        yield opened


def state_of(page):
    return parse_qs(urlsplit(page.url).query)


def views(page):
    return page.evaluate("Phcle.two_maps.maps.map(({ view }) => view.where())")


def settled(page):
    """Wait until the URL holds the view."""
    holds = """new URLSearchParams(location.search).get("at") ===
      Phcle.two_maps.maps[0].view.where().map((x) => x.toFixed(4)).join()"""
    until(page, lambda: page.evaluate(holds))


def chosen(page):
    return page.evaluate("Phcle.two_maps.maps.map((map) => map.chosen_label())")


def pixels(page, side, label):
    """Where a label is on the screen."""
    return page.evaluate(
        """([side, label]) => {
          const map = Phcle.two_maps.maps[side];
          const box = map.stage.getBoundingClientRect();
          const [x, y] = map.view.place(map.row_of(label));
          return [box.left + x, box.top + y];
        }""",
        [side, label],
    )


@pytest.mark.parametrize(
    ("painter", "size"), [("canvas", "desk"), ("webgl", "desk"), ("canvas", "phone")]
)
def test_the_maps_move_together_until_they_are_unlinked(open_maps, painter, size):
    page = open_maps(f"map={painter}", size)
    kinds = "Phcle.two_maps.maps.map(({ view }) => view.kind)"
    assert page.evaluate(kinds) == [painter, painter]
    boxes = [page.locator(f"#map-{k} .map-stage").bounding_box() for k in (1, 2)]
    if size == "phone":
        assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    else:
        assert boxes[0]["y"] == boxes[1]["y"]
    start = views(page)
    assert start[0] == start[1]
    # All labels of both are in view.
    n_seen = "Phcle.two_maps.maps.map((map) => map.view.in_view().length)"
    assert page.evaluate(n_seen) == [73, 73]
    page.locator("#map-2").get_by_label("Zoom in").click()
    zoomed = views(page)
    assert zoomed[0] == zoomed[1] != start[0]
    page.get_by_label("Move together").uncheck()
    page.locator("#map-1").get_by_label("Zoom in").click()
    apart = views(page)
    assert apart[0] != apart[1] == zoomed[1]
    settled(page)
    page.reload()
    page.wait_for_selector("#two-maps[data-ready=yes]")
    np.testing.assert_allclose(views(page), apart, atol=1e-3)
    page.get_by_label("Move together").check()
    together = views(page)
    assert together[0] == together[1]


def test_pointing_and_choosing_stand_out_on_both(open_maps):
    page = open_maps("map=canvas")
    page.mouse.move(*pixels(page, 0, MOVED))
    assert page.locator(".map-tip:visible").count() == 2
    assert "10 of 10" in page.inner_text("#map-1 .map-tip")
    page.mouse.click(*pixels(page, 0, MOVED))
    assert chosen(page) == [MOVED, MOVED]
    assert page.inner_text("#chosen h2") == MOVED
    assert "10 of 10 nearest labels changed" in page.inner_text("#chosen")
    page.wait_for_selector("#chosen .columns li")
    lists = page.locator("#chosen ol").all()
    gone, new = ([x.inner_text() for x in each.locator("a").all()] for each in lists)
    # The label only in the old file is one of the ten nearest there.
    assert all("group 0" in x for x in gone if x != ONLY_IN_OLD)
    assert ONLY_IN_OLD in gone
    assert all("group 5" in x for x in new if x != ONLY_IN_NEW)
    assert page.locator("#chosen .is-gone").count() == 9
    assert page.locator("#chosen .is-only").count() == 2
    assert state_of(page)["label"] == [MOVED]
    page.keyboard.press("Escape")
    page.locator("#map-1 .map-stage").focus()
    page.keyboard.press("Escape")
    assert chosen(page) == [None, None]
    assert page.locator("#chosen").is_hidden()
    page.go_back()
    until(page, lambda: page.evaluate("Phcle.two_maps.chosen.length === 1"))
    assert chosen(page) == [MOVED, MOVED]


def test_the_most_changed_are_listed_first(open_maps):
    page = open_maps()
    listed = page.locator("#changed li").all_inner_texts()
    counts = [int(re.search(r"(\d+) of 10", text)[1]) for text in listed]
    assert MOVED in listed[0]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == 72
    scale = page.inner_text(".two-bar .map-legend").split()
    assert scale[:3] == ["0", "5", "10"]
    assert "only in this file" in " ".join(scale)


def test_the_list_is_filtered_and_leads_to_both_places(open_maps):
    page = open_maps()
    page.get_by_label("Filter the list by name").fill("LABEL 3")
    assert page.locator("#changed li").count() == N_GROUPS
    assert state_of(page)["name"] == ["LABEL 3"]
    page.locator("#changed li a").first.click()
    assert chosen(page) == [MOVED, MOVED]
    for side in (0, 1):
        x, y = pixels(page, side, MOVED)
        box = page.locator(f"#map-{side + 1} .map-stage").bounding_box()
        assert box["x"] < x < box["x"] + box["width"]
        assert box["y"] < y < box["y"] + box["height"]
    settled(page)
    before = views(page)
    page.reload()
    page.wait_for_selector("#two-maps[data-ready=yes]")
    assert chosen(page) == [MOVED, MOVED]
    assert page.locator("#changed li").count() == N_GROUPS
    np.testing.assert_allclose(views(page), before, atol=1e-3)
    page.get_by_label("Filter the list by name").fill("no such thing")
    assert "No such label" in page.inner_text("#changed")


def test_labels_of_one_file_are_marked_and_said_in_words(open_maps):
    page = open_maps()
    hollow = """Phcle.two_maps.maps.map(({ options, data }) =>
      options.hollow.map((i) => data.names[i]))"""
    assert page.evaluate(hollow) == [[ONLY_IN_OLD], [ONLY_IN_NEW]]
    page.get_by_label("Labels to list").select_option(label="Only in new (1)")
    assert "only in new" in page.inner_text("#changed li")
    page.locator("#changed li a").click()
    assert chosen(page) == [None, ONLY_IN_NEW]
    assert "only in new" in page.inner_text("#chosen p")
    page.wait_for_selector("#chosen .columns li")
    assert page.locator("#chosen h3").all_inner_texts() == ["new"]
    assert page.inner_text("#chosen h2") == ONLY_IN_NEW


def test_groups_of_one_file_colour_both(open_maps):
    page = open_maps()
    titles = page.locator("#map-1-colour option").all_inner_texts()
    assert "cluster (old)" in titles
    assert "cluster (new)" in titles
    page.select_option("#map-1-colour", label="cluster (old)")
    groups = """Phcle.two_maps.maps.map((map) => Object.fromEntries(
      map.data.labels.map((x, i) => [x, map.group_name(map.colouring, i)])))"""
    one, other = page.evaluate(groups)
    assert other.pop(ONLY_IN_NEW) == "other"
    one.pop(ONLY_IN_OLD)
    assert one == other
    page.locator(".two-bar .map-legend button").first.click()
    kept = page.evaluate("Phcle.two_maps.maps.map(({ group }) => group)")
    assert kept == [0, 0]
    assert state_of(page)["colour"] == ["cluster (old)"]
    page.reload()
    page.wait_for_selector("#two-maps[data-ready=yes]")
    assert page.evaluate(groups)[0][MOVED] == one[MOVED]
    assert page.evaluate("Phcle.two_maps.maps.map(({ group }) => group)") == [0, 0]
    # Each map has names of its own regions.
    named = """Phcle.two_maps.maps.map((map) =>
      map.placed.filter(({ kind }) => kind === "region").length)"""
    assert min(page.evaluate(named)) > 0


def test_each_map_is_saved_with_its_arrows(open_maps):
    page = open_maps(f"label={MOVED}")
    for side in (1, 2):
        with page.expect_download() as saving:
            page.locator(f"#map-{side}").get_by_label("Save as SVG").click()
        assert saving.value.suggested_filename == f"map-{side}.svg"
        text = saving.value.path().read_text()
        assert "stroke-opacity" in text
        assert "changed neighbours" in text
        assert "<b>" not in text
        with page.expect_download() as saving:
            page.locator(f"#map-{side}").get_by_label("Save as PNG").click()
        assert saving.value.path().read_bytes().startswith(b"\x89PNG")
