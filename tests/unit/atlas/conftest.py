"""A zoo with every sort of context, and its page, in-process, served and in a file."""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from patchy_table import write_patchy_table

from phcle import (
    PHCLE,
    DescriptiveContext,
    LabelEmbedding,
    RelationalContext,
    read_contexts,
)

HOST = "testserver"

TREE = [
    *((cat, "felid") for cat in ("cat", "lion", "tiger", "lynx")),
    *((dog, "canid") for dog in ("dog", "wolf", "fox", "jackal")),
    *((bird, "bird") for bird in ("robin", "wren", "eagle", "hawk", "owl")),
    *[("felid", "carnivore"), ("canid", "carnivore")],
    *[("carnivore", "animal"), ("bird", "animal")],
]
# Names that would be markup or the end of a script if a page let them.
NASTY = {
    "lynx": "<img src=x onerror=alert(1)>",
    "jackal": "</script><script>alert(2)</script>",
    "felid": "cats & <b>co</b>",
}


def zoo_contexts():
    tags = {"cat": ["claws", "purr"], "dog": ["bark", "claws"], "lion": ["claws"]}
    tags |= {bird: ["wings"] for bird in ("robin", "wren", "hawk", "eagle")}
    sizes = ("cat", "lion", "tiger", "dog", "wolf", "robin", "eagle")
    kilograms = np.array([[4.0, 25], [190, 120], [220, np.nan], [30, 60]])
    kilograms = np.vstack([kilograms, [[40, 80], [0.02, 14], [5, 90]]])
    texts = {x: f"a {x} is a wild animal" for x in ("lion", "wolf", "owl")}
    texts |= {x: f"a {x} is a tame animal" for x in ("cat", "dog")}
    return [
        RelationalContext.from_hierarchy(TREE, name="tree"),
        DescriptiveContext.from_tags(tags, name="looks"),
        DescriptiveContext("sizes", sizes, ("kilograms", "centimetres"), kilograms),
        DescriptiveContext.from_texts(texts, name="words"),
    ]


@pytest.fixture(scope="session")
def zoo_embedding():
    model = PHCLE(dim=4, backend="numpy", random_state=0)
    return model.fit(zoo_contexts(), names=NASTY).embedding_


@pytest.fixture(scope="session")
def bare_embedding(zoo_embedding):
    """The same labels, shuffled in space and without contexts."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal(zoo_embedding.vectors.shape)
    return LabelEmbedding(zoo_embedding.labels, vectors, names=NASTY)


@pytest.fixture(scope="session")
def workspace(zoo_embedding, bare_embedding):
    """Precomputed, with another embedding to compare with, and a map of pictures."""
    for module in ("fastapi", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    from phcle.atlas import Opened, Second, Workspace
    from phcle.images import ImageMap

    opened = Opened(zoo_embedding, "zoo")
    own, penalty = zoo_embedding, {"feature_ridge": 0.1, "class_ridge": 0.1}
    image_map = ImageMap.fit(own.vectors, own.labels, own, **penalty)
    second = Second(opened, Opened(bare_embedding, "noise"))
    made = Workspace(opened, second, image_map)
    made.second.work.wait()
    return made


@pytest.fixture(scope="session")
def app(workspace):
    from phcle.atlas import Rules, make_app

    return make_app(workspace, Rules(frozenset({HOST}), most_bytes=1 << 20))


@pytest.fixture(scope="session")
def client(workspace):
    with _client(workspace) as client:
        yield client


@pytest.fixture(scope="session")
def patchy(tmp_path_factory):
    """A table with gaps, learned well enough for probabilities and intervals."""
    folder = tmp_path_factory.mktemp("patchy")
    write_patchy_table(folder)
    found = read_contexts(
        hierarchy=folder / "tree.csv", attributes=folder / "looks.csv"
    )
    return PHCLE(dim=8).fit(found.contexts).embedding_


@pytest.fixture(scope="session")
def patchy_workspace(patchy):
    for module in ("fastapi", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    from phcle.atlas import Opened, Workspace

    made = Workspace(Opened(patchy, "patchy"))
    made.opened.map.wait()
    return made


@pytest.fixture(scope="session")
def patchy_client(patchy_workspace):
    with _client(patchy_workspace) as client:
        yield client


@contextmanager
def _client(opened):
    """A client of a workspace, or of one embedding."""
    testclient = pytest.importorskip(
        "starlette.testclient", reason="no client for tests is installed"
    )
    from phcle.atlas import Opened, Rules, Workspace, make_app

    if isinstance(opened, LabelEmbedding):
        opened = Workspace(Opened(opened, "bare"))
    app = make_app(opened, Rules(frozenset({HOST}), most_bytes=1 << 20))
    with testclient.TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="session")
def client_of():
    """A context manager of a client of a workspace, or of one embedding."""
    return _client


@contextmanager
def _serving(workspace, **rules):
    """A server on a free port of loopback; gives its address."""
    import uvicorn

    from phcle.atlas import Rules, address_of, bind, make_app

    listening = bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    app = make_app(workspace, Rules.for_address("127.0.0.1", port, **rules))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield address_of(listening, "127.0.0.1")
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(scope="session")
def serving():
    """A context manager that serves a workspace."""
    return _serving


@pytest.fixture(scope="session")
def address(workspace, serving):
    with serving(workspace) as address:
        yield address


@pytest.fixture(scope="session")
def patchy_address(patchy_workspace, serving):
    with serving(patchy_workspace) as address:
        yield address.rstrip("/")


@pytest.fixture(scope="session")
def report_files(zoo_embedding, patchy, tmp_path_factory):
    """Reports from disk: of the zoo, and of the table with gaps."""
    from phcle.atlas import write_report

    folder = tmp_path_factory.mktemp("reports")
    found = {"zoo": zoo_embedding, "patchy": patchy}
    for name, embedding in found.items():
        write_report(embedding, folder / f"{name}.html", title=f"{name} <i>x</i>")
    return {name: folder / f"{name}.html" for name in found}


@pytest.fixture(scope="session")
def answers_in():
    """Read the answers that a report holds."""

    def read(page):
        element = r'<script id="answers" type="text/plain">(.*?)</script>'
        (text,) = re.findall(element, page)
        return json.loads(gzip.decompress(base64.b64decode(text)))

    return read
