"""Fits with families: refusals, fold-in, files and explanations."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, fold_in, load
from phcle.errors import ContextError, OptionError

TREE = [
    *((x, "felid") for x in ("cat", "lion", "lynx", "puma")),
    *((x, "canid") for x in ("dog", "wolf", "fox")),
    *[("felid", "beast"), ("canid", "beast")],
]
VALUES = {
    "cat": [4.0, 1.0, 0.0],
    "lion": [190.0, 0.0, np.nan],
    "lynx": [20.0, np.nan, 0.0],
    "dog": [30.0, 1.0, 1.0],
    "wolf": [40.0, 0.0, np.nan],
    "stone": [9.0, 0.0, 0.5],
}
FRIENDS = [("cat", "dog"), ("lion", "lynx"), ("dog", "wolf"), ("cat", "lynx", 2)]
ROLES = ["family", "both"]


def tree(role="family", edges=TREE, name="tree"):
    return RelationalContext.from_hierarchy(edges, name=name, role=role)


def table(values=VALUES):
    columns = ("kg", "tame", "barks")
    return DescriptiveContext("looks", tuple(values), columns, list(values.values()))


def friends(role="family"):
    return RelationalContext.from_edges(FRIENDS, name="friends", role=role)


def fit(*contexts, **options):
    return PHCLE(**{"dim": 3, "completion": "none", **options}).fit(contexts)


def worst(embedding, again):
    return max(
        np.linalg.norm(embedding[x] - again[x]) / np.linalg.norm(embedding[x])
        for x in again.labels
    )


# ---- refusals ----


def test_a_family_without_any_data_is_refused_by_name():
    edges = [*TREE, ("seal", "pinniped"), ("walrus", "pinniped"), ("pinniped", "beast")]
    with pytest.raises(ContextError, match=r"'tree'.*'seal', 'walrus'.*role='both'"):
        fit(tree(edges=edges), table())
    assert "seal" in fit(tree("both", edges), table()).embedding_


def test_relatives_alone_are_refused():
    with pytest.raises(ContextError, match="no other context knows any label"):
        fit(tree())
    assert fit(tree("both")).embedding_.dim == 3


def test_an_unknown_role_is_refused():
    with pytest.raises(OptionError, match=r"role must be one of counts, family"):
        tree("clan")


def test_families_cannot_weigh_more_than_one():
    with pytest.raises(OptionError, match=r"sum to one at most. Got 1.5 for 'tree'"):
        fit(tree(), table(), weights={"tree": 1.5, "looks": 1})


# ---- the model ----


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_back_ends_agree_and_repeat_the_same_bytes(role, dtype, backend_options):
    options = {"dtype": dtype, "max_iter": 300}
    contexts = (tree(role), friends(), table())
    one = fit(*contexts, **options, **backend_options).embedding_
    again = fit(*contexts, **options, **backend_options).embedding_
    assert one.vectors.tobytes() == again.vectors.tobytes()
    reference = fit(*contexts, **options, backend="numpy").embedding_
    similar = [x.vectors @ x.vectors.T for x in (one, reference)]
    assert np.allclose(*similar, rtol=1e-2, atol=1e-2 * abs(similar[1]).max())


# ---- fold-in ----


@pytest.mark.parametrize("weight", [0.5, 1.0])
@pytest.mark.parametrize("role", ROLES)
def test_training_labels_fold_back_onto_their_vectors(role, weight, backend_options):
    contexts = (tree(role), table())
    weights = {"tree": weight, "looks": 1.0}
    model = fit(*contexts, weights=weights, **backend_options)
    assert worst(model.embedding_, model.transform(contexts)) < 1e-3


def node(embedding, name, context="tree"):
    found = next(c for c in embedding.contexts if c.name == context)
    return found.factor[found.columns.index(name)]


def test_a_new_label_with_only_a_parent_lies_on_its_centre():
    embedding = fit(tree(), table()).embedding_
    new = [("ocelot", "felid"), ("seal", "pinniped"), ("pinniped", "beast")]
    found = fold_in(embedding, tree("auto", new))
    assert np.allclose(found["ocelot"], node(embedding, "felid"), atol=1e-5)
    assert np.allclose(found["seal"], node(embedding, "beast"), atol=1e-5)


def test_a_new_tree_for_a_graph_is_refused():
    embedding = fit(friends(), table()).embedding_
    with pytest.raises(ContextError, match="was family at the fit"):
        fold_in(embedding, tree(edges=[("ocelot", "cat")], name="friends"))


@pytest.mark.parametrize("role", ROLES)
def test_added_labels_survive_a_file_and_take_others(role, tmp_path):
    embedding = fit(tree(role), friends(), table()).embedding_
    ocelot = fold_in(embedding, tree(edges=[("ocelot", "felid")]))
    both = embedding.joined(ocelot)
    for name, found in (("both", both), ("new", ocelot)):
        found.save(tmp_path / name)
        again = load(tmp_path / name)
        assert again.vectors.tobytes() == found.vectors.tobytes()
        edges = [("margay", "ocelot"), ("ocelot", "felid")]
        one, other = (fold_in(x, tree(edges=edges)) for x in (found, again))
        assert one.vectors.tobytes() == other.vectors.tobytes()
        assert np.allclose(one["margay"], ocelot["ocelot"], rtol=0.3, atol=0.3)


# ---- explanations ----


def parts_of(embedding, a, b, context="tree"):
    found = embedding.explain(a, b, k=50)
    assert sum(p.part for p in found.parts) + found.rest == pytest.approx(
        found.similarity
    )
    assert abs(found.rest) < 1e-4
    (part,) = (p for p in found.parts if p.context == context)
    assert sum(group.part for group in part.groups) == pytest.approx(part.part)
    return part, {
        group.group: {x.column: x.part for x in group.columns} for group in part.groups
    }


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_the_part_of_a_family_is_split_over_relatives_and_own_data(weight):
    weights = {"tree": weight, "looks": 1.0}
    embedding = fit(tree(), table(), weights=weights, dtype="float64").embedding_
    part, groups = parts_of(embedding, "cat", "lion")
    assert part.kind == "family"
    assert [x.node for x in part.shared] == ["felid", "beast"]
    assert set(groups) == {"each_other", "relatives_of_both", "own_data"}
    assert next(iter(groups)) == "each_other"  # the largest
    assert set(groups["each_other"]) == set(groups["own_data"]) == {"cat", "lion"}
    assert {"lynx", "dog"} <= set(groups["relatives_of_both"])
    _, groups = parts_of(embedding, "cat", "dog")
    assert {"lynx", "wolf"} <= set(groups["relatives_of_one"])
    _, groups = parts_of(embedding, "puma", "lynx")
    if weight == 1:  # nothing is known about the puma, so it teaches nobody
        assert set(groups["each_other"]) == {"lynx"}


def test_labels_that_were_added_are_explained_exactly():
    embedding = fit(tree(), table(), dtype="float64").embedding_
    new = DescriptiveContext("looks", ("ocelot",), ("kg", "tame"), [[12.0, 0.0]])
    edges = [("ocelot", "felid"), ("margay", "felid")]
    later = fold_in(embedding, [tree(edges=edges), new], dtype="float64")
    part, groups = parts_of(embedding.joined(later), "ocelot", "cat")
    assert [x.node for x in part.shared] == ["felid", "beast"]
    assert "lion" in groups["relatives_of_both"]
    _, groups = parts_of(later, "ocelot", "margay")  # no relative is in this one
    assert set(groups["both"]) == {"felid"}
