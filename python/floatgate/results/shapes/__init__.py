"""The shapes of floatgate's own documents: ``result.json``, ``sweep.json`` and the others.

``KIND.shape`` has one line for each value: its key, indented below the object that holds it, and its type. Types are
``object``, ``list``, ``number``, ``whole`` (a number from 0 on), ``text``, ``flag``, ``null``, ``any``, another
document (``@KIND``) or a part of one (``@KIND/KEY``). ``[]`` stands for the elements of a list, ``{}`` for the values
of an object with keys of its own. A key with a question mark may be missing.

Those of ``result.json`` and ``lifetime.json`` follow from their JSON schemas, so from the table of metrics. Of results
and forecasts, null and missing keys are refused only where a reader could do nothing with them.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from floatgate import _core
from floatgate.base.errors import FloatgateError, input_error, quote
from floatgate.base.json_in import Node, described, load


@dataclass(frozen=True)
class DocumentFile:
    """The document that marks a folder of results: its file, and its description for messages."""

    file: str
    what: str


DOCUMENTS = {
    "run": DocumentFile("result.json", "a result as floatgate wrote it"),
    "leaderboard": DocumentFile("leaderboard.json", "a leaderboard as floatgate wrote it"),
    "sweep": DocumentFile("sweep.json", "the plan of a sweep"),
    "tune": DocumentFile("tune.json", "the settings of a search"),
    "compare": DocumentFile("compare.json", "a comparison as floatgate wrote it"),
    "repeat": DocumentFile("repeat.json", "results of several seeds as floatgate wrote them"),
    "lifetime": DocumentFile("lifetime.json", "a forecast as floatgate wrote it"),
    "plan": DocumentFile("plan.json", "a plan as floatgate wrote it"),
}
"""By kind of results; ``study/kinds`` has the code of each kind."""
_OTHERS = {"runs": "the plan of a study"}
"""Documents of incomplete studies, which do not mark a folder of results."""
_BYTES_MAX = 1 << 30


def forecast_schema() -> str:
    """Return the JSON schema of ``lifetime.json``: that of the core, with the additions to its forecasts."""
    schema = json.loads(_core.forecast_schema())
    for key, (type_, meaning) in FORECAST_ADDITIONS.items():
        schema["properties"][key] = {**type_, "description": meaning}
    return json.dumps(schema)


_TEXTS = {"type": "array", "items": {"type": "string"}}
FORECAST_ADDITIONS: dict[str, tuple[dict[str, Any], str]] = {
    "not_modelled": (_TEXTS, "what the model leaves out of this forecast"),
    "basis": (_TEXTS, "what makes the years doubtful, as the lines `basis` of the summary say it"),
    "demand_factor": ({"type": "number"}, "factor on the rate of the workload (`lifetime.forecast.demand`)"),
    "demand_bytes_per_day": ({"type": ["number", "null"]}, "bytes that the host is to write per day, with that factor"),
    "modelled_share": (
        {"type": "number"},
        "share of the blocks of the drive as sold that the model has; years and bytes are those of the drive as sold",
    ),
    "own_bytes_per_day": ({"type": ["number", "null"]}, "bytes that the workload writes per day at its own rate"),
}
"""Keys of ``lifetime.json`` beside those of the core: their types and meanings."""


_SCHEMAS = {"run": _core.result_schema, "lifetime": forecast_schema}
"""Kinds whose documents have a JSON schema."""
LENIENT = tuple(_SCHEMAS)
"""Documents in which null and missing keys are refused only where a reader could do nothing with them."""
_WHOLE_END = 1 << 64
_WORDS = {
    "object": "an object",
    "list": "a list",
    "number": "a number",
    "whole": "a whole number from 0 on",
    "text": "a text",
    "flag": "true or false",
    "null": "null",
    "any": "a value",
}
_TYPES = {
    "object": "object",
    "array": "list",
    "number": "number",
    "integer": "whole",
    "string": "text",
    "boolean": "flag",
    "null": "null",
}
"""Types of a JSON schema as kinds."""
_OF_CONTENT = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass
class Shape:
    """The allowed form of a value.

    Attributes:
        kinds: words of :data:`_WORDS`, ``any``, or ``@KIND``.
        keys: the shapes of an object's values.
        each: the shape of a list's elements, or of an object's values under any key.
        optional: whether the key may be missing.
    """

    kinds: tuple[str, ...] = ("object",)
    keys: dict[str, Shape] = field(default_factory=dict)
    each: Shape | None = None
    optional: bool = False

    @property
    def expected(self) -> str:
        """The kinds in words."""
        return " or ".join(_WORDS.get(kind, "an object") for kind in self.kinds)


def read(path: str | os.PathLike[str], kind: str, most_bytes: int = _BYTES_MAX) -> Node:
    """Read a document of a kind.

    Raises:
        InputError: the file cannot be read, is another document, or does not have its shape.
    """
    node = load(path, _OTHERS.get(kind) or DOCUMENTS[kind].what, most_bytes)
    schema, known = node["schema"].text(), f"floatgate.{'result' if kind == 'run' else kind}/1"
    if schema != known:
        raise input_error(f"{node.name}: its schema is {quote(schema)}; expected {quote(known)}, in {node.source}")
    check(node, kind)
    return node


@cache
def shape_of(kind: str) -> Shape:
    """Return the shape of a kind of document."""
    if kind in _SCHEMAS:
        return _of_schema(json.loads(_SCHEMAS[kind]()))
    root = Shape()
    above: list[tuple[int, Shape]] = [(-1, root)]
    text = resources.files(__name__).joinpath(f"{kind}.shape").read_text("utf-8")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        key, kinds = line.split()
        shape = Shape(tuple(kinds.split("|")), optional=key.endswith("?"))
        while above[-1][0] >= indent:
            above.pop()
        parent = above[-1][1]
        if key in ("[]", "{}"):
            parent.each = shape
        else:
            parent.keys[key.removesuffix("?")] = shape
        above.append((indent, shape))
    return root


def _of_schema(schema: Mapping[str, Any]) -> Shape:
    """Derive the shape that a JSON schema describes; a constant counts as a text."""
    types = schema.get("type", "string")
    kinds = tuple(_TYPES[one] for one in ([types] if isinstance(types, str) else types))
    required = schema.get("required", ())
    keys = {}
    for key, one in schema.get("properties", {}).items():
        keys[key] = _of_schema(one)
        keys[key].optional = key not in required
    # An object without properties has keys of its own, with any values.
    others = schema.get("items") or schema.get("additionalProperties", "object" in kinds and not keys)
    each = _of_schema(others) if isinstance(others, Mapping) else _ANY if others else None
    return Shape(kinds, keys, each)


def check(node: Node, kind: str, *, strict: bool = False) -> None:
    """Refuse a document that does not have its shape.

    Args:
        node: the document.
        kind: its kind.
        strict: whether null and missing keys are refused in results, too.

    Raises:
        InputError: with the first place that does not fit.
    """
    misfit = _misfit(node.value, shape_of(kind), _Rules(strict or kind not in LENIENT, strict))
    if misfit is not None:
        steps, what, expected = misfit
        raise node.at(*reversed(steps)).refusal(what, expected)


@contextlib.contextmanager
def consuming(kind: str, *nodes: Node) -> Iterator[None]:
    """Use documents of a kind; errors in the block are their fault.

    Raises:
        InputError: a document does not have its shape, or figures that do not fit together.
    """
    for node in nodes:
        check(node, kind)
    try:
        yield
    except FloatgateError:
        raise
    except _OF_CONTENT:
        for node in nodes:
            check(node, kind, strict=True)
        raise nodes[0].refusal("its figures do not fit together", "those of one run") from None


@dataclass(frozen=True)
class _Rules:
    """Whether null and missing keys are refused here, and whether in the results inside."""

    strict: bool
    strict_inside: bool


def _misfit(value: Any, shape: Shape, rules: _Rules) -> tuple[list[str | int], str, str] | None:
    """Find the first place that does not fit: steps to it from the end, what is wrong, what was expected."""
    reference = next((kind[1:] for kind in shape.kinds if kind.startswith("@")), None)
    if reference is not None and isinstance(value, dict):
        kind, _, part = reference.partition("/")
        inside = shape_of(kind).keys[part] if part else shape_of(kind)
        return _misfit(value, inside, _Rules(rules.strict_inside or kind not in LENIENT, rules.strict_inside))
    if value is None and not rules.strict:
        return None
    if not any(_is(value, kind) for kind in shape.kinds):
        return [], f"is {described(value)}", _expected_instead(value, shape)
    if isinstance(value, dict):
        lacking = _lacking(value, shape) if rules.strict else None
        return lacking or _misfit_inside(value.items(), shape, rules)
    return _misfit_inside(enumerate(value), shape, rules) if isinstance(value, list) else None


def _expected_instead(value: Any, shape: Shape) -> str:
    """Describe what was expected in place of a value: its range, if only its size is wrong."""
    numeric = [kind for kind in shape.kinds if kind in ("number", "whole", "any")]
    if not numeric or isinstance(value, bool) or not isinstance(value, int | float) or abs(value) < _WHOLE_END:
        return shape.expected
    if numeric == ["whole"]:
        return f"{shape.expected}, below 2^64"
    return f"{shape.expected}, between -2^64 and 2^64"


def _misfit_inside(
    values: Iterable[tuple[str | int, Any]], shape: Shape, rules: _Rules
) -> tuple[list[str | int], str, str] | None:
    for step, one in values:
        of = (shape.keys.get(step) if isinstance(step, str) else None) or shape.each or _ANY
        misfit = _misfit(one, of, rules)
        if misfit is not None:
            misfit[0].append(step)
            return misfit
    return None


def _lacking(value: dict[str, Any], shape: Shape) -> tuple[list[str | int], str, str] | None:
    for key, inner in shape.keys.items():
        if key not in value and not inner.optional:
            return [key], "is missing", inner.expected
    return None


def _is(value: Any, kind: str) -> bool:
    if kind == "any":
        # A table has room for any value.
        return not isinstance(value, int) or abs(value) < _WHOLE_END
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _WHOLE_END
    match kind:
        case "null":
            return value is None
        case "object":
            return isinstance(value, dict)
        case "list":
            return isinstance(value, list)
        case "text":
            return isinstance(value, str)
        case "flag":
            return isinstance(value, bool)
        case "number":
            return number or isinstance(value, float)
        case "whole":
            return number and value >= 0 and value == int(value)
    return False


_ANY = Shape(("any",))
