"""Public names have NumPy docstrings. To list what one package lacks:

    python tests/test_docstrings.py phcle.embedding

A public name is listed in the `__all__` of a module without a leading underscore, or is
a public method or property of such a class. What numpydoc's validation must find:

- a docstring (GL08) whose summary is one line and ends in a period (SS03, SS06);
- every parameter, under its name and in order (PR01, PR02, PR03), with a type and a
  description (PR04, PR07, PR10);
- `Returns` where something is returned (RT01), and what it is (RT03);
- known section titles in the usual order (GL06, GL07);
- an example (EX01) for every class and function in `phcle.__all__` and for the
  constructors of such a class.

Three exceptions. The fields of a dataclass may be listed under `Attributes`; those of a
base class need not be repeated. A method that implements one of a base class or
protocol, documented there, needs no docstring, and if it has one, a single line will
do: `help` shows the inherited text. A command of the command line has its options
documented by their help texts: its docstring is what `--help` prints.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import pkgutil
import sys
from functools import cached_property

import pytest

pytest.importorskip("numpydoc", reason="numpydoc is not installed")

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import phcle

CHECKS = {"GL06", "GL07", "GL08", "SS03", "SS06", "RT01", "RT03", "EX01"} | {
    f"PR{number}" for number in ("01", "02", "03", "04", "07", "10")
}
INHERITED = {"PR01", "RT01"}
"""What a docstring need not say if a base class, protocol or help text does."""

NOT_API = ("phcle.backends.kernels", "phcle.__main__")
"""Compiled code, called by back ends alone, and what `python -m phcle` runs."""


class PublicName(Validator):
    """numpydoc's view of one public name; fields of dataclasses count as parameters."""

    def __init__(self, obj_name):
        config = {"show_class_members": False}
        super().__init__(get_doc_object(obj_name, config=config))

    @property
    def source_file_def_line(self):
        try:
            return super().source_file_def_line
        except StopIteration:  # numpydoc looks for "def", and this is a lambda
            return None

    @property
    def doc_all_parameters(self):
        found = super().doc_all_parameters
        if dataclasses.is_dataclass(self.obj):
            known = {f.name for f in dataclasses.fields(self.obj) if f.init}
            listed = self._doc_parameters(["Attributes"])
            found |= {name: listed[name] for name in listed if name in known}
        return found

    @property
    def signature_parameters(self):
        if isinstance(self.obj, type) and not has_own_constructor(self.obj):
            return ()
        left_out = inherited_fields(self.obj) - set(self.doc_all_parameters)
        return tuple(x for x in super().signature_parameters if x not in left_out)


def inherited_fields(cls):
    """Fields of a dataclass that a base class documents."""
    bases = cls.__mro__[1:] if isinstance(cls, type) else ()
    found = [base for base in bases if dataclasses.is_dataclass(base)]
    return {field.name for base in found for field in dataclasses.fields(base)}


def has_own_constructor(cls):
    """Whether phcle wrote the constructor, rather than Python or another library."""
    if issubclass(cls, enum.Enum):
        return False
    maker = next(
        k for k in cls.__mro__ if "__init__" in vars(k) or "__new__" in vars(k)
    )
    is_ours = maker.__module__.startswith("phcle")
    return is_ours and not getattr(maker, "_is_protocol", False)


def modules(package="phcle"):
    """Names of the public modules of a package, itself included."""
    found = [package]
    root = importlib.import_module(package)
    for info in pkgutil.walk_packages(getattr(root, "__path__", []), f"{package}."):
        found.append(info.name)
    return [
        name
        for name in found
        if not name.startswith(NOT_API)
        and not any(part.startswith("_") for part in name.split("."))
    ]


def public_names(module_name):
    """(name, object, documented by a base) of all that a module defines and offers."""
    module = importlib.import_module(module_name)
    listed = getattr(module, "__all__", None) or [
        name for name in vars(module) if not name.startswith("_")
    ]
    for name in listed:
        value = getattr(module, name)
        is_own = getattr(value, "__module__", None) == module_name
        if not (is_own and (inspect.isclass(value) or inspect.isfunction(value))):
            continue
        yield f"{module_name}.{name}", value, False
        if inspect.isclass(value):
            yield from members(f"{module_name}.{name}", value)


def members(name, cls):
    """The public methods and properties that a class itself defines."""
    for key, value in vars(cls).items():
        if key.startswith("_"):
            continue
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        kinds = (property, cached_property)
        if inspect.isfunction(value) or isinstance(value, kinds):
            bases = [vars(base)[key] for base in cls.__mro__[1:] if key in vars(base)]
            yield f"{name}.{key}", value, any(base.__doc__ for base in bases)


def needs_example(name):
    """Whether a name, or the class that it constructs, is exported by phcle."""
    module, _, last = name.rpartition(".")
    owner = module.rpartition(".")[2]
    exported = {x: y for x in phcle.__all__ if callable(y := getattr(phcle, x))}
    if last in exported and exported[last].__module__ == module:
        value = exported[last]
        return not (isinstance(value, type) and issubclass(value, BaseException))
    if owner in exported:
        is_constructor = isinstance(
            inspect.getattr_static(exported[owner], last, None), classmethod
        )
        return is_constructor and f"{exported[owner].__module__}.{owner}" == module
    return False


def is_command(value):
    """Whether a function is a command of the command line."""
    from phcle.cli.app import app

    commands = [inspect.unwrap(command.callback) for command in app.registered_commands]
    return value in commands


def faults(module_name):
    """What the docstrings of one module lack, a line each."""
    found = []
    for name, value, is_inherited in public_names(module_name):
        checks = CHECKS
        if is_inherited and not value.__doc__:
            continue
        if is_inherited or is_command(value):
            checks = checks - INHERITED
        if not needs_example(name):
            checks = checks - {"EX01"}
        if isinstance(value, cached_property):
            value = property(value.func)
        errors = validate(value, validator_cls=PublicName)["errors"]
        found += [f"{name}: {code} {text}" for code, text in errors if code in checks]
    return found


@pytest.mark.parametrize("module", list(modules()))
def test_public_names_are_documented(module):
    pytest.importorskip(module, reason="an optional library is not installed")
    assert not faults(module)


if __name__ == "__main__":
    lacking = [
        x for package in sys.argv[1:] for m in modules(package) for x in faults(m)
    ]
    sys.exit("\n".join([*lacking, f"{len(lacking)} to do"]) if lacking else 0)
