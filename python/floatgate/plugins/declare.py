"""Policies as classes: what a class declares, checked and described.

A class is a plain namespace. Its parameters and its state are attributes, its functions take no ``self``: the engine
calls them with views of the drive, the state and the parameters. The first line of its docstring is its summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.base.errors import input_error, quote
from floatgate.plugins.contract import ORDERS

_WHOLE_MAX = 2**32 - 1
_STREAMS_MAX = 256
_RESERVED = ("streams", "source", "name")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}")
_FUNCTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "ftl.collect": {"pick": ("blocks", "p")},
    "ftl.separate": {
        "streams": ("p",),
        "begin": ("shape", "s", "p"),
        "write": ("page", "s", "p"),
        "move": ("page", "s", "p"),
        "moved": ("page", "stream", "s", "p"),
        "trimmed": ("page", "now", "s", "p"),
        "reclaimed": ("block", "s", "p"),
    },
    "ftl.level": {
        "begin": ("shape", "s", "p"),
        "review": ("wear", "victim", "s", "p"),
        "job": ("wear", "s", "p"),
        "urgent": ("wear", "block", "s", "p"),
        "erased": ("block", "erases", "s", "p"),
        "closed": ("domain", "block", "s", "p"),
        "emptying": ("domain", "block", "s", "p"),
        "read": ("block", "page", "s", "p"),
        "recounted": ("erases", "s", "p"),
        "lead_max": ("p",),
    },
    "lifetime.throttle": {"begin": ("shape", "s", "p"), "delay": ("epoch", "s", "p")},
}
"""The functions of each slot with what they take."""
_REQUIRED = {
    "ftl.collect": ("pick",),
    "ftl.separate": ("write", "move"),
    "ftl.level": (),
    "lifetime.throttle": ("delay",),
}
_NEEDS = {"ftl.separate": ("contexts", "handles", "streams", "ages"), "lifetime.throttle": ("recovery", "borrowing")}
_TABLES: dict[str, tuple[str | int, ...]] = {"ftl.separate": ("page", "block"), "ftl.level": ("block",)}
"""What each slot needs, and per what its tables of state may have values, beside a number of values."""


class Param:
    """A parameter: an attribute of a policy's class, and a key in the table of its slot."""

    def __init__(self, value: float, least: float = 0, most: float = _WHOLE_MAX, doc: str = "") -> None:
        """Declare a parameter.

        Args:
            value: the default; an int for a whole number, a float for a number, a bool for a flag.
            least: the minimum.
            most: the maximum.
            doc: its meaning and unit.
        """
        self.value, self.least, self.most, self.doc = value, least, most, doc

    @property
    def kind(self) -> str:
        """Return ``flag``, ``whole`` or ``real``, by the type of the default."""
        if isinstance(self.value, bool):
            return "flag"
        return "whole" if isinstance(self.value, int) else "real"


class State:
    """A table that a policy keeps for a drive: an attribute of its class. All values are 0 at the beginning."""

    def __init__(self, dtype: str, per: str | int = "page") -> None:
        """Declare a table.

        Args:
            dtype: the type of its values, as NumPy names it: ``uint8``, ``float64``.
            per: ``page`` for one value per logical page, ``block`` for one per block, or a number of values.
        """
        self.dtype, self.per = dtype, per

    def length(self, logical_pages: int, blocks: int) -> int:
        """Return the number of values on a drive.

        Args:
            logical_pages: pages that the host sees.
            blocks: blocks of the drive.
        """
        if isinstance(self.per, int):
            return self.per
        return {"page": logical_pages, "block": blocks}[self.per]


@dataclass(frozen=True)
class Declared:
    """A policy as its class declares it."""

    slot: str
    name: str
    summary: str
    source: str
    params: Mapping[str, Param]
    state: Mapping[str, State]
    functions: Mapping[str, Callable[..., Any]]
    order: str
    needs: tuple[str, ...]
    streams: int | None


def declared(cls: type, slot: str, name: str | None, order: str = "any", needs: tuple[str, ...] = ()) -> Declared:
    """Return what a class declares.

    Raises:
        InputError: it declares something that its slot does not have, or lacks what the slot requires.
    """
    own = {key: getattr(part, "__func__", part) for key, part in vars(cls).items() if not key.startswith("_")}
    params = {key: part for key, part in own.items() if isinstance(part, Param)}
    state = {key: part for key, part in own.items() if isinstance(part, State)}
    functions = {key: part for key, part in own.items() if callable(part) and not isinstance(part, type)}
    where = f"policy {quote(cls.__name__)}"
    for key in own.keys() - params.keys() - state.keys() - functions.keys() - set(_RESERVED):
        raise input_error(f"{where}: unknown attribute {quote(key)}; expected a Param, a State or a function")
    _check_functions(where, slot, functions)
    for key in [*params, *state]:
        if not _KEY.fullmatch(key):
            raise input_error(f"{where}: {quote(key)} is no name; expected letters a to z, digits and underscores")
    if state and slot == "ftl.collect":
        raise input_error(f"{where}: victim policies keep no state; expected none")
    for key, table in state.items():
        _check_state(f"{where}: {key}", table, _TABLES.get(slot, ()))
    _check_choices(where, slot, order, needs)
    streams = own.get("streams") if isinstance(own.get("streams"), int) else None
    if slot == "ftl.separate":
        _check_streams(where, streams, functions)
    summary = (cls.__doc__ or "").strip().split("\n", 1)[0].rstrip(".")
    return Declared(
        slot=slot,
        name=name or _kebab(cls.__name__),
        summary=summary or cls.__name__,
        source=str(own.get("source", "-")),
        params=params,
        state=state,
        functions=functions,
        order=order,
        needs=tuple(needs),
        streams=streams,
    )


def _check_functions(where: str, slot: str, functions: Mapping[str, Callable[..., Any]]) -> None:
    known = _FUNCTIONS[slot]
    for key, function in functions.items():
        if key not in known:
            expected = f"expected some of {', '.join(known)}; helpers stand outside the class"
            raise input_error(f"{where}: {slot} has no function {quote(key)}; {expected}")
        code = getattr(function, "__code__", None)
        if code is not None and code.co_argcount != len(known[key]):
            raise input_error(
                f"{where}: {key} takes {code.co_argcount} arguments; expected {key}({', '.join(known[key])})"
            )
    if slot == "ftl.level" and not {"review", "job"} & set(functions):
        raise input_error(f"{where}: it has no function 'review' or 'job'; expected one of them or both")
    for key in _REQUIRED[slot]:
        if key not in functions:
            raise input_error(f"{where}: it has no function {quote(key)}; expected {key}({', '.join(known[key])})")


def _check_choices(where: str, slot: str, order: str, needs: tuple[str, ...]) -> None:
    if order not in ORDERS:
        raise input_error(f"{where}: unknown order {quote(order)}; expected one of {', '.join(ORDERS)}")
    known = _NEEDS.get(slot, ())
    for need in needs:
        if need not in known:
            raise input_error(f"{where}: unknown need {quote(need)}; expected some of {', '.join(known)}")


def _check_streams(where: str, streams: int | None, functions: Mapping[str, Callable[..., Any]]) -> None:
    if streams is None and "streams" not in functions:
        raise input_error(f"{where}: it does not say how many streams it has; expected 'streams = 4', or a function")
    if streams is not None and not 1 <= streams <= _STREAMS_MAX:
        raise input_error(f"{where}: {streams} streams; expected 1 to {_STREAMS_MAX}")


def _check_state(where: str, table: State, per: tuple[str | int, ...]) -> None:
    import numpy as np

    try:
        dtype = np.dtype(table.dtype)
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "iufb":
        raise input_error(f"{where}: unusable type {quote(str(table.dtype))}; expected one such as uint8 or float64")
    if table.per not in per and not (isinstance(table.per, int) and table.per > 0):
        expected = " or ".join([*map(str, per), "a number"])
        raise input_error(f"{where}: a value per {quote(str(table.per))}; expected {expected}")


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()
