"""What a table is can be told from its header and its cells."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phcle.contexts.readers.file_endings import kind_of_ending
from phcle.contexts.readers.kind_guessing import (
    TableSample,
    guess_kind,
    guess_kinds,
)

SHARED = Path(__file__).parents[5] / "shared" / "data"
JOBS = [(f"job {i}", f"sector {i % 4}") for i in range(20)]
TREE = [*JOBS, *[(f"sector {i}", "work") for i in range(4)]]
MANY = [(f"thing {i}", f"quality {(i * j) % 5}") for i in range(12) for j in (1, 2, 3)]
BASKETS = [(f"b{i}", "abcdefghijkl"[i * j % 12]) for i in range(12) for j in (1, 2, 5)]
GRAPH = [(f"town {i}", f"town {(i + j) % 9}", i) for i in range(9) for j in (1, 2)]
SPECIES = [
    (f"species {i}", f"genus {i // 2}", f"family {i // 6}", f"order {i // 12}")
    for i in range(48)
]
TEXTS = [(f"thing {i}", f"a long text that tells what thing {i} is") for i in range(6)]

CASES = {
    "names of columns decide": (
        ["Child", "PARENT"],
        JOBS,
        "hierarchy",
        {"child": "Child", "parent": "PARENT"},
    ),
    "jobs and sectors": (
        ["job", "sector"],
        JOBS,
        "hierarchy",
        {"child": "job", "parent": "sector"},
    ),
    "sectors and jobs": (
        ["sector", "job"],
        [row[::-1] for row in JOBS],
        "hierarchy",
        {"child": "job", "parent": "sector"},
    ),
    "a tree without titles": (
        ["c1", "c2"],
        TREE,
        "hierarchy",
        {"child": "c1", "parent": "c2"},
    ),
    "a lineage": (
        ["species", "genus", "family", "order"],
        SPECIES,
        "hierarchy",
        {"levels": "species/genus/family/order"},
    ),
    "a lineage from the top": (
        ["order", "family", "genus", "species"],
        [row[::-1] for row in SPECIES],
        "hierarchy",
        {"levels": "species/genus/family/order"},
    ),
    "a graph with weights": (
        ["one town", "another", "roads"],
        GRAPH,
        "edges",
        {"source": "one town", "target": "another", "weight": "roads"},
    ),
    "a graph": (
        ["from", "to"],
        [row[:2] for row in GRAPH],
        "edges",
        {"source": "from", "target": "to"},
    ),
    "products and keywords": (
        ["product", "keyword"],
        MANY,
        "tags",
        {"label": "product", "tag": "keyword"},
    ),
    "numbered items": (
        ["no", "what"],
        BASKETS,
        "annotations",
        {"item": "no", "label": "what"},
    ),
    "a text for each label": (
        ["label", "text"],
        TEXTS,
        "texts",
        {"label": "label", "text": "text"},
    ),
    "texts by another title": (
        ["thing", "what it is"],
        TEXTS,
        "texts",
        {"label": "thing", "text": "what it is"},
    ),
    "a price for each label": (
        ["label", "price"],
        [(f"thing {i}", 2.5 * i) for i in range(9)],
        "attributes",
        {"label": "label"},
    ),
    "a colour for each label": (
        ["label", "colour"],
        [(f"thing {i}", ["red", "blue"][i % 2]) for i in range(9)],
        "attributes",
        {"label": "label"},
    ),
    "names of ids": (
        ["wnid", "readable"],
        [(f"n0{i}", f"thing {i}") for i in range(1_000_000, 1_000_009)],
        "names",
        {"label": "wnid", "name": "readable"},
    ),
    "attributes with a name and a text": (
        ["label", "name", "text", "price"],
        [(f"t{i}", f"thing {i}", f"a text on {i}", i) for i in range(9)],
        "attributes",
        {"label": "label"},
    ),
    "labels of attributes may come later": (
        ["price", "thing", "colour"],
        [(2.5 * (i % 3), f"thing {i}", "red") for i in range(9)],
        "attributes",
        {"label": "thing"},
    ),
    "synonyms": (
        ["label", "synonym"],
        [("Beds", "Bedz")],
        "synonyms",
        {"label": "label", "synonym": "synonym"},
    ),
    "a list": (["what"], [("cat",), ("dog",)], "labels", {"label": "what"}),
    "word vectors": (["the", *["0.1"] * 50], [], "vectors", {}),
    "word vectors with their count": (["400000 300"], [], "vectors", {}),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_kind_and_its_columns_are_found(case):
    header, rows, kind, columns = case
    guess = guess_kind(header, rows)
    assert (guess.kind, dict(guess.columns)) == (kind, columns), guess.why


def test_many_to_many_is_left_open_without_evidence():
    guess = guess_kind(["one", "other"], MANY)
    assert guess.kind is None
    assert guess.between == ("tags", "annotations")
    assert "--tags FILE or --annotations FILE" in guess.why


@pytest.mark.parametrize(
    ("known", "kind"),
    [("thing", "tags"), ("quality", "annotations"), ("both", "edges")],
)
def test_labels_of_other_files_tell_many_to_many_apart(known, kind):
    labels = {x for row in MANY for x in row if known in (x.split()[0], "both")}
    assert guess_kind(["one", "other"], MANY, labels).kind == kind


def test_files_of_one_folder_help_each_other():
    found = guess_kinds(
        {
            "prices": TableSample(
                ["label", "price"], [(f"Thing {i}", i / 2) for i in range(12)]
            ),
            "qualities": TableSample(["c1", "c2"], MANY),
        }
    )
    assert found["prices"].kind == "attributes"
    assert found["qualities"].kind == "tags"


def test_columns_of_chance_are_no_lineage():
    rows = [(f"thing {i}", ["red", "blue"][i % 2], "ab"[i // 5 % 2]) for i in range(20)]
    assert guess_kind(["thing", "colour", "size"], rows).kind == "attributes"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .", "skos"),
        ("@prefix owl: <http://www.w3.org/2002/07/owl#> .", "owl"),
    ],
)
def test_the_beginning_of_an_rdf_file_tells_its_kind(tmp_path, text, kind):
    path = tmp_path / "file.ttl"
    path.write_text(text)
    assert kind_of_ending(path) == kind


CELLS = st.one_of(st.text(max_size=5), st.none(), st.integers(), st.floats())


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, max_size=n))))
def test_any_table_gets_a_kind_or_a_reason(rows):
    n = max([1, *map(len, rows)])
    guess = guess_kind([f"c{i}" for i in range(n)], rows)
    assert guess.why
    assert (guess.kind is None) == bool(guess.between)


SHOP = {
    "taxonomy.csv": "hierarchy",
    "attributes.csv": "attributes",
    "tags.csv": "tags",
    "baskets.csv": "annotations",
}
REAL = {
    "pantheria/taxonomy.csv": "hierarchy",
    "pantheria/traits.csv": "attributes",
    "grambank/features.csv": "attributes",
    "grambank/languages.csv": "attributes",
}


def sample(path):
    if not path.exists():
        pytest.skip("shared/data is not beside the checkout")
    with path.open(encoding="latin-1", newline="") as file:
        header, *rows = csv.reader(file)
    return TableSample(header, rows[:2000])


@pytest.mark.parametrize("titles", ["own titles", "no titles"])
def test_the_files_of_a_shop_are_told_apart(titles):
    tables = {name: sample(SHARED / "shop" / name) for name in SHOP}
    if titles == "no titles":
        tables = {
            name: TableSample([f"c{i}" for i in range(len(x.header))], x.rows)
            for name, x in tables.items()
        }
    found = guess_kinds(tables)
    assert {name: guess.kind for name, guess in found.items()} == SHOP


@pytest.mark.parametrize(("name", "kind"), REAL.items())
def test_real_tables_are_recognised(name, kind):
    table = sample(SHARED / name)
    assert guess_kind(table.header, table.rows).kind == kind
