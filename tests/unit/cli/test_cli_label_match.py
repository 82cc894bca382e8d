"""Labels that files spell differently, on the command line."""

import json

import pytest

import phcle as library

FIT = ("--dim", 2, "--no-choose", "--completion", "none", "--out", "zoo.phcle")


@pytest.fixture
def fit(phcle, zoo):
    """Fit the tree, a table, and a list that is written to a file of its kind."""

    def run(*arguments, code=0, **lists):
        size = "label,weight\nCAT,4\nlion,190\nTiger,220\nWolfs,30\n"
        (zoo / "size.csv").write_text(size)
        for kind, content in lists.items():
            (zoo / f"{kind}.csv").write_text(content)
            arguments += (f"--{kind}", f"{kind}.csv")
        files = ("--hierarchy", "tree.csv", "--attributes", "size.csv")
        return phcle("fit", *files, *FIT, *arguments, code=code)

    return run


def test_fit_says_what_it_joined_and_what_matches_nothing(fit):
    said = fit().stderr
    assert (
        "2 labels of size.csv differ from tree.csv only in case: CAT → cat, "
        "Tiger → tiger" in said
    )
    assert "labels that no other file has: 4 of 7 in tree.csv" in said
    assert "1 of 4 in size.csv (Wolfs)" in said
    assert "label,synonym\n  wolf,Wolfs\n" in said
    assert library.load("zoo.phcle").labels == (
        *("cat", "lion", "tiger", "dog", "wolf", "horse", "zebra", "Wolfs"),
    )


def test_printed_lines_are_a_file_of_synonyms(fit):
    lines = [x[2:] for x in fit().stderr.splitlines() if x.startswith("  ")]
    said = fit(synonyms="\n".join(lines)).stderr
    assert "1 label joined by synonyms: Wolfs → wolf" in said
    assert "possible misspellings" not in said
    found = library.load("zoo.phcle")
    assert len(found) == 7
    assert found.resolve("Wolfs") == "wolf"
    assert [x["flag"] for x in found.origin["files"]][-1] == "synonyms"


def test_match_is_in_json_and_quiet_hides_it(fit):
    result = fit("--json")
    match = json.loads(result.stdout)["match"]
    assert [x["spelling"] for x in match["joined"]] == ["CAT", "Tiger"]
    assert match["suggestions"][0]["candidates"] == ["wolf"]
    assert "CAT" not in result.stderr
    assert "CAT" not in fit("--quiet").stderr


def test_labels_file_is_matched(fit):
    fit(labels="Cat\nlion\ndog\n")
    found = library.load("zoo.phcle")
    assert found.labels == ("Cat", "lion", "dog")
    assert found.contexts_of("cat") == {"tree": True, "size": True}


def test_added_row_of_a_known_label_is_not_a_new_label(add, zoo):
    said = add(
        *("--tags", "uses=new.csv", "--hierarchy", "tree=edges.csv"),
        new="label,tag\nPuma,pet\nLION,pet\n",
        edges="child,parent\npuma,FELID\nTIGER,canid\n",
    ).stderr
    assert "new.csv: in the embedding already, so left out: 'LION'" in said
    assert "edges.csv: in the embedding already, so left out: 'TIGER'" in said
    assert "differs from the embedding only in case: LION → lion" in said
    more = library.load(zoo / "more.phcle")
    assert len(more) == 8
    assert more.labels[-1].lower() == "puma"
    assert more.resolve("LION") == "lion"


def test_added_labels_that_may_be_known_are_shown_and_joined_by_synonyms(add, zoo):
    new = "label,tag\npuma,pet\nlions,pet\n"
    assert "  lion,lions\n" in add("--tags", "uses=new.csv", new=new).stderr
    assert len(library.load(zoo / "more.phcle")) == 9
    command = ("--tags", "uses=new.csv", "--synonyms", "syn.csv")
    assert "lions → lion" in add(*command, syn="label,synonym\nlion,lions\n").stderr
    assert len(library.load(zoo / "more.phcle")) == 8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nx,y\n", "say which column is which, such as --synonyms synonyms.csv:"),
        ("label,synonym\ncat,\n", "line 2: synonym is empty"),
        ("label,synonym\ncat,x\ndog,x\n", "line 3: 'x' is a synonym of 'cat' already"),
    ],
)
def test_wrong_synonyms_are_refused(fit, content, message):
    assert message in fit(synonyms=content, code=2).stderr
