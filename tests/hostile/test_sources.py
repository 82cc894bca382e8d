"""Nothing in the sources can run what a file holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "src" / "phcle", ROOT / "paper" / "src" / "phcle_paper"]
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
BUILTINS = {"eval", "exec", "compile", "__import__"}
LOADERS = {"joblib.load", "torch.load", "torch.jit.load", "pd.read_pickle", "np.load"}
LOADERS |= {"numpy.load", "scipy.io.loadmat", "np.fromfile", "faiss.read_index"}
LOADERS |= {"yaml.load", "subprocess.run", "os.system"}
OF_ANY = {"deserialize_index", "extractall", "read_pickle", "read_hdf"}


def dangers(source: str) -> list[str]:
    """What could run code, or hand a file to a parser that we cannot vouch for."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [x.name for x in node.names if x.name.split(".")[0] in MODULES]
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.split(".")[0] in MODULES:
                found.append(node.module)
            wholes = [f"{node.module}.{x.name}" for x in node.names]
            found += [x for x in wholes if x in LOADERS]
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            options = [ast.unparse(x) for x in node.keywords]
            if name == "np.load" and "allow_pickle=False" in options:
                continue
            if name in BUILTINS | LOADERS or name.split(".")[-1] in OF_ANY:
                found.append(name)
            found += [
                "allow_pickle"
                for x in node.keywords
                if x.arg in ("allow_pickle", "weights_only", "trust_remote_code")
                and (ast.unparse(x.value) == "True") is (x.arg != "weights_only")
            ]
    return found


def test_no_module_can_run_what_a_file_holds():
    paths = [path for source in SOURCES for path in sorted(source.rglob("*.py"))]
    found = {str(x.relative_to(ROOT)): dangers(x.read_text()) for x in paths}
    assert {name: own for name, own in found.items() if own} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=allowed)",
        "np.savez(path, allow_pickle=True)",
        "eval('1')",
        "from joblib import load",
        "joblib.load(path)",
        "torch.load(path)",
        "import yaml",
        "faiss.deserialize_index(data)",
        "model.from_pretrained(x, trust_remote_code=True)",
    ],
)
def test_the_check_sees_each_danger(source):
    assert dangers(source)
