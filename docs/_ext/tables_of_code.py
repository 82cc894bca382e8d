"""Sphinx directives that list the options and commands defined in the code."""

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
        """Return the nodes of the table."""
        rows = [
            f"| `{x.name}` | `{x.default!r}` | {_cell(x.must_be)} | {_cell(x.help)} |"
            for x in OPTIONS
        ]
        head = ["| option | default | must be | what it does |", "| - | - | - | - |"]
        return self.parse_text_to_nodes("\n".join(head + rows))


class Commands(SphinxDirective):
    """A section per command, with its help, arguments and flags."""

    def run(self) -> list[nodes.Node]:
        """Return one section per command."""
        group: Any = typer.main.get_command(app)
        text = "\n\n".join(
            _command(name, command) for name, command in sorted(group.commands.items())
        )
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _command(name: str, command: Any) -> str:
    """Format a command as Markdown."""
    about, _, example = inspect.cleandoc(command.help or "").partition("Example: ")
    rows = [
        f"| {', '.join(f'`{flag}`' for flag in _handles(p))} | {_cell(_help(p))} |"
        for p in command.params
        if p.name not in ("help", "help_all")
    ]
    lines = [f"## phcle {name}", about, "| argument or flag | meaning |\n| - | - |"]
    text = "\n\n".join(lines) + "\n" + "\n".join(rows)
    return f"{text}\n\n```sh\n{example}\n```"


def _handles(parameter: Any) -> list[str]:
    """Return the flags of an option, or the name of an argument."""
    if parameter.param_type_name == "argument":
        return [parameter.metavar or parameter.name.upper()]
    return [*parameter.opts, *parameter.secondary_opts]


def _help(parameter: Any) -> str:
    return str(getattr(parameter, "help", "") or "")


def _cell(text: str) -> str:
    """Escape text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def setup(app: Any) -> dict[str, Any]:
    """Register the directives with Sphinx."""
    app.add_directive("options", Options)
    app.add_directive("commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
