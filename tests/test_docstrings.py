"""What phcle and its public packages export has NumPy docstrings.

numpydoc's validation must find a docstring (GL08) whose summary is one line that ends
in a period (SS03, SS06); every parameter, in order, with a type and a description (PR);
`Returns` where something is returned, and what it is (RT01, RT03); known sections in
the usual order (GL06, GL07); and an example (EX01) for every class and function of
`phcle.__all__`. Fields of a dataclass may be listed under `Attributes`, and those of a
base class need not be repeated. A method whose base class documents it needs no
docstring of its own.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from functools import cached_property

import pytest

pytest.importorskip("numpydoc", reason="numpydoc is not installed")

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

PACKAGES = ("phcle", "phcle.tables", "phcle.contexts", "phcle.embedding")
PACKAGES += ("phcle.images", "phcle.errors")
CHECKS = {"GL06", "GL07", "GL08", "SS03", "SS06", "RT01", "RT03"} | {
    f"PR{number}" for number in ("01", "02", "03", "04", "07", "10")
}
INHERITED = {"PR01", "RT01"}
"""What the docstring of a method need not say if a base class does."""


class PublicName(Validator):
    """numpydoc's view of one public name; fields of dataclasses count as parameters."""

    def __init__(self, obj_name):
        config = {"show_class_members": False}
        super().__init__(get_doc_object(obj_name, config=config))

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
        bases = self.obj.__mro__[1:] if isinstance(self.obj, type) else ()
        fields = {f for x in bases for f in getattr(x, "__dataclass_fields__", {})}
        left_out = fields - set(self.doc_all_parameters)
        return tuple(x for x in super().signature_parameters if x not in left_out)


def has_own_constructor(cls):
    """Whether phcle wrote the constructor, rather than Python or another library."""
    makers = [x for x in cls.__mro__ if {"__init__", "__new__"} & set(vars(x))]
    return makers[0].__module__.startswith("phcle")


def members(name, cls):
    """(name, object, documented by a base) of what a class itself defines."""
    for key, value in vars(cls).items():
        value = getattr(value, "__func__", value)
        if key.startswith("_") or not (
            inspect.isfunction(value) or isinstance(value, (property, cached_property))
        ):
            continue
        bases = [vars(base)[key] for base in cls.__mro__[1:] if key in vars(base)]
        yield f"{name}.{key}", value, any(base.__doc__ for base in bases)


def public_names(package):
    """(name, object, documented by a base) of all that a package exports."""
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if not str(getattr(value, "__module__", "")).startswith("phcle"):
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            yield f"{package}.{name}", value, False
        if inspect.isclass(value):
            yield from members(f"{package}.{name}", value)


def is_warning_or_error(value):
    return isinstance(value, type) and issubclass(value, BaseException)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_documented(package):
    found = []
    for name, value, is_inherited in public_names(package):
        if is_inherited and not value.__doc__:
            continue
        checks = CHECKS - INHERITED if is_inherited else CHECKS
        if name.count(".") == 1 and not is_warning_or_error(value):
            checks = checks | {"EX01"}
        if isinstance(value, cached_property):
            value = property(value.func)
        errors = validate(value, validator_cls=PublicName)["errors"]
        found += [f"{name}: {code} {text}" for code, text in errors if code in checks]
    assert not found, "\n".join(found)
