"""Labels that files spell differently, on the command line."""

import json

import pytest

import phcle as library

FIT = ("--dim", 2, "--no-choose", "--completion", "none", "--out", "zoo.phcle")


@pytest.fixture
def fit(phcle, zoo):
    """Fit the tree and a table of the given rows."""

    def run(*arguments, rows="CAT,4\nlion,190\nTiger,220\nWolfs,30\n", code=0):
        (zoo / "size.csv").write_text(f"label,weight\n{rows}")
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
    assert "size.csv matches the others least" in said  # the first file is the measure
    assert "label,synonym\n  wolf,Wolfs\n" in said
    assert library.load("zoo.phcle").labels == (
        *("cat", "lion", "tiger", "dog", "wolf", "horse", "zebra", "Wolfs"),
    )


def test_printed_lines_are_a_file_of_synonyms(fit, zoo):
    lines = [x[2:] for x in fit().stderr.splitlines() if x.startswith("  ")]
    (zoo / "synonyms.csv").write_text("\n".join(lines))
    result = fit("--synonyms", "synonyms.csv")
    assert "1 label joined by synonyms: Wolfs → wolf" in result.stderr
    assert "possible misspellings" not in result.stderr
    found = library.load("zoo.phcle")
    assert len(found) == 7
    assert found.resolve("Wolfs") == "wolf"
    assert [x["flag"] for x in found.origin["files"]][-1] == "synonyms"


def test_exact_match_joins_nothing(fit):
    result = fit("--match", "exact")
    assert "differ" not in result.stderr
    assert {"CAT", "cat"} <= set(library.load("zoo.phcle").labels)


def test_match_is_in_json_and_quiet_hides_it(fit):
    result = fit("--json")
    match = json.loads(result.stdout)["match"]
    assert [x["spelling"] for x in match["joined"]] == ["CAT", "Tiger"]
    assert match["suggestions"][0]["candidates"] == ["wolf"]
    assert match["worst"] == "size.csv"
    assert "CAT" not in result.stderr
    assert "CAT" not in fit("--quiet").stderr


def test_labels_file_is_matched_and_says_what_it_leaves_out(fit, zoo):
    (zoo / "labels.txt").write_text("Cat\nlion\ndog\n")
    result = fit("--labels", "labels.txt")
    assert "not asked for: 4 of tree.csv, 2 of size.csv" in result.stderr
    found = library.load("zoo.phcle")
    assert found.labels == ("Cat", "lion", "dog")
    assert found.contexts_of("cat") == {"tree": True, "size": True}


def test_misspelled_label_to_embed_is_refused_with_a_suggestion(fit, zoo):
    (zoo / "labels.txt").write_text("cat\nzebraa\nlion\n")
    result = fit("--labels", "labels.txt", code=2)
    assert "Did you mean 'zebra'?" in result.stderr
    assert "  zebra,zebraa\n" in result.stderr


def test_names_are_matched_and_those_of_no_label_reported(fit, zoo):
    (zoo / "names.csv").write_text("label,name\nLION,King\nfelid,Cats\nunicorn,U\n")
    result = fit("--names", "names.csv")
    assert "1 of 3 in names.csv (unicorn)" in result.stderr
    found = library.load("zoo.phcle")
    assert found.names == {"lion": "King", "felid": "Cats", "unicorn": "U"}


def test_users_table_is_filled_in_its_own_spelling(fit, phcle, zoo):
    fit()
    (zoo / "mine.csv").write_text("label,weight\nCAT,\nLion,\nnix,\n")
    phcle("complete", "zoo.phcle", "--wide", "mine.csv", "--out", "full.csv")
    rows = (zoo / "full.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["CAT", "Lion", "nix"]
    assert rows[3] == "nix,"


def test_added_row_of_a_known_label_is_not_a_new_label(fitted, phcle, zoo):
    (zoo / "new.csv").write_text("label,tag\nPuma,pet\nLION,pet\n")
    (zoo / "edges.csv").write_text("child,parent\npuma,FELID\nTIGER,canid\n")
    result = phcle(
        *("add", fitted, "--tags", "uses=new.csv", "--hierarchy", "tree=edges.csv"),
        *("--out", "more.phcle"),
    )
    said = result.stderr
    assert "new.csv: in the embedding already, so left out: 'LION'" in said
    assert "edges.csv: in the embedding already, so left out: 'TIGER'" in said
    assert "differs from the embedding only in case: LION → lion" in said
    more = library.load(zoo / "more.phcle")
    assert len(more) == 8
    assert more.labels[-1].lower() == "puma"
    assert more.resolve("LION") == "lion"


def test_added_labels_that_may_be_known_are_shown_and_joined_by_synonyms(
    fitted, phcle, zoo
):
    (zoo / "new.csv").write_text("label,tag\npuma,pet\nlions,pet\n")
    (zoo / "syn.csv").write_text("label,synonym\nlion,lions\n")
    command = ("add", fitted, "--tags", "uses=new.csv", "--out", "more.phcle")
    assert "  lion,lions\n" in phcle(*command).stderr
    assert len(library.load(zoo / "more.phcle")) == 9
    assert "lions → lion" in phcle(*command, "--synonyms", "syn.csv").stderr
    assert len(library.load(zoo / "more.phcle")) == 8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nx,y\n", "say which column is which, such as --synonyms s.csv:label=a"),
        ("label,synonym\ncat,\n", "line 2: synonym is empty"),
        ("label,synonym\ncat,x\ndog,x\n", "line 3: 'x' is a synonym of 'cat' already"),
    ],
)
def test_wrong_synonyms_are_refused(fit, zoo, content, message):
    (zoo / "s.csv").write_text(content)
    assert message in fit("--synonyms", "s.csv", code=2).stderr
