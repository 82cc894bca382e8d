"""The paper's code stands on the public API of phcle."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import phcle_paper

SOURCE = Path(phcle_paper.__file__).parent
PUBLIC = {
    "phcle",
    "phcle.cli",
    "phcle.contexts",
    "phcle.contexts.family_means",
    "phcle.contexts.masked",
    "phcle.contexts.readers.delimited",
    "phcle.contexts.readers.label_files",
    "phcle.datasets",
    "phcle.embedding",
    "phcle.embedding.read",
    "phcle.errors",
    "phcle.files",
    "phcle.optional_imports",
    "phcle.report",
    "phcle.uses.clusters",
    "phcle.uses.pictures",
    "phcle.uses.similarity_heatmap",
    "phcle.uses.zero_shot",
}


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module, [x.name for x in node.names]
        elif isinstance(node, ast.Import):
            yield from ((x.name, []) for x in node.names)


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda x: str(x.relative_to(SOURCE))
)
def test_modules_import_public_names_of_phcle_alone(path):
    for module, names in imports_of(path):
        if module.split(".")[0] != "phcle":
            continue
        assert module in PUBLIC, module
        public = importlib.import_module(module).__all__
        assert [x for x in names if x not in public] == []
