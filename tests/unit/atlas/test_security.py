"""The explorer answers its own user, and nobody else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError, Lock
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette.testclient", reason="no client for tests is installed")

from starlette.testclient import TestClient

from phcle import LabelEmbedding
from phcle.atlas import Rules, address_of, bind, is_loopback, make_app
from phcle.errors import OptionError

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(scope="module")
def public_client(workspace):

    rules = Rules.for_address(
        "0.0.0.0", 8642, public=True, token=TOKEN, names=["zoo.example"]
    )
    with TestClient(
        make_app(workspace, rules),
        base_url="http://zoo.example:8642",
        follow_redirects=False,
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.2", False),
        ("example.org", False),
    ],
)
def test_loopback_is_told_from_public(host, expected):
    assert is_loopback(host) is expected


def test_a_public_address_needs_a_flag_and_a_token():
    with pytest.raises(OptionError, match="give --public"):
        Rules.for_address("0.0.0.0", 80)
    with pytest.raises(OptionError, match="needs a --token"):
        Rules.for_address("0.0.0.0", 80, public=True)
    with pytest.raises(OptionError, match="letters, digits"):
        Rules.for_address("0.0.0.0", 80, public=True, token="a token; with spaces")
    with pytest.raises(OptionError, match="16 characters"):
        Rules.for_address("0.0.0.0", 80, public=True, token="short")


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", ""])
def test_a_name_that_points_here_is_not_enough(client, host):
    response = client.get("/api/info", headers={"host": host})
    assert response.status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://testserver:1", "http://["]
)
def test_another_origin_is_refused(client, origin):
    response = client.get("/api/info", headers={"origin": origin})
    assert response.status_code == 403
    same = client.get("/api/info", headers={"origin": "http://testserver"})
    assert same.status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/info", "/static/core.js", "/nowhere"])
def test_every_answer_carries_the_policy(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_too_large_a_file_is_refused_by_its_announced_and_its_real_size(client):
    large = b"x" * ((1 << 20) + 1)
    assert client.post("/api/understand", content=large).status_code == 413
    pieces = (b"x" * (1 << 18) for _ in range(5))  # sent without a length
    response = client.post("/api/understand", content=pieces)
    assert response.status_code == 413
    assert "megabytes" in response.json()["error"]["message"]


def test_without_the_token_nothing_is_answered(public_client):
    for path in ("/", "/api/info", "/static/core.js", "/?token=wrong"):
        assert public_client.get(path).status_code == 401
    bad = {"authorization": "Bearer wrong"}
    assert public_client.get("/api/info", headers=bad).status_code == 401


def test_the_token_opens_and_leaves_the_address(public_client):
    first = public_client.get(f"/?x=1&token={TOKEN}")
    assert first.status_code == 303
    assert first.headers["location"] == "/?x=1"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert public_client.get("/?x=1").status_code == 200
    public_client.cookies.clear()
    good = {"authorization": f"Bearer {TOKEN}"}
    assert public_client.get("/api/info", headers=good).status_code == 200


def test_a_redirect_never_leads_elsewhere(public_client):
    answer = public_client.get(f"//evil.example/?token={TOKEN}")
    assert not answer.headers.get("location", "/").startswith("//")
    answer = public_client.get(f"/a%0d%0aset-cookie:%20x=y?token={TOKEN}")
    assert answer.headers["location"] == "/a%0D%0Aset-cookie%3A%20x%3Dy"


def test_an_address_in_figures_serves_as_public_host():
    rules = Rules.for_address("0.0.0.0", 8642, public=True, token=TOKEN)
    assert rules.knows_host("192.168.1.2:8642")
    assert rules.knows_host("[fe80::1]:8642")
    assert not rules.knows_host("evil.example:8642")
    assert not Rules.for_address("127.0.0.1", 8642).knows_host("192.168.1.2:8642")


NAVIGATION = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
    "accept": "text/html",
}


LABEL = "?label=cat"

QUICK = {
    "/api/info": "",
    "/api/second": "",
    "/api/search": "?q=cat",
    "/api/label": LABEL,
    "/api/row": LABEL,
    "/api/explain": "?a=cat&b=dog",
    "/api/openapi.json": "",
}
"""Questions that need no turn, and an example of each."""

COSTLY = {
    "/api/map": "",
    "/api/columns": "",
    "/api/column": "?context=looks&column=claws",
    "/api/hierarchy": "",
    "/api/suspicious": "",
    "/api/names": "?text=a",
    "/api/node": "?node=felid",
}
"""Questions that look at all labels, of which few may run at once."""

SENT = {
    "/api/shared": {"rows": [0, 3]},
    "/api/add": {"label": "puma", "parents": ["felid"]},
}
"""Costly questions that are sent."""


def routes_of(app):
    for route in app.routes:
        inner = getattr(route, "original_router", None)  # of newer FastAPI
        yield from [route] if inner is None else inner.routes


def test_every_route_is_either_quick_or_costly(app):
    found = {True: set(), False: set()}
    for route in routes_of(app):
        found[type(route).__name__ == "CostlyRoute"].add(route.path)
    assert found[True] == {*COSTLY, *SENT}
    files = {"/", "/static", "/api/picture", "/api/understand"}
    assert found[False] == {*QUICK, *files}


@pytest.mark.parametrize("path", [*QUICK, *COSTLY])
def test_another_site_is_answered_nothing(client, path):
    path += QUICK.get(path, COSTLY.get(path))
    own = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert client.get(path, headers=own).status_code == 200
    for site in ("cross-site", "same-site"):
        headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
        assert client.get(path, headers=headers).status_code == 403
    frame = NAVIGATION | {"sec-fetch-dest": "iframe"}
    assert client.get(path, headers=frame).status_code == 403
    assert client.get(path, headers=NAVIGATION).status_code == 403


@pytest.mark.parametrize("path", SENT)
def test_another_site_cannot_send_anything(client, path):
    own = {"sec-fetch-site": "same-origin"}
    assert client.post(path, json=SENT[path], headers=own).status_code == 200
    headers = {"sec-fetch-site": "cross-site"}
    assert client.post(path, json=SENT[path], headers=headers).status_code == 403


MOST_COSTLY = 2


def test_costly_questions_wait_for_their_turn(workspace, monkeypatch):
    running, most, lock = 0, 0, Lock()
    together = Barrier(MOST_COSTLY, timeout=5)
    describe = LabelEmbedding.describe

    def slow(embedding, *given):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with suppress(BrokenBarrierError):
            together.wait()
        with lock:
            running -= 1
        return describe(embedding, *given)

    monkeypatch.setattr(LabelEmbedding, "describe", slow)
    app = make_app(workspace, Rules(frozenset({"testserver"})))
    with TestClient(app) as client, ThreadPoolExecutor(6) as pool:
        asked = [SENT["/api/add"]] * 6
        found = list(pool.map(lambda x: client.post("/api/add", json=x), asked))
        quick = client.get("/api/info")
    assert [x.status_code for x in found] == [200] * 6
    assert quick.status_code == 200
    assert most == MOST_COSTLY


def test_a_link_on_another_site_opens_the_page_alone(client):
    assert client.get("/", headers=NAVIGATION).status_code == 200
    frame = NAVIGATION | {"sec-fetch-dest": "iframe"}
    assert client.get("/", headers=frame).status_code == 403


def test_a_missing_token_is_told_in_words(public_client):
    public_client.cookies.clear()
    html = {"accept": "text/html"}
    page = public_client.get("/?x=<b>", headers=html)
    assert page.status_code == 401
    assert "A token is needed" in page.text
    assert "<b>" not in page.text
    assert "script" not in page.headers["content-security-policy"]
    wrong = public_client.get("/?token=wrong", headers=html)
    assert "not the token" in wrong.text
    assert public_client.get("/api/info", headers=html).json()["error"]["status"] == 401


def test_files_come_from_the_folder_of_the_page_alone(client):
    response = client.get("/static/core.js")
    assert response.status_code == 200
    tag = response.headers["etag"]
    again = client.get("/static/core.js", headers={"if-none-match": tag})
    assert again.status_code == 304
    for path in ("../server.py", "%2e%2e/server.py", "/etc/passwd"):
        assert client.get(f"/static/{path}").status_code == 404


def test_large_answers_are_compressed(client):
    assert client.get("/static/core.js").headers["content-encoding"] == "gzip"


def test_the_printed_address_of_a_public_server_opens(workspace):

    with bind("0.0.0.0", 0) as listening:
        port = listening.getsockname()[1]
        address = address_of(listening, "0.0.0.0", token=TOKEN)
        assert "0.0.0.0" not in address
        named = address_of(listening, "0.0.0.0", token=TOKEN, names=["zoo.example"])
        assert named == f"http://zoo.example:{port}/?token={TOKEN}"
    rules = Rules.for_address("0.0.0.0", port, public=True, token=TOKEN)
    base = f"http://{urlsplit(address).netloc}"
    with TestClient(make_app(workspace, rules), base_url=base) as client:
        assert client.get(address).status_code == 200
