"""The explorer answers its own user, and nobody else."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette.testclient", reason="no client for tests is installed")

from starlette.testclient import TestClient

from phcle.errors import OptionError
from phcle.explorer import Rules, is_loopback

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(scope="module")
def public_client(workspace):
    from phcle.explorer import make_app

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


def test_another_site_cannot_send_anything(client):
    headers = {"sec-fetch-site": "cross-site"}
    response = client.post("/api/add", json={"label": "x"}, headers=headers)
    assert response.status_code == 403


@pytest.mark.parametrize("path", ["/", "/api/info", "/static/common.js", "/nowhere"])
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
    for path in ("/", "/api/info", "/static/common.js", "/?token=wrong"):
        assert public_client.get(path).status_code == 401
    bad = {"authorization": "Bearer wrong"}
    assert public_client.get("/api/info", headers=bad).status_code == 401


def test_the_token_opens_and_leaves_the_address(public_client):
    first = public_client.get(f"/label?label=cat&token={TOKEN}")
    assert first.status_code == 303
    assert first.headers["location"] == "/label?label=cat"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert public_client.get("/label?label=cat").status_code == 200
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


@pytest.mark.parametrize(
    "path",
    [
        "/api/colour?context=looks&column=claws",
        "/api/info",
        "/match",
        "/label?label=cat",
    ],
)
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_make_the_server_compute(client, path, site):
    headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
    assert client.get(path, headers=headers).status_code == 403
    frame = NAVIGATION | {"sec-fetch-dest": "iframe"}
    assert client.get(path, headers=frame).status_code == 403
    own = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert client.get(path, headers=own).status_code == 200


QUICK_PAGES = {
    "/": "",
    "/label": "?label=cat",
    "/add": "",
    "/understand": "",
    "/about": "",
}
"""Pages that a link from another site opens at once, with what they ask for."""

COSTLY_PAGES = {
    "/node": "?node=felid",
    "/table": "?sort=id",
    "/complete": "?label=cat",
    "/compare": "?label=cat&label=dog",
    "/match": '?has=["looks","claws"]',
    "/embeddings": "?label=cat",
}

QUICK_QUESTIONS = {
    *("/api/info", "/api/search", "/api/nodes", "/api/attributes", "/api/nearest"),
    *("/api/describe", "/api/explain", "/api/label", "/api/side-by-side"),
    *("/api/status", "/api/place", "/api/openapi.json"),
}
"""Questions that need no lane of their own."""


def paths_of(app):
    """Addresses of all questions (GET), from the routes of the application."""
    for route in app.routes:
        inner = getattr(route, "original_router", None)  # of newer FastAPI
        for each in [route] if inner is None else inner.routes:
            if "GET" in each.methods:
                yield each.path


def test_every_route_is_either_quick_or_costly(app):
    from phcle.explorer import Guard

    (costly,) = (x.kwargs["costly"] for x in app.user_middleware if x.cls is Guard)
    paths = set(paths_of(app)) - {"/static/{name:path}"}
    pages = {path for path in paths if not path.startswith("/api/")}
    assert pages == {*QUICK_PAGES, *COSTLY_PAGES}
    assert pages & costly == set(COSTLY_PAGES)
    assert paths - pages - costly == QUICK_QUESTIONS


@pytest.mark.parametrize("path", QUICK_PAGES)
def test_a_link_on_another_site_opens_a_quick_page(client, path):
    page = client.get(path + QUICK_PAGES[path], headers=NAVIGATION)
    assert page.status_code == 200


@pytest.mark.parametrize("path", COSTLY_PAGES)
def test_a_link_on_another_site_to_a_costly_page_asks_first(client, path):
    address = path + COSTLY_PAGES[path]
    assert client.get(address, headers={"accept": "text/html"}).status_code == 200
    page = client.get(address, headers=NAVIGATION)
    assert page.status_code == 403
    assert "A link from another site" in page.text
    assert f'href="{path}?' in page.text


@pytest.mark.parametrize("path", ["/api/info", "/api/table", "/api/compare"])
def test_a_link_on_another_site_to_the_api_is_refused(client, path):
    assert client.get(path, headers=NAVIGATION).status_code == 403


def test_a_missing_token_is_told_in_words(public_client):
    public_client.cookies.clear()
    html = {"accept": "text/html"}
    page = public_client.get("/label?label=<b>", headers=html)
    assert page.status_code == 401
    assert "A token is needed" in page.text
    assert 'value="&lt;b&gt;"' in page.text  # the form keeps where one wanted to go
    assert "script" not in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    wrong = public_client.get("/?token=wrong", headers=html)
    assert "not the right one" in wrong.text
    assert public_client.get("/api/info", headers=html).json()["error"]["status"] == 401


def test_the_printed_address_of_a_public_server_opens(workspace):
    from urllib.parse import urlsplit

    from phcle.explorer import address_of, bind, make_app

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
