"""Plans: progress messages, interruption, intervals of real forecasts, bounds."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import Cli
from floatgate import _core
from floatgate.base import units
from floatgate.cli import status
from floatgate.results import drive_array, sold_drives
from floatgate.run.experiment import Experiment, resolve
from floatgate.run.lifetime import forecast
from floatgate.study import plan_drives, planning
from floatgate.study.plan_point import Point
from floatgate.study.planning import _delayed, _overrides

DAY_S = 86_400
SMALL = ("--set", "drive.geometry.blocks_per_plane=64", "--set", "drive.geometry.pages_per_block=64")
"""A drive of 16 MiB."""
BRIEF = {"workload.requests": 2000, "lifetime.throttle.target_years": 0.01}
"""A short pass, and a life of a few days."""


def week(path: Path, pages: Sequence[int]) -> Path:
    """A trace in the format of MSR with so many page writes on each day, one after the other."""
    lines = []
    for day, count in enumerate(pages):
        for number in range(count):
            at = 1 + int((day + number / count) * DAY_S * 1e7)
            lines.append(f"{at},h,0,Write,{(number * 7 + day) % 1500 * 4096},4096,0")
    path.write_text("\n".join(lines) + "\n")
    return path


def life_of(trace: Path, **settings: Any) -> dict[str, Any]:
    drive = {"drive.geometry.blocks_per_plane": 64, "drive.geometry.pages_per_block": 64}
    made: dict[str, Any] = floatgate.lifetime(trace=trace, set={**drive, **settings}).result.to_dict()
    return made


def test_a_life_is_as_uncertain_as_its_days_are_unlike(tmp_path: Path) -> None:
    unlike = life_of(week(tmp_path / "a.csv", [50, 100, 150, 100, 200, 100, 100]))
    assert unlike["pass"]["parts"]["are"] == "days"
    assert [size // 4096 for size in unlike["pass"]["parts"]["written_bytes"]] == [50, 100, 150, 100, 200, 100, 100]
    assert unlike["lifetime"]["years_range_from"] == ["waf", "days"]
    low, high = unlike["lifetime"]["years_range"]
    years = unlike["lifetime"]["years"]
    # The days differ by 42 %, so their mean by 17 %, and Student's t of 6 degrees is 2.45.
    assert 0.6 < low / years < 0.8
    assert 1.3 < high / years < 1.8
    again = life_of(tmp_path / "a.csv")
    assert again["lifetime"] == unlike["lifetime"]
    alike = life_of(week(tmp_path / "b.csv", 7 * [100]))["lifetime"]
    assert alike["years_range"] == pytest.approx([alike["years"]] * 2, rel=0.01)


def test_hours_stand_for_days_of_a_shorter_trace_and_minutes_for_nothing(tmp_path: Path) -> None:
    hours = tmp_path / "hours.csv"
    hours.write_text("".join(f"{1 + i * 36_000_000_000 // 10},h,0,Write,{i % 9 * 4096},4096,0\n" for i in range(61)))
    known = life_of(hours)
    assert (known["pass"]["parts"]["are"], len(known["pass"]["parts"]["written_bytes"])) == ("hours", 6)
    assert known["lifetime"]["years_range_from"] == ["waf", "hours"]
    minutes = tmp_path / "minutes.csv"
    minutes.write_text("".join(f"{1 + i * 10_000_000},h,0,Write,{i % 9 * 4096},4096,0\n" for i in range(60)))
    unknown = life_of(minutes)
    assert unknown["pass"]["parts"] is None
    assert unknown["lifetime"]["years_range_from"] == ["waf"]


def test_blocks_that_scatter_end_a_life_early(tmp_path: Path) -> None:
    trace = week(tmp_path / "a.csv", 7 * [100])
    even = life_of(trace)["lifetime"]
    weak = life_of(trace, **{"lifetime.forecast.cycles_spread": 0.1})["lifetime"]
    assert weak["years_range_from"] == ["waf", "days", "blocks"]
    assert weak["years"] == even["years"]
    # The reserve holds 2 % of the blocks, which lie 2.05 standard deviations below the mean.
    assert weak["years_range"][0] / even["years_range"][0] == pytest.approx(1 - 0.205, abs=0.002)
    assert weak["years_range"][1] == even["years_range"][1]


def test_a_throttle_keeps_its_target_and_serves_less(tmp_path: Path) -> None:
    trace = week(tmp_path / "a.csv", [5000, 10_000, 15_000, 10_000, 20_000, 10_000, 10_000])
    settings = {"lifetime.throttle.policy": "dynamic", "lifetime.throttle.target_years": 1}
    held = life_of(trace, **settings, **{"drive.endurance.pe_cycles": 500, "lifetime.forecast.method": "windows"})
    facts, throttle = held["lifetime"], held["throttle"]
    assert facts["holds"]
    assert facts["years_range"][0] == pytest.approx(1, rel=2e-3)
    low, high = throttle["demand_share_range"]
    assert low < 0.9 * throttle["demand_share"]
    assert throttle["demand_share"] < 0.9 * high


def small_plan(experiment: Path, **arguments: Any) -> Any:
    return planning.plan(resolve(experiment, set=BRIEF), policies=["none"], **arguments)


def test_each_drive_is_told_of_and_progress_never_falls(experiment: Path) -> None:
    reported: list[str] = []
    shares: list[int] = []
    busy = threading.Lock()

    def progress(done: int, _total: int | None, _phase: str) -> None:
        # A bar that two threads call at once is shown twice.
        assert busy.acquire(blocking=False)
        time.sleep(0.001)
        shares.append(done)
        busy.release()

    def tell(points: Sequence[Point]) -> None:
        reported.extend(point.line() for point in points)

    plan = small_plan(experiment, capacities=["32 MiB", "64 MiB"], on_drive=tell, progress=progress)
    assert sorted(reported) == sorted(point.line() for point in plan.points)
    assert all(" without throttling: " in line and "100 % served" in line for line in reported)
    assert [point.capacity for point in plan.points] == ["32 MiB", "64 MiB"]
    assert shares == sorted(shares)
    assert plan.to_dict()["complete"] is True


def test_who_breaks_off_gets_what_there_is(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "at_once", _one_and_no_more)
    plan = small_plan(experiment, capacities=["32 MiB", "64 MiB", "128 MiB"])
    # The largest is the first to be gone through.
    assert [point.capacity for point in plan.points] == ["128 MiB"]
    assert plan.untried == ["32 MiB", "64 MiB"]
    assert plan.answer().startswith("incomplete, 1 of 3 drives tried, and a smaller one may be left: ")


def _one_and_no_more(work: Any, _count: int, _stop: threading.Event, jobs: int | None = None) -> None:
    work(0)
    raise KeyboardInterrupt


@pytest.fixture
def part(experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a plan of two drives, the larger of which is done."""
    (tmp_path / "o").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(planning, "at_once", _one_and_no_more)
        small_plan(experiment, capacities=["32 MiB", "64 MiB"], out=tmp_path / "o")
    return tmp_path / "o"


def test_a_plan_goes_on_with_the_drives_that_are_left(
    experiment: Path, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def counting(base: Experiment, *more: Any, **named: Any) -> Any:
        done.append(dict(base.overrides)["drive.capacity"])
        return forecast(base, *more, **named)

    monkeypatch.setattr(planning, "forecast", counting)
    resumed = small_plan(experiment, capacities=["32 MiB", "64 MiB"], out=part, resume=True)
    assert done == ['"32 MiB"']
    whole = small_plan(experiment, capacities=["32 MiB", "64 MiB"])
    assert resumed.to_dict() == whole.to_dict()
    assert small_plan(experiment, capacities=["32 MiB", "64 MiB"], out=part, resume=True).to_dict() == whole.to_dict()
    assert len(done) == 3


def test_every_throttle_and_a_trace_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drive = {"drive.geometry.blocks_per_plane": 64, "drive.geometry.pages_per_block": 64, **BRIEF}
    del drive["workload.requests"]
    base = resolve(None, trace=week(tmp_path / "a.csv", 7 * [50]), set=drive)
    lists: dict[str, Any] = {"capacities": ["16 MiB", "1 KiB"], "spare_factors": ["0.1", "0.2"]}
    lists["policies"] = ["all"]
    first = planning.plan(base, **lists, out=tmp_path)
    with monkeypatch.context() as patch:
        patch.delattr(planning, "forecast")
        again = planning.plan(base, **lists, out=tmp_path, resume=True)
    assert again.to_dict() == first.to_dict()
    assert {point.error is None for point in again.points} == {True, False}
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text() + "\n")
    with pytest.raises(floatgate.InputError, match="the content of a trace or snapshot differ"):
        planning.plan(base, **lists, out=tmp_path, resume=True)


def _edited(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content) + "\n")


L = "000001/lifetime.json"
DAMAGES: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    (L, lambda one: one.update(waf=1.5), f"{L}: 'waf' is 1.5; expected "),
    (L, lambda one: one["config"]["drive"].update(cmt_entries=5), f"{L}: "),
    (L, lambda one: one["config"]["ftl"].update(spare_factor=0.3), f"{L}: 'ftl.spare_factor' is 0.3; expected 0.2, as"),
    (L, lambda one: one.update(lifetime=5), f"{L}: lifetime: is the number 5; expected an object"),
    (L, lambda one: one["workload"].update(assumed=[5]), f"{L}: workload.assumed[0]: is the number 5; expected a text"),
    (L, lambda one: one["lifetime"].update(years_range=[1, 2, 3]), f"{L}: 'lifetime.years_range.high' is None"),
    ("plan.json", lambda one: one.update(seed=9), "was begun with other settings (the seed differ)"),
    ("plan.json", lambda one: one["points"]["listed"].reverse(), "(the settings that vary differ)"),
    ("journal.jsonl", lambda one: one.update(run=2), "journal.jsonl:1: run 2: no run of the plan; expected a number"),
    ("journal.jsonl", lambda one: one.update(run=0), "journal.jsonl:1: run 0: 'drive.capacity' is '\"64 MiB\"'"),
]


@pytest.mark.parametrize(("name", "change", "message"), DAMAGES)
def test_a_damaged_part_of_a_plan_is_refused(
    experiment: Path, part: Path, name: str, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    _edited(part / "unfinished" / name, change)
    with pytest.raises(floatgate.InputError) as raised:
        small_plan(experiment, capacities=["32 MiB", "64 MiB"], out=part, resume=True)
    assert message in raised.value.message
    assert "expected" in raised.value.message


def test_a_plan_in_which_no_drive_can_be_used_leaves_no_part(experiment: Path, tmp_path: Path) -> None:
    with pytest.raises(floatgate.InputError):
        small_plan(experiment, capacities=["1 KiB"], out=tmp_path)
    assert not (tmp_path / "unfinished").exists()


def test_what_a_plan_cannot_go_on_with_is_refused(cli: Cli, experiment: Path, part: Path) -> None:
    command = ("lifetime", experiment, "--out", part.name)
    assert "expected it beside --plan" in cli(*command, "--resume").refused()
    assert "holds an interrupted plan; expected --resume" in cli(*command, "--plan").refused()
    assert (
        "the folder of the plan is missing; expected --out"
        in cli("lifetime", experiment, "--plan", "--resume").refused()
    )
    assert "(the experiment, the settings that vary differ)" in cli(*command, "--plan", "--resume").refused()


def test_breaking_off_before_anything_is_done_leaves_nothing(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(planning, "at_once", at_once)
    with pytest.raises(KeyboardInterrupt):
        small_plan(experiment, capacities=["32 MiB"])


def test_ctrl_c_prints_an_incomplete_plan_with_its_status(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(planning, "at_once", _one_and_no_more)
    brief = [part for key, value in BRIEF.items() for part in ("--set", f"{key}={value}")]
    command = [*brief, "--capacities", "32 MiB,64 MiB"]
    ended = status(["lifetime", str(experiment), *command, "--json", "-", "--out", str(tmp_path / "o")])
    assert ended == 128 + signal.SIGINT
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert (answer["complete"], answer["untried"], len(answer["points"])) == (False, ["32 MiB"], 1)
    assert "error: interrupted; not tried: 32 MiB; continue with the same command and --resume (--out " in err
    assert not (tmp_path / "o" / "plan.json").exists()
    monkeypatch.undo()
    assert status(["lifetime", str(experiment), *command, "--no-report", "--out", str(tmp_path / "o"), "--resume"]) == 0
    assert sorted(entry.name for entry in (tmp_path / "o").iterdir()) == [
        "experiment.toml",
        "plan.csv",
        "plan.json",
        "plan.parquet",
    ]


def test_a_plan_without_a_candidate_says_which_bound_cut_the_last(cli: Cli, experiment: Path) -> None:
    options = ("--set", "workload.requests=2000", "--target", "1e-5", "--capacities", "64MiB", "--throttles", "none")
    answer = json.loads(cli("lifetime", experiment, *options, "--max-write-p99", "0.001", "--json", "-").done())
    assert (answer["best"], answer["points"][0]["cut_by"]) == ([], "p99")
    assert "(--max-write-p99)" in answer["answer"]


def test_a_drive_that_lasts_with_its_whole_interval_is_tried_too(
    experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forecast(base: Experiment, *_: object, **__: object) -> list[dict[str, Any]]:
        count, unit = dict(base.overrides)["drive.capacity"].strip('"').split()
        size = int(count) << {"KiB": 10, "MiB": 20}[unit]
        years = 1.3 * size / (64 << 20)
        life: dict[str, Any] = {"years": years, "holds": years >= 5, "target_years": 5.0}
        life |= {"years_range": [0.85 * years, 1.2 * years], "years_range_from": ["waf", "days"]}
        return [{"drive": {"physical_bytes": size, "spare_factor": 0.07}, "lifetime": life}]

    monkeypatch.setattr(planning, "forecast", forecast)
    plan = planning.plan(resolve(experiment), policies=["none"])
    sizes = [int(point.physical_bytes) >> 20 for point in plan.points]
    # 256 MiB last 5.2 years in the middle and 4.4 at the lower end.
    assert sizes[:4] == [32, 64, 128, 256]
    assert [point.reaches_below for point in plan.points[3:]] == [True, False]
    assert 290 < sizes[4] < 300
    assert f": {units.binary_bytes(plan.points[4].physical_bytes)} does it with the whole interval" in plan.answer()


def test_a_plan_bounds_delays_unless_the_experiment_does() -> None:
    assert {"dynamic", "ready-optimistic", "qos"} <= _delayed()
    assert not {"none", "static"} & _delayed()
    assert ("lifetime.throttle.max_delay_s", "10") in _overrides("qos", None, True)
    assert all(key != "lifetime.throttle.max_delay_s" for key, _ in _overrides("qos", None, False))


def test_the_core_lists_the_drives_of_the_catalogue_once(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[tuple[str, ...]] = []
    catalogue = _core.catalogue

    def listing(sections: Sequence[str] = ()) -> str:
        listed.append(tuple(sections))
        return catalogue(sections)

    monkeypatch.setattr(_core, "catalogue", listing)
    for cached in (drive_array.entries_of_catalogue, drive_array.settings_of):
        cached.cache_clear()
    names = plan_drives.named_drives(["client"])
    assert [sold_drives.entry_of(name) is not None for name in names] == [True] * len(names)
    assert all(plan_drives.flash_as_sold(name) > 0 for name in names)
    assert all(drive_array.of_drive(name) == drive_array.of_catalogue()[name] for name in names)
    assert listed == [("drives",)]
