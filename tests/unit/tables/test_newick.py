"""Newick trees: names, lengths of branches, and the fits that they weigh."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from command_line import call

from phcle import load
from phcle.errors import ContextError
from phcle.tables import read_newick

pytest.importorskip("newick", reason="the extra 'trees' is not installed")

CATS = "((cat:1,lion:2)felid:3,(dog:1,wolf:1):4)carnivore;"


@pytest.fixture
def tree(tmp_path):
    """Write a Newick file."""

    def write(text, name="t.nwk"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_names_and_lengths_are_read(tree):
    found = read_newick(tree(CATS))
    both = "dog + wolf"
    lengths = {"cat": 1, "lion": 2, "felid": 3, "dog": 1, "wolf": 1, both: 4}
    above = {"cat": "felid", "lion": "felid", "dog": both, "wolf": both}
    assert found.lengths_by_edge == {
        (child, above.get(child, "carnivore")): x for child, x in lengths.items()
    }
    assert found.leaves == ("cat", "lion", "dog", "wolf")


def test_an_underscore_is_a_space_unless_it_is_quoted(tree):
    found = read_newick(tree("(Felis_catus,'Canis_lupus')'top_1';"))
    assert found.nodes == ("Felis catus", "top_1", "Canis_lupus")


def test_quotes_comments_supports_and_several_trees_are_understood(tree):
    text = "('the cat''s':1,b[&rate=2]:3)0.95:2[x];\n\n((c,d)100,(e)88)99;\n\n"
    found = read_newick(tree(text, "t.tre"))
    assert set(found.nodes) == {
        *("the cat's", "b", "the cat's + b", "c", "d", "c + d", "e", "e + e"),
        "c + e",
    }
    assert found.lengths is not None


@pytest.mark.parametrize(
    "text", ["((a,b),c);", "((a:2,b:2):2,c:2);", "((a:0,b:0):0,c:0);", "((a:2,b):2,c);"]
)
def test_lengths_that_say_nothing_are_left_out(tree, text):
    assert read_newick(tree(text)).lengths is None


def test_missing_zero_and_extreme_lengths_have_a_rule(tree):
    found = read_newick(tree("((a:0,b:2)x:1,c:9000,(d:2,e)y:3);"))
    found = {child: length for (child, _), length in found.lengths_by_edge.items()}
    # The median of 1, 2, 2, 3 and 9000 is 2.
    assert found == {"a": 0.02, "b": 2, "x": 1, "c": 200, "d": 2, "e": 2, "y": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("((a,b);", "is not a tree in Newick notation"),
        ("(a:1,b:x);", "is not a tree in Newick notation"),
        ("(" * 5000 + "a" + ")" * 5000 + ";", "is not a tree in Newick notation"),
        ("(a:1,b:-1);", "branch of 'b' has the length -1; lengths must be zero or"),
        ("(a:1,b:inf);", "branch of 'b' has the length inf"),
        ("(a:1,b:nan);", "branch of 'b' has the length nan"),
        ("(a,,b);", "a leaf has no name"),
        ("((a,b)x,(a,c)x);", "several nodes are called 'x', 'a'|'a', 'x'"),
        ("a;", "no edge"),
        ("", "no edge"),
    ],
)
def test_bad_trees_are_refused(tree, text, message):
    path = tree(text)
    with pytest.raises(Exception, match=message) as caught:
        read_newick(path)
    assert str(path) in str(caught.value) or "'t'" in str(caught.value)


def newick_of(**lengths):
    """Four labels in each of six groups, in pairs of groups."""

    def node(name, *below):
        inside = f"({','.join(below)})" if below else ""
        return f"{inside}{name}:{lengths.get(name, 0.7)}"

    def group(g):
        return node(f"g{g}", *(node(f"x{4 * g + i}") for i in range(4)))

    return (
        node("root", *(node(f"p{g}", group(g), group(g + 1)) for g in (0, 2, 4))) + ";"
    )


def test_lengths_are_stored_and_kept_when_labels_are_added(tree, tmp_path):
    path = tree(newick_of(g1=2, x3=0.5), "tree.nwk")
    rows = [f"x{i},{i % 7},{i % 3}" for i in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["label,a,b", *rows]) + "\n")
    out, more = tmp_path / "t.phcle", tmp_path / "more.phcle"
    options = ("--attributes", tmp_path / "t.csv", "--dim", 2, "--role", "family")
    call("fit", "--hierarchy", path, *options, "--out", out, "--quiet")
    stored = load(out).contexts[0].hierarchy
    assert stored.lengths_by_edge == read_newick(path).lengths_by_edge
    (tmp_path / "new.csv").write_text("child,parent\nnew,g2\n")
    new = tree("(newer:3,newest:1)g3;", "new.nwk")
    for file in (tmp_path / "new.csv", new):
        call("add", out, "--hierarchy", f"tree={file}", "--out", more)
        kept = load(more).contexts[0].hierarchy.lengths_by_edge
        assert stored.lengths_by_edge.items() <= kept.items()
    assert {"newer", "newest"} <= set(load(more).labels)


def test_forged_lengths_are_refused(tree):
    found = read_newick(tree(CATS))
    for lengths in (found.lengths[:-1], found.lengths * 0, found.lengths + np.inf):
        with pytest.raises(ContextError, match="lengths of the edges of 't' are"):
            replace(found, lengths=lengths).check("t")
