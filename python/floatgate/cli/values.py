"""Values of options and arguments that need no check.

typer checks values by pydantic, whose import takes a third of a short command. A text that is to be a text, an option
that is left out and a default have nothing to check; pydantic is imported for others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

_PLAIN = (bool, int, float, str, Enum)
"""Types of defaults that the command states as it wants them."""


def checked_late(params: list[Any]) -> list[Any]:
    """Have parameters import what checks their values only when one has a value to check, and return them.

    Args:
        params: those of a command, as typer makes them; without typer's method for that they stay as they are.
    """
    for param in params:
        checking = getattr(type(param), "get_runtime_param", None)
        if checking is not None:
            late = _Late(partial(checking, param))
            param.get_runtime_param = lambda late=late: late
    return params


@dataclass(frozen=True)
class _Late:
    """Stands in for what typer converts the values of a parameter with.

    Attributes:
        checking: returns what it stands in for.
    """

    checking: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert what the command line, or a default, has for a parameter, as typer does."""
        many = param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        if value is param.default and isinstance(value, _PLAIN):
            return value
        kind = param.type_descriptor
        if kind.parameter_info.parser is None:
            if kind.annotation is str and isinstance(value, str) and not many:
                return value
            if kind.annotation == list[str] and isinstance(value, list | tuple) and all(map(_is_text, value)):
                return list(value)
        return self.checking().coerce(value, param=param, ctx=ctx)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
