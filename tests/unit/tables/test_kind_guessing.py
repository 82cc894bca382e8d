"""What a table is can be told from its header and its cells, and a folder is enough."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from phcle.errors import FileError
from phcle.tables import guess_files, read_contexts

JOBS = [(f"job {i}", f"sector {i % 4}") for i in range(20)]
TREE = [*JOBS, *[(f"sector {i}", "work") for i in range(4)]]
MANY = [(f"thing {i}", f"quality {(i * j) % 5}") for i in range(12) for j in (1, 2, 3)]
BASKETS = [(f"b{i}", "abcdefghijkl"[i * j % 12]) for i in range(12) for j in (1, 2, 5)]
GRAPH = [(f"town {i}", f"town {(i + j) % 9}", i) for i in range(9) for j in (1, 2)]
PAIRS = [row[:2] for row in GRAPH]
SPECIES = [
    (f"species {i}", f"genus {i // 2}", f"family {i // 6}", f"order {i // 12}")
    for i in range(48)
]
RANKS = "species genus family order"
LEVELS = f"levels={RANKS.replace(' ', '/')}"


def flipped(table):
    return [row[::-1] for row in table]


def rows(*cells):
    """Nine rows; texts hold the number of the row, numbers grow with it."""
    return [
        tuple(x.format(i) if isinstance(x, str) else x * i for x in cells)
        for i in range(9)
    ]


TEXTS = rows("thing {}", "a long text that tells what thing {} is")
COLOURS = [(f"thing {i}", ["red", "blue"][i % 2]) for i in range(9)]
OFTEN = [(f"t{i % 4}", i / 2, ["red", "blue"][i % 2]) for i in range(9)]
LATE = [(2.5 * (i % 3), f"thing {i}", "red") for i in range(9)]
LONG = rows("t{}", "thing {}", "a text on {}", 1)

# Titles, rows, kind, and columns that the titles do not give away.
CASES = {
    "names of columns decide": ("Child PARENT", JOBS, "hierarchy", ""),
    "jobs and sectors": ("job sector", JOBS, "hierarchy", "child=job parent=sector"),
    "sectors first": ("s j", flipped(JOBS), "hierarchy", "child=j parent=s"),
    "a tree without titles": ("a b", TREE, "hierarchy", "child=a parent=b"),
    "a lineage": (RANKS, SPECIES, "hierarchy", LEVELS),
    "a lineage from the top": (
        " ".join(RANKS.split()[::-1]),
        flipped(SPECIES),
        "hierarchy",
        LEVELS,
    ),
    "a graph with weights": (
        "one another roads",
        GRAPH,
        "edges",
        "source=one target=another weight=roads",
    ),
    "a graph": ("from to", PAIRS, "edges", "source=from target=to"),
    "products and keywords": ("what keyword", MANY, "tags", "label=what tag=keyword"),
    "numbered items": ("no what", BASKETS, "annotations", "item=no label=what"),
    "a text for each label": ("label text", TEXTS, "texts", ""),
    "texts by another title": ("a tells", TEXTS, "texts", "label=a text=tells"),
    "a price for each label": ("label price", rows("t{}", 2.5), "attributes", ""),
    "a mass for each label": ("label mass", rows("t{}", "{} kg"), "attributes", ""),
    "a day for each label": ("label d", rows("t{}", "2020-01-1{}"), "attributes", ""),
    "a colour for each label": ("label colour", COLOURS, "attributes", ""),
    "names of ids": (
        "wnid b",
        rows("n0100{}", "thing {}"),
        "names",
        "label=wnid name=b",
    ),
    "attributes with a name": ("label name text price", LONG, "attributes", ""),
    "several rows for a label": ("name size colour", OFTEN, "attributes", ""),
    "labels may come later": ("price thing colour", LATE, "attributes", "label=thing"),
    "synonyms": ("label synonym", [("Beds", "Bedz")], "synonyms", ""),
    "word vectors": ("the" + " 0.1" * 50, [], "vectors", ""),
    "word vectors with their count": ("400000 300", [], "vectors", ""),
}


def write(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def guess(tmp_path):
    """What a table is taken to be, or why that is open."""

    def guess(header, rows, *others, name="table.csv"):
        path = write(tmp_path / name, header, rows)
        found = guess_files([path, *others])
        return next((x for x in found.files if x.path == path), found.faults.get(path))

    return guess


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_kind_and_its_columns_are_found(case, guess):
    header, cells, kind, columns = case
    found = guess(header.split(), cells)
    roles = dict(x.split("=") for x in columns.split())
    assert (found.kind, dict(found.columns)) == (kind, roles), found.why


def test_many_to_many_is_left_open_without_evidence(guess):
    found = guess(["one", "other"], MANY)
    assert found.endswith("say what it is: --tags FILE or --annotations FILE.")


@pytest.mark.parametrize(
    ("known", "kind"),
    [("thing", "tags"), ("quality", "annotations"), ("both", "edges")],
)
def test_labels_of_other_files_tell_many_to_many_apart(tmp_path, guess, known, kind):
    labels = {x for row in MANY for x in row if known in (x.split()[0], "both")}
    prices = [(label, i / 2) for i, label in enumerate(sorted(labels))]
    other = write(tmp_path / "prices.csv", ["label", "price"], prices)
    assert guess(["one", "other"], MANY, other).kind == kind


def test_columns_of_chance_are_no_lineage(guess):
    rows = [(f"thing {i}", ["red", "blue"][i % 2], "ab"[i // 5 % 2]) for i in range(20)]
    assert guess(["thing", "colour", "size"], rows).kind == "attributes"


@pytest.mark.parametrize("kind", ["2004/02/skos/core#", "2002/07/owl#"])
def test_the_beginning_of_an_rdf_file_tells_its_kind(tmp_path, kind):
    (tmp_path / "file.ttl").write_text(f"@prefix x: <http://www.w3.org/{kind}> .")
    (file,) = guess_files([tmp_path / "file.ttl"]).files
    assert file.kind in kind


OFFICE = "job;sector\nnurse;health\nsurgeon;health\nbaker;food\ncook;food\n"
PAY = "job,pay,remote\nnurse,30,no\nsurgeon,90,no\nbaker,25,no\ncook,24,no\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "z.csv").write_text(OFFICE)  # comes first, as its spelling wins
    (tmp_path / "pay.csv").write_text(PAY)
    return tmp_path


def test_a_folder_becomes_a_command(folder: Path) -> None:
    found = guess_files([folder])
    assert [file.kind for file in found.files] == ["hierarchy", "attributes"]
    tree, pay = folder / "z.csv", folder / "pay.csv"
    assert found.command() == (
        f"phcle fit --hierarchy {tree}:child=job,parent=sector --attributes {pay} "
        "--out labels.phcle"
    )


def test_the_label_column_is_named_only_if_it_is_not_the_first(folder: Path) -> None:
    (folder / "pay.csv").write_text("n,job,m\n3,nurse,4\n9,surgeon,5\n2,baker,4\n")
    [_, pay] = guess_files([folder]).files
    assert pay.columns == {"label": "job"}


def test_notes_and_pictures_are_ignored_but_a_list_of_labels_is_not(
    folder: Path,
) -> None:
    (folder / "README.txt").write_text("These files are from the office.\nAsk Ann.\n")
    (folder / "plot.png").write_bytes(b"\x89PNG")
    (folder / "wanted.txt").write_text("nurse\nbaker\n")
    found = guess_files([folder])
    assert {path.name for path in found.ignored} == {"README.txt", "plot.png"}
    assert found.files[-1].path.name == "wanted.txt"
    assert "--labels" in found.command()


def test_a_file_that_cannot_be_told_is_a_fault_and_the_others_stay(
    folder: Path,
) -> None:
    (folder / "pairs.csv").write_text("x,y\na,b\na,c\nd,b\nd,c\n")
    found = guess_files([folder, folder / "missing.csv"])
    assert len(found.files) == 2
    assert {path.name for path in found.faults} == {"pairs.csv", "missing.csv"}
    assert "--tags" in found.faults[folder / "pairs.csv"]


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no file was found"):
        guess_files([tmp_path])


@pytest.mark.parametrize("columns", ["", ":levels=species/genus/family"])
def test_a_lineage_is_read_as_a_taxonomy(tmp_path: Path, columns: str) -> None:
    path = tmp_path / "lineage.csv"
    genera = {"Felis": "cats", "Panthera": "cats", "Canis": "dogs", "Vulpes": "dogs"}
    rows = [f"{g} {i},{g},{family}" for g, family in genera.items() for i in "ab"]
    path.write_text("\n".join(["species,genus,family", *rows]))
    found = read_contexts(hierarchy=f"{path}{columns}")
    tree = found[0].hierarchy
    assert tree.parents_of("Felis a") == ("Felis",)
    assert tree.parents_of("Felis") == ("cats",)
    assert len(tree.edges) == 12
    assert bool(found.summaries[0].remarks) == (not columns)


def test_tables_of_users_and_films_are_told_by_their_titles(tmp_path: Path) -> None:
    films = [(i, f"Film {i}", 1900 + i) for i in range(1, 31)]
    seen = [(u, f, 4, 99) for u in range(1, 11) for f in range(u, u + 9)]
    tags = [(u, f, "old" if f < 3 else "dark", 99) for u in (1, 2) for f in (1, 2, 3)]
    write(tmp_path / "films.csv", ["filmId", "title", "year"], films)
    write(tmp_path / "ratings.csv", ["userId", "filmId", "stars", "at"], seen)
    write(tmp_path / "tags.csv", ["userId", "filmId", "tag", "at"], tags)
    found = {file.path.name: file.columns for file in guess_files([tmp_path]).files}
    assert found["ratings.csv"] == {"item": "userId", "label": "filmId"}
    assert found["tags.csv"] == {"label": "filmId", "tag": "tag"}


def test_several_tags_in_a_cell_are_taken_apart(tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    path.write_text("film,genres\nAlien,horror|science fiction\nHeat,crime; drama\n")
    found = read_contexts(tags=f"{path}:label=film,tag=genres")
    assert found[0].columns == ("crime", "drama", "horror", "science fiction")
    assert found[0].values.toarray().tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]
    assert "2 cells with several tags split at | or ;" in found.summaries[0].remarks
