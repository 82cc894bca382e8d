from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from phcle.errors import FileError, OptionError
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


def test_a_users_file_inherits_from_the_shipped_ones_and_from_files_beside_it(tmp_path):
    mine, other = tmp_path / "mine.toml", tmp_path / "other.toml"
    mine.write_text('base = "table2-apy.toml"\n[splits]\nrandom = 3\n')
    other.write_text('base = "mine.toml"\n[embeddings.ALE]\nspectrum = [2.0]\n')
    shipped, found = load_shipped("table2", "apy"), load_config(other)
    assert found.splits == replace(shipped.splits, random=3)
    assert found.embeddings[1:] == shipped.embeddings[1:]
    assert {x["spectrum"] for x in found.embeddings[0].variants} == {2.0}
    mine.write_text('base = "other.toml"')
    with pytest.raises(OptionError, match="inherits from itself"):
        load_config(other)
    mine.write_text('base = "table9.toml"')
    with pytest.raises(FileError, match=r"there is no base 'table9\.toml'"):
        load_config(other)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", "'titel' is unknown. Did you mean 'title'"),
        ("classifiers.eszsl", "classifiers.esszl", "Did you mean 'eszsl'"),
        ("{ dim = 5 }", "{ rigde = 1.0 }", "Did you mean .*'ridge'"),
        ("embeddings.PHCLE]", 'embeddings.A]\nmethod = "PHCLE"', "reference must be"),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_nearest(small_table, old, new, message):
    with pytest.raises(OptionError, match=message):
        parse(tomllib.loads(small_table.replace(old, new, 1)), "here")
