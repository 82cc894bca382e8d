"""`phcle tune`: from files to options that `phcle fit` takes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

import phcle as library
from phcle.cli.tune_scores import load_function
from phcle.errors import FileError, OptionError

CONTEXTS = ("--hierarchy", "tree.csv", "--attributes", "looks.csv")
QUICK = ("--search", "dim=2:4", "--search", "max_iter=3", "--search", "tol=0.9")
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SCORE = """
import phcle

def likeness(embedding):
    for label in ("cat", "dog", "horse"):
        yield embedding.nearest(label, k=1)[0][1]

def broken(embedding):
    raise ZeroDivisionError("no luck")

def endless(embedding):
    return float("inf")

def none(embedding):
    return []
"""


@pytest.fixture
def score(zoo):
    (zoo / "own.py").write_text(SCORE)
    return ("--score", "own.py:likeness")


@pytest.fixture
def features(zoo):
    """Images of seven animals around points of a line, and classes for a test."""
    animals = ["cat", "lion", "tiger", "dog", "wolf", "horse", "zebra"]
    random = np.random.default_rng(0)
    place = np.repeat(
        [[0, 1], [0, 1.2], [0, 1.4], [1, 0], [1, 0.2], [2, 2], [2, 2.2]], 8, 0
    )
    X = place @ random.normal(size=(2, 6)) + 0.1 * random.normal(size=(56, 6))
    folder = zoo / "images"
    folder.mkdir()
    np.savez(
        folder / "features.npz",
        features=X.astype("f4"),
        labels=np.repeat(np.arange(7), 8),
        wnids=np.array(animals),
    )
    split = {
        "seen": ["lion", "tiger", "wolf", "horse", "zebra"],
        "unseen": ["cat", "dog"],
    }
    (folder / "split.json").write_text(json.dumps(split))
    return folder


def test_a_fit_takes_what_tuning_found(phcle, zoo, score):
    command = ("tune", *CONTEXTS, "--tags", "use=uses.csv", "--names", "names.csv")
    answer = json.loads(
        phcle(
            *command, *QUICK, *score, "--trials", 3, "--out", "best.toml", "--json"
        ).stdout
    )
    assert answer["trials"] == 3
    assert answer["test"] is None
    assert answer["default_score"] is None  # 100 dimensions lie outside of 2:4
    phcle("fit", "--config", "best.toml", "--out", "best.phcle")
    embedding = library.load(zoo / "best.phcle")
    for name, value in answer["options"].items():
        if name == "hierarchy_kind":
            assert embedding.contexts[0].data.hierarchy.kind == value
        elif name == "role":
            own = [c.name for c in embedding.contexts]
            assert ("tree (family)" in own) == (value == "both")
        elif name == "weights":
            assert embedding.options[name] == pytest.approx(value)
            assert {c.given_name for c in embedding.contexts} == {
                "tree",
                "looks",
                "use",
            }
        else:
            assert embedding.options[name] == pytest.approx(value)
    assert embedding.name_of("lion") == "King of Beasts"
    near = [embedding.nearest(x, k=1)[0][1] for x in ("cat", "dog", "horse")]
    assert np.mean(near) == pytest.approx(answer["score"], abs=1e-5)


def test_the_best_of_a_search_is_at_least_as_good_as_the_defaults(phcle, score):
    answer = json.loads(
        phcle(
            *("tune", *CONTEXTS, *score, "--trials", 2, "--out", "best.toml"),
            *("--search", "dim=4:100", "--search", "max_iter=3", "--json"),
        ).stdout
    )
    assert answer["default_score"] is not None
    assert answer["score"] >= answer["default_score"]


def test_the_same_command_goes_on_where_it_stopped(phcle, zoo, score):
    command = ("tune", *CONTEXTS, *QUICK, *score, "--json", "--seed", 3)
    phcle(*command, "--trials", 2, "--out", "a.toml")
    on = json.loads(phcle(*command, "--trials", 4, "--out", "a.toml").stdout)
    whole = json.loads(
        phcle(*command, "--trials", 4, "--out", "b.toml", "--storage", "b.log").stdout
    )
    assert (zoo / "a.study.db").exists()
    assert (zoo / "b.log").exists()
    assert on["trials"] == whole["trials"] == 4
    assert on["options"] == whole["options"]
    assert tomllib.loads((zoo / "a.toml").read_text()) == tomllib.loads(
        (zoo / "b.toml").read_text()
    )


def test_two_processes_at_once_add_to_one_study(zoo, score):
    for storage in ("study.db", "study.log"):
        command = [
            *(sys.executable, "-m", "phcle", "tune", *CONTEXTS, *QUICK, *score),
            *("--trials", "5", "--storage", storage, "--json"),
        ]
        both = [
            subprocess.Popen(
                [*command, "--out", f"{i}.toml"],
                cwd=zoo,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=ONE_THREAD,
            )
            for i in range(2)
        ]
        answers = [process.communicate(timeout=240) for process in both]
        assert [p.returncode for p in both] == [0, 0], answers
        import optuna

        where = (
            f"sqlite:///{zoo / storage}"
            if storage.endswith("db")
            else optuna.storages.JournalStorage(
                optuna.storages.journal.JournalFileBackend(str(zoo / storage))
            )
        )
        trials = optuna.load_study(study_name="phcle", storage=where).trials
        finished = [t for t in trials if t.state.is_finished()]
        # Each stops when it sees five; the other's last one may come on top.
        assert 5 <= len(finished) <= 6
        drawn = {tuple(t.params.values()) for t in finished}
        assert len(drawn) >= len(finished) - 1  # nobody repeats the other
        one, two = (json.loads(out) for out, _ in answers)
        assert max(one["score"], two["score"]) == max(
            t.value for t in finished if t.value is not None
        )


def test_interrupted_tuning_keeps_finished_trials_and_says_how_to_go_on(zoo, score):
    slow = (
        SCORE
        + "\nimport time\ndef slow(embedding):\n    time.sleep(0.2)\n    return 1\n"
    )
    (zoo / "own.py").write_text(slow)
    command = [
        *(sys.executable, "-m", "phcle", "tune", *CONTEXTS, *QUICK),
        *("--score", "own.py:slow", "--trials", "500", "--out", "best.toml"),
    ]
    process = subprocess.Popen(
        command,
        cwd=zoo,
        stderr=subprocess.PIPE,
        text=True,
        env=ONE_THREAD,
        # A shell in the background starts its children with Ctrl-C ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and _n_trials(zoo / "best.study.db") < 2:
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=180)
    assert process.returncode == 130, told
    assert "is written to best.toml" in told
    assert "best.study.db holds all finished trials; the same command continues" in told
    assert _n_trials(zoo / "best.study.db") >= 2
    assert "fit" in tomllib.loads((zoo / "best.toml").read_text())


def _n_trials(path):
    import sqlite3

    if not path.exists():
        return 0
    try:
        with sqlite3.connect(path) as file:
            rows = file.execute("select count(*) from trials where state = 'COMPLETE'")
            return rows.fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def test_images_judge_on_validation_classes_and_others_test(phcle, zoo, features):
    shown = phcle(
        *("tune", *CONTEXTS, "--features", features, "--trials", 3, "--splits", 2),
        *(*QUICK, "--out", "best.toml", "--plot", "what.png"),
    ).output
    assert (
        "mean per-class accuracy of eszsl on 2 draws of 2 validation classes" in shown
    )
    assert "test, never searched on" in shown
    assert "phcle fit --config best.toml" in shown
    assert (zoo / "what.png").read_bytes().startswith(b"\x89PNG")


def test_hidden_attributes_judge_with_labels_kept_for_the_test(phcle, zoo):
    answer = json.loads(
        phcle(
            *("tune", *CONTEXTS, "--complete", "looks", "--metric", "r2", "--json"),
            *(*QUICK, "--trials", 2, "--splits", 2, "--out", "best.toml"),
        ).stdout
    )
    assert answer["measured"].startswith("R² of 'looks' for hidden labels, 2 draws")
    assert set(answer["test"]) == {"default", "tuned"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "choose how trials are scored"),
        (("--complete", "looks", "--score", "a:b"), "Got 2 of them"),
        (("--complete", "tree"), "Got 'tree'; there are 'looks'"),
        (("--complete", "looks", "--metric", "f1"), "metric"),
        (("--score", "own.py:likness"), "Did you mean 'likeness'"),
        (("--score", "own.py:broken"), "failed with ZeroDivisionError: no luck"),
        (("--score", "own.py:endless"), "must give finite numbers. Got inf"),
        (("--score", "own.py:none"), "gave no number"),
        (("--complete", "looks", "--search", "rige=1:2"), "Did you mean 'ridge'"),
        (("--complete", "looks", "--search", "ridge=0:2"), "0 < LOW"),
        (("--complete", "looks", "--search", "ridge"), "Got 'ridge'"),
        (("--complete", "looks", "--search", "dim=a:b"), "Got 'a' instead"),
        (("--complete", "looks", "--search", "hierarchy-kind=path|wals"), "'walks'"),
        (("--complete", "looks", "--trials", "0"), "trials must be 1 or more"),
        (("--complete", "looks", "--storage", "study.xls"), "ends in .db"),
        (("--complete", "looks", "--storage", "no/study.db"), "does not exist"),
        (("--complete", "looks", "--storage", "tree.db"), "tree.db: is no study"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(phcle, zoo, score, arguments, message):
    (zoo / "tree.db").write_text("child,parent\n" * 100)
    result = phcle("tune", *CONTEXTS, *arguments, "--out", "best.toml", code=2)
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (zoo / "best.toml").exists()


def test_trials_of_another_search_are_not_mixed(phcle, zoo, score):
    command = ("tune", *CONTEXTS, *score, "--out", "best.toml", "--trials", 1)
    phcle(*command, *QUICK)
    told = phcle(*command, "--search", "dim=2:5", code=2).stderr
    assert "best.study.db: holds trials of another search" in told
    with (zoo / "looks.csv").open("a") as file:
        file.write("horse,400,no\n")
    assert "another data;" in phcle(*command, *QUICK, code=2).stderr


def test_functions_come_from_files_and_modules(zoo, score):
    assert load_function("own.py:likeness").__name__ == "likeness"
    assert load_function("statistics:mean")([1, 3]) == 2
    with pytest.raises(OptionError, match="must look like module:function"):
        load_function("own.py")
    with pytest.raises(FileError, match=r"missing\.py: no such file"):
        load_function("missing.py:score")
    (zoo / "bad.py").write_text("1 / 0")
    with pytest.raises(FileError, match="ZeroDivisionError"):
        load_function("bad.py:score")
    with pytest.raises(FileError, match="ModuleNotFoundError"):
        load_function("no_such_module_here:score")
