"""Directives of the site that list options and commands as the code has them."""

from __future__ import annotations

import inspect
from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from phcle.cli.app import app
from phcle.options import OPTIONS


class Options(SphinxDirective):
    """A table of the options of PHCLE."""

    def run(self) -> list[nodes.Node]:
        """The table's nodes."""
        rows = [
            f"| `{x.name}` | `{x.default!r}` | {_cell(x.must_be)} | {_cell(x.help)} |"
            for x in OPTIONS
        ]
        head = ["| option | default | must be | what it does |", "| - | - | - | - |"]
        return self.parse_text_to_nodes("\n".join(head + rows))


class Commands(SphinxDirective):
    """Every command with its help, arguments and flags."""

    def run(self) -> list[nodes.Node]:
        """One section per command."""
        group: Any = typer.main.get_command(app)
        text = "\n\n".join(
            _command(name, command) for name, command in sorted(group.commands.items())
        )
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _command(name: str, command: Any) -> str:
    """A command as Markdown."""
    about = inspect.cleandoc(command.help or "")
    rows = [
        f"| {', '.join(f'`{flag}`' for flag in _handles(p))} | {_cell(_help(p))} |"
        for p in command.params
        if p.name != "help" and not getattr(p, "hidden", False)
    ]
    lines = [f"## phcle {name}", about, "| argument or flag | meaning |\n| - | - |"]
    text = "\n\n".join(lines) + "\n" + "\n".join(rows)
    examples = [
        line.strip()
        for line in (command.epilog or "").splitlines()
        if line.strip() and not line.strip().startswith("[bold]")
    ]
    if examples:
        text += "\n\n```sh\n" + "\n".join(examples) + "\n```"
    return text


def _handles(parameter: Any) -> list[str]:
    """What is typed for a parameter."""
    if parameter.param_type_name == "argument":
        return [parameter.metavar or parameter.name.upper()]
    return [*parameter.opts, *parameter.secondary_opts]


def _help(parameter: Any) -> str:
    return str(getattr(parameter, "help", "") or "")


def _cell(text: str) -> str:
    """Text that cannot end a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_directive("options", Options)
    app.add_directive("commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
