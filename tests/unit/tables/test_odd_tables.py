"""Odd tables are read as a person would, or refused, or what is left open is said."""

from __future__ import annotations

import odd_tables
import pytest

LEFT_OPEN = ("fractions", "codes of countries and Namibia")
"""Tables that a person reads, and phcle only remarks on."""


@pytest.mark.parametrize("odd", odd_tables.ALL, ids=lambda x: x.name)
def test_nothing_is_wrong_in_silence(odd, tmp_path):
    path = tmp_path / odd.file
    path.write_bytes(odd.text.encode() if isinstance(odd.text, str) else odd.text)
    found = odd_tables.outcome(odd, path, odd_tables.read_by_phcle)
    if not odd.cells:
        assert found == "refused"
    elif odd_tables.ASKS in odd.cells.values() or odd.name in LEFT_OPEN:
        assert found == "remarked"
    else:
        assert found == "right"
