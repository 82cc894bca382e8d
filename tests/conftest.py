"""Every back end, the embedded data, and one fit of it that many tests share."""

from __future__ import annotations

import os
import shutil
import sys

import numpy as np
import other_systems  # before phcle, which it may change
import pytest
from hypothesis import settings

from phcle.backends.protocol import choose_backend

# Machines may be busy, so no example has a time limit; CI draws the same each time.
settings.register_profile(
    "phcle", deadline=None, derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("phcle")


def pytest_collection_modifyitems(items):
    if sys.platform == "win32" or other_systems.PRETENDED == "windows":
        for item in items:
            for mark in item.iter_markers("posix"):
                item.add_marker(pytest.mark.skip(reason=mark.args[0]))


BACKENDS = [
    pytest.param("numpy", id="numpy"),
    pytest.param("numba", id="numba"),
    pytest.param("torch", id="torch-cpu"),
    pytest.param("cuda", id="torch-cuda", marks=pytest.mark.gpu),
]


def make_backend(name, dtype="float64"):
    if name == "numba":
        pytest.importorskip("numba", reason="numba is not installed")
    if name in ("numpy", "numba"):
        return choose_backend(name, "cpu", dtype)
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if name == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return choose_backend("torch", "cuda" if name == "cuda" else "cpu", dtype)


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Every back end, in double precision."""
    return make_backend(request.param)


@pytest.fixture(params=BACKENDS)
def backend_options(request):
    """Options of PHCLE that choose every back end."""
    make_backend(request.param)
    if request.param in ("numpy", "numba"):
        return {"backend": request.param}
    device = "cuda" if request.param == "cuda" else "cpu"
    return {"backend": "torch", "device": device}


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def imagenet():
    from phcle.datasets import load_imagenet1k

    return load_imagenet1k()


@pytest.fixture(scope="session")
def hierarchy_model(imagenet):
    """The 1000 labels from the hierarchy alone, with default options."""
    from phcle import PHCLE

    model = PHCLE(backend="numpy")
    return model.fit(imagenet.hierarchy(), names=imagenet.names)


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium without a window, with WebGL in software."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    api = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed"
    )
    webgl = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", *webgl]
        )
        yield browser
        browser.close()
