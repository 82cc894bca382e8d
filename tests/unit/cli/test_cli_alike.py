"""All commands are alike: one name for one thing, groups, examples, errors."""

from __future__ import annotations

import json
import re

import pytest
import typer

from phcle.cli.app import NEEDS, NO_JSON, app
from phcle.cli.command_style import EVERYWHERE, GROUPS, HAVE, MACHINE, TUNING, WANT
from phcle.cli.gone_commands import GONE

COMMANDS = dict(typer.main.get_command(app).commands)

NOT_ABOUT_AN_EMBEDDING = {"demo", "check", "fit", "bench", "reproduce"}
"""Commands that make embeddings or need none."""


def _options(command):
    return [p for p in command.params if p.param_type_name == "option" and not p.hidden]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_embedding_is_the_first_argument(name):
    arguments = [p for p in COMMANDS[name].params if p.param_type_name == "argument"]
    first = [p.metavar for p in arguments[:1]]
    takes_files = name in NOT_ABOUT_AN_EMBEDDING or first == ["FILE|FOLDER"]
    assert takes_files or first == ["LABELS.phcle"]
    assert "LABELS.phcle" not in [p.metavar for p in arguments[1:]]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_a_group_and_has_a_help_text(name):
    for option in _options(COMMANDS[name]):
        assert option.rich_help_panel in GROUPS, f"add {option.name!r} to GROUPS"
        assert option.help, option.name


@pytest.mark.parametrize("name", COMMANDS)
def test_counts_seeds_and_outputs_have_one_name(name):
    flags = {flag for option in _options(COMMANDS[name]) for flag in option.opts}
    assert not flags & {"--random-state", "--n", "--number", "--output", "-o", "-n"}
    assert ("-k" in flags) == ("--count" in flags)


def test_a_flag_takes_the_same_kind_of_value_in_all_commands():
    kinds = {}
    for name, command in COMMANDS.items():
        for option in _options(command):
            for flag in option.opts:
                kinds.setdefault(flag, {})[name] = (option.is_flag, option.metavar)
    # A file or a folder; some labels; bench has no "auto".
    both = {"--out", "--labels", "--dim"}
    differ = {flag for flag, found in kinds.items() if len(set(found.values())) > 1}
    assert differ <= both


@pytest.mark.parametrize("name", COMMANDS)
def test_json_or_a_reason_why_not(phcle, name):
    shown = " ".join(phcle(name, "--help").stdout.split())
    has_json = any("--json" in option.opts for option in COMMANDS[name].params)
    assert has_json != ("No --json: " in shown)


def test_help_names_the_extras_that_a_command_needs(phcle):
    assert {command.__name__ for command in NO_JSON} <= set(COMMANDS)
    for command, extras in NEEDS.items():
        shown = " ".join(phcle(command.__name__, "--help").stdout.split())
        for extra in extras:
            assert f"pip install 'phcle[{extra}]'" in shown


def test_commands_that_cannot_run_without_an_extra_say_so(phcle):
    for name in ("explore", "report"):
        shown = phcle(name, "--help").stdout
        assert f" Needs: pip install 'phcle[{name}]'" in shown


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("columns", ["80", "120"])
def test_help_shows_no_types_and_cuts_no_flag(phcle, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", columns)
    shown = phcle(*filter(None, [name]), "--help").stdout
    assert not re.search(r"<\w+(\[\w+\])?>", shown)
    assert not re.search(r"--[\w-]*…", shown)


def test_groups_of_fit_stand_in_order(phcle):
    shown = phcle("fit", "--help").stdout
    places = [
        shown.index(f"─ {x} ─") for x in (HAVE, WANT, TUNING, MACHINE, EVERYWHERE)
    ]
    assert places == sorted(places)
    assert shown.index("--hierarchy ") < shown.index("--names ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nearst"], "no command 'nearst'. Did you mean 'nearest'"),
        (["--bogus"], "no option --bogus."),
        (
            ["fit", "--hierarcy", "x"],
            "no option --hierarcy. Did you mean '--hierarchy'",
        ),
        (["nearest", "x", "y", "-k", "many"], "-k/--count must be a whole number."),
        (
            ["complete", "x", "--min-confidence", 3],
            "--min-confidence must be less than",
        ),
        (["fit", "--hierarchy", "tree.csv"], "--out is missing."),
        (["understand", "x.phcle", "--model", "m"], "PHOTO is missing."),
        (["fit", "--dim"], "'--dim' requires an argument"),
        (["info", "a", "b"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_looks_like_any_other_error(phcle, arguments, message):
    result = phcle(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("phcle: ")
    assert message in line


@pytest.mark.parametrize("words", [[], ["--help"], ["a.phcle", "--old-flag", 3]])
@pytest.mark.parametrize("name", sorted(set(GONE) - set(COMMANDS)))
def test_a_command_that_is_gone_names_what_takes_its_place(phcle, name, words):
    result = phcle(name, *words, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line == f"phcle: the command {name!r} is gone; {GONE[name]}."
    assert f" {name} " not in phcle("--help").stdout


def test_old_spellings_still_work(phcle, fitted, zoo):
    old = phcle("clusters", fitted, "--n", 2, "--labels", "cat", "--labels", "dog")
    assert old.stdout == phcle("clusters", fitted, "cat", "dog", "--count=2").stdout
    fit = ("fit", "--hierarchy", "tree.csv", "--dim", 2, "--out", "x.phcle", "--json")
    assert json.loads(phcle(*fit, "--random-state", 7).stdout)["seed"] == 7
    (zoo / "run.toml").write_text("[fit]\nrandom_state = 8\n")
    assert json.loads(phcle(*fit, "--config", "run.toml").stdout)["seed"] == 8
    (zoo / "run.toml").write_text("[clusters]\nn = 2\n")
    answer = phcle("clusters", fitted, "--config", "run.toml", "--json").stdout
    assert len(json.loads(answer)["clusters"]) == 2
