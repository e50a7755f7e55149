"""Add what forecasts hold to the shape that checks them (python/floatgate/results/shapes/lifetime.shape).

Run it with ``lifetime.json`` files that hold new figures. A shape only grows: a value that is a whole number here and
a fraction there is a number, and one that is null once may be null.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from floatgate.results import shapes
from floatgate.results.shapes import Shape

FOLDER = Path(shapes.__file__).parent
FREE = ("config", "run")
"""Objects whose keys are not those of forecasts: settings, and what differs from one to another of the same."""
OWN_KEYS = ("pages_by_type",)
"""Objects with keys of their own, whose values are alike."""


def kind_of(value: Any) -> str:
    """The kind of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int) and value >= 0:
        return "whole"
    kinds = {int: "number", float: "number", str: "text", list: "list", dict: "object"}
    return kinds[type(value)]


def grown(shape: Shape | None, value: Any, key: str = "") -> Shape:
    """A shape that takes a value, too."""
    known = shape or Shape(())
    kinds = {*known.kinds, kind_of(value)}
    if "number" in kinds:
        kinds -= {"whole"}
    known.kinds = tuple(sorted(kinds, key=lambda kind: (kind == "null", kind)))
    if key in FREE:
        known.each = Shape(("any",))
    elif isinstance(value, dict) and key in OWN_KEYS:
        for one in value.values():
            known.each = grown(known.each, one)
    elif isinstance(value, dict):
        first = not known.keys
        for name, inner in known.keys.items():
            inner.optional |= name not in value
        for name, one in value.items():
            there = known.keys.get(name)
            known.keys[name] = grown(there, one, name)
            known.keys[name].optional |= there is None and not first
    elif isinstance(value, list):
        for one in value:
            known.each = grown(known.each, one)
    return known


def lines(shape: Shape, indent: int = 0) -> list[str]:
    """A shape as its file has it."""
    made = []
    inner = [(f"{key}{'?' if one.optional else ''}", one) for key, one in shape.keys.items()]
    for key, one in [*inner, *([("[]" if "list" in shape.kinds else "{}", shape.each)] if shape.each else [])]:
        made += [f"{' ' * indent}{key} {'|'.join(one.kinds)}", *lines(one, indent + 2)]
    return made


def main() -> None:
    """Grow the shape by the files that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="lifetime.json files")
    shape = shapes.shape_of("lifetime")
    for file in parser.parse_args().files:
        grown(shape, json.loads(file.read_text("utf-8")))
    text = "\n".join([f"# {shapes.DOCUMENTS['lifetime'].what}; made by scripts/result_shapes.py.", *lines(shape)])
    (FOLDER / "lifetime.shape").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
