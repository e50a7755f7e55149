"""Settings that differ besides those that vary are named: a comparison by one key may change a second one."""

from __future__ import annotations

from pathlib import Path

import floatgate
from conftest import SMALL, Cli
from floatgate.study import also_differs
from floatgate.study.compare import Comparison, Setting

TRIGGER = "ftl.collect.trigger_free_blocks"


def test_a_default_that_follows_from_a_policy_is_named() -> None:
    done = floatgate.compare(SMALL, {"ftl.separate.policy": ["none", "sepbit", "dac"]}, jobs=2)
    # Parameters of a policy, such as the classes of dac, are no news.
    assert done.to_dict()["also_differs"] == {TRIGGER: [1, 2, 2]}
    note = f"also differs: {TRIGGER} 1, 2, 2"
    assert note in done.text()
    assert note in done.report()


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
    assert "ftl.separate.policy none, dac" in page
    assert f"{TRIGGER} 1, 2" in page


def test_many_settings_are_counted() -> None:
    runs = [floatgate.run(SMALL), floatgate.run({**SMALL, "drive.capacity": "128 MiB", "ftl.collect.policy": "fifo"})]
    compared = Comparison([Setting([("run", str(number))], run) for number, run in enumerate(runs)])
    differing = also_differs.of_comparison(compared)
    assert differing["ftl.collect.policy"] == ["greedy", "fifo"]
    (note,) = also_differs.notes(compared)
    assert note.count(";") == min(len(differing), also_differs.SHOWN_MAX + 1) - 1
