"""Holds the charts that tests draw against the schema of Vega-Lite, each form of chart once: it takes half a second."""

from __future__ import annotations

import json
from typing import Any

import pytest

from floatgate import drawing

_DATA = ("data", "datasets")
_TEXT = ("title", "subtitle", "text", "name", "description")


class CheckedCharts:
    """Forms that were found right so far."""

    def __init__(self) -> None:
        self._right: set[str] = set()

    def check(self, chart: dict[str, Any]) -> None:
        """Hold a chart against the schema.

        Raises:
            altair.utils.schemapi.SchemaValidationError: says what is wrong.
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


def _form(part: Any) -> Any:
    """A chart without its data and texts, and signs for numbers: the schema has bounds at 0 alone."""
    if isinstance(part, dict):
        kept = {name: inner for name, inner in part.items() if name not in _DATA}
        return {name: "" if name in _TEXT and isinstance(inner, str) else _form(inner) for name, inner in kept.items()}
    if isinstance(part, list | tuple):
        return [_form(inner) for inner in part]
    if isinstance(part, int | float) and not isinstance(part, bool):
        return (part > 0) - (part < 0)
    return part
