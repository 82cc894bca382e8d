"""The documentation matches the code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import typer
from command_line import app

from phcle.options import OPTIONS

ROOT = Path(__file__).parents[1]
COMMANDS = (ROOT / "docs" / "commands.md").read_text()
MODEL = (ROOT / "docs" / "model.md").read_text()


def test_defaults_in_the_documentation_are_those_of_the_model():
    rows = re.findall(r"^\| [^|]+ \| `(\w+)`[^|]* \| `?([^|`]+)`? \|$", MODEL, re.M)
    documented = dict(rows)
    assert {"dim", "negatives", "sparsity", "ridge", "weights"} <= set(documented)
    defaults = {option.name: option.default for option in OPTIONS}
    for name, value in documented.items():
        if isinstance(defaults[name], str):
            assert value.strip('"') == defaults[name]
        else:
            assert float(value) == defaults[name]


def test_every_command_is_on_the_page_of_commands():
    names = [c.name or c.callback.__name__ for c in app.registered_commands]
    assert len(names) >= 7
    for name in names:
        assert re.search(rf"phcle {name}\b", COMMANDS), name


COMMON = ("--help",)  # flags that every command accepts


def test_every_flag_that_a_page_shows_exists():
    group = typer.main.get_command(app)
    flags = {
        name: {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)}
        for name, command in group.commands.items()
    }
    shown = [
        (document.name, *line)
        for document in DOCUMENTS
        for line in re.findall(
            r"\bphcle ([a-z]+)((?: (?!phcle\b)[^\n`#|;>()&]*)?)",
            re.sub(r"\\\n\s*", "", document.read_text()),
        )
        if line[0] in flags
    ]
    assert len(shown) > 100
    for page, name, arguments in shown:
        for flag in re.findall(r"(?<!\S)--?[a-z][a-z-]*", arguments):
            assert flag in {*flags[name], *COMMON}, f"{page}: phcle {name} {flag}"


def test_pages_show_no_test_directives():
    for document in DOCUMENTS:
        assert not re.search(r"^\*?Not run", document.read_text(), re.M), document


DOCUMENTS = [
    ROOT / "README.md",
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    ROOT / "paper" / "README.md",
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere_and_source_files_exist(document):
    text = document.read_text()
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (document.parent / target).exists(), target
    folders = (ROOT, ROOT / "src" / "phcle", ROOT / "paper")
    for name in re.findall(r"`([\w/]+/\w+\.py)\b", text):
        assert any((folder / name).is_file() for folder in folders), name


@pytest.mark.parametrize("package", ["", ".tables", ".contexts", ".embedding"])
def test_the_reference_lists_every_public_name(package):
    pages = " ".join(x.read_text() for x in ROOT.glob("docs/api/*.md"))
    names = set(importlib.import_module(f"phcle{package}").__all__) - {"__version__"}
    assert {x for x in names if not re.search(rf"::.*\b{x}\b", pages)} == set()


def test_every_test_and_script_that_the_promises_name_exists():
    text = (ROOT / "docs" / "promises.md").read_text()
    named = re.findall(r"`((?:tests|tools)/[\w/.]+)`", text)
    assert len(named) >= 20
    for name in named:
        assert (ROOT / name).exists(), name
