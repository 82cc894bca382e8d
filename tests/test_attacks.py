"""The script of attacks from outside does what it says; it runs for longer by hand."""

from __future__ import annotations

import pytest


@pytest.mark.posix("limits memory and sends signals")
def test_quick_attacks_do_no_damage(capsys):
    import attack_test

    with pytest.raises(SystemExit) as end:
        attack_test.main(["--rounds", "1", "--only", "hangup,options,extreme-vectors"])
    assert not end.value.code, capsys.readouterr().err


@pytest.mark.posix("limits memory and sends signals")
def test_damage_is_counted_and_ends_with_an_error(capsys, monkeypatch):
    import attack_test

    monkeypatch.setitem(attack_test.ATTACKS, "options", lambda *_: iter(["a hole"]))
    with pytest.raises(SystemExit) as end:
        attack_test.main(["--rounds", "2", "--only", "options"])
    printed = capsys.readouterr()
    assert (end.value.code, printed.err.count("a hole")) == (1, 2)
    assert '"damage": 2' in printed.out
