"""Settings that differ besides those that vary are named: a comparison by one key may change a second one."""

from __future__ import annotations

from pathlib import Path

import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.run.experiment import resolve
from floatgate.study import also_differs
from floatgate.study.compare import Comparison, Setting
from floatgate.study.runs.points import Axis, Points
from floatgate.study.same_in_all import shared

URGENT = "drive.scheduling.urgent_jobs"
TIMED = {**{key: value for key, value in SMALL.items() if key != "workload.rate_per_s"}, "mode": "timed"}
TRIGGER = "ftl.collect.trigger_free_blocks"


def test_a_default_that_follows_from_a_policy_is_the_same_in_all() -> None:
    vary = {"ftl.collect.policy": ["greedy", "fifo"], "ftl.separate.policy": ["none", "sepbit", "dac"]}
    done = floatgate.compare(SMALL, vary, jobs=2)
    # Parameters of a policy, such as the classes of dac, are no news.
    assert done.to_dict()["also_differs"] == {}
    one_victim = [True, False, False] * 2
    assert done.to_dict()["same_in_all"] == {TRIGGER: {"value": 2, "defaults": [1, 2, 2] * 2, "one_victim": one_victim}}
    note = f"{TRIGGER} is 2 in all settings; by default it would be 1 under none, 2 under the others (--own-defaults"
    assert note in done.text()
    assert note in done.report()
    stated = floatgate.run(SMALL, set={TRIGGER: 2})
    assert done.runs[0].result.flash.to_dict() == stated.result.flash.to_dict()


def test_own_defaults_are_left_and_named_by_setting() -> None:
    vary = {"ftl.separate.policy": ["none", "sepbit", "dac"]}
    done = floatgate.compare(SMALL, vary, own_defaults=True, jobs=2)
    assert done.to_dict()["also_differs"] == {TRIGGER: [1, 2, 2]}
    assert done.to_dict()["same_in_all"] == {}
    assert f"also differs: {TRIGGER} 1 under none, 2 under the others" in done.text()


def test_one_victim_at_a_time_by_the_trigger_of_another_setting_is_said(cli: Cli, tmp_path: Path) -> None:
    """Where two free blocks are the stop level too, none alone loses the second block that it collects by default."""
    skewed = {**SMALL, "workload.pattern": "zipf"}
    done = floatgate.compare(skewed, {"ftl.separate.policy": ["none", "sepbit"]}, jobs=2)
    assert done.runs[0].result.to_dict()["config"]["ftl"]["collect"]["stop_free_blocks"] == 2
    assert done.to_dict()["same_in_all"] == {TRIGGER: {"value": 2, "defaults": [1, 2], "one_victim": [True, False]}}
    note = "Under none collection then takes one victim at a time; by default it frees several at once there"
    assert note in done.text()
    assert f"floatgate run gives another figure there unless {TRIGGER} = 2 is set" in done.text()
    assert done.report().count(note) == 2  # above the charts and below the table
    own = floatgate.run(skewed)
    assert own.waf < 0.9 * done.runs[0].waf
    assert note in floatgate.load_comparison(done.save(tmp_path / "kept", report=False)).text()


def test_a_stated_trigger_is_left(tmp_path: Path) -> None:
    file = tmp_path / "stated.toml"
    file.write_text("[ftl.collect]\ntrigger_free_share = 0.01\n")
    points = Points((Axis("ftl.separate.policy", ('"none"', '"sepbit"')),))
    for stated in (resolve(file), resolve(SMALL, set={TRIGGER: 3})):
        assert shared(stated, points) == (stated, ())
    varied = Points((*points.axes, Axis(TRIGGER, ("2", "3"))))
    assert shared(resolve(SMALL), varied) == (resolve(SMALL), ())


def test_own_defaults_say_where_the_experiment_states_them(cli: Cli, experiment: Path) -> None:
    """The experiment of a run folder states every default."""
    cli("run", experiment, "--set", f"{TRIGGER}=2", "--out", "r", "--no-report").done()
    vary = ("--vary", "ftl.separate.policy=none,sepbit", "--own-defaults")
    stated = f"{TRIGGER} is stated in the experiment: --own-defaults changes nothing; leave that key out of it"
    kept = cli("compare", "r/experiment.toml", *vary)
    assert "also differs" not in kept.done()
    assert stated in kept.err
    own = cli("compare", experiment, *vary)
    assert f"also differs: {TRIGGER} 1 under none, 2 under sepbit" in own.done()
    assert "--own-defaults" not in own.err
    assert stated in cli("compare", experiment, *vary, "--set", f"{TRIGGER}=2").err


def test_a_redrawn_page_says_what_is_the_same(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    cli("compare", experiment, "--vary", "ftl.separate.policy=none,sepbit", "--out", "o", "--no-report").done()
    cli("report", "o", "--out", "again.html").done()
    assert (
        f"{TRIGGER} is 2 in all settings; by default it would be 1 under none" in (tmp_path / "again.html").read_text()
    )


def test_collection_in_batches_is_said_where_a_separator_shares_blocks() -> None:
    vary = {"ftl.separate.policy": ["none", "host-gc"]}
    skewed = {**SMALL, "workload.pattern": "zipf"}
    done = floatgate.compare(skewed, vary, set={"ftl.collect.stop_free_blocks": 5}, jobs=2)
    note = "none shares blocks between host and moved pages, yet collection frees several blocks at a time"
    remedy = "greedy does: --set ftl.collect.stop_free_blocks=2 (docs"
    for text in (done.text(), done.report()):
        assert note in text
        assert remedy in text
        assert "host-gc shares" not in text
    one_by_one = floatgate.compare(skewed, vary, set={"ftl.collect.stop_free_blocks": 2}, jobs=2)
    assert note not in one_by_one.text()
    by_victim = floatgate.compare(skewed, {"ftl.collect.policy": ["greedy", "fifo"]}, jobs=2)
    assert note not in by_victim.text()
    # The remedy does what it says: without batches, no separation costs more.
    assert one_by_one.runs[0].waf > done.runs[0].waf


def test_the_same_trigger_leaves_nothing_to_say() -> None:
    done = floatgate.compare(SMALL, {"ftl.separate.policy": ["none", "sepbit"]}, set={TRIGGER: 2}, jobs=2)
    assert done.to_dict()["also_differs"] == {}
    assert "also differs" not in done.text()


def test_a_report_of_several_runs_names_all(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    for name in ("none", "dac"):
        options = ("--set", f"ftl.separate.policy={name}", "--out", name, "--no-report")
        cli("run", experiment, *options).done()
    cli("report", "none", "dac", "--out", "both.html").done()
    page = (tmp_path / "both.html").read_text()
    assert "also differs:" in page
    assert "ftl.separate.policy none under none, dac under dac" in page
    assert f"{TRIGGER} 1 under none, 2 under dac" in page


def test_many_settings_are_counted() -> None:
    runs = [floatgate.run(SMALL), floatgate.run({**SMALL, "drive.capacity": "128 MiB", "ftl.collect.policy": "fifo"})]
    compared = Comparison([Setting([("run", str(number))], run) for number, run in enumerate(runs)])
    differing = also_differs.of_comparison(compared)
    assert differing["ftl.collect.policy"] == ["greedy", "fifo"]
    (note,) = also_differs.notes(compared)
    assert note.count(";") == min(len(differing), also_differs.SHOWN_MAX + 1) - 1


def test_a_stated_default_of_another_mode_of_collection_is_named(cli: Cli, tmp_path: Path) -> None:
    """A resolved experiment states the defaults of its own mode; under another one they are no defaults."""
    settings = {**TIMED, "workload.requests": 3_000, "ftl.collect.mode": "whole-block", "ftl.separate.policy": "sepbit"}
    floatgate.run(settings).save(tmp_path / "whole", report=False)
    experiment = tmp_path / "whole" / "experiment.toml"
    vary = {"ftl.collect.mode": ["whole-block", "incremental"]}
    done = floatgate.compare(experiment, vary, jobs=2)
    note = (
        f"{URGENT} is stated as background, in all settings; by default it would be background under whole-block, "
        "write under incremental"
    )
    assert note in done.text()
    done.save(tmp_path / "both", report=False)
    assert note in floatgate.load_comparison(tmp_path / "both").text()
    # Nothing is stated: each mode has its own default.
    assert "is stated as" not in floatgate.compare(settings, vary, jobs=2).text()
    changed = cli("run", experiment, "--set", "ftl.collect.mode=incremental", "--out", "other", "--no-report")
    assert f"{URGENT} is stated as background; by default it would be write under incremental" in changed.err
    again = cli("run", experiment, "--set", "ftl.collect.mode=whole-block", "--out", "same", "--no-report")
    assert "is stated as" not in again.err


@pytest.mark.parametrize("planes", [1, 4])
def test_a_share_of_garbage_that_is_not_reached_is_said(planes: int) -> None:
    """A share above what the drive can hold of dead pages changes nothing: the figures are those without the key."""
    drive = {**SMALL, "drive.capacity": "64 MiB", "drive.geometry.planes_per_die": planes, "workload.pattern": "zipf"}
    vary = {"ftl.separate.policy": ["none", "host-gc"]}
    batches = "none shares blocks between host and moved pages"
    stop = {"ftl.collect.stop_free_blocks": 5}
    without = floatgate.compare(drive, vary, set=stop, jobs=2)
    effective = without.runs[0].result.to_dict()["drive"]["effective_spare_factor"]
    for share in (0.5, 0.2, 0.9 * effective):
        key = {"ftl.collect.garbage_share": share}
        done = floatgate.compare(drive, vary, set={**stop, **key}, jobs=2)
        acts = done.runs[0].waf > 1.05 * without.runs[0].waf
        assert acts is (share < effective)
        note = f"ftl.collect.garbage_share = {share:g} is hardly ever reached, if at all under none"
        for text in (done.text(), done.report()):
            assert (note in text) is not acts
            assert (batches in text) is not acts
        assert ("is hardly ever reached" in floatgate.run(drive, set={**stop, **key}).summary()) is not acts
