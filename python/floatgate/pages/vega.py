"""Charts in the words of Altair, as specifications of Vega-Lite.

Altair takes longer to import than a small run takes to run and to draw, since it makes a class for each thing that its
schema knows. Charts of pages need few of them: here they are, by the same names, and what comes out is the same
(``tests/python/test_vega.py``). For notebooks, :func:`altair_chart` makes an Altair chart of one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from typing import Any, Self

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

_TYPES = {"N": "nominal", "O": "ordinal", "Q": "quantitative", "T": "temporal"}
_SHORTHAND = re.compile(r"([^()]+):([NOQT])")
_VIEW = {"continuousWidth": 300, "continuousHeight": 300}
"""The size of charts that name none; Altair's."""
_UNTYPED = ("x2", "y2")
"""Channels that have the type of another one."""


def _settings(**settings: Any) -> dict[str, Any]:
    return {name: _plain(value) for name, value in settings.items()}


Axis = Legend = Scale = Data = _settings
"""Property bags; None is valid."""


def value(constant: Any) -> dict[str, Any]:
    """Return a constant in place of a field."""
    return {"value": constant}


def datum(constant: Any) -> dict[str, Any]:
    """Return a constant on the scale of the data in place of a field."""
    return {"datum": constant}


def condition(test: str, then: Mapping[str, Any], otherwise: Mapping[str, Any]) -> dict[str, Any]:
    """Format as ``then`` where the expression ``test`` holds for a row, else ``otherwise``."""
    return {"condition": {"test": test, **then}, **otherwise}


class Channel:
    """How a field is drawn: ``X("at:Q", title="time")``; types are N, O, Q and T."""

    def __init__(self, shorthand: str, **settings: Any) -> None:
        """Take a field with its type, and further settings of Vega-Lite."""
        self._said = _field(shorthand) | _settings(**settings)

    def axis(self, **settings: Any) -> Self:
        """Return the same with another axis."""
        other = copy(self)
        other._said = self._said | {"axis": Axis(**settings)}
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return it as Vega-Lite wants it."""
        return dict(self._said)


X = Y = XOffset = YOffset = Color = Stroke = Shape = Size = Opacity = StrokeDash = Text = Channel


class _Top:
    """The shared part of charts of one mark, of layers and of panels; methods return a changed copy."""

    def __init__(self, **parts: Any) -> None:
        self._parts = parts
        self._config: dict[str, Any] = {}

    def _with(self, **parts: Any) -> Self:
        other = copy(self)
        other._parts = self._parts | parts
        return other

    def properties(self, **parts: Any) -> Self:
        """Return the same with a ``width``, a ``height``, a ``title``."""
        return self._with(**_settings(**parts))

    def configure(self, **settings: Any) -> Self:
        """Return the same in another look."""
        other = copy(self)
        other._config = self._config | settings
        return other

    def configure_view(self, **settings: Any) -> Self:
        """Return the same with another look of the plane of the marks."""
        return self.configure(view=settings)

    def configure_axis(self, **settings: Any) -> Self:
        """Return the same with another look of axes."""
        return self.configure(axis=settings)

    def configure_legend(self, **settings: Any) -> Self:
        """Return the same with another look of legends."""
        return self.configure(legend=settings)

    def resolve_scale(self, **shared: str) -> Self:
        """Return the same with scales that layers or panels share, or do not."""
        return self._with(resolve={"scale": shared})

    def resolve_legend(self, **shared: str) -> Self:
        """Return the same with legends that layers or panels share, or do not."""
        return self._with(resolve={"legend": shared})

    def inner(self) -> dict[str, Any]:
        """Return the specification as a part of another one."""
        return {name: _plain(part) for name, part in self._parts.items()}

    def without_data(self) -> Self:
        """Return the same for a chart around it that has the data."""
        other = copy(self)
        other._parts = {name: part for name, part in self._parts.items() if name != "data"}
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return the specification of the whole chart."""
        view = _VIEW | self._config.get("view", {})
        return {"$schema": SCHEMA, "config": self._config | {"view": view}} | self.inner()


class Chart(_Top):
    """A mark for each row of the data."""

    def __init__(self, data: Mapping[str, Any], **parts: Any) -> None:
        """Take the data, ``Data(values=[...])``, and properties."""
        super().__init__(data=data, **parts)

    def encode(self, **channels: Any) -> Self:
        """Return the same with more channels: :class:`Channel`, ``"field:Q"``, :func:`value`, :func:`condition`."""
        document = {name: _channel(name, channel) for name, channel in channels.items()}
        return self._with(encoding=self._parts.get("encoding", {}) | document)

    def _mark(self, kind: str, settings: dict[str, Any]) -> Self:
        return self._with(mark={"type": kind, **settings})

    def mark_area(self, **settings: Any) -> Self:
        """Return the same drawn as areas."""
        return self._mark("area", settings)

    def mark_bar(self, **settings: Any) -> Self:
        """Return the same drawn as bars."""
        return self._mark("bar", settings)

    def mark_circle(self, **settings: Any) -> Self:
        """Return the same drawn as discs."""
        return self._mark("circle", settings)

    def mark_line(self, **settings: Any) -> Self:
        """Return the same drawn as lines."""
        return self._mark("line", settings)

    def mark_point(self, **settings: Any) -> Self:
        """Return the same drawn as points."""
        return self._mark("point", settings)

    def mark_rect(self, **settings: Any) -> Self:
        """Return the same drawn as rectangles."""
        return self._mark("rect", settings)

    def mark_rule(self, **settings: Any) -> Self:
        """Return the same drawn as straight lines."""
        return self._mark("rule", settings)

    def mark_text(self, **settings: Any) -> Self:
        """Return the same drawn as texts."""
        return self._mark("text", settings)

    def mark_tick(self, **settings: Any) -> Self:
        """Return the same drawn as ticks."""
        return self._mark("tick", settings)


class Composed(_Top):
    """Charts over or beside one another; data that all of them have are written once."""

    def __init__(self, how: str, charts: tuple[_Top, ...], **parts: Any) -> None:
        """Take ``"layer"`` or ``"concat"``, and the charts."""
        data = [chart._parts.get("data") for chart in charts]
        if data and data[0] is not None and all(one is data[0] for one in data):
            charts = tuple(chart.without_data() for chart in charts)
            parts |= {"data": data[0]}
        super().__init__(**{how: charts}, **parts)


def layer(*charts: _Top) -> Composed:
    """Return charts over one another."""
    return Composed("layer", charts)


def concat(*charts: _Top, columns: int) -> Composed:
    """Return charts beside one another, so many in a row."""
    return Composed("concat", charts, columns=columns)


def altair_chart(chart: _Top) -> Any:
    """Return the same as a chart of Altair, for notebooks; imports Altair."""
    import altair as alt

    return alt.Chart.from_dict(chart.to_dict())


def _field(shorthand: str) -> dict[str, Any]:
    match = _SHORTHAND.fullmatch(shorthand)
    if match is None:
        raise ValueError(f"{shorthand!r} is not a field with its type")
    return {"field": match[1], "type": _TYPES[match[2]]}


def _channel(name: str, channel: Any) -> Any:
    made = _field(channel) if isinstance(channel, str) else _plain(channel)
    if name in _UNTYPED:
        made.pop("type", None)
    return made


def _plain(part: Any) -> Any:
    """Convert objects to plain values; charts are parts of others here."""
    if isinstance(part, _Top):
        return part.inner()
    if isinstance(part, tuple):
        return [_plain(one) for one in part]
    return part.to_dict() if hasattr(part, "to_dict") else part
