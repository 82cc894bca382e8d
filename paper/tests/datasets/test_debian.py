"""Reading an index of Debian packages, and what becomes of it."""

from __future__ import annotations

import gzip
import lzma
from functools import partial

import numpy as np
import pytest

from phcle.errors import FileError, OptionError
from phcle_paper.datasets import debian, load_debian
from phcle_paper.datasets.debian import parse_package
from phcle_paper.datasets.debian_index import read_stanzas
from phcle_paper.studies import cell_tasks
from phcle_paper.studies.cell_tasks import cell_task
from phcle_paper.studies.registry import Request, run_study

KINDS = {
    "editors": (
        ("vi", "ed", "pico", "nano", "kate", "jot", "pad", "write"),
        ("role::program", "use::editing", "works-with::text", "interface::text-mode"),
        ("libc6", "libtinfo6"),
        "a small text editor for the terminal",
    ),
    "games": (
        ("chess", "go", "tetris", "pong", "maze", "cards", "dice", "snake"),
        ("role::program", "use::gameplaying", "game::board", "interface::x11"),
        ("libc6", "libsdl2"),
        "a board game with graphics and sound",
    ),
    "libs": (
        ("libpng", "libxml", "libz", "libssl", "libgif", "libogg", "libuv", "libev"),
        ("role::shared-lib", "devel::library", "implemented-in::c", "use::converting"),
        ("libc6",),
        "a shared library for other programs",
    ),
}


def index_text() -> str:
    """The stanzas of all packages, with the oddities that real indices have."""
    stanzas = [
        "Package: no-description\nSection: misc",
        "Package: untagged\nSection: misc\nDescription: nobody tagged it",
        # A sibling of vi from the same source, which needs it.
        "Package: vi-doc\nSource: vi (1.0)\nSection: doc\nDepends: vi\n"
        "Tag: role::documentation, use::viewing, works-with::text,\n"
        " made-of::html, interface::web\nDescription: manual of vi",
    ]
    for section, (names, tags, needs, summary) in KINDS.items():
        for i, name in enumerate(names):
            # Every third package lacks the last facet.
            own = tags if i % 3 else tags[:-1]
            stanzas.append(
                f"Package: {name}\nSection: {section}\n"
                f"Depends: {', '.join(f'{need} (>= 1.{i})' for need in needs)}\n"
                f"Recommends: {names[i - 1]} | other-{name}\n"
                f"Tag: {', '.join(own)}, special::auto-inst-ok\n"
                f"Description: {name}, {summary}\n long text of {name}\n ."
            )
    return "\n\n".join(stanzas) + "\n"


@pytest.fixture
def index(tmp_path):
    path = tmp_path / "Packages"
    path.write_text(index_text())
    return path


@pytest.fixture
def packages(index):
    return load_debian(index, min_facets=3, min_count=2)


def test_only_tagged_packages_are_kept_and_one_of_every_source(packages):
    assert set(packages.labels) == {x for kind in KINDS.values() for x in kind[0]}
    assert packages.labels[0] == "vi"  # needed by nano's neighbour and by its manual


def test_a_facet_without_a_tag_is_unknown_and_other_values_are_absent(packages):
    tags = packages.tags()
    column = {name: i for i, name in enumerate(tags.columns)}
    values = np.where(tags.observed.toarray() > 0, tags.values.toarray(), np.nan)
    vi, ed = (values[tags.index[x]] for x in ("vi", "ed"))
    assert np.isnan(vi[column["interface::text-mode"]])  # the first lacks the facet
    assert ed[column["interface::text-mode"]] == 1
    assert ed[column["interface::x11"]] == 0  # it has another interface
    assert np.isnan(ed[column["game::board"]])
    assert not any(x.startswith("special::") for x in tags.columns)


def test_a_later_version_without_tags_keeps_those_of_the_first(tmp_path):
    path = tmp_path / "Packages"
    update = "\nPackage: ed\nSection: editors\nDescription: ed, safer\n"
    path.write_text(index_text() + update)
    package = load_debian(path, min_facets=3).packages["ed"]
    assert package.summary == "ed, safer"
    assert "use::editing" in package.tags


def test_versions_alternatives_and_archive_areas_are_left_out():
    package = parse_package(
        {
            "Package": "a",
            "Source": "src (2.1)",
            "Section": "contrib/games",
            "Pre-Depends": "dpkg (>= 1.15~)",
            "Depends": "libc6 (>= 2.34) [amd64], python3:any | python",
            "Recommends": "libc6, b",
            "Description": "first\nsecond",
        }
    )
    assert package.needs == ("dpkg", "libc6", "python3", "b")
    assert (package.source, package.section) == ("src", "games")
    assert package.summary == "first"
    assert package.tags == frozenset()


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip), (".xz", lzma)])
def test_compressed_indices_are_the_same(tmp_path, index, suffix, opener):
    path = tmp_path / f"Packages{suffix}"
    with opener.open(path, "wt") as file:
        file.write(index.read_text())
    assert list(read_stanzas(path)) == list(read_stanzas(index))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Package a\n", "line 1: must be 'Field: value'"),
        (" continued\n", "line 1: a continued line without a field"),
        ("Package: a\nSection: b\nDescription: c\n", "0 of 1 packages have tags"),
        ("", "is empty"),
    ],
)
def test_a_file_that_is_no_index_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "Packages"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        load_debian(path)


def test_other_compressions_and_missing_files_get_the_remedy(tmp_path):
    for name in ("Packages.lz4", "Packages"):
        with pytest.raises(FileError, match="apt-cache dumpavail > Packages"):
            load_debian(tmp_path / name)
    broken = tmp_path / "Packages.gz"
    whole = gzip.compress(index_text().encode())
    for content in (b"no gzip at all", whole[:200], whole[:50] + b"\0" * 200):
        broken.write_bytes(content)
        with pytest.raises(FileError, match="cannot be read"):
            load_debian(broken)
    with pytest.raises(OptionError, match="most must be 5 or more"):
        load_debian(broken, most=1)


def test_a_folder_without_an_index_gets_the_remedy(tmp_path):
    with pytest.raises(FileError, match="debian: no such folder"):
        run_study("debian-facets", Request(tmp_path, tmp_path / "out"))
    (tmp_path / "debian").mkdir()
    with pytest.raises(FileError, match="apt-cache dumpavail > Packages"):
        run_study("debian-facets", Request(tmp_path, tmp_path / "out"))


def test_facets_are_hidden_whole_and_completed(tmp_path, monkeypatch):
    (tmp_path / "debian").mkdir()
    (tmp_path / "debian" / "Packages").write_text(index_text())
    monkeypatch.setattr(debian, "has_sentence_encoder", lambda: False)
    few = partial(debian.load_debian, min_facets=3, min_count=2)
    monkeypatch.setattr(cell_tasks, "load_debian", few)
    task = cell_task("debian-facets", tmp_path)
    known = ~np.isnan(task.left)
    for i, own in enumerate(task.table.slices):
        assert (known[:, own] == known[:, own][:, :1]).all()
        assert not known[task.hidden[:, i], own].any()
    methods = ["phcle", "mean", "family"]
    request = Request(tmp_path, tmp_path / "out", methods=methods)
    table = run_study("debian-facets", request)
    scores = {row["method"]: row for row in table["rows"]}
    assert scores["most common or mean"]["r2"] == pytest.approx(0, abs=1e-9)
    for method in ("PHCLE", "family mean"):
        assert scores[method]["r2"] > 0.5
        assert scores[method]["auc"] > 0.7
