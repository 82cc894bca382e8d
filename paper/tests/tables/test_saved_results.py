from __future__ import annotations

import pytest

from phcle.errors import FileError
from phcle_paper.tables.saved_results import SavedResults


@pytest.mark.parametrize(
    "line", [b"\xff\xfe", b"[" * 50_000, b'{"cell": "a"}', b"[]", b"9" * 5000]
)
def test_finished_cells_that_are_damaged_are_told_or_computed_again(tmp_path, line):
    path = tmp_path / "table2.cells"
    SavedResults(path, "mark").add("a", [{"x": 1}])
    path.write_bytes(path.read_bytes() + line + b"\n")
    if b"\xff" in line:
        with pytest.raises(FileError, match=r"table2\.cells, line 3: is not UTF-8"):
            SavedResults(path, "mark")
    else:
        assert SavedResults(path, "mark").cells == {"a": [{"x": 1}]}
