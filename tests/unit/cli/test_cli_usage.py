"""Help pages and their examples, wrong usage, options from a file and by --set."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest
from command_line import app

from phcle import load
from phcle.images import ImageMap

COMMANDS = [command.callback.__name__ for command in app.registered_commands]
SCREEN = 40


def example(shown):
    """The words of the example on a help page, after `phcle`."""
    return shlex.split(re.search(r"Example: phcle (.*)", shown)[1])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_on_a_screen_with_an_example(phcle, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "100")
    shown = phcle(name, "--help").stdout.strip()
    assert len(shown.splitlines()) <= SCREEN
    assert example(shown)[0] == name


@pytest.fixture
def things(zoo):
    """The files that the examples name."""
    labels = [f"thing{i}" for i in range(40)]
    sizes = [f"{x},{i % 5},{'ab'[i % 2]}" for i, x in enumerate(labels)]
    (zoo / "looks.csv").write_text("\n".join(["label,size,sort", *sizes[:-3]]))
    edges = [f"{x},g{i % 3}" for i, x in enumerate(labels)]
    edges += [f"{x},g0" for x in ("coffeepot", "teapot", "violin")]
    edges += ["g0,root", "g1,root", "g2,root"]
    (zoo / "tree.csv").write_text("\n".join(["child,parent", *edges]))
    (zoo / "new_edges.csv").write_text("child,parent\njug,g0\n")
    (zoo / "my_folder").mkdir()
    (zoo / "my_folder" / "tree.csv").write_bytes((zoo / "tree.csv").read_bytes())


def test_the_examples_run(things, phcle, zoo):
    examples = {name: example(phcle(name, "--help").stdout) for name in COMMANDS}
    phcle(*examples.pop("fit"))
    embedding = load(zoo / "labels.phcle")
    rows = np.eye(2)
    ImageMap.fit(rows, ["teapot", "violin"], embedding).save(zoo / "pictures.map")
    np.save(zoo / "photo.npy", rows[0])
    del examples["demo"], examples["explore"]  # they have tests of their own
    for words in examples.values():
        phcle(*words)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nearst"], "no such command 'nearst'. Did you mean 'nearest'"),
        (["--bogus"], "no such option: --bogus."),
        (["map", "zoo.phcle", "--out", "x"], "understand --learn"),
        (["tune"], "docs/howto/which-options.md"),
        (["bench", "--count", 40], "run the scripts in benchmarks/"),
        (["index", "zoo.phcle"], "docs/howto/exporting.md"),
        (["reproduce", "table2", "--data", "x"], "run `phcle-paper`"),
        (["fit", "--hierarcy", "x"], "no such option: --hierarcy (Possible options"),
        (["fit", "--ridge", 2], "no such option: --ridge; give it as --set ridge="),
        (["fit", "--config", "x"], "stands before the command: phcle --config"),
        (["nearest", "x", "y", "-k", "many"], "'-k'"),
        (["complete", "x", "--min-confidence", 3], "'--min-confidence': Input should"),
        (["fit", "--hierarchy", "tree.csv"], "missing option '--out'."),
        (["understand", "x.phcle", "--model", "m"], "give PHOTO and --model"),
        (["nearest"], "missing argument 'LABELS.phcle'."),
        (["fit", "--dim"], "'--dim' requires an argument"),
        (["info", "a", "b"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_one_line(phcle, arguments, message):
    result = phcle(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("phcle: ")
    assert message in line


FIT = ("fit", "--hierarchy", "tree.csv", "--dim", 2, "--out", "o.phcle", "--quiet")


def test_any_option_of_the_model_can_be_set(phcle, zoo):
    given = (
        "ridge=2",
        "max-iter=7",
        "init=random",
        "complete_only=yes",
        "shrinkage=auto",
    )
    words = [word for each in given for word in ("--set", each)]
    phcle(*FIT, *words, "--set", "random_state=3", "--set", "weights=tree=2")
    found = load(zoo / "o.phcle").options
    expected = {"ridge": 2, "max_iter": 7, "init": "random", "complete_only": True}
    expected |= {"shrinkage": "auto", "random_state": 3, "weights": {"tree": 2}}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ridg=2", "no option 'ridg'. Did you mean 'ridge'?"),
        ("ridge=-1", "'ridge' option must be a number from 1e-100 to 1e+100. Got -1.0"),
        ("max_iter=2.5", "The 'max_iter' option must be a whole number"),
        ("solver=papper", "Did you mean 'paper'?"),
        ("complete_only=perhaps", "must be True or False. Got 'perhaps' instead."),
        ("ridge", "--set must be NAME=VALUE, such as ridge=2. Got 'ridge'"),
    ],
)
def test_a_wrong_setting_is_one_line(phcle, zoo, text, message):
    said = phcle(*FIT, "--set", text, code=2).stderr
    assert message in said
    assert said.count("\n") == 1
    assert not (zoo / "o.phcle").exists()


CONFIG = """
hierarchy = "tree.csv"
attributes = ["looks.csv"]
weights = { tree = 1, looks = 0.5 }
set = { max_iter = 5 }
dim = 3
completion = "none"
out = "labels.phcle"
"""


def test_a_file_has_the_options_of_a_command(phcle, zoo):
    (zoo / "run.toml").write_text(CONFIG)
    config = ("--config", "run.toml")
    phcle(*config, "fit")
    info = json.loads(phcle("info", "labels.phcle", "--json").stdout)
    assert info["dim"] == 3
    assert info["options"]["max_iter"] == 5
    assert info["options"]["weights"] == {"tree": 1.0, "looks": 0.5}
    phcle(*config, "fit", "--dim", "2")  # a flag counts more
    assert json.loads(phcle("info", "labels.phcle", "--json").stdout)["dim"] == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dim = ", "run.toml: is not TOML"),
        ("max_itr = 2\n", "run.toml: fit has no option 'max_itr'"),
        ("checkpont = 'x'\n", "Did you mean 'checkpoint'"),
        ("[report]\nout = 'x'\n", "run.toml: fit has no option 'report'"),
        ("dim = [2, 3]\nout = 'x'\n", "run.toml, dim: takes one value"),
        ("dim = 'many'\nout = 'x'\nhierarchy = 'tree.csv'", "dim"),
    ],
)
def test_a_file_of_options_that_cannot_be_used_is_refused(phcle, zoo, text, said):
    (zoo / "run.toml").write_text(text)
    assert said in phcle("--config", "run.toml", "fit", code=2).stderr
