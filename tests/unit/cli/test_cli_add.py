"""`phcle add`: labels that come later."""

from __future__ import annotations

import json

import pytest

import phcle as library


def test_new_labels_join_the_old_ones(add, zoo):
    result = add("--hierarchy", "new.csv", "--json", new="child,parent\npuma,felid\n")
    answer = json.loads(result.stdout)
    (puma,) = answer["added"]
    assert (answer["labels"], puma["label"]) == (8, "puma")
    assert {x["label"] for x in puma["neighbours"][:3]} == {"cat", "lion", "tiger"}
    more = library.load(zoo / "more.phcle")
    assert len(more) == 8
    assert more.contexts_of("puma")["tree"]


def test_file_goes_to_the_only_context_of_its_sort(add, zoo):
    add("--attributes", "later.csv", later="label,weight\npuma,60\n")
    knows = library.load(zoo / "more.phcle").contexts_of("puma")
    assert [name for name, is_known in knows.items() if is_known] == ["looks"]


def test_names_of_new_labels_are_kept(add, zoo):
    add(
        *("--hierarchy", "new.csv", "--names", "words.csv"),
        new="child,parent\npuma,felid\n",
        words="label,name\npuma,mountain lion\n",
    )
    assert library.load(zoo / "more.phcle").resolve("mountain lion") == "puma"


@pytest.mark.parametrize(
    ("flag", "content", "message"),
    [
        ("--vectors x.csv", "puma 1 0\n", "nothing in the fit was learned from"),
        ("--tags nix=x.csv", "label,tag\npuma,pet\n", "the fit had no context 'nix'"),
        ("--tags x.csv", "label,tag\ncat,pet\n", "in the embedding already"),
        ("--edges x.csv", "source,target\ncat,dog\n", "in the embedding already"),
        (
            "--hierarchy x.csv",
            "child,parent\npuma,cat famly\n",
            "no node 'cat famly' in this embedding. Did you mean 'cat family'",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused(add, zoo, flag, content, message):
    assert message in add(*flag.split(), code=2, x=content).stderr
    assert not (zoo / "more.phcle").exists()


def test_file_that_may_belong_to_several_contexts_must_be_named(phcle, zoo):
    (zoo / "more_uses.csv").write_text("label,tag\nzebra,zoo\nlion,zoo\nlion,film\n")
    files = ("--tags", "uses.csv", "--tags", "more_uses.csv")
    phcle("fit", *files, "--dim", 2, "--out", "tags.phcle", "--quiet")
    (zoo / "new.csv").write_text("label,tag\npuma,zoo\n")
    answered = phcle(
        "add", "tags.phcle", "--tags", "new.csv", "--out", "x.phcle", code=2
    )
    assert "may belong to 'uses', 'more_uses'" in answered.stderr
