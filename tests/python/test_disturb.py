"""Read disturb in summaries, comparisons and reports."""

from __future__ import annotations

from typing import Any

import pytest

import floatgate
from floatgate.base import units
from floatgate.pages.page import rendered_parts
from floatgate.report.sections import disturb

SETTINGS = {
    "drive.geometry.blocks_per_plane": 64,
    "drive.geometry.pages_per_block": 24,
    "drive.disturb.model": "tlc-base",
    "drive.disturb.max_reads": 500,
    "ftl.spare_factor": 0.25,
    "ftl.precondition": "random",
    "workload.requests": 300_000,
    "workload.read_share": 0.999,
}


def result(**more: Any) -> dict[str, Any]:
    """Of a run in which blocks are reclaimed."""
    settings = SETTINGS | {key.replace("__", "."): value for key, value in more.items()}
    return floatgate.run(settings).result.to_dict()


@pytest.fixture(scope="module")
def baseline() -> dict[str, Any]:
    """The default manager."""
    return result()


def test_the_summary_says_what_was_reclaimed(baseline: dict[str, Any]) -> None:
    facts = baseline["reclaim"]
    line = disturb.line(baseline)
    assert line is not None
    assert line.startswith(
        f"baseline: {facts['on_demand']} blocks in {facts['on_demand']} reclaims on demand, the first after "
    )
    assert line.endswith("(a block endures 500 reads)")
    assert 0 < facts["first_after_reads"] < 300_000


def test_a_notable_share_leads_to_a_remark_with_a_command(baseline: dict[str, Any]) -> None:
    assert disturb.time_share(baseline) > disturb.NOTABLE
    remark = disturb.remark(baseline)
    assert remark is not None
    assert "--vary ftl.reclaim.policy=baseline,rrb,redftl,redftl-plus" in remark
    # Without page types redftl-plus would be refused.
    uniform = disturb.remark(result(drive__disturb__model="uniform"))
    assert uniform is not None
    assert "redftl-plus" not in uniform


def test_a_manager_that_mixes_takes_two_blocks_at_a_time() -> None:
    mixing = result(ftl__reclaim__policy="redftl-plus")
    reclaims = mixing["reclaim"]["on_demand"] + mixing["reclaim"]["background"]
    erased = mixing["flash"]["erases"]["reclaim"]
    assert reclaims < erased <= 2 * reclaims
    assert f"redftl-plus: {erased} blocks in " in str(disturb.line(mixing))
    assert disturb.cells(mixing)[0] == str(erased)


def test_where_nothing_is_reclaimed_the_line_says_how_near_it_came() -> None:
    few = result(workload__requests=1000)
    assert "no block reclaimed (a block endures 500 reads; the most disturbed one reached " in str(disturb.line(few))
    assert disturb.remark(few) is None


def test_without_a_manager_reads_beyond_the_maximum_are_counted() -> None:
    unmanaged = result(ftl__reclaim__policy="none")
    assert unmanaged["reclaim"]["reads_beyond_max"] > 0
    assert str(disturb.line(unmanaged)).startswith("nothing is reclaimed: a block endures 500 reads, ")
    assert disturb.remark(unmanaged) is None


def test_without_a_model_nothing_is_said() -> None:
    settings = {key: value for key, value in SETTINGS.items() if not key.startswith("drive.disturb")}
    plain = floatgate.run(settings).result.to_dict()
    assert (disturb.line(plain), disturb.remark(plain), rendered_parts(disturb.parts(plain))) == (
        None,
        None,
        "",
    )
    assert disturb.cells(plain) == ["-", "-"]


@pytest.mark.parametrize("policy", ["redftl", "redftl-plus"])
def test_the_report_draws_it(policy: str) -> None:
    settings = SETTINGS | {"ftl.reclaim.policy": policy}
    if policy == "redftl":
        settings["ftl.reclaim.replica_pages"] = 4
        settings["ftl.spare_factor"] = 0.5
    page = floatgate.run(settings).report()
    for text in ("Disturbance of blocks", "Time of reclaims", "reads by page type"):
        assert text in page
    assert ("replicas made" in page) == (policy == "redftl")


def test_the_bars_hold_all_blocks(baseline: dict[str, Any]) -> None:
    chart = disturb.disturbance(baseline["reclaim"]).to_dict()
    bars = chart["data"]["values"] if "values" in chart.get("data", {}) else next(iter(chart["datasets"].values()))
    assert sum(bar["count"] for bar in bars) == 64


def test_a_comparison_has_columns_for_it() -> None:
    comparison = floatgate.compare(SETTINGS, {"ftl.reclaim.policy": ["baseline", "rrb"]})
    header, rows = comparison.rows()
    at = header.index("reclaimed")
    assert header[at + 1] == "reclaim time"
    counts = [int(row[at]) for row in rows]
    assert counts[0] > counts[1] > 0


def test_reclaims_are_drawn_over_time_where_only_reads_arrive() -> None:
    page = floatgate.run(SETTINGS | {"workload.read_share": 1}).report()
    assert "Programs by cause" in page
    assert "Write amplification</" not in page


def test_a_run_in_time_shows_response_times_around_reclaims(baseline: dict[str, Any]) -> None:
    timed = result(mode="timed", workload__requests=60_000, workload__rate_per_s=2000, workload__arrival="open")
    facts = timed["reclaim"]
    during, otherwise = (facts["response_us"][when] for when in ("during", "otherwise"))
    assert during["count"] + otherwise["count"] == timed["latency_us"]["read"]["count"]
    assert during["p99"] > otherwise["p99"]
    named = dict(disturb.rows(timed))
    assert named["reads during reclaims"].startswith(f"{units.count(during['count'])}: median ")
    assert "longest" in named["other reads"]
    section = rendered_parts(disturb.parts(timed))
    assert "Response times around reclaims" in section
    assert "Reclaims over time" in section
    # Without time there are no response times.
    without = rendered_parts(disturb.parts(baseline))
    assert "Response times around reclaims" not in without
    assert "Reclaims over time" in without


def test_reclaims_over_time_are_drawn_over_requests_or_time(baseline: dict[str, Any]) -> None:
    titles = []
    for one in (baseline, result(workload__rate_per_s=1000)):
        drawn = disturb.over_time(one["reclaim"]).to_dict()
        titles += [layer["encoding"]["x"]["title"] for layer in drawn["layer"] if "x" in layer.get("encoding", {})][:1]
        assert sum(row["y"] for row in drawn["data"]["values"]) == one["reclaim"]["on_demand"] > 0
    assert titles == ["requests", "time, s"]
