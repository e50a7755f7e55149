"""What a run notes is noted beside other settings, too, with the settings that it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import floatgate
from conftest import SMALL
from floatgate.report import several
from floatgate.report.sections import lifetime_headline

if TYPE_CHECKING:
    from pathlib import Path

WAITING = {
    **{key: value for key, value in SMALL.items() if key != "workload.rate_per_s"},
    "mode": "timed",
    "ftl.spare_factor": 0.07,
    "workload.pattern": "zipf",
}
"""A drive whose separators have too little space, in a closed loop."""
BEHIND = {**SMALL, "mode": "timed", "workload.arrival": "open", "workload.requests": 40_000}


def waited(times: float, mode: str = "incremental") -> dict[str, Any]:
    return {"config": {"ftl": {"collect": {"mode": mode}}}, "gc": {"forced": times}}


def behind(arrived_s: float, took_s: float) -> dict[str, Any]:
    workload = {"arrival": "open"}
    times = {"latency_us": {"arrivals_s": arrived_s}, "span_s": took_s}
    return {"mode": "timed", "config": {"workload": workload}, **times}


def test_waits_for_whole_blocks_name_their_settings() -> None:
    results = {"none": waited(0), "dac": waited(57.2), "sepbit": waited(1), "fifo": waited(9, "whole-block")}
    (note,) = several.notes(results)
    what = "Host writes waited until whole blocks were collected (gc.forced: 58 times under dac, 1 time under sepbit)"
    assert note.startswith(what)
    many = {str(number): waited(number) for number in range(12)}
    assert "(gc.forced: 11 of 12 settings, up to 11 times)" in several.notes(many)[0]
    assert several.notes({"none": waited(0)}) == []


def test_drives_that_fell_behind_name_their_settings() -> None:
    results = {"none": behind(100.0, 150.0), "dac": behind(100.0, 101.0), "sepbit": behind(100.0, 120.0)}
    (note,) = several.notes(results)
    assert note.startswith(
        "none, sepbit: the drive could not keep up: requests that arrived within 100 s took 120 s to"
    )
    assert several.notes({"dac": behind(100.0, 101.0)}) == []


def test_remarks_on_some_settings_alone_name_them() -> None:
    update = {"policy": "handles", "handles": 4, "update_from": 2, "update_blocks_last": 8}
    copies = [{"config": {"ftl": {"separate": update}}, "gc": {"copied_pages_per_victim": pages}} for pages in (3, 4)]
    runs = {"none": {}, "a": copies[0], "b": copies[1]}
    (note,) = several.notes(runs, runs)
    assert note.startswith("a, b: update blocks are collected last")
    assert note.endswith("with 3.00 pages copied per block; compare with update_blocks_last = 0 (under a).")
    # What is the same in all settings is no news of a comparison.
    assert several.notes({}, {"a": copies[0], "b": copies[1]}) == []


def test_comparisons_sweeps_and_their_pages_have_the_notes(tmp_path: Path) -> None:
    vary: dict[str, list[object]] = {"ftl.separate.policy": ["none", "sepbit"]}
    done = floatgate.compare(WAITING, vary, repeat=2)
    forced = "Host writes waited until whole blocks were collected (gc.forced: "
    assert forced in done.text()
    page = done.report()
    assert page.index(forced) < page.index("Differences from none")
    swept = floatgate.sweep(WAITING, vary, out=tmp_path / "sw", repeat=2)
    ours = [note for note in swept.notes() if note.startswith(forced)]
    assert ours == [note for note in done.text().splitlines() if note.startswith(forced)]
    assert forced in swept.report()


def test_lives_of_drives_that_fell_behind_are_compared_in_bytes(tmp_path: Path) -> None:
    """The faster setting serves the same requests in less time: in days it would wear out sooner."""
    vary: dict[str, list[object]] = {"workload.rate_per_s": [10_000_000]}
    settings = {**BEHIND, "workload.requests": 150_000, "workload.warmup_requests": 60_000}
    done = floatgate.compare(settings, vary)
    assert lifetime_headline.own_pace(done.settings[0].result)
    assert "could not keep up" in done.text()
    assert lifetime_headline.OWN_PACE_NOTE in done.text()
    assert " TBW " in done.text()
    swept = floatgate.sweep(settings, vary, out=tmp_path / "sw")
    assert swept.own_pace()
    assert any("could not keep up" in note for note in swept.notes())
