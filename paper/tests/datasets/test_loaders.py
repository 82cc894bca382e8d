from __future__ import annotations

import pytest

from phcle.errors import FileError
from phcle_paper import datasets


@pytest.mark.parametrize(
    "name",
    [
        *("load_apy", "load_apy_objects", "load_awa", "load_awa_word_vectors"),
        *("load_class_attributes", "load_xlsa17"),
    ],
)
def test_every_loader_names_a_folder_that_is_missing(name, tmp_path):
    with pytest.raises(FileError, match="nowhere: no such"):
        getattr(datasets, name)(tmp_path / "nowhere")
