"""Charts to explore: they are the pictures, with values under the pointer, series to choose and axes that zoom."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import floatgate
import page_scripts
from floatgate.pages import charts, drawing, live, palette, parts, vega
from floatgate.pages.causes import CAUSES

ROWS: list[dict[str, Any]] = [
    {"at": 1.0, "speed": 2.0, "cause": "host", "share": 0.25},
    {"at": 2.0, "speed": 3.0, "cause": "gc", "share": 0.75},
]
AT = vega.X("at:Q", title="time, hours")
SPEED = vega.Y("speed:Q", title="speed, MB/s")


def _line(**channels: Any) -> dict[str, Any]:
    return charts.data_chart(ROWS).mark_line().encode(x=AT, y=SPEED, **channels).to_dict()


def _params(chart: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in chart.get("params", [])}


def test_values_are_named_by_the_titles_of_axes_and_legends() -> None:
    made = live.explorable(_line(color=vega.Color("cause:N", title=None)))
    assert [(one["field"], one["title"]) for one in made["encoding"]["tooltip"]] == [
        ("cause", "cause"),
        ("speed", "speed, MB/s"),
        ("at", "time, hours"),
    ]
    bars = charts.binned([{"from": 0, "to": 2, "count": 3}], "erases", "blocks", 560, axis={}, scale={}).to_dict()
    titles = [one["title"] for one in live.explorable(bars)["encoding"]["tooltip"]]
    assert titles == ["blocks", "erases (from)", "erases (to)"]


def test_shares_are_shown_in_percent() -> None:
    y = vega.Y("share:Q", title="share", axis=vega.Axis(format="%"))
    made = live.explorable(charts.data_chart(ROWS).mark_point().encode(x=AT, y=y).to_dict())
    assert {one["field"]: one.get("format") for one in made["encoding"]["tooltip"]} == {"share": ".4~%", "at": None}


def test_a_legend_chooses_series_and_keeps_its_entries() -> None:
    made = live.explorable(_line(color=vega.Color("cause:N")))
    assert _params(made)[live.SHOWN]["bind"] == "legend"
    assert _params(made)[live.SHOWN]["select"]["fields"] == ["cause"]
    assert made["transform"] == [{"filter": {"param": live.SHOWN}}]
    assert made["encoding"]["color"]["scale"]["domain"] == ["gc", "host"]
    assert live.SHOWN not in _params(live.explorable(_line(color=vega.Color("cause:N", legend=None))))
    assert live.SHOWN not in _params(live.explorable(_line()))


def test_axes_of_numbers_zoom_and_lengths_of_bars_do_not() -> None:
    def axes(chart: Any) -> list[str]:
        zoom = _params(live.explorable(chart)).get(live.ZOOM)
        return list(zoom["select"]["encodings"]) if zoom else []

    assert axes(_line()) == ["x"]
    assert axes(charts.data_chart(ROWS).mark_point().encode(x=AT, y=SPEED).to_dict()) == ["x", "y"]
    assert axes(charts.data_chart(ROWS).mark_bar().encode(x=AT, y="cause:N").to_dict()) == []
    binned = charts.data_chart(ROWS).mark_bar().encode(x=vega.X("at:Q", bin="binned"), x2="speed:Q", y=SPEED)
    assert axes(binned.to_dict()) == []


def test_areas_keep_the_patterns_of_causes_and_lines_their_colours() -> None:
    color = charts.by_cause_color([CAUSES["host"].label, CAUSES["gc"].label])
    bars = charts.data_chart(ROWS).mark_bar().encode(x=AT, y=SPEED, color=color)
    colors = live.explorable(bars.to_dict())["encoding"]["color"]["scale"]["range"]
    assert colors == [CAUSES["host"].color, "url(#cause-gc)"]
    line = bars.mark_line()
    assert live.explorable(line.to_dict())["encoding"]["color"]["scale"]["range"][1] == CAUSES["gc"].color
    both = live.explorable(vega.layer(bars, line).to_dict())
    assert both["layer"][0]["encoding"]["color"]["scale"]["range"][1] == CAUSES["gc"].color


def test_the_chart_itself_is_not_changed() -> None:
    chart = _line(color=vega.Color("cause:N"))
    before = copy.deepcopy(chart)
    live.explorable(chart)
    assert chart == before


def test_data_of_both_layouts_are_written_once_and_end_no_script() -> None:
    rows = [{**row, "cause": "</script><b>"} for row in ROWS]
    chart = charts.data_chart(rows).mark_line().encode(x=AT, y=SPEED)
    text = live.specification(charts.finished(chart, 560, 240).to_dict(), charts.finished(chart, 328, 240).to_dict())
    assert "<" not in text
    assert palette.INK not in text
    made = json.loads(text)
    assert made["datasets"] == {"data-0": rows}
    assert (made["wide"]["width"], made["narrow"]["width"]) == (560, 328)
    assert made["wide"]["data"] == made["narrow"]["data"] == {"name": "data-0"}


def test_each_chart_of_a_report_is_its_picture(small_run: floatgate.Run) -> None:
    pictures = parts.pictures_of(small_run.report)
    assert len(pictures) > 5
    for picture in pictures:
        chart = picture.draw(parts.WIDE).to_dict()
        explored = live.explorable(chart)
        one, other = drawing.svg(chart), drawing.svg(explored)
        assert _texts(one) == _texts(other), picture.name
        # What is clipped at the ends of axes that zoom leaves up to two pixels more.
        (width, height), (other_width, other_height) = _plane(one), _plane(other)
        assert (0 <= other_width - width <= 2, other_height) == (True, height), picture.name
        if other_width == width:
            assert _shapes(one) - _shapes(other) == Counter(), picture.name


def _texts(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg)


def _shapes(svg: str) -> Counter[str]:
    return Counter(re.findall(r' d="([^"]+)"', svg))


def _plane(svg: str) -> tuple[int, int]:
    width, height = re.findall(r' d="M0,0h(\d+)v(\d+)h-', svg)[0]
    return int(width), int(height)


def test_a_page_has_its_charts_and_what_draws_them_once(small_run: floatgate.Run) -> None:
    page = small_run.report()
    assert len(page_scripts.specifications(page)) == len(parts.pictures_of(small_run.report))
    assert page.count('id="chart-runtime"') == 1
    assert "<svg role=" in page_scripts.without_scripts(page)


def test_a_page_without_charts_has_no_script() -> None:
    from floatgate.pages.page import page

    assert "<script" not in page("t", [parts.Title("t"), parts.Text("words")])


def test_the_bundle_is_the_one_that_is_listed() -> None:
    folder = Path(live.__file__).parent
    packed = (folder / "chart_runtime.js.gz").read_bytes()
    listing = json.loads((folder / "chart_runtime.json").read_text())
    assert listing["sha256"] == hashlib.sha256(packed).hexdigest()
    text = gzip.decompress(packed).decode()
    for package in listing["packages"]:
        assert f"{package['name']} {package['version']}" in text[: text.index("*/")]
    assert len(live.scripts()["runtime"]) < 400_000


def test_the_bundle_has_the_vega_lite_of_the_renderer() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    listing = json.loads((Path(live.__file__).parent / "chart_runtime.json").read_text())
    version = next(one["version"] for one in listing["packages"] if one["name"] == "vega-lite")
    assert version.rpartition(".")[0] in vl_convert.get_vegalite_versions()
