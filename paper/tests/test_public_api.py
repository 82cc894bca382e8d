"""The paper's code stands on the public API of phcle."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import phcle_paper

SOURCE = Path(phcle_paper.__file__).parent
PUBLIC = {
    *("phcle", "phcle.answers", "phcle.contexts", "phcle.datasets", "phcle.embedding"),
    *("phcle.errors", "phcle.files", "phcle.images"),
}


def test_modules_import_public_names_of_phcle_alone():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                others = [x.name for x in node.names if x.name.startswith("phcle.")]
                assert others == [], path
            elif isinstance(node, ast.ImportFrom) and node.module.startswith("phcle"):
                if node.module.split(".")[0] == "phcle_paper":
                    continue
                assert node.module in PUBLIC, path
                module = importlib.import_module(node.module)
                names = [x for x in dir(module) if not x.startswith("_")]
                public = getattr(module, "__all__", names)
                assert {x.name for x in node.names} <= set(public), path
