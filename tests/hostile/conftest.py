"""Readers whose optional library is not installed: their tests skip."""

from __future__ import annotations

import pytest
from reader_cases import READERS


@pytest.fixture(autouse=True)
def _library_of_the_reader(request):
    if not hasattr(request.node, "callspec"):
        return
    given = request.node.callspec.params
    reader = READERS.get(given.get("name") or given.get("fault", {}).get("reader"))
    if reader is not None and reader.needs:
        reason = f"{reader.needs} is not installed"
        pytest.importorskip(reader.needs, reason=reason)
