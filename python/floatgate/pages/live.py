"""Charts that a reader can explore: what a page needs beside the picture to draw it anew in a browser.

A page shows pictures that need no script. Where scripts run, ``live.js`` draws a chart again from its specification
when it comes into view. It has the same layout and colours; marks show their values under the pointer, axes zoom, and
a click in the legend shows a series alone. The bundle that draws is ``scripts/chart_runtime.py``'s; nothing is fetched.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from floatgate.pages import palette
from floatgate.pages.causes import patterned

MARK = 'class="spec"'
"""Stands in pages that have charts to explore, and in no others."""
SHOWN = "shown"
"""The parameter that holds the series chosen in a legend."""
ZOOM = "zoom"
"""The parameter that holds the zoomed part of the axes."""
POINTS_MAX = 4000
"""Rows up to which lines and areas get a mark for the pointer at each of their points."""
_NUMBERS = ",.6~r"
"""Six significant digits, with groups of thousands."""
_COLORS = ("color", "stroke", "fill")
_ENDS = {"x": "x2", "y": "y2"}
_AREAS = frozenset({"area", "bar", "rect"})
_CHANNELS = (*_COLORS, "shape", "strokeDash", "xOffset", "yOffset", "y", "y2", "x", "x2", "size", "opacity")
_HELD = ("layer", "concat", "hconcat", "vconcat")

Spec = dict[str, Any]


def specification(wide: Mapping[str, Any], narrow: Mapping[str, Any]) -> str:
    """Return both layouts of a chart as JSON for a page, with the data that they share once.

    Args:
        wide: the chart for wide pages, in Vega-Lite.
        narrow: the same for narrow pages.
    """
    names: dict[str, str] = {}

    def named(values: list[Any]) -> str:
        return names.setdefault(_json(values), f"data-{len(names)}")

    wide_text, narrow_text = (_json(_without_data(explorable(chart), named)) for chart in (wide, narrow))
    datasets = ",".join(f'"{name}":{values}' for values, name in names.items())
    text = f'{{"datasets":{{{datasets}}},"wide":{wide_text},"narrow":{narrow_text}}}'
    # Nothing in a script may look like its end.
    return text.replace("<", "\\u003c").replace(f'"{palette.INK}"', '"currentColor"')


def _json(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def _without_data(part: Any, named: Callable[[list[Any]], str]) -> Any:
    """Replace inline data by their names."""
    if isinstance(part, list):
        return [_without_data(one, named) for one in part]
    if not isinstance(part, dict):
        return part
    made = {key: _without_data(value, named) for key, value in part.items() if key != "data"}
    if "data" in part:
        values = (part["data"] or {}).get("values")
        made["data"] = {"name": named(values)} if values is not None else part["data"]
    return made


def explorable(chart: Mapping[str, Any]) -> Spec:
    """Return a chart with values under the pointer, axes that zoom and a legend to click.

    Args:
        chart: in Vega-Lite, with its data inline; it is not changed.
    """
    spec: Spec = _copy(chart)
    units = list(_units(spec, {}))
    _choose_series(units)
    _zoom(spec, units)
    for unit, data in units:
        _name_values(unit, data)
    _fill_patterns([unit for unit, _ in units])
    spec["config"] = {**spec.get("config", {}), "tooltipFormat": {"numberFormat": _NUMBERS}}
    spec.pop("$schema", None)
    return spec


def _copy(part: Any) -> Any:
    """Copy a specification, but not the rows of its data."""
    if isinstance(part, Mapping):
        return {key: value if key == "values" else _copy(value) for key, value in part.items()}
    return [_copy(one) for one in part] if isinstance(part, list) else part


def _units(spec: Spec, data: Mapping[str, Any]) -> Iterator[tuple[Spec, Mapping[str, Any]]]:
    """Find the parts with marks, each with its data."""
    data = spec.get("data") or data
    if "mark" in spec:
        if isinstance(spec["mark"], str):
            spec["mark"] = {"type": spec["mark"]}
        yield spec, data
    for how in _HELD:
        for part in spec.get(how, []):
            yield from _units(part, data)


def _choose_series(units: Sequence[tuple[Spec, Mapping[str, Any]]]) -> None:
    """Let a click in the legend show one series alone, further clicks add others; others are left out of the scales."""
    for unit, data in units:
        encoding = unit.get("encoding", {})
        for channel in _COLORS:
            field = encoding.get(channel, {}).get("field")
            if field is None or not _has_legend(encoding[channel]):
                continue
            # The legend keeps its entries while their rows are left out.
            scale = encoding[channel].setdefault("scale", {})
            if "domain" not in scale:
                values = {row[field] for row in data.get("values", []) if row.get(field) is not None}
                scale["domain"] = sorted(values, key=str)
            chosen = {"type": "point", "fields": [field], "toggle": "true"}
            unit.setdefault("params", []).append({"name": SHOWN, "select": chosen, "bind": "legend"})
            for other, _ in units:
                if _uses(other, field):
                    other["transform"] = [*other.get("transform", []), {"filter": {"param": SHOWN}}]
            return


def _has_legend(channel: Mapping[str, Any]) -> bool:
    return channel.get("type") == "nominal" and channel.get("legend", {}) is not None


def _uses(unit: Spec, field: str) -> bool:
    return any(isinstance(one, dict) and one.get("field") == field for one in unit.get("encoding", {}).values())


def _zoom(spec: Spec, units: Sequence[tuple[Spec, Mapping[str, Any]]]) -> None:
    """Bind the axes of numbers to drag and wheel; panels side by side that share scales keep theirs."""
    if any(how in spec for how in _HELD if how != "layer"):
        return
    bound = next(((unit, axes) for unit, _ in units if (axes := _zooming(unit))), None)
    if bound is None:
        return
    unit, axes = bound
    # Without Ctrl the wheel scrolls the page.
    select = {"type": "interval", "encodings": axes, "zoom": "wheel![event.ctrlKey || event.metaKey]"}
    unit.setdefault("params", []).append({"name": ZOOM, "select": select, "bind": "scales"})
    for one, _ in units:
        one["mark"]["clip"] = True


def _zooming(unit: Spec) -> list[str]:
    """Return the axes of numbers that a reader would stretch: of places, not of the lengths of bars."""
    encoding, kind = unit.get("encoding", {}), unit["mark"]["type"]
    if kind not in ("line", "area", "point", "circle", "bar"):
        return []
    axes = [axis for axis in ("x", "y") if _is_continuous(encoding.get(axis, {}))]
    if kind in ("point", "circle"):
        return axes
    return ["x"] if axes == ["x", "y"] and kind != "bar" else []


def _is_continuous(channel: Mapping[str, Any]) -> bool:
    return channel.get("type") == "quantitative" and "field" in channel and not channel.get("bin")


def _name_values(unit: Spec, data: Mapping[str, Any]) -> None:
    """Show the values of a mark under the pointer, by the titles of their axes and legends."""
    mark, encoding = unit["mark"], unit.get("encoding", {})
    if mark["type"] == "text":
        return
    named = [
        (channel, encoding[channel])
        for channel in _CHANNELS
        if isinstance(encoding.get(channel), dict) and "field" in encoding[channel]
    ]
    shown: dict[str, Spec] = {}
    for channel, facts in named:
        start = next((one for one, end in _ENDS.items() if end == channel), channel)
        title = _title(encoding[start] if channel in _ENDS.values() else facts, facts["field"])
        if _ENDS.get(channel) in encoding:
            title += " (from)"
        elif channel in _ENDS.values():
            title += " (to)"
        kind = encoding[start].get("type", "quantitative")
        entry = {"field": facts["field"], "type": "nominal" if kind == "ordinal" else kind, "title": title}
        form = (facts.get("axis") or {}).get("format")
        if form is not None and kind == "quantitative":
            entry["format"] = ".4~%" if form.endswith("%") else _NUMBERS
        shown.setdefault(facts["field"], entry)
    if not shown:
        return
    unit["encoding"] = {**encoding, "tooltip": list(shown.values())}
    if mark["type"] in ("line", "area") and "point" not in mark and len(data.get("values", [])) <= POINTS_MAX:
        mark["point"] = {"opacity": 0, "size": 90, "filled": True}
        # Beside points, areas would be drawn paler.
        mark.setdefault("opacity", 1)


def _title(facts: Mapping[str, Any], field: str) -> str:
    """Return how a reader calls a field: the title of its axis or legend, else its name."""
    for title in (facts.get("title"), (facts.get("axis") or {}).get("title"), (facts.get("legend") or {}).get("title")):
        if title:
            return title if isinstance(title, str) else " ".join(title)
    return field.replace("_", " ")


def _fill_patterns(units: Sequence[Spec]) -> None:
    """Fill areas with the patterns of their causes, as the picture does; lines of the same scale keep plain colours."""
    fills = {entry.color: f"url(#{name})" for name, entry in patterned().items()}
    plain = any(
        unit["mark"]["type"] not in _AREAS and any("field" in unit.get("encoding", {}).get(one, {}) for one in _COLORS)
        for unit in units
    )
    for unit in units:
        if unit["mark"]["type"] not in _AREAS:
            continue
        for name in ("color", "fill"):
            if name in unit["mark"]:
                unit["mark"][name] = fills.get(unit["mark"][name], unit["mark"][name])
            channel = unit.get("encoding", {}).get(name, {})
            if not plain and isinstance(channel.get("scale"), dict) and "range" in channel["scale"]:
                channel["scale"]["range"] = [fills.get(color, color) for color in channel["scale"]["range"]]


@cache
def scripts() -> Mapping[str, str]:
    """Return what a page needs to draw charts: the packed runtime in base64, and the script that uses it."""
    room = resources.files(__package__)
    packed = base64.b64encode(room.joinpath("chart_runtime.js.gz").read_bytes()).decode()
    return {"runtime": packed, "live": room.joinpath("live.js").read_text("utf-8")}
