"""A small zoo in files, and a way to call the command line in-process."""

from __future__ import annotations

import pytest
from command_line import call

ZOO = {
    "tree.csv": """child,parent
cat,felid
lion,felid
tiger,felid
dog,canid
wolf,canid
felid,carnivore
canid,carnivore
horse,equid
zebra,equid
""",
    "looks.csv": """animal,weight,stripes
cat,4,no
lion,190,no
tiger,220,yes
dog,20,
zebra,300,yes
""",
    "uses.csv": "label,tag\ncat,pet\ndog,pet\ndog,guard\nhorse,ride\nwolf,\n",
    "eats.csv": "source,target,weight\nlion,zebra,2\nwolf,horse,1\n",
    "names.csv": "label,name\nfelid,cat family\nlion,King of Beasts\n",
}


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    """A working folder with the zoo's files."""
    for name, content in ZOO.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def phcle(zoo):
    """Call the command line beside the zoo's files."""
    return call


@pytest.fixture
def fitted(phcle, zoo):
    """The zoo's embedding."""
    phcle(
        *("fit", "--hierarchy", "tree.csv", "--attributes", "looks.csv"),
        *("--tags", "uses.csv", "--edges", "eats.csv", "--names", "names.csv"),
        *("--dim", 4, "--out", "zoo.phcle", "--quiet"),
    )
    return zoo / "zoo.phcle"


@pytest.fixture
def add(phcle, fitted, zoo):
    """Write files of CSV and add them to the zoo's embedding."""

    def add(*arguments, code=0, **files):
        for name, content in files.items():
            (zoo / f"{name}.csv").write_text(content)
        return phcle("add", fitted, *arguments, "--out", "more.phcle", code=code)

    return add
