from __future__ import annotations

from importlib.resources import files

import pytest

from phcle.errors import FileError, OptionError
from phcle_paper.studies.registry import STUDIES
from phcle_paper.tables.settings import (
    DATASETS,
    TABLES,
    load_config,
    load_shipped,
    parse,
)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("table", TABLES)
def test_every_shipped_config_parses(table, dataset):
    experiment = load_shipped(table, dataset)
    assert experiment.name == f"{table}-{dataset}"
    if table != "table1":
        assert set(experiment.searches) == {"eszsl", "conse", "sje"}
        assert experiment.splits.random >= 10


def test_no_config_lies_there_unread():
    folder = files("phcle_paper").joinpath("configs")
    names = {f"{table}-{dataset}.toml" for table in TABLES for dataset in DATASETS}
    names |= {f"{study}.toml" for study in STUDIES}
    assert {file.name for file in folder.iterdir()} == names


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", "'titel' is unknown. Did you mean 'title'"),
        ("random", "randon", "'randon' is unknown. Did you mean 'random'"),
        ("classifiers.eszsl", "classifiers.esszl", "Did you mean 'eszsl'"),
        ("class_ridge", "class_rige", "Did you mean 'class_ridge'"),
        ("{ dim = 5 }", "{ rigde = 1.0 }", "Did you mean .*'ridge'"),
        ('name = "PHCLE"', 'name = "PHCEL"', "Did you mean 'PHCLE'"),
        ('"apy"', '"apy1"', "Did you mean 'apy'"),
        ('name = "PHCLE"', 'name = "A"\nmethod = "PHCLE"', "reference must be"),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_nearest(small_table, old, new, message):
    with pytest.raises(OptionError, match=message):
        parse(small_table.replace(old, new, 1), "here")


def test_a_file_must_be_there_and_be_toml(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        load_config(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("table = ")
    with pytest.raises(FileError, match="is not TOML"):
        load_config(tmp_path / "bad.toml")
