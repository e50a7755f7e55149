"""Charts by ``floatgate.pages.vega`` are those that Altair would make of the same words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import pytest

import floatgate
from conftest import SMALL
from floatgate import _core
from floatgate.pages import charts, drawing, vega
from floatgate.study.compare import compare
from floatgate.trace import page

PACKAGE = "floatgate."


def _specifications(page: Callable[[], object], monkeypatch: pytest.MonkeyPatch, by: Any) -> list[dict[str, Any]]:
    """The charts of a page, made by the words of a module."""
    charts: list[dict[str, Any]] = []

    def svg(chart: dict[str, Any]) -> str:
        charts.append({name: part for name, part in chart.items() if name != "$schema"})
        return "<svg />"

    with monkeypatch.context() as patch:
        patch.setattr(drawing, "svg", svg)
        for name, module in list(sys.modules.items()):
            if name.startswith(PACKAGE) and getattr(module, "vega", None) is vega:
                patch.setattr(module, "vega", by)
        page()
    return json.loads(json.dumps(charts))  # type: ignore[no-any-return]


def _timed() -> floatgate.Run:
    changes = {"mode": "timed", "drive.endurance.model": "ready-table2", "lifetime.throttle.policy": "static"}
    return floatgate.run(SMALL | changes | {"lifetime.throttle.target_years": 0.001})


def _of_a_trace(trace: Path) -> str:
    facts = json.loads(_core.trace_info(str(trace), {"format": "msr"}))
    return page.page(str(trace), facts)


def _of_settings() -> str:
    varied: dict[str, list[Any]] = {"ftl.collect.policy": ["greedy", "fifo"], "ftl.spare_factor": [0.2, 0.3, 0.4]}
    return compare(SMALL, varied).report()


def test_charts_are_those_of_altair(small_run: floatgate.Run, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = _timed()
    pages: dict[str, tuple[Callable[[], object], int]] = {
        "run": (small_run.report, 6),
        "timed run": (timed.report, 10),
        "trace": (lambda: _of_a_trace(trace), 8),
        "settings": (_of_settings, 2),
    }
    for name, (drawn, least) in pages.items():
        ours = _specifications(drawn, monkeypatch, vega)
        theirs = _specifications(drawn, monkeypatch, alt)
        assert len(ours) >= 2 * least, name  # wide and narrow
        assert ours == theirs, name


def test_panels_and_layers_share_their_data() -> None:
    def made(by: Any) -> dict[str, Any]:
        data = by.Data(values=[{"x": 1, "low": 0, "high": 2}])
        dots = by.Chart(data).mark_circle(size=9).encode(x="x:Q", y=by.datum(1), size=by.value(3))
        rules = by.Chart(data).mark_rule().encode(x=by.X("x:Q").axis(grid=False), y="low:Q", y2="high:Q")
        texts = by.Chart(by.Data(values=[{"x": 2}])).mark_text().encode(text=by.Text("x:Q", format=".1f"))
        shared = by.layer(dots, rules).properties(title="shared")
        panels = by.concat(shared, by.layer(dots, texts), columns=2).resolve_scale(x="shared")
        spec = panels.configure(font="serif").configure_view(stroke=None).to_dict()
        return {name: part for name, part in spec.items() if name != "$schema"}

    assert made(vega) == made(alt)
    assert "data" in made(vega)["concat"][0]
    assert "data" not in made(vega)["concat"][0]["layer"][0]


def test_a_field_needs_a_type() -> None:
    with pytest.raises(ValueError, match="not a field with its type"):
        vega.X("count()")


def test_words_of_altair_may_stand_among_ours() -> None:
    chart = charts.data_chart([{"x": 1}]).mark_point().encode(x=alt.X("x:Q", title="seconds"), y="x:Q")
    assert chart.to_dict()["encoding"]["x"] == {"field": "x", "type": "quantitative", "title": "seconds"}
    assert vega.altair_chart(chart).to_dict()["mark"] == {"type": "point"}
