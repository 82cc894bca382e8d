"""`phcle fit`: files in, one embedding out."""

from __future__ import annotations

import hashlib
import json

import pytest

import phcle as library

FIT = ("fit", "--hierarchy", "tree.csv", "--dim", 3, "--out", "out.phcle")


def test_summary_names_contexts_file_and_next_steps(phcle, zoo):
    shown = phcle(*FIT, "--attributes", "looks.csv").output
    for word in ("7 labels", "tree", "looks", "71%", "sweeps", "written to out.phcle"):
        assert word in shown
    assert "phcle nearest out.phcle cat" in shown


def test_json_summary_has_contexts_with_coverage(phcle):
    summary = json.loads(phcle(*FIT, "--attributes", "size=looks.csv", "--json").stdout)
    assert summary["file"] == "out.phcle"
    assert summary["labels"] == 7
    assert [c["name"] for c in summary["contexts"]] == ["tree", "size"]
    assert summary["contexts"][1]["coverage"] == pytest.approx(5 / 7)
    assert summary["sweeps"] >= 1
    assert summary["seconds"] >= 0


def test_a_refit_starts_from_an_earlier_file(phcle, zoo):
    phcle(*FIT, "--quiet")
    phcle(*FIT[:-1], "again.phcle", "--warm-start", "out.phcle", "--quiet")
    first, again = (library.load(zoo / f"{x}.phcle") for x in ("out", "again"))
    assert len(again.history) < len(first.history)


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        ("Ridge", "--reader must be MODULE:CLASS. Got 'Ridge'."),
        ("no_such:Thing", "No module named 'no_such'"),
        ("math:Thing", "has no attribute 'Thing'"),
        ("sklearn.ensemble:VotingRegressor", "missing 1 required positional argument"),
        ("collections:OrderedDict", "must be an estimator"),
    ],
)
def test_a_wrong_reader_is_one_line(phcle, reader, message):
    said = phcle(*FIT, "--reader", reader, "--quiet", code=2).stderr
    assert message in said
    assert said.count("\n") == 1


def test_warning_is_one_line_on_stderr(phcle):
    result = phcle(*FIT, "--set", "max_iter=1", "--quiet")
    assert result.stderr == (
        "phcle: warning: not converged after 1 sweeps; raise max_iter or tol.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dim", 0), "The 'dim' option must be a whole number from 1 to 1,000,000"),
        (("--set", "solver=papper"), "Did you mean 'paper'?"),
        (("--weights", "tree=heavy"), "Got 'tree=heavy' instead"),
        (("--weights", "treee=1"), "Did you mean 'tree'?"),
        (("--hierarchy-kind", "pth"), "Did you mean 'path'?"),
        (("--attributes", "missing.csv"), "missing.csv: no such file."),
        (("--attributes", "tree=looks.csv"), "name one of them: NAME=looks.csv"),
        (("--out", "no/out.phcle"), "the folder no does not exist; make it first."),
        (("--out", "."), "is a folder; give the name of a file."),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(phcle, zoo, arguments, message):
    result = phcle(*FIT, *arguments, "--quiet", code=2)
    assert result.stderr.startswith("phcle: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (zoo / "out.phcle").exists()


def test_fit_without_any_context_says_which_flags_there_are(phcle):
    result = phcle("fit", "--out", "out.phcle", code=2)
    assert "give at least one of --hierarchy" in result.stderr


def test_output_path_is_checked_before_any_file_is_read(phcle):
    arguments = ("fit", "--hierarchy", "missing.csv", "--out", "no/out.phcle")
    assert "the folder no does not exist" in phcle(*arguments, code=2).stderr


def test_output_never_overwrites_an_input(phcle, zoo):
    before = (zoo / "tree.csv").read_bytes()
    shown = phcle("fit", "--hierarchy", "tree.csv", "--out", "tree.csv", code=2).output
    assert "is an input" in shown
    assert (zoo / "tree.csv").read_bytes() == before


@pytest.mark.parametrize("change", ["remove", "overwrite"])
def test_an_input_that_goes_during_the_fit_does_not_lose_the_result(
    phcle, zoo, monkeypatch, change
):
    content = (zoo / "tree.csv").read_bytes()

    def fit_without_file(model, *arguments, **options):
        if change == "remove":
            (zoo / "tree.csv").unlink()
        else:
            (zoo / "tree.csv").write_text("child,parent\nother,file\n")
        return fit(model, *arguments, **options)

    fit = library.PHCLE.fit
    monkeypatch.setattr(library.PHCLE, "fit", fit_without_file)
    phcle(*FIT, "--quiet")
    (file,) = library.load(zoo / "out.phcle").origin["files"]
    assert file["sha256"] == hashlib.sha256(content).hexdigest()
