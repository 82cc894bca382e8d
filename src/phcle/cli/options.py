"""Arguments and options that several commands share, and options from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.errors import ContextError, OptionError, did_you_mean
from phcle.files.reading import is_file
from phcle.tables.file_kinds import FILE_KINDS, ContextFile, named_file

if TYPE_CHECKING:
    from phcle.tables.reader import Reading


def option(
    default: Any, metavar: str | None, help: str, *flags: str, **settings: Any
) -> Any:
    """Describe an option; without flags, the parameter's name is the flag.

    Parameters
    ----------
    default : object
        The value without the option; `...` for one that must be given, and within
        `Annotated`.
    metavar : str or None
        What the option takes; None for one that takes nothing.
    help : str
        One sentence.
    *flags, **settings : object
        As Typer takes them.

    Returns
    -------
    typer.models.OptionInfo
        The default of a parameter, or for `Annotated`.
    """
    return typer.Option(default, *flags, metavar=metavar or "", help=help, **settings)


def _show_all(context: typer.Context, wanted: bool) -> None:
    """Print the help page with the rare options, and stop."""
    if wanted:
        command: Any = context.command
        for parameter in command.params:
            parameter.hidden = False
        typer.echo(context.get_help())
        raise typer.Exit


have = partial(option, rich_help_panel="What you have")
rare = partial(option, rich_help_panel="Rarely needed", hidden=True)
flag = partial(option, False, None)

EmbeddingFile = Annotated[
    Path, typer.Argument(metavar="LABELS.phcle", help="A file that fit has written.")
]
Label = Annotated[str, typer.Argument(help="A label's id or its readable name.")]
Labels = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="LABEL|FILE", help="Ids or readable names, or files with one per line."
    ),
]
Several = list[str] | None
"""Options that may be repeated, and kinds of files."""

Count = Annotated[int, option(..., "N", "How many to show.", "-k", "--count")]
OutFile = Annotated[Path, option(..., "FILE", "Where to write the embedding.", "--out")]
AnswersFile = Annotated[
    Path | None, option(..., "FILE", "Write a .csv, .tsv or .json file.", "--out")
]
Json = Annotated[bool, option(..., None, "Print JSON instead of tables.", "--json")]
Quiet = Annotated[bool, option(..., None, "Show no progress.", "--quiet")]
ALL: Any = {"is_eager": True, "expose_value": False, "callback": _show_all}
TABLES: dict[str, tuple[Any, Any]] = {
    "encoding": (
        str | None,
        rare(None, "ENCODING", "Of tables, such as cp1252; else found out."),
    ),
    "delimiter": (
        str | None,
        rare(None, "CHARACTER", "Between cells: , ; | or tab; else found out."),
    ),
    "na": (Several, rare(None, "TEXT", "Also means unknown, as NA, n/a, - and ? do.")),
    "keep_na": (bool, rare(False, None, "Take NA, none and - for ordinary texts.")),
    "read": (
        Several,
        rare(
            None,
            "COLUMN=HOW",
            "How a column is to be read: text, number, point or comma (its decimals), "
            "truth, date, day-first or month-first; several: zip=text,born=date.",
        ),
    ),
    "repeats": (
        str,
        rare("mean", "mean|first|refuse", "What becomes of several rows of one label."),
    ),
    "help_all": (
        bool,
        option(False, None, "Show the rare options, too.", "--help-all", **ALL),
    ),
}
"""How tables are read: types of options, and the options."""

FILES: dict[str, tuple[Any, Any]] = {
    **{kind: (Several, have(None, "FILE", text)) for kind, text in FILE_KINDS.items()},
    "names": (
        Path | None,
        have(None, "FILE", "Readable names: columns label,name."),
    ),
    "synonyms": (
        Path | None,
        have(None, "FILE", "Other spellings: columns label,synonym."),
    ),
    "language": (
        str,
        rare("en", "LANGUAGE", "Of names and texts in --skos and --owl files."),
    ),
    **TABLES,
}
"""Files that become contexts, and how they are read."""

Command = Callable[..., None]


def taking(shared: Mapping[str, tuple[Any, Any]]) -> Callable[[Command], Command]:
    """Make a decorator of commands that take options, besides their own, as `**given`.

    Parameters
    ----------
    shared : mapping
        Types and options by name.

    Returns
    -------
    callable
        The decorator.
    """
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in shared.items()
    ]

    def decorate(command: Command) -> Command:
        own = signature(command, eval_str=True)
        *before, _given = own.parameters.values()
        command.__signature__ = own.replace(parameters=[*before, *more])  # type: ignore[attr-defined]
        return command

    return decorate


def files_of(given: Mapping[str, Any], *, needed: bool = True) -> list[ContextFile]:
    """List the files of contexts among the values of a command's options.

    Parameters
    ----------
    given : mapping
        The values by name; files are written as FILE or NAME=FILE.
    needed : bool, default True
        Refuse to go on without a file.

    Returns
    -------
    list of ContextFile
        The files.
    """
    files = [_file(kind, text) for kind in FILE_KINDS for text in given[kind] or ()]
    if needed and not files:
        flags = ", ".join(f"--{kind}" for kind in FILE_KINDS)
        raise ContextError(f"no context was given; give at least one of {flags}.")
    return files


def _file(kind: str, text: str) -> ContextFile:
    """FILE or NAME=FILE, with or without columns; an existing file is FILE."""
    file = named_file(kind, text)
    name, equals, rest = str(file.path).partition("=")
    if equals and name and not is_file(file.path):
        return replace(file, path=Path(rest), given_name=name)
    return file


def reading_of(given: Mapping[str, Any]) -> Reading:
    """Say how tables are to be read, from the values of a command's options.

    Parameters
    ----------
    given : mapping
        The values by name.

    Returns
    -------
    Reading
        What the user wants.
    """
    from phcle.tables.columns import parse_read_as
    from phcle.tables.reader import Reading

    return Reading(
        given["encoding"],
        given["delimiter"],
        tuple(text for own in given["na"] or () for text in own.split(",")),
        given["keep_na"],
        parse_read_as(given["read"] or ()),
        given["repeats"],
        **{x: given[x] for x in ("hierarchy_kind", "role", "language") if x in given},
    )


def labels_or_files(given: list[str] | None) -> list[str] | None:
    """Read labels that are given directly or in files.

    Parameters
    ----------
    given : list of str or None
        Labels, or names of files with one label per line.

    Returns
    -------
    list of str or None
        All labels; None if none are given.
    """
    from phcle.tables.rows import read_labels

    if not given:
        return None
    found: list[str] = []
    for word in given:
        found += read_labels(word)[0] if is_file(word) else [word]
    return found


def options_in(path: Path, command: Any) -> dict[str, Any]:
    """Read the options of a command from a TOML file.

    Parameters
    ----------
    path : Path
        The file; its keys are the long names of flags.
    command : click.Command
        The command.

    Returns
    -------
    dict
        Values by the names of the command's parameters, as the shell would give them.
    """
    from phcle.files.text import parse_toml, read_text

    parameters = {
        flag.lstrip("-").replace("-", "_"): parameter
        for parameter in command.params
        for flag in (*parameter.opts, parameter.name)
        if parameter.expose_value
    }
    found: dict[str, Any] = {}
    for key, value in parse_toml(read_text(path), str(path)).items():
        parameter = parameters.get(key.replace("-", "_"))
        if parameter is None:
            known = [x.replace("_", "-") for x in parameters]
            raise OptionError(
                f"{path}: {command.name} has no option {key!r}."
                f"{did_you_mean(key.replace('_', '-'), known)}"
            )
        takes_several = getattr(parameter, "multiple", False) or parameter.nargs == -1
        if isinstance(value, list) and not takes_several:
            raise OptionError(f"{path}, {key}: takes one value. Got a list, {value!r}.")
        if isinstance(value, dict):  # weights = { tree = 1, looks = 0.5 }
            value = [f"{name}={each}" for name, each in value.items()]
        texts = list(map(str, value if isinstance(value, list) else [value]))
        given = texts if takes_several else ",".join(texts)
        found[parameter.name] = value if isinstance(value, bool) else given
    return found
