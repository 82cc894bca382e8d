"""Why a value is predicted: the named reasons are those that the model has."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext

FAMILIES = {
    "felid": ["cat", "lion", "tiger", "lynx", "puma", "serval"],
    "canid": ["dog", "wolf", "fox", "jackal", "dhole", "coyote"],
    "equid": ["horse", "zebra", "ass", "kiang", "onager", "quagga"],
}
LABELS = [label for family in FAMILIES.values() for label in family]


def zoo(role):
    """Animals whose diet follows the family, and whose weight follows their size."""
    edges = [(x, family) for family, own in FAMILIES.items() for x in own]
    edges += [(family, "mammal") for family in FAMILIES]
    cells = {
        "diet": ["grass" if x in FAMILIES["equid"] else "meat" for x in LABELS],
        "size": ["large" if i % 2 else "small" for i in range(len(LABELS))],
        "weight": [200.0 if i % 2 else 100.0 for i in range(len(LABELS))],
    }
    cells["diet"][LABELS.index("puma")] = ""
    cells["diet"][LABELS.index("kiang")] = ""
    cells["weight"][LABELS.index("fox")] = ""
    cells["weight"][LABELS.index("wolf")] = ""
    tree = RelationalContext.from_hierarchy(edges, labels=LABELS, role=role)
    looks = DescriptiveContext.from_cells(LABELS, cells, "looks")
    model = PHCLE(dim=6, choose=False, calibrate=False, tol=1e-9, max_iter=2000)
    return model.fit([tree, looks]).embedding_


@pytest.fixture(scope="module", params=["counts", "family", "both"])
def embedding(request):
    return zoo(request.param)


def reasons(embedding, label, title):
    """The reason of one cell, for the value that is predicted."""
    (cell,) = embedding.complete([label], columns=[title]).cells
    return cell.why


def test_relatives_speak_for_what_runs_in_the_family(embedding):
    said = reasons(embedding, "kiang", "diet")
    if "family" in [x.kind for x in embedding.contexts]:
        assert said.startswith("relatives ")
        first = said.removeprefix("relatives ").split(",")[0].split(";")[0]
        assert first in FAMILIES["equid"]
        assert first != "kiang"
    else:
        assert said.startswith("below equid")


@pytest.mark.parametrize(("label", "size"), [("wolf", "large"), ("fox", "small")])
def test_a_known_cell_speaks_for_what_goes_with_it(embedding, label, size):
    assert reasons(embedding, label, "weight").startswith(f"size={size}")


def test_a_common_value_is_called_usual(embedding):
    assert "usual value" in reasons(embedding, "puma", "diet")


def test_tags_words_and_vectors_are_named_by_what_the_label_has():
    rng = np.random.default_rng(0)
    labels = [f"l{i}" for i in range(40)]
    is_wet = {x: i % 2 == 0 for i, x in enumerate(labels)}
    cells = ["", "", *("sea" if is_wet[x] else "land" for x in labels[2:])]
    home = DescriptiveContext.from_cells(labels, {"home": cells}, "home")
    tags = {x: ["fins"] if wet else ["legs"] for x, wet in is_wet.items()}
    texts = {x: f"it {'swims' if wet else 'walks'} well" for x, wet in is_wet.items()}
    vectors = {
        x: [3.0 if wet else -3.0, *rng.normal(size=2)] for x, wet in is_wet.items()
    }
    others = {
        "parts: fins": DescriptiveContext.from_tags(tags, name="parts"),
        "glosses: swims": DescriptiveContext.from_texts(texts, name="glosses"),
        "pictures": DescriptiveContext.from_vectors(vectors, name="pictures"),
    }
    for expected, other in others.items():
        model = PHCLE(dim=3, choose=False, calibrate=False)
        embedding = model.fit([home, other]).embedding_
        assert reasons(embedding, "l0", "home") == expected


def test_a_node_above_most_labels_is_no_reason():
    groups = [f"group {i % 6}" for i in range(36)]
    tree = [(f"x{i}", group) for i, group in enumerate(groups)]
    tree += [(group, "thing") for group in dict.fromkeys(groups)]
    tags = {f"x{i}": [f"tag {i % 6}"] for i in range(30)}
    embedding = (
        PHCLE(dim=8, choose=False)
        .fit(
            [
                RelationalContext.from_hierarchy(tree, role="counts", name="tree"),
                DescriptiveContext.from_tags(tags, name="tags"),
            ]
        )
        .embedding_
    )
    found = embedding.complete(["x30"]).cells
    assert found
    assert all("thing" not in cell.why for cell in found)
    assert any("group 0" in cell.why for cell in found)


def test_a_label_of_which_only_absent_tags_are_known_has_no_reasons_of_its_own():
    rng = np.random.default_rng(0)
    labels = tuple(f"x{i}" for i in range(40))
    tags = {x: ["red"] if i % 2 else ["blue"] for i, x in enumerate(labels)}
    table = DescriptiveContext("t", labels, ("size",), rng.normal(size=(40, 1)))
    contexts = [table, DescriptiveContext.from_tags({**tags, "plain": []}, name="tags")]
    model = PHCLE(dim=2, choose=False).fit(contexts)
    (cell,) = model.embedding_.complete(["plain"], columns=["size"]).cells
    assert cell.why in ("", "usual value")
