"""Data that is not part of the project, where somebody has put it beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    if not SHARED.is_dir():
        pytest.skip("shared/data is not beside the checkout")
    return SHARED
