"""Short runs of `tools/attack.py`: nothing is lost when processes are ended."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.posix("limits memory and sends signals")


@pytest.fixture
def attacked(capsys):
    """What the tool prints, and its exit code."""
    attack = pytest.importorskip("attack")

    def attacked(words):
        with pytest.raises(SystemExit) as end:
            attack.main(words.split())
        printed = capsys.readouterr()
        return json.loads(printed.out), printed.err, end.value.code

    return attacked


def test_killed_fits_damage_nothing_and_resumed_ones_end_the_same(
    attacked, monkeypatch
):
    import attack

    monkeypatch.setattr(attack, "WRITING", {"fit": attack.WRITING["fit"]})
    found, said, code = attacked("--rounds 3 --only kill --seed 3")
    assert not code, said
    assert found["kill"]["killed"] >= 1  # some end before, on a busy machine
    assert found["kill"]["resumed"] >= 1


def test_quick_attacks_do_no_damage(attacked):
    _, said, code = attacked("--rounds 1 --only hangup")
    assert not code, said


def test_damage_is_counted_and_ends_with_an_error(attacked, monkeypatch):
    import attack

    monkeypatch.setitem(attack.ATTACKS, "hangup", lambda *_: iter(["a hole"]))
    found, said, code = attacked("--rounds 2 --only hangup")
    assert (found["hangup"]["damage"], said.count("a hole"), code) == (2, 2, 1)
