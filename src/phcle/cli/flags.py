"""Flags that are made from a table rather than written by hand."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from phcle.errors import OptionError
from phcle.options import OPTIONS, Option

__all__ = [
    "EmbeddingFile",
    "Json",
    "NamesFile",
    "OutFile",
    "context_flags",
    "model_flags",
    "model_options",
    "with_flags",
]

EmbeddingFile = Annotated[
    Path,
    typer.Argument(metavar="LABELS.phcle", help="A file that fit has written."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
OutFile = Annotated[Path, typer.Option("--out", help="Where to write the embedding.")]
NamesFile = Annotated[
    Path | None,
    typer.Option("--names", help="Readable names: columns label,name."),
]

CONTEXT_FILES = {
    "hierarchy": "Taxonomy: columns child,parent.",
    "edges": "Graph: columns source,target and, if you like, weight.",
    "annotations": "Annotations: columns item,label; labels of one item co-occur.",
    "attributes": "Attributes: label in the first column; an empty cell is unknown.",
    "tags": "Tags: columns label,tag with a row for each tag; an empty tag: has none.",
    "texts": "Texts: columns label,text; their words count.",
    "sentences": "Texts: columns label,text; a sentence encoder reads them.",
    "vectors": "Vectors of another model: a word2vec or GloVe file.",
}
"""Every sort of context that a file can hold, with its columns."""

THESAURI = {
    "skos": "SKOS vocabulary (.ttl, .rdf, .jsonld, …): taxonomy, names and texts.",
    "owl": "OWL ontology (.owl, .ttl, .rdf, …): taxonomy, names and texts.",
}
"""Files that hold a taxonomy with names and texts."""

METAVARS = {int: "N", float: "NUMBER"}

Command = TypeVar("Command", bound=Callable[..., None])


def with_flags(*flags: inspect.Parameter) -> Callable[[Command], Command]:
    """Put flags in the place of a command's `**` parameter."""

    def decorate(command: Command) -> Command:
        own = [
            parameter
            for parameter in inspect.signature(
                command, eval_str=True
            ).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        command.__signature__ = inspect.Signature([*own, *flags])  # type: ignore[attr-defined]
        return command

    return decorate


def context_flags() -> Iterable[inspect.Parameter]:
    """One flag for each sort of context file; each may be given several times."""
    yield _flag(
        "language",
        str,
        "en",
        typer.Option(
            metavar="LANGUAGE",
            help="Of names and texts in --skos and --owl.",
            rich_help_panel="Contexts",
        ),
    )
    for sort, columns in (CONTEXT_FILES | THESAURI).items():
        yield _flag(
            sort,
            list[str] | None,
            None,
            typer.Option(
                f"--{sort}", metavar="FILE", help=columns, rich_help_panel="Contexts"
            ),
        )


def model_flags() -> Iterable[inspect.Parameter]:
    """One flag for each option of the model."""
    for option in OPTIONS:
        flag = "--" + option.name.replace("_", "-")
        default = option.default
        shown: bool | str = True
        if option.name == "verbose":  # unlike in a script, the terminal decides
            flag += "/--no-verbose"
            default, shown = None, "on a terminal"
        elif isinstance(default, bool):  # else what is on could not be turned off
            flag += f"/--no-{option.name.replace('_', '-')}"
        yield _flag(
            option.name,
            bool if isinstance(default, bool) else option.kind | None,
            default,
            typer.Option(
                flag,
                metavar=_metavar(option),
                help=option.help,
                show_default=shown,
                rich_help_panel="Model",
            ),
        )


def model_options(given: dict[str, Any], *, verbose: bool) -> dict[str, Any]:
    """Options of the model from the values of its flags."""
    options = {option.name: given[option.name] for option in OPTIONS}
    options["weights"] = _weights(options["weights"])
    if options["verbose"] is None:
        options["verbose"] = verbose
    return options


def _flag(name: str, kind: Any, default: Any, info: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )


def _metavar(option: Option) -> str | None:
    if option.name == "weights":
        return "equal|auto|nie|NAME=NUMBER,…"
    return "|".join(option.choices) or METAVARS.get(option.kind)


def _weights(text: str) -> str | dict[str, float]:
    """A way to weigh, or a weight for each context: `tree=1,looks=0.5`."""
    if "=" not in text:
        return text
    weights: dict[str, float] = {}
    for piece in text.split(","):
        name, _, number = piece.rpartition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise OptionError(
                f"--weights must look like tree=1,looks=0.5. Got {piece!r} in it."
            ) from None
    return weights
