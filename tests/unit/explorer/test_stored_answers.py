"""Equal questions are answered once, in bounded memory, and nothing wrong is kept."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("starlette", reason="the explorer is not installed")

from phcle.explorer.stored_answers import LARGEST, StoredAnswers

COSTLY = frozenset({"/table", "/embeddings", "/api/map"})


class Answering:
    """An application that counts the questions, and waits before it answers."""

    def __init__(self, status=200, size=10, parts=1):
        self.status, self.size, self.parts = status, size, parts
        self.n = 0

    async def __call__(self, scope, receive, send):
        self.n += 1
        await asyncio.sleep(0.01)
        await send(
            {"type": "http.response.start", "status": self.status, "headers": []}
        )
        for i in range(self.parts):
            body = b"x" * self.size
            more = i + 1 < self.parts
            await send({"type": "http.response.body", "body": body, "more_body": more})


async def ask(app, path="/table", query=b"label=a", method="GET"):
    """Status, headers and body of an answer."""
    messages = []

    async def send(message):
        messages.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": query}
    await app(scope, None, send)
    start = messages[0]
    return start["status"], start["headers"], b"".join(x["body"] for x in messages[1:])


def test_an_equal_question_gets_the_answer_that_was_kept():
    inner = Answering()
    app = StoredAnswers(inner, COSTLY)
    first, again = (asyncio.run(ask(app)) for _ in range(2))
    assert first == again
    assert inner.n == 1
    asyncio.run(ask(app, query=b"label=b"))
    assert inner.n == 2


def test_equal_questions_at_the_same_time_are_computed_once():
    inner = Answering()
    app = StoredAnswers(inner, COSTLY)

    async def all_at_once():
        return await asyncio.gather(*(ask(app) for _ in range(8)))

    assert len({body for _, _, body in asyncio.run(all_at_once())}) == 1
    assert inner.n == 1


@pytest.mark.parametrize(
    ("inner", "asked"),
    [
        (Answering(status=503), {}),
        (Answering(status=404), {}),
        (Answering(parts=2), {}),
        (Answering(size=LARGEST + 1), {}),
        (Answering(), {"path": "/api/status"}),
        (Answering(), {"path": "/embeddings"}),
        (Answering(), {"path": "/api/map"}),
        (Answering(), {"path": "/api/suspicious"}),
        (Answering(), {"method": "POST"}),
    ],
    ids=[
        "not ready",
        "unknown",
        "in parts",
        "large",
        "state",
        "two",
        "map",
        "work",
        "post",
    ],
)
def test_what_may_change_or_is_large_is_not_kept(inner, asked):
    app = StoredAnswers(inner, COSTLY)
    for _ in range(2):
        asyncio.run(ask(app, **asked))
    assert inner.n == 2
    assert app.n_bytes == 0


def test_headers_that_one_request_adds_do_not_reach_the_next():
    app = StoredAnswers(Answering(), COSTLY)
    for _ in range(2):
        _, headers, _ = asyncio.run(ask(app))
        assert headers == []
        headers.append((b"set-cookie", b"secret"))


def test_answers_used_longest_ago_go_first():
    inner = Answering(size=100)
    app = StoredAnswers(inner, COSTLY, most_bytes=250)
    for query in (b"a", b"b", b"a", b"c"):  # c takes the room of b
        asyncio.run(ask(app, query=query))
    assert (inner.n, app.n_bytes) == (3, 200)
    asyncio.run(ask(app, query=b"a"))
    assert inner.n == 3
    asyncio.run(ask(app, query=b"b"))
    assert inner.n == 4


def test_a_question_that_fails_does_not_hold_up_the_next():
    class Failing(Answering):
        async def __call__(self, scope, receive, send):
            self.n += 1
            raise ValueError("no")

    inner = Failing()
    app = StoredAnswers(inner, COSTLY)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            asyncio.run(ask(app))
    assert inner.n == 2
