"""`phcle complete`."""

from __future__ import annotations

import csv
import json

import pytest
from command_line import live_formulas

from phcle.tables import open_table

COLUMNS = ["label", "column", "value", "confidence", "low", "high", "family", "why"]


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_unknown_cell_has_a_row(phcle, fitted, zoo):
    shown = phcle("complete", fitted, "--out", "filled.csv").stdout
    rows = rows_of(zoo / "filled.csv")
    assert list(rows[0]) == COLUMNS
    assert shown == f"written to filled.csv: {len(rows)} cells\n"
    cells = {(row["label"], row["column"]): row for row in rows}
    assert len(cells) == len(rows)
    unknown = {("dog", "stripes")}
    unknown |= {(x, y) for x in ("wolf", "horse") for y in ("weight", "stripes")}
    assert {cell for cell in cells if cell[1] in ("weight", "stripes")} == unknown
    for (_, column), row in cells.items():
        assert row["value"], row
        if column == "stripes":
            assert row["value"] in ("yes", "no")
    assert cells["wolf", "weight"]["family"] == "20"  # that of the dog
    assert any(row["why"] for row in rows)


def test_labels_columns_and_contexts_can_be_chosen(phcle, fitted, zoo):
    (zoo / "wanted.txt").write_text("wolf\nhorse\n")
    phcle(
        *("complete", fitted, "--labels", "wanted.txt", "--columns", "stripes"),
        *("--context", "looks", "--out", "filled.csv"),
    )
    rows = rows_of(zoo / "filled.csv")
    assert {(row["label"], row["column"]) for row in rows} == {
        ("wolf", "stripes"),
        ("horse", "stripes"),
    }


def test_json_without_a_file_has_all_cells(phcle, fitted):
    found = json.loads(phcle("complete", fitted, "--json").stdout)
    assert ["dog", "looks", "stripes"] in [
        [x["label"], x["context"], x["column"]] for x in found
    ]


def test_reasons_can_be_left_out(phcle, fitted, zoo):
    phcle("complete", fitted, "--no-why", "--out", "filled.csv")
    assert {row["why"] for row in rows_of(zoo / "filled.csv")} == {""}


def test_a_column_of_two_contexts_names_its_context(phcle, zoo):
    (zoo / "old.csv").write_text("animal,stripes\ncat,no\ntiger,yes\nwolf,no\n")
    phcle(
        *("fit", "--hierarchy", "tree.csv", "--attributes", "looks.csv", "--quiet"),
        *("--attributes", "old.csv", "--dim", 4, "--out", "two.phcle"),
    )
    phcle("complete", "two.phcle", "--out", "filled.csv")
    found = {row["column"] for row in rows_of(zoo / "filled.csv")}
    assert found == {"weight", "looks: stripes", "old: stripes"}
    phcle("complete", "two.phcle", "--wide", "looks.csv", "--out", "o.csv")
    assert "dog,20,\n" not in (zoo / "o.csv").read_text()
    (zoo / "mine.csv").write_text("animal,stripes\nwolf,\n")
    command = ("complete", "two.phcle", "--wide", "mine.csv", "--out", "o.csv")
    said = phcle(*command, code=2).stderr
    assert "is in several contexts: 'looks', 'old'; choose one with --context" in said
    phcle(*command, "--context", "looks")
    assert (zoo / "o.csv").read_text() in (
        "animal,stripes\nwolf,no\n",
        "animal,stripes\nwolf,yes\n",
    )


def test_wide_fills_the_gaps_of_the_own_table(phcle, fitted, zoo):
    answer = phcle(
        *("complete", fitted, "--wide", "looks.csv", "--out", "filled.csv", "--json")
    ).stdout
    before = (zoo / "looks.csv").read_text().splitlines()
    after = (zoo / "filled.csv").read_text().splitlines()
    assert [a for a, b in zip(before, after, strict=True) if a != b] == ["dog,20,"]
    assert after[4] in ("dog,20,yes", "dog,20,no")
    assert json.loads(answer) == {
        "table": "looks.csv",
        "file": "filled.csv",
        "rows": 5,
        "filled": 1,
        "changed": 0,
        "left_empty": 0,
        "markers": 0,
        "unknown_rows": 0,
        "unknown_labels": [],
    }


def test_wide_fills_markers_of_the_unknown_only_if_asked(phcle, fitted, zoo):
    (zoo / "more.csv").write_text("animal,stripes\nwolf,n/a\nhorse,\ncat,?\n")
    command = ("complete", fitted, "--wide", "more.csv", "--out", "o.csv")
    shown = phcle(*command).stdout
    assert "o.csv: 1 cells filled" in shown
    assert "2 cells of these columns hold a marker such as n/a and stay" in shown
    _, *rows = (zoo / "o.csv").read_text().splitlines()
    assert rows[0] == "wolf,n/a"
    assert rows[1] in ("horse,no", "horse,yes")
    shown = phcle(*command, "--fill-markers").stdout
    assert "o.csv: 2 cells filled" in shown
    assert "--fill-markers" not in shown
    _, *rows = (zoo / "o.csv").read_text().splitlines()
    assert rows[0] in ("wolf,no", "wolf,yes")
    assert rows[2] == "cat,?"  # known to the embedding, so not predicted


DECIDED = """kind,label,name,context,column,value,known,confidence,decision,time
gap,dog,dog,looks,stripes,yes,,0.9,accept,2026-01-01T00:00:00Z
gap,wolf,wolf,looks,weight,33.5,,,accept,2026-01-01T00:00:01Z
gap,wolf,wolf,looks,stripes,no,,0.8,reject,2026-01-01T00:00:02Z
suspicious,zebra,zebra,looks,weight,280,300,0.99,accept,2026-01-01T00:00:03Z
suspicious,lion,King of Beasts,looks,weight,200,190,0.99,reject,2026-01-01T00:00:04Z
"""


def test_decisions_are_applied_to_all_cells(phcle, fitted, zoo):
    (zoo / "decisions.csv").write_text(DECIDED)
    command = ("complete", fitted, "--decisions", "decisions.csv", "--context", "looks")
    found = {
        (cell["label"], cell["column"]): cell
        for cell in json.loads(phcle(*command, "--json").stdout)
    }
    assert found["dog", "stripes"]["value"] is True
    assert found["wolf", "weight"]["value"] == 33.5
    assert found["wolf", "weight"]["why"] == "decided"
    assert ("wolf", "stripes") not in found
    assert found["zebra", "weight"]["value"] == 280
    assert ("lion", "weight") not in found
    assert ("horse", "weight") in found  # nobody decided
    # What was accepted stands, however unlikely; other options hold for it, too.
    least = ("--min-confidence", 1, "--out", "filled.csv")
    phcle(*command, *least, "--labels", "wolf", "--labels", "dog")
    cells = {(row["label"], row["column"]) for row in rows_of(zoo / "filled.csv")}
    assert cells == {("dog", "stripes"), ("wolf", "weight")}


def test_decisions_are_applied_to_the_own_table(phcle, fitted, zoo):
    (zoo / "decisions.csv").write_text(DECIDED)
    (zoo / "more.csv").write_text(
        "animal,weight,stripes\ncat,4,no\nlion,190,no\ndog,20,\nwolf,,\nzebra,300,yes\n"
    )
    shown = phcle(
        *("complete", fitted, "--wide", "more.csv", "--out", "o.csv"),
        *("--decisions", "decisions.csv"),
    ).stdout
    assert (zoo / "o.csv").read_text() == (
        "animal,weight,stripes\ncat,4,no\nlion,190,no\ndog,20,yes\nwolf,34,\n"
        "zebra,280,yes\n"
    )
    assert "2 cells filled" in shown
    assert "1 known cells changed, as was decided" in shown


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gap,dog", "gap,dgo", "line 2: no label 'dgo' in this embedding. Did you"),
        ("stripes,yes", "stripe,yes", "line 2: column must be one of weight, stripes"),
        (
            "wolf,looks,weight",
            "wolf,lok,weight",
            "line 3: context must be one of looks",
        ),
        ("yes,,0.9", "maybe,,0.9", "line 2: value of 'stripes' must be yes or no. Got"),
        ("33.5", "much", "line 3: value of 'weight' must be a number. Got 'much'"),
        (
            "reject,2026-01-01T00:00:02Z",
            "keep,",
            "decision must be one of accept, reject. Got",
        ),
        (
            "gap,dog",
            "suspicious,dog",
            "'stripes' of 'dog' is unknown in this embedding",
        ),
        ("suspicious,zebra", "gap,zebra", "'weight' of 'zebra' is known in this"),
        (
            "gap,wolf,wolf,looks,stripes,no",
            "gap,dog,dog,looks,stripes,no",
            "cell again",
        ),
        (",decision,", ",verdict,", "has no column 'decision'; give a file that the"),
    ],
)
def test_bad_decisions_are_named(phcle, fitted, zoo, old, new, message):
    assert DECIDED.count(old) == 1
    (zoo / "decisions.csv").write_text(DECIDED.replace(old, new))
    command = ("complete", fitted, "--decisions", "decisions.csv", "--out", "o.csv")
    assert message in phcle(*command, code=2).stderr
    assert not (zoo / "o.csv").exists()


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_no_table_that_a_command_writes_holds_a_live_formula(phcle, zoo, ending):
    labels = ["=cmd|' /C calc'!A0", "@home", "-2+3", "+x", "-5", "cat"]
    kinds = ["=SUM(A1)", "plain"]
    edges = "".join(f"{x},{'odd' if i % 2 else 'even'}\n" for i, x in enumerate(labels))
    (zoo / "t.csv").write_text(f"child,parent\n{edges}odd,all\neven,all\n")
    cells = [f"{x},{kinds[i % 2]}\n" for i, x in enumerate(labels[:4])]
    (zoo / "a.csv").write_text("label,kind\n" + "".join(cells))
    phcle(
        *("fit", "--hierarchy", "t.csv", "--attributes", "a.csv", "--dim", 2),
        *("--out", "odd.phcle", "--quiet"),
    )
    out = f"out.{ending}"
    commands = [
        ("complete",),
        ("nearest", "cat"),
        ("clusters", "-k", 2),
        *([("export",)] if ending == "csv" else []),
    ]
    for name, *arguments in commands:
        phcle(name, "odd.phcle", *arguments, "--out", out)
        with (zoo / out).open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter="," if ending == "csv" else "\t"))
        cells = {cell for row in rows for cell in row}
        marked = {x for x in cells if x.startswith("'")}
        assert marked, name
        assert not list(live_formulas(cells)), name
        read = {x for _, own in open_table(zoo / out).rows() for x in own}
        assert read.isdisjoint(marked), name
        assert {x[1:] for x in marked} <= read, name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--columns", "stripe"), "Did you mean 'stripes'"),
        (("--context", "look"), "Did you mean 'looks'?"),
        (("--labels", "zebar"), "Did you mean 'zebra'?"),
        (("--out", "zoo.phcle"), "the ending must be one of"),
        (("--out", "filled.xlsx"), "the ending must be one of"),
        (("--out", "no/filled.csv"), "the folder no does not exist"),
        (("--wide", "looks.csv"), "--wide needs --out"),
        (("--fill-markers", "--out", "o.csv"), "--fill-markers needs --wide"),
        (("--wide", "none.csv", "--out", "o.csv"), "none.csv: no such file"),
        (
            ("--wide", "looks.csv", "--out", "o.csv", "--draws", 2),
            "--wide has one value for each cell; leave out --draws",
        ),
        (("--suspicious", "--draws", 2), "leave out --draws"),
        (("--suspicious", "--decisions", "looks.csv"), "leave out --suspicious"),
        (("--wide", "looks.csv", "--out", "looks.csv"), "is an input of this command"),
        (("--wide", "looks.csv", "--out", "zoo.phcle"), "is an input of this command"),
        (
            ("--wide", "names.csv", "--out", "o.csv"),
            "has no column that this embedding",
        ),
        (
            ("--wide", "looks.csv", "--columns", "stripe", "--out", "o.csv"),
            "Did you mean 'stripes'",
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(phcle, fitted, arguments, message):
    said = phcle("complete", fitted, *arguments, code=2).stderr
    assert message in said
    assert said.count("\n") == 1
