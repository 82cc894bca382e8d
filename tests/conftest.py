"""Every back end, the embedded data, and one fit of it that many tests share.

With PHCLE_NO_SKIPS=1, as in `.ci/run`, a test that skips fails the run: otherwise a
browser that does not install would take its tests away without a word.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import other_systems  # before phcle, which it may change
import pytest
from hypothesis import HealthCheck, settings

from phcle.backends.protocol import choose_backend
from phcle.errors import BackendError

# Machines may be busy, so no example has a time limit; CI draws the same each time.
# Examples may share a folder.
settings.register_profile(
    "phcle",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("phcle")


def pytest_collection_modifyitems(items):
    if sys.platform == "win32" or other_systems.PRETENDED == "windows":
        for item in items:
            for mark in item.iter_markers("posix"):
                item.add_marker(pytest.mark.skip(reason=mark.args[0]))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """A test that meets a missing extra skips; in `.ci/run` that is an error."""
    try:
        return (yield)
    except BackendError as error:
        if not isinstance(error.__cause__, ImportError):
            raise
        pytest.skip(str(error))


ALLOWED_SKIPS = [
    "no CUDA device|there is a GPU",
    "there is no Java",
    "needs root|no file system can be mounted",
    "this SciPy refuses the file",
    "scikit-learn's check: ",
]
"""What a machine for tests may lack, and checks of scikit-learn that do not apply."""

if not (Path(__file__).parents[2] / "shared" / "data").is_dir():
    ALLOWED_SKIPS.append("shared/data.* is not beside the checkout")


def unexpected_skips(reporter):
    """Reasons of the skipped tests of a run that are not on the list."""
    reasons = {report.longrepr[2] for report in reporter.stats.get("skipped", ())}
    allowed = re.compile("|".join(ALLOWED_SKIPS))
    return sorted(reason for reason in reasons if not allowed.search(reason))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("PHCLE_NO_SKIPS") or reporter is None:
        return
    reasons = unexpected_skips(reporter)
    if reasons:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line("")
        reporter.write_line("error: with PHCLE_NO_SKIPS, no test may skip because")
        for reason in reasons:
            reporter.write_line(f"  {reason.removeprefix('Skipped: ')}")


BACKENDS = [
    pytest.param("numpy", id="numpy"),
    pytest.param("numba", id="numba"),
    pytest.param("torch", id="torch-cpu"),
    pytest.param("cuda", id="torch-cuda"),
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
