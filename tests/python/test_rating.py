"""When the maker's rating is used up, beside the life of the flash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import floatgate
from floatgate.report import summary
from floatgate.report.sections import rating
from floatgate.report.sections.forecast import entry

TB = 10**12


def run(**lifetime: Any) -> dict[str, Any]:
    """A drive of 1 TB that is written once a day, rated for 365 drive writes: a year; and as sold it has 2 TB."""
    rated = {"tbw_bytes": 730 * TB, "user_bytes": 2 * TB, "drive_writes": 365.0, "visible_tbw_bytes": 365 * TB}
    return {"drive": {"logical_bytes": TB, "rated": rated}, "lifetime": {"dwpd": 1.0} | lifetime}


def test_the_rating_is_that_of_the_drive_as_it_is() -> None:
    assert rating.years(run()) == 1.0
    assert (
        rating.line(run(), 4.3)
        == "365 TBW (730 TBW as rated) are written after 1.0 years, before the flash is worn out"
    )
    assert str(rating.line(run(), 0.5)).endswith("after 1.0 years, after the flash is worn out")
    assert str(rating.line(run(), 1.01)).endswith("after 1.0 years, when the flash is worn out")
    assert str(rating.line(run(), None)).endswith("are written after 1.0 years")
    assert rating.cards(run()) == [("rating used up", "1.0 years", "365 TBW")]


def test_a_forecast_goes_by_what_the_host_writes_until_the_target() -> None:
    life = run(dwpd=None, w_work_bytes=3 * 5 * 365 * TB, target_years=5.0, years=2.0)
    assert rating.years({**life, "waf_bytes": 3.0}) == 1.0
    kept = entry.kept({**life, "waf_bytes": 3.0})
    assert kept["rated_years"] == 1.0
    again = entry.restored({**kept, "capacity_bytes": TB, "spare_factor": 0.1})
    assert entry.rated_years(again) == 1.0


@pytest.mark.parametrize("unrated", [{"drive": {"logical_bytes": TB, "rated": None}}, {"lifetime": {"dwpd": None}}, {}])
def test_without_a_rating_or_a_rate_nothing_is_said(unrated: dict[str, Any]) -> None:
    result = {**run(), **unrated} if unrated else {}
    assert (rating.years(result), rating.line(result, 1.0), rating.cards(result)) == (None, None, [])
    assert rating.cell(result) == "-"


RATED: dict[str, Any] = {
    "drive.geometry.blocks_per_plane": 64,
    "drive.geometry.pages_per_block": 32,
    "drive.rated.tbw_tb": 0.004,
    "drive.rated.user_capacity": "16 MB",
    "workload.requests": 30_000,
    "workload.rate_per_s": 20,
}


def test_runs_and_forecasts_say_it_and_comparisons_have_a_column() -> None:
    result = floatgate.run(set=RATED)
    assert dict(summary.lines(result))["rating"].endswith("(0.00400 TBW as rated) are written after 6.6 hours")
    document = result.result.to_dict()
    host_bytes_a_year = document["host"]["write_bytes"] / document["period_s"] * 365 * 86_400
    rated = document["drive"]["rated"]
    assert rated["visible_tbw_bytes"] == round(rated["drive_writes"] * document["drive"]["logical_bytes"])
    assert rating.years(document) == pytest.approx(rated["visible_tbw_bytes"] / host_bytes_a_year, rel=1e-9)
    header, rows = floatgate.compare(RATED, {"ftl.spare_factor": [0.2, 0.3]}).rows()
    assert all(row[header.index("rating")].endswith("hours") for row in rows)
    life = floatgate.lifetime(set={**RATED, "lifetime.throttle.target_years": 0.01}).result.to_dict()
    assert rating.years(life) == pytest.approx(rating.years(document), rel=0.01)


def test_a_buffer_that_holds_all_writes_leaves_the_rating(tmp_path: Path) -> None:
    """No flash page is programmed; what the host writes is known all the same, and counts for the rating."""
    trace = tmp_path / "small.csv"
    trace.write_text("".join(f"{second * 10**7},h,0,Write,{4096 * (second % 8)},4096,0\n" for second in range(1, 900)))
    sets = {"drive.buffer.capacity": "1 MiB", "drive.capacity": "64 MiB", "lifetime.throttle.target_years": 5}
    promised = {"drive.rated.tbw_tb": 0.4, "drive.rated.user_capacity": "60 MB"}
    life = floatgate.lifetime(trace=trace, set=sets | promised)
    assert life.lifetime.w_work_bytes == 0
    assert set(life.result["waf_bytes_parts"].to_dict().values()) == {0}
    rated = rating.tbw_bytes(life.result)
    assert rated is not None
    assert rating.years(life.result) == pytest.approx(rated / (4096 * 86_400 * 365), rel=0.01)
    text = life.summary()
    assert "until the rated bytes are written" in text
    assert "no flash page is programmed" in text
    assert "laps_max" not in text
