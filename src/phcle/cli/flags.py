"""Flags that several commands share, and flags made from the tables of the library."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from phcle.cli.command_style import everywhere, have, machine, tuning, want
from phcle.errors import ContextError, OptionError
from phcle.files.reading import is_file
from phcle.options import OPTIONS, Option
from phcle.tables.file_kinds import FILE_KINDS, ContextFile, split_columns

if TYPE_CHECKING:
    from phcle.tables.reader import Reading


EmbeddingFile = Annotated[
    Path, typer.Argument(metavar="LABELS.phcle", help="A file that fit has written.")
]
Labels = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="LABEL|FILE", help="Ids or readable names, or files with one per line."
    ),
]
Count = Annotated[int, want("N", "How many to show.", "-k", "--count")]
AnswersFile = Annotated[
    Path | None,
    want("FILE", "Where to write the answers: a .csv, .tsv or .json file.", "--out"),
]
Json = Annotated[bool, everywhere(None, "Print JSON instead of tables.", "--json")]
OutFile = Annotated[Path, want("FILE", "Where to write the embedding.", "--out")]
NamesFile = Annotated[
    Path | None,
    have("FILE", "Readable names: columns label,name.", "--names"),
]

SHELL_NAMES = {"random_state": "seed"}
"""Flags with another name than the option, whose name is that of scikit-learn."""

SynonymsFile = Annotated[
    Path | None,
    have(
        "FILE",
        "Labels that files spell differently: columns label,synonym.",
        "--synonyms",
    ),
]

LabelWords = Annotated[
    bool,
    have(None, "Use the words of the labels' own names as a context.", "--label-words"),
]

METAVARS = {int: "N", float: "NUMBER"}

Command = TypeVar("Command", bound=Callable[..., None])


def with_flags(*flags: inspect.Parameter) -> Callable[[Command], Command]:
    """Put flags in the place of a command's `**` parameter.

    Parameters
    ----------
    *flags : inspect.Parameter
        The flags, such as those of `context_flags` or `model_flags`.

    Returns
    -------
    callable
        A decorator of commands.
    """

    def decorate(command: Command) -> Command:
        named = inspect.signature(command, eval_str=True).parameters.values()
        own = [x for x in named if x.kind is not inspect.Parameter.VAR_KEYWORD]
        command.__signature__ = inspect.Signature([*own, *flags])  # type: ignore[attr-defined]
        return command

    return decorate


def context_flags() -> Iterable[inspect.Parameter]:
    """Make one flag for each kind of context file; each may be given several times.

    Returns
    -------
    iterable of inspect.Parameter
        The flags, for `with_flags`.
    """
    for kind, layout in FILE_KINDS.items():
        info = have("FILE", layout, f"--{kind}")
        yield make_flag(kind, list[str] | None, None, info)
    info = have("LANGUAGE", "Language of names and texts in --skos and --owl files.")
    yield make_flag("language", str, "en", info)


def reading_flags() -> Iterable[inspect.Parameter]:
    """Make the flags that say how tables are to be read.

    Returns
    -------
    iterable of inspect.Parameter
        The flags, for `with_flags`.
    """
    found = partial(have, show_default="found out")
    info = found("ENCODING", "Encoding of tables, such as cp1252.")
    yield make_flag("encoding", str | None, None, info)
    info = found("CHARACTER", "What separates cells: , ; | or tab.")
    yield make_flag("delimiter", str | None, None, info)
    info = have(
        "TEXT",
        "A further text for unknown cells, beside NA, n/a, -, ? and others; may be "
        "repeated.",
    )
    yield make_flag("na", list[str] | None, None, info)
    info = have(None, "Take NA, none, - and the like for ordinary texts.", "--keep-na")
    yield make_flag("keep_na", bool, False, info)
    info = have(
        "COLUMN=HOW",
        "How a column is to be read: text, number, point or comma (its decimals), "
        "truth, date, day-first or month-first; may be repeated: zip=text,born=date.",
    )
    yield make_flag("read", list[str] | None, None, info)
    info = have("mean|first|refuse", "What becomes of several rows of one label.")
    yield make_flag("repeats", str, "mean", info)


def reading_of(given: Mapping[str, Any]) -> Reading:
    """Return how tables are to be read, from the values of `reading_flags`.

    Parameters
    ----------
    given : mapping
        Values of the flags by name.

    Returns
    -------
    Reading
        What the user wants.
    """
    from phcle.tables.columns import parse_read_as
    from phcle.tables.reader import Reading

    na = [text for own in given["na"] or () for text in own.split(",")]
    return Reading(
        given["encoding"],
        given["delimiter"],
        tuple(na),
        given["keep_na"],
        parse_read_as(given["read"] or ()),
        given["repeats"],
    )


def context_files(
    given: Mapping[str, Any], *, needed: bool = True
) -> list[ContextFile]:
    """List the files among the values of a command's flags.

    Parameters
    ----------
    given : mapping
        Values of the flags by name; files are written as FILE or NAME=FILE.
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
    path, columns = split_columns(kind, text)
    name, equals, rest = str(path).partition("=")
    if equals and name and not is_file(path):
        return ContextFile(kind, Path(rest), name, columns)
    return ContextFile(kind, path, None, columns)


def model_flags() -> Iterable[inspect.Parameter]:
    """Make one flag for each option of the model.

    Returns
    -------
    iterable of inspect.Parameter
        The flags, for `with_flags`.
    """
    for option in OPTIONS:
        flag = "--" + SHELL_NAMES.get(option.name, option.name).replace("_", "-")
        default = option.default
        shown: bool | str = True
        if option.name == "verbose":  # the default depends on the terminal
            flag += "/--no-verbose"
            default, shown = None, "on a terminal"
        elif isinstance(default, bool):  # so that it can be turned off, too
            flag += f"/--no-{option.name.replace('_', '-')}"
        info = _group(option)(_metavar(option), option.help, flag, show_default=shown)
        yield make_flag(option.name, _flag_type(option), default, info)


def _group(option: Option) -> Callable[..., Any]:
    """The group of an option of the model on the help page."""
    if option.name == "match":
        return have
    if option.name in ("dim", "choose", "completion", "complete_only"):
        return want
    return machine if option.group == "computing" else tuning


def model_options(given: dict[str, Any], *, verbose: bool) -> dict[str, Any]:
    """Return the options of the model from the values of its flags.

    Parameters
    ----------
    given : dict
        Values of the flags by name.
    verbose : bool
        The value of `verbose` if no flag sets it.

    Returns
    -------
    dict
        Arguments of `PHCLE`.
    """
    options = {option.name: given[option.name] for option in OPTIONS}
    options["weights"] = _weights(options["weights"])
    for option in OPTIONS:
        if option.can_be_auto:
            options[option.name] = _number_or_auto(option, options[option.name])
    if options["verbose"] is None:
        options["verbose"] = verbose
    return options


def make_flag(name: str, kind: Any, default: Any, info: Any) -> inspect.Parameter:
    """Make a flag for `with_flags`.

    Parameters
    ----------
    name : str
        Name of the parameter, from which the flag takes its own.
    kind : type
        Type of its value.
    default : object
        The value without the flag.
    info : typer.Option
        Help text and other settings.

    Returns
    -------
    inspect.Parameter
        The flag.
    """
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )


def _flag_type(option: Option) -> Any:
    if isinstance(option.default, bool):
        return bool
    return (str if option.can_be_auto else option.kind) | None


def _number_or_auto(option: Option, text: str) -> Any:
    """The number of a flag; other texts are refused with the option's own message."""
    try:
        return option.kind(text)
    except ValueError:
        return text


def _metavar(option: Option) -> str | None:
    if option.can_be_auto:
        return f"{METAVARS[option.kind]}|auto"
    if option.name == "weights":
        return "equal|auto|nie|NAME=NUMBER,…"
    return "|".join(option.choices) or METAVARS.get(option.kind)


def _weights(text: str) -> str | dict[str, float]:
    """The name of a rule, or a weight for each context: `tree=1,looks=0.5`."""
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
