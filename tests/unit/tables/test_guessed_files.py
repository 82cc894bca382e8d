"""A folder of files is enough: what each of them is taken to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from phcle.errors import FileError
from phcle.tables import guess_files, read_contexts

JOBS = "job;sector\nnurse;health\nsurgeon;health\nbaker;food\ncook;food\n"
PAY = "job,pay,remote\nnurse,30,no\nsurgeon,90,no\nbaker,25,no\ncook,24,no\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "pay.csv").write_text(PAY)
    return tmp_path


def test_a_folder_becomes_a_command(folder: Path) -> None:
    found = guess_files([folder])
    assert [file.kind for file in found.files] == ["hierarchy", "attributes"]
    tree, pay = folder / "jobs.csv", folder / "pay.csv"
    assert found.command() == (
        f"phcle fit --hierarchy {tree}:child=job,parent=sector --attributes {pay} "
        "--out labels.phcle"
    )


def test_the_taxonomy_comes_first_because_its_spelling_wins(folder: Path) -> None:
    (folder / "jobs.csv").rename(folder / "z.csv")
    assert guess_files([folder]).files[0].path.name == "z.csv"


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
    assert found.labels == folder / "wanted.txt"
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
    films = [f"{i},Film {i},{1900 + i}" for i in range(1, 31)]
    (tmp_path / "films.csv").write_text("\n".join(["filmId,title,year", *films]))
    seen = [f"{u},{f},4,99" for u in range(1, 11) for f in range(u, u + 9)]
    (tmp_path / "ratings.csv").write_text("\n".join(["userId,filmId,stars,at", *seen]))
    tags = [
        f"{u},{f},{'old' if f < 3 else 'dark'},99" for u in (1, 2) for f in (1, 2, 3)
    ]
    (tmp_path / "tags.csv").write_text("\n".join(["userId,filmId,tag,at", *tags]))
    found = {file.path.name: file for file in guess_files([tmp_path]).files}
    assert found["ratings.csv"].columns == {"item": "userId", "label": "filmId"}
    assert found["tags.csv"].columns == {"label": "filmId", "tag": "tag"}


def test_several_tags_in_a_cell_are_taken_apart(tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    path.write_text("film,genres\nAlien,horror|science fiction\nHeat,crime; drama\n")
    found = read_contexts(tags=f"{path}:label=film,tag=genres")
    assert found[0].columns == ("crime", "drama", "horror", "science fiction")
    assert found[0].values.toarray().tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]
    assert "2 cells with several tags split at | or ;" in found.summaries[0].remarks
