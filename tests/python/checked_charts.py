"""Validates the charts that tests draw against the Vega-Lite schema.

It takes half a second: charts that differ only in data, texts and where their axes begin and end are validated once.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from floatgate import drawing

_DATA = ("data", "datasets")
_NUMBERS = ("domain", "values")
_TEXT = ("title", "subtitle", "text", "name", "description")


class CheckedCharts:
    """Forms that were valid so far."""

    def __init__(self) -> None:
        self._right: set[str] = set()

    def check(self, chart: dict[str, Any]) -> None:
        """Validate a chart.

        Raises:
            jsonschema.ValidationError: says what is wrong.
        """
        form = json.dumps(_form(chart), sort_keys=True)
        if form in self._right:
            return
        import altair as alt

        alt.Chart.from_dict(chart)
        self._right.add(form)

    def install(self) -> None:
        """Check what is drawn in this process from now on."""
        draw = drawing.svg

        def checked(chart: dict[str, Any]) -> str:
            self.check(chart)
            return draw(chart)

        pytest.MonkeyPatch().setattr(drawing, "svg", checked)


def _form(part: Any, *, numbers: bool = True) -> Any:
    """What the schema can refuse in a chart: all but data, texts, and numbers where any number may stand."""
    if isinstance(part, dict):
        return {name: _form_of(name, inner, numbers=numbers) for name, inner in part.items()}
    if isinstance(part, list | tuple):
        return [_form(inner, numbers=numbers) for inner in part]
    if isinstance(part, int | float) and not isinstance(part, bool):
        return part if numbers else 0
    return part


def _form_of(name: str, inner: Any, *, numbers: bool) -> Any:
    if name in _DATA:
        return None
    if name in _TEXT and isinstance(inner, str):
        return ""
    return _form(inner, numbers=numbers and name not in _NUMBERS)
