"""Validates the charts that tests draw against the Vega-Lite schema."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest

from floatgate.pages import drawing


def check(chart: dict[str, Any]) -> None:
    """Validate a chart.

    Raises:
        jsonschema_rs.ValidationError: says what is wrong.
    """
    _validator().validate(chart)


def install() -> None:
    """Check what is drawn in this process from now on."""
    draw = drawing.svg

    def checked(chart: dict[str, Any]) -> str:
        check(chart)
        return draw(chart)

    pytest.MonkeyPatch().setattr(drawing, "svg", checked)


@cache
def _validator() -> jsonschema_rs.Draft7Validator:
    package = find_spec("altair")
    assert package is not None
    assert package.origin is not None
    (schema,) = Path(package.origin).parent.glob("vegalite/*/schema/vega-lite-schema.json")
    return jsonschema_rs.Draft7Validator(json.loads(schema.read_text(), object_hook=_with_proper_references))


def _with_proper_references(part: dict[str, Any]) -> dict[str, Any]:
    """Names of definitions have characters such as ``<``, which references to them may not have."""
    if isinstance(part.get("$ref"), str):
        part["$ref"] = quote(part["$ref"], safe="#/")
    return part
