"""Wrong usage of any command is one line."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nearst"], "no command 'nearst'. Did you mean 'nearest'"),
        (["--bogus"], "no option --bogus."),
        (["tune"], "docs/howto/which-options.md"),
        (["bench", "--count", 40], "run the scripts in benchmarks/"),
        (["index", "zoo.phcle"], "docs/howto/exporting.md"),
        (["reproduce", "table2", "--data", "x"], "run `phcle-paper`"),
        (
            ["fit", "--hierarcy", "x"],
            "no option --hierarcy. Did you mean '--hierarchy'",
        ),
        (["nearest", "x", "y", "-k", "many"], "-k/--count must be a whole number."),
        (
            ["complete", "x", "--min-confidence", 3],
            "--min-confidence must be less than",
        ),
        (["fit", "--hierarchy", "tree.csv"], "--out is missing."),
        (["understand", "x.phcle", "--model", "m"], "PHOTO is missing."),
        (["fit", "--dim"], "'--dim' requires an argument"),
        (["info", "a", "b"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_looks_like_any_other_error(phcle, arguments, message):
    result = phcle(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("phcle: ")
    assert message in line
