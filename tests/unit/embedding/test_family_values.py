from __future__ import annotations

import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext

pytestmark = pytest.mark.filterwarnings("ignore:this fit did not predict gaps")


@pytest.mark.parametrize("role", ["counts", "family", "both"])
def test_the_family_says_means_and_most_common_values_in_every_role(role):
    edges = [("cat", "felid"), ("lion", "felid"), ("tiger", "felid")]
    edges += [("dog", "canid"), ("wolf", "canid"), ("felid", "all"), ("canid", "all")]
    labels = ["cat", "lion", "tiger", "dog", "wolf"]
    cells = {
        "weight": [4, 100, "", 20, ""],
        "wild": ["no", "yes", "", "no", ""],
        "size": ["small", "large", "", "small", ""],
    }
    looks = DescriptiveContext.from_cells(labels, cells, "looks", log=["weight"])
    tree = RelationalContext.from_hierarchy(edges, labels=labels, role=role)
    model = PHCLE(dim=2, choose=False, completion="none")
    cells = model.fit([tree, looks]).embedding_.complete(why=False).cells
    said = {(cell.label, cell.column): cell.family for cell in cells}
    for label in ("tiger", "wolf"):
        assert said[label, "weight"] == pytest.approx(20.0)  # of 4 and 100: geometric
        assert said[label, "wild"] is False
        assert said[label, "size"] == "small"  # a tie, which most labels decide


def test_without_a_hierarchy_the_family_says_nothing():
    cells = {"x": [1, 2, ""], "y": [1, 0, 1]}
    looks = DescriptiveContext.from_cells(["a", "b", "c"], cells, "looks")
    embedding = PHCLE(dim=1, choose=False, completion="none").fit(looks).embedding_
    assert [cell.family for cell in embedding.complete().cells] == [None]
