"""What takes long is prepared once, runs beside the event loop, and says so."""

from __future__ import annotations

import gzip
import re
import threading
import time
from dataclasses import replace

import pytest

pytest.importorskip("starlette.testclient", reason="no client for tests is installed")

from starlette.testclient import TestClient

from phcle.embedding import label_supports
from phcle.explorer import background_work
from phcle.explorer.app import make_app
from phcle.explorer.background_work import BackgroundWork, NotReady
from phcle.explorer.precomputed import load_supports, supports_file
from phcle.explorer.security import Rules
from phcle.explorer.workspace import Opened, Workspace

RULES = Rules(frozenset({"testserver"}))


def test_pages_say_that_attributes_are_being_prepared(patchy, monkeypatch):
    may_go_on, compute = threading.Event(), background_work.fill_supports

    def slow(*given, **named):
        may_go_on.wait(30)
        return compute(*given, **named)

    monkeypatch.setattr(background_work, "fill_supports", slow)
    monkeypatch.setattr(background_work, "PATIENCE_S", 0.05)
    app = make_app(Workspace(Opened(patchy, "patchy")), RULES)
    with TestClient(app) as client:
        asked = {"context": "looks", "column": "wild"}
        colour = client.get("/api/colour", params=asked)
        assert colour.status_code == 503
        assert colour.headers["retry-after"] == "1"
        assert "being prepared" in colour.json()["error"]["message"]
        page = client.get("/match", params={"has": "looks::wild"})
        assert page.status_code == 503
        assert "Preparing…" in page.text
        assert "preparing.js" in page.text
        assert client.get("/label?label=x1").status_code == 200  # others go on
        may_go_on.set()
        while (answer := client.get("/api/colour", params=asked)).status_code == 503:
            time.sleep(0.01)
        assert answer.json()["groups"][0] == "has it"


def test_supports_are_stored_and_not_computed_again(patchy, tmp_path, monkeypatch):
    file = tmp_path / "patchy.phcle"
    first = BackgroundWork(patchy, file)
    first.wait()
    assert first.supports.keys() == {"looks"}

    def never(*given, **named):
        raise AssertionError("computed again")

    monkeypatch.setattr(background_work, "fill_supports", never)
    again = BackgroundWork(patchy, file)
    assert again.is_complete
    for name, support in first.supports.items():
        assert again.supports[name] == pytest.approx(support, abs=1e-6)


def test_a_large_embedding_stores_its_supports_in_a_file_of_their_own(patchy, tmp_path):
    file = tmp_path / "patchy.phcle"
    first = supports_without_map(patchy, file)
    stored = supports_file(file)
    assert load_supports(stored, patchy).keys() == {"looks"}
    assert first["looks"] == pytest.approx(load_supports(stored, patchy)["looks"])
    assert not load_supports(stored, replace(patchy, vectors=patchy.vectors * 2))
    stored.write_bytes(stored.read_bytes()[:-40])  # damaged: computed again
    assert not load_supports(stored, patchy)
    assert supports_without_map(patchy, file)["looks"] == pytest.approx(first["looks"])
    assert load_supports(stored, patchy)


def supports_without_map(embedding, file=None):
    """The supports that background work without a map finds."""
    work = BackgroundWork(embedding, file, has_map=False)
    work.start()
    work._thread.join(30)
    assert work.is_complete
    return work.supports


def test_supports_pause_when_nobody_asks_and_go_on_where_they_were(patchy, monkeypatch):
    monkeypatch.setattr(label_supports, "ROWS_AT_ONCE", 40)
    monkeypatch.setattr(background_work, "LEFT_S", -1.0)  # left at once
    monkeypatch.setattr(background_work, "PATIENCE_S", 0.05)
    work = BackgroundWork(patchy, has_map=False)
    shares = []
    for _ in range(10):
        try:
            work.support("looks")
        except NotReady as error:
            shares.append(re.search(r"\((\d+)%\)", str(error))[1])
            work._thread.join(30)
    assert shares[:3] == ["0", "33", "67"]
    assert work.support("looks") == pytest.approx(
        supports_without_map_and_pause(patchy)["looks"]
    )


def supports_without_map_and_pause(embedding):
    """All supports, computed at once."""
    found = {}
    for _ in label_supports.fill_supports(embedding, found):
        pass
    return found


def test_tables_of_the_same_labels_share_their_support(patchy):
    looks = patchy.predicting[0]
    twice = replace(patchy, contexts=(*patchy.contexts, replace(looks, name="again")))
    found = {}
    n_steps = len(list(label_supports.fill_supports(twice, found)))
    assert found["again"] is found["looks"]
    assert n_steps == 1


def test_the_map_is_sent_compressed_and_only_once(client):
    first = client.get("/api/map", headers={"accept-encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    tag = first.headers["etag"]
    again = client.get("/api/map", headers={"if-none-match": tag})
    assert again.status_code == 304
    assert not again.content
    plain = client.get("/api/map", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == first.json()
    assert len(gzip.compress(plain.content)) < len(plain.content)


@pytest.mark.parametrize("asked", [{"label": "cat", "k": 200}, {"label": "tigre"}])
def test_a_long_search_does_not_hold_up_others(client, asked, monkeypatch):
    from phcle.explorer import page_answers

    where = []
    whole = page_answers.nearest

    def watched(*given):
        where.append(threading.current_thread().name)
        return whole(*given)

    monkeypatch.setattr(page_answers, "nearest", watched)
    client.get("/api/nearest", params={"label": "cat", "k": 3})
    client.get("/api/nearest", params=asked)
    assert where[1] != where[0], "a search ran in the event loop"


def test_pictures_are_read_one_at_a_time(client, monkeypatch):
    from phcle.errors import FileError
    from phcle.explorer import api

    now, most, lock = 0, 0, threading.Lock()

    def slow(*given):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        raise FileError("no picture")

    monkeypatch.setattr(api, "understood", slow)
    ask = lambda: client.post("/api/understand", content=b"x")  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
