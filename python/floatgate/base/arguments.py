"""Arguments of the Python interface, checked against its annotations before any work is done.

An argument that does not fit raises an :class:`~floatgate.base.errors.InputError` with its name. Only this module
checks; no ``TypeError`` or ``OverflowError`` comes from below.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ParamSpec, TypeVar

from floatgate.base.errors import input_error

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Whole:
    """Range of a whole number, for ``Annotated[int, Whole(1, 9)]``."""

    least: int = -(2**63)
    most: int = 2**63 - 1


U32 = Whole(0, 2**32 - 1)
"""Numbers that the core keeps in 32 bits."""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Check the arguments of a public function; those whose annotations are for type checkers alone pass."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        # A wrong number or name of arguments is Python's own TypeError.
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            parameter = signature.parameters[name]
            wanted = _annotation(parameter.annotation, getattr(function, "__globals__", {}))
            many = parameter.kind is inspect.Parameter.VAR_KEYWORD
            for one, argument in value.items() if many else [(name, value)]:
                if one == "progress":
                    _must_be_callable(argument)
                elif wanted is not None and not _fits(argument, wanted):
                    raise input_error(f"{one}: is {_what(argument)}; expected {_words(wanted)}")
        return function(*args, **kwargs)

    return call


def _must_be_callable(argument: object) -> None:
    if argument is not None and not callable(argument):
        raise input_error(f"progress: is {_what(argument)}; expected a function, or None")


def _annotation(annotation: Any, names: dict[str, Any]) -> Any:
    """Return what an annotation stands for; None if its names exist for type checkers alone."""
    while isinstance(annotation, str):
        try:
            annotation = eval(annotation, names)  # noqa: S307 - our own source
        except NameError:
            return None
    return None if annotation is inspect.Parameter.empty else annotation


def _fits(value: Any, wanted: Any) -> bool:
    origin = typing.get_origin(wanted)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in typing.get_args(wanted))
    if origin is Annotated:
        kind, span = typing.get_args(wanted)[:2]
        return _fits(value, kind) and span.least <= value <= span.most
    if origin is os.PathLike:
        return hasattr(value, "__fspath__") and _is_text(os.fspath(value))
    if origin is Mapping:
        values = typing.get_args(wanted)[1]
        if not isinstance(value, Mapping):
            return False
        return values in (Any, object) or all(_fits(one, values) for one in value.values())
    if origin is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return _PLAIN.get(wanted, lambda _: True)(value)


def _is_text(value: Any) -> bool:
    """Return whether it is a string that the core can take: UTF-8 has no half characters."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_float(value: Any) -> bool:
    try:
        return isinstance(value, numbers.Real) and float(value) is not None
    except (OverflowError, ValueError):
        return False


_PLAIN: dict[Any, Callable[[Any], bool]] = {
    str: _is_text,
    bool: lambda value: isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"),
    int: lambda value: (
        not isinstance(value, bool) and isinstance(value, numbers.Integral) and Whole.least <= int(value) <= Whole.most
    ),
    float: _is_float,
    None: lambda value: value is None,
    type(None): lambda value: value is None,
}


def _what(value: Any) -> str:
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        try:
            text = repr(value)
        except ValueError:  # Python does not print whole numbers of thousands of digits
            return "a number that is too large"
        return text if len(text) <= 40 else f"{text[:40]}..."
    if isinstance(value, str) and not _is_text(value):
        return "not UTF-8 text"
    return f"of type {type(value).__name__}"


def _words(wanted: Any) -> str:
    origin = typing.get_origin(wanted)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_words(one) for one in typing.get_args(wanted)))
    if origin is Annotated:
        span = typing.get_args(wanted)[1]
        return f"a whole number from {span.least} to {span.most}"
    if origin is Mapping:
        values = typing.get_args(wanted)[1]
        return "a dict" if values in (Any, object) else f"a dict of {_words(values)} each"
    if origin is Sequence:
        return "a list"
    if origin is os.PathLike:
        return "a path"
    names = {str: "a text", bool: "True or False", int: "a whole number of 64 bits", float: "a number"}
    return "None" if wanted in (None, type(None)) else names.get(wanted, str(wanted))
