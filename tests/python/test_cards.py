"""What notebooks show of results: cards without scripts, which keep to themselves."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import floatgate
from conftest import SMALL
from floatgate.pages import card, drawing
from floatgate.study.plan import Plan
from test_plan_page import ending

BYTES_MAX = 100_000
"""A notebook with some dozens of cards stays below a few MB."""


def checked_card(html: str, pictures: int) -> str:
    """A card that needs nothing from elsewhere; returned without its style."""
    assert len(html) < BYTES_MAX
    assert not re.search(r"<script|<link|<iframe|@import|\bon\w+=|javascript:", html)
    # Names of XML dialects are no addresses that are fetched.
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    root = ET.fromstring(f"<card>{html}</card>".replace("class=n", 'class="n"'))
    assert len([one for one in root.iter() if one.tag.endswith("}svg") and one.get("role") == "img"]) == pictures
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]*)\)", html)) <= set(ids)
    return re.sub(r"<style>.*?</style>", "", html, flags=re.S)


def test_a_run_shows_headlines_summary_and_its_main_chart(small_run: floatgate.Run) -> None:
    html = checked_card(small_run._repr_html_(), 1)
    assert "Write amplification over time" in html
    assert f"<b>{small_run.waf:.2f}</b>" in html
    for name in ("drive", "workload", "latency"):
        assert (f"<th>{name}</th>" in html) is any(line.startswith(name) for line in small_run.summary().splitlines())
    assert small_run._repr_html_() == small_run._repr_html_()


def test_ids_of_two_runs_differ(small_run: floatgate.Run) -> None:
    other = floatgate.run(SMALL, set={"ftl.spare_factor": 0.3})
    ids = [set(re.findall(r'\bid="([^"]*)"', run._repr_html_())) for run in (small_run, other)]
    assert not ids[0] & ids[1]


def test_names_of_users_are_texts(small_run: floatgate.Run) -> None:
    run = floatgate.Run(small_run.result_json, small_run.experiment_toml, small_run.series)
    run.result = floatgate.Record({**small_run.result.to_dict(), "warnings": ["<script>alert(1)</script>"]})
    checked_card(run._repr_html_(), 1)
    plan = Plan([ending(64, 6.0)], "", "<script>x</script>")
    checked_card(plan._repr_html_(), 0)


def test_a_picture_that_cannot_be_drawn_tells_why(small_run: floatgate.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_chart: object) -> str:
        raise drawing.CannotDrawError("no renderer")

    monkeypatch.setattr(drawing, "svg", fails)
    html = checked_card(small_run._repr_html_(), 0)
    assert "This picture could not be drawn: no renderer." in html


def test_comparisons_and_sweeps_show_their_table_and_a_chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vary = {"ftl.spare_factor": [0.1, 0.2]}
    comparison = floatgate.compare(SMALL, vary)
    html = checked_card(comparison._repr_html_(), 1)
    assert all(f"<td>{value}</td>" in html for value in ("0.1", "0.2"))
    assert "of 2 settings by ftl.spare_factor" in repr(comparison)
    sweep = floatgate.sweep(SMALL, vary, out=tmp_path / "s", jobs=1)
    html = checked_card(sweep._repr_html_(), 1)
    assert "2 of 2 runs" in html
    assert all(f"<td>{value}</td>" in html for value in ("0.1", "0.2"))
    monkeypatch.setattr(card, "ROWS_MAX", 1)
    assert "and 1 more; to_arrow() has all" in comparison._repr_html_()


def test_a_plan_shows_its_answer_and_the_front() -> None:
    plan = Plan([ending(64, 6.0, first=2.0), ending(128, 9.0, rated=3.0)], "", "x")
    html = checked_card(plan._repr_html_(), 1)
    assert plan.answers()[0] in html
    assert "Life against capacity" in html
    assert repr(plan) == "<floatgate.Plan x: 2 choices>"


def test_a_forecast_shows_its_answer_and_its_main_chart() -> None:
    life = floatgate.lifetime(
        {
            "drive.capacity": "64 MiB",
            "workload.requests": 20_000,
            "workload.rate_per_s": 300.0,
            "lifetime.forecast.waf": 1.5,
        }
    )
    html = checked_card(life._repr_html_(), 1)
    assert "<th>life</th>" in html
    assert life.label in repr(life)
    title = "Flash bytes programmed"
    assert title in html
    assert title in life.report()
    without = floatgate.Lifetime({**life.result.to_dict(), "series": {}}, "", "x")
    assert title not in checked_card(without._repr_html_(), 0)
