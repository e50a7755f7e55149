"""Conditions on the result of a live drive, for tests of programs: ``waf_bytes < 1.5``."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate import _core
from floatgate.base.errors import input_error, quote
from floatgate.results.flat import flat

_COMPARISONS = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_FORM = re.compile(r"\s*([a-z0-9_.]+)\s*(<=|>=|<|>)\s*([0-9.eE+-]+)\s*")
_EXPECTED = 'expected a figure of result.json, <, <=, > or >=, and a number, such as "waf_bytes < 1.5"'


@dataclass(frozen=True)
class Condition:
    """A figure, how it compares, and with what.

    Attributes:
        metric: a key of ``result.json`` with dots between its levels.
        comparison: ``<``, ``<=``, ``>`` or ``>=``.
        bound: a number.
    """

    metric: str
    comparison: str
    bound: float

    @classmethod
    def parsed(cls, text: str) -> Condition:
        """Read a condition.

        Args:
            text: such as ``waf_bytes < 1.5``.

        Returns:
            The condition.

        Raises:
            InputError: it cannot be understood, or no result has such a figure.
        """
        match = _FORM.fullmatch(text)
        try:
            bound = float(match[3]) if match else None
        except ValueError:
            bound = None
        if match is None or bound is None:
            raise input_error(f"--assert: {quote(text)} is no condition; {_EXPECTED}")
        if not _may_hold(json.loads(_core.result_schema()), match[1].split(".")):
            raise input_error(f"--assert: no figure {quote(match[1])} in results; {_EXPECTED}")
        return cls(match[1], match[2], bound)

    def failure(self, result: Mapping[str, object]) -> str | None:
        """Say why the condition does not hold.

        Args:
            result: the content of ``result.json``.

        Returns:
            The figure and the bound; None where it holds.

        Raises:
            InputError: the result has no such figure.
        """
        figures = flat(result)
        if self.metric not in figures:
            raise input_error(f"--assert: no figure {quote(self.metric)} in the result; {_EXPECTED}")
        value = figures[self.metric]
        if value is None:
            return f"{self.metric} is not known; expected {self.comparison} {self.bound:g}"
        if not isinstance(value, int | float):
            raise input_error(f"--assert: {self.metric} is no number; {_EXPECTED}")
        if _COMPARISONS[self.comparison](value, self.bound):
            return None
        return f"{self.metric} is {value:.4g}; expected {self.comparison} {self.bound:g}"


def _may_hold(schema: Mapping[str, Any], parts: Sequence[str]) -> bool:
    """Return whether an object of this schema may have a value at the end of a path of keys."""
    if not parts:
        return True
    own = schema.get("properties", {})
    if "items" in schema and parts in (["low"], ["high"]):
        return True
    if parts[0] in own:
        return _may_hold(own[parts[0]], parts[1:])
    more = schema.get("additionalProperties", False)
    if isinstance(more, Mapping):
        return _may_hold(more, parts[1:])
    return bool(more) or any(_may_hold(one, parts) for key in ("anyOf", "oneOf") for one in schema.get(key, ()))
