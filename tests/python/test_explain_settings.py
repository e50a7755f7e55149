"""The settings that ``floatgate explain`` suggests: when, in which order, with which estimate and which commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import explain_scenarios as scenarios
import floatgate
from conftest import SMALL, Cli
from explain_scenarios import DISTURBED, HOT, OF_A_TRACE, TIMED, TRACES
from floatgate.report.sections.limits.settings import ACTS_ON, CLOSED_FORM
from floatgate.results.folder import RunFolder
from floatgate.study.explain.case import Case, reading
from floatgate.study.explain.explanation import Explanation, Known, Suggestion, explain

CONTEXTS = {
    **OF_A_TRACE,
    "drive.capacity": "256 MiB",
    "workload.file": str(TRACES / "sqlite-updates.parquet"),
    "workload.beyond": "wrap",
    "workload.repeat": 2,
    "ftl.spare_factor": 0.07,
}
WHOLE = {"ftl.collect.mode": "whole-block"}


def explained(settings: Mapping[str, Any], folder: Path, most: int = 20) -> Explanation:
    """Explains a run of some settings; it stays in ``folder / "run"``."""
    floatgate.run(dict(settings)).save(folder / "run", report=False)
    with reading(str(folder / "run")) as case:
        return explain(case, most)


def named(answer: Explanation, key: str) -> Suggestion | None:
    return next((one for one in answer.suggestions if one.key == key), None)


@pytest.mark.parametrize(
    ("settings", "key", "values"),
    [
        (SMALL, "ftl.spare_factor", [0.4]),
        ({**SMALL, "ftl.collect.policy": "fifo"}, "ftl.collect.policy", ["greedy"]),
        ({**SMALL, "workload.pattern": "zipf"}, "ftl.collect.policy", ["cost-benefit"]),
        ({**SMALL, "workload.pattern": "zipf"}, "ftl.separate.policy", ["host-gc", "sepbit"]),
        (CONTEXTS, "ftl.separate.policy", ["sepbit", "pds", "ids"]),
        (SMALL, "drive.geometry.blocks_per_plane", [512]),
        (
            {**SMALL, "ftl.spare_factor": 0.9, "workload.pattern": "zipf", "workload.requests": 200_000},
            "drive.buffer.capacity",
            ["1 MiB"],
        ),
        ({**SMALL, "workload.request_bytes": 1024}, "drive.buffer.capacity", ["1 MiB"]),
        ({**SMALL, "workload.request_bytes": 1024}, "ftl.mapping_bytes", [512]),
        (scenarios.RUNS["flushes"][0], "drive.plp", [True]),
        (HOT, "ftl.level.policy", ["hot-cold-swap", "swl"]),
        (scenarios.RUNS["leveled"][0], "ftl.level.policy", ["none"]),
        (scenarios.RUNS["reclaimed"][0], "ftl.reclaim.policy", ["rrb", "redftl"]),
        (scenarios.RUNS["disturbed"][0], "ftl.reclaim.policy", ["baseline"]),
        (scenarios.RUNS["duplicates"][0], "lifetime.reduce.policy", ["dedup"]),
        ({**SMALL, "workload.compressed_share": 0.5}, "lifetime.reduce.policy", ["compress"]),
        (scenarios.RUNS["deduplicated"][0], "lifetime.reduce.policy", ["both"]),
        (scenarios.RUNS["trace with content"][0], "lifetime.reduce.policy", ["dedup", "both"]),
        ({**TIMED, "drive.scheduling.policy": "fcfs"}, "drive.scheduling.policy", ["priority"]),
        (TIMED, "drive.commands.program_suspend", [True]),
        (TIMED, "drive.geometry.channels", [4]),
        ({**TIMED, **WHOLE, "workload.rate_per_s": 400.0}, "ftl.background.policy", ["idle"]),
        ({**CONTEXTS, "mode": "timed"}, "ftl.separate.policy", ["sepbit", "pds", "ids"]),
        (
            {**CONTEXTS, **WHOLE, "mode": "timed", "drive.geometry.channels": 8},
            "ftl.background.policy",
            ["idle", "by-context"],
        ),
        ({**TIMED, **WHOLE}, "ftl.collect.mode", ["incremental"]),
        (scenarios.RUNS["buffered bursts"][0], "drive.buffer.capacity", ["4 MiB"]),
        (
            {**TIMED, "workload.pattern": "zipf", "drive.buffer.capacity": "1 MiB"},
            "drive.buffer.capacity",
            ["4 MiB"],
        ),
        (scenarios.RUNS["throttled"][0], "lifetime.throttle.policy", ["ready-optimistic", "none"]),
        (
            {**scenarios.RUNS["one hot chip"][0], "drive.geometry.chips_per_channel": 2},
            "ftl.level.policy",
            ["read-balance"],
        ),
    ],
)
def test_a_setting_is_suggested_where_a_rule_names_it(
    settings: dict[str, Any], key: str, values: list[Any], tmp_path: Path
) -> None:
    answer = explained(settings, tmp_path)
    one = named(answer, key)
    assert one is not None, answer.text()
    assert [choice.value for choice in one.choices] == values
    assert set(one.rules) <= {sentence.rule.name for sentence in answer.sentences}


def test_a_buffer_that_stays_full_is_no_cause(tmp_path: Path) -> None:
    """In a closed loop writes fill a buffer of any size; what they wait for is the flash behind it."""
    answer = explained({**TIMED, "drive.buffer.capacity": "1 MiB"}, tmp_path)
    assert named(answer, "drive.buffer.capacity") is None
    merging = explained({**TIMED, "workload.pattern": "zipf", "drive.buffer.capacity": "1 MiB"}, tmp_path / "zipf")
    one = named(merging, "drive.buffer.capacity")
    assert one is not None
    assert one.rank < 0
    assert merging.suggestions.index(one) > 0


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        # All pages are written alike: nothing to separate, and no age to go by.
        (SMALL, "ftl.separate.policy"),
        (SMALL, "ftl.collect.policy"),
        # Nothing was collected.
        (scenarios.RUNS["too short"][0], "ftl.spare_factor"),
        # A separator is there.
        ({**SMALL, "workload.pattern": "zipf", "ftl.separate.policy": "sepbit"}, "ftl.separate.policy"),
        # In a closed loop the drive is never idle.
        (TIMED, "ftl.background.policy"),
        # Wear is even.
        (SMALL, "ftl.level.policy"),
        # Its content is not known.
        (SMALL, "lifetime.reduce.policy"),
        # Reads disturb nothing.
        (SMALL, "ftl.reclaim.policy"),
    ],
)
def test_a_setting_is_not_suggested_where_no_figure_names_it(
    settings: dict[str, Any], key: str, tmp_path: Path
) -> None:
    assert named(explained(settings, tmp_path), key) is None


def test_policies_by_context_need_contexts(tmp_path: Path) -> None:
    settings = {**OF_A_TRACE, "workload.file": str(scenarios.msr_trace(tmp_path / "msr.csv"))}
    answer = explained(settings, tmp_path)
    one = named(answer, "ftl.separate.policy")
    assert one is not None
    assert {choice.value for choice in one.choices}.isdisjoint({"pds", "ids"})
    assert "floatgate trace record" in answer.text()


def test_a_trace_that_has_gone_has_no_contexts(tmp_path: Path) -> None:
    trace = scenarios.msr_trace(tmp_path / "msr.csv")
    floatgate.run({**OF_A_TRACE, "workload.file": str(trace)}).save(tmp_path / "run", report=False)
    trace.unlink()
    with reading(str(tmp_path / "run")) as case:
        assert case.trace_columns is None
        assert named(explain(case), "ftl.spare_factor") is not None


def test_the_estimate_of_spare_space_is_the_closed_form(tmp_path: Path) -> None:
    answer = explained(SMALL, tmp_path)
    result = answer.case.result
    one = named(answer, "ftl.spare_factor")
    assert one is not None
    (estimate,) = one.estimates
    effective = result["drive"]["effective_spare_factor"]
    now, then = (floatgate.theory_wa("greedy", spare, 64) for spare in (effective, effective + 0.2))
    copies = result["flash"]["pages_written"]["gc"] / result["flash"]["pages_written"]["total"]
    assert estimate.share == pytest.approx(copies * (now - then) / (now - 1))
    assert estimate.gain.basis == CLOSED_FORM
    assert f"from {now:.2f} to {then:.2f}" in one.why


def test_the_estimate_of_greedy_collection_is_the_closed_form(tmp_path: Path) -> None:
    answer = explained({**SMALL, "ftl.collect.policy": "random"}, tmp_path)
    one = named(answer, "ftl.collect.policy")
    assert one is not None
    effective = answer.case.result["drive"]["effective_spare_factor"]
    own, greedy = (floatgate.theory_wa(policy, effective, 64) for policy in ("random", "greedy"))
    pages = answer.case.result["flash"]["pages_written"]
    assert one.estimates[0].share == pytest.approx(pages["gc"] / pages["total"] * (own - greedy) / (own - 1))


def test_settings_are_ranked_by_their_figures(tmp_path: Path) -> None:
    """Known gains first, settings of this drive before another drive, the largest share first."""
    answer = explained({**HOT, "workload.duplicate_share": 0.4}, tmp_path)
    order = [(one.rank < 0, one.setting.last, -one.rank) for one in answer.suggestions]
    assert order == sorted(order)
    assert len({one.key for one in answer.suggestions}) == len(order) > 4
    three = explain(answer.case)
    assert [one.key for one in three.suggestions] == [one.key for one in answer.suggestions[:3]]


def test_a_gain_that_acts_on_a_share_is_a_figure_of_the_run(tmp_path: Path) -> None:
    answer = explained({**SMALL, "workload.pattern": "zipf"}, tmp_path)
    one = named(answer, "ftl.separate.policy")
    assert one is not None
    (estimate,) = one.estimates
    pages = answer.case.result["flash"]["pages_written"]
    assert estimate.gain.basis == ACTS_ON
    assert estimate.share == pytest.approx(pages["gc"] / pages["total"])


def test_shares_of_the_time_at_the_flash_count_as_shares_of_latency(tmp_path: Path) -> None:
    """Where requests wait in the host queue, the flash is a small part of what they take."""
    answer = explained({**TIMED, "host.outstanding_max": 2}, tmp_path)
    waits = answer.case.result["latency_us"]["waiting"]["read"]
    at_flash = sum(value for name, value in waits.items() if name != "operations")
    mean = answer.case.result["latency_us"]["read"]["mean"]
    one = named(answer, "ftl.spare_factor")
    assert one is not None
    (share,) = [each.share for each in one.estimates if each.gain.of == "time of reads"]
    assert share is not None
    assert share < at_flash / mean < 0.05


BUSY = {
    **TIMED,
    "drive.geometry.channels": 1,
    "ftl.separate.policy": "sepbit",
    "workload.read_share": 0.7,
    "workload.queue_depth": 16,
}


def test_programs_of_foreground_jobs_that_rank_below_reads_can_be_stopped(tmp_path: Path) -> None:
    """Incremental collection is a foreground job with the rank of writes; a read stops its programs."""
    settings = {**BUSY, "workload.queue_depth": 2}
    answer = explained(settings, tmp_path)
    result, config = answer.case.result, answer.case.config
    waits, timing = result["latency_us"]["waiting"]["read"], config["drive"]["timing"]
    total = sum(value for name, value in waits.items() if name != "operations")
    assert waits["background_job"] == 0 < waits["foreground_job"]
    programs, reads = (result["flash"][name]["total"] for name in ("programs", "reads"))
    part = programs * timing["program_us"] / (programs * timing["program_us"] + reads * timing["read_us"])
    stoppable = Known(answer.case).value("read_stoppable")
    assert stoppable == pytest.approx(
        min(part * (waits["die"] + waits["foreground_job"]) / total, timing["program_us"] / total)
    )
    before = Known(explained({**settings, "drive.scheduling.policy": "fcfs"}, tmp_path / "fcfs").case)
    under_fcfs = before.value("read_stoppable")
    assert isinstance(stoppable, float)
    assert isinstance(under_fcfs, float)
    assert stoppable > under_fcfs
    after = floatgate.run({**settings, "drive.commands.program_suspend": True})
    assert after.latency_us.read.mean < (1 - 0.3 * stoppable) * result["latency_us"]["read"]["mean"]


@pytest.mark.parametrize("key", ["drive.timing.program_us", "drive.timing.read_us"])
def test_times_by_page_type_are_times_of_the_array_too(key: str, tmp_path: Path) -> None:
    """One type with one time is the drive with that time for all pages."""
    settings = {**TIMED, "drive.timing.program_us": 900.0, "drive.timing.read_us": 80.0}
    value = settings.pop(key)
    plain = Known(explained({**settings, key: value}, tmp_path / "plain").case)
    answer = explained({**settings, f"{key}_by_page_type": [value]}, tmp_path / "by-type")
    assert named(answer, "drive.commands.program_suspend") is not None
    assert Known(answer.case).value("read_stoppable") == plain.value("read_stoppable")


def test_a_closed_loop_deeper_than_the_dies_promises_reads_nothing_of_spare_space(tmp_path: Path) -> None:
    """Sixteen requests for one die: those that are served sooner make others queue."""
    deep = named(explained({**BUSY, "workload.pattern": "uniform"}, tmp_path / "deep"), "ftl.spare_factor")
    flat = named(explained({**BUSY, "workload.queue_depth": 1}, tmp_path / "flat"), "ftl.spare_factor")
    assert deep is not None
    assert flat is not None
    deep_share = sum(one.share or 0.0 for one in deep.estimates if one.gain.of == "time of reads")
    flat_share = sum(one.share or 0.0 for one in flat.estimates if one.gain.of == "time of reads")
    assert deep_share < flat_share


def test_a_buffer_is_raised_where_reads_wait_for_the_write_of_their_page(tmp_path: Path) -> None:
    settings = {**BUSY, "workload.pattern": "zipf", "ftl.spare_factor": 0.07}
    answer = explained(settings, tmp_path, most=3)
    one = named(answer, "drive.buffer.capacity")
    assert one is not None  # among the three that explain suggests by default
    (share,) = [each.share for each in one.estimates if each.gain.of == "time of reads"]
    after = floatgate.run({**settings, "drive.buffer.capacity": "1 MiB"})
    before = answer.case.result["latency_us"]["read"]["mean"]
    assert share is not None
    assert after.latency_us.read.mean < (1 - share) * before
    buffered = explained({**settings, "drive.buffer.capacity": "1 MiB"}, tmp_path / "buffered")
    assert "read-own-write" not in {each.rule.name for each in buffered.sentences}


def test_a_refused_setting_is_dropped_with_its_reason(tmp_path: Path) -> None:
    answer = explained(scenarios.RUNS["one hot chip"][0], tmp_path)
    assert named(answer, "ftl.level.policy") is None
    (dropped,) = answer.dropped
    assert (dropped.key, dropped.value) == ("ftl.level.policy", "read-balance")
    assert "chips_per_channel" in dropped.why


def test_defaults_that_follow_from_a_separator_change_with_it(tmp_path: Path) -> None:
    """The stated trigger of one free block is too low for two streams; the core's default for them takes its place."""
    settings = {**SMALL, "workload.pattern": "zipf"}
    one = named(explained(settings, tmp_path), "ftl.separate.policy")
    assert one is not None
    apart = floatgate.run({**settings, "ftl.separate.policy": "host-gc"}).experiment()["ftl"]["collect"]
    assert one.choices[0].also == {"ftl.collect.trigger_free_blocks": apart["trigger_free_blocks"]}


def test_defaults_of_the_mode_of_collection_change_with_it(tmp_path: Path) -> None:
    """The folder states the rank of jobs and the separator of whole blocks; incremental collection has its own."""
    own = floatgate.run({**TIMED, "ftl.collect.mode": "incremental"}).experiment()
    one = named(explained({**TIMED, **WHOLE}, tmp_path), "ftl.collect.mode")
    assert one is not None
    also = one.choices[0].also
    assert also["drive.scheduling.urgent_jobs"] == own["drive"]["scheduling"]["urgent_jobs"] == "write"
    assert also["ftl.separate.policy"] == own["ftl"]["separate"]["policy"] == "host-gc"
    assert all("--set drive.scheduling.urgent_jobs=write" in command for command in one.commands)
    chosen = {"drive.scheduling.priority": ["write", "read", "background"], "ftl.separate.policy": "sepbit"}
    other = named(explained({**TIMED, **WHOLE, **chosen}, tmp_path / "chosen"), "ftl.collect.mode")
    assert other is not None
    assert "ftl.separate.policy" not in other.choices[0].also
    by_choice = {**TIMED, **WHOLE, "drive.scheduling.urgent_jobs": "write"}
    kept = named(explained(by_choice, tmp_path / "kept"), "ftl.collect.mode")
    assert kept is None or "drive.scheduling.urgent_jobs" not in kept.choices[0].also


def test_a_trace_keeps_the_capacity_that_it_needs(tmp_path: Path) -> None:
    settings = {**OF_A_TRACE, "workload.file": str(scenarios.msr_trace(tmp_path / "msr.csv"))}
    answer = explained(settings, tmp_path)
    one = named(answer, "ftl.spare_factor")
    assert one is not None
    (choice,) = one.choices
    larger = floatgate.run({**settings, "drive.capacity": None, **choice.changes(one.key)})
    assert larger.drive.logical_bytes >= answer.case.result["drive"]["logical_bytes"]


@pytest.mark.parametrize("name", ["hot", "timed", "reclaimed", "trace", "life, hot", "life, throttled"])
def test_commands_are_accepted_as_pasted(name: str, cli: Cli, tmp_path: Path) -> None:
    folder = scenarios.write(name, tmp_path)
    with reading(str(folder)) as case:
        answer = explain(case, 20)
    assert answer.suggestions
    for one in answer.suggestions:
        assert one.commands
        for command in one.commands:
            program, *words = shlex.split(command)
            assert program == "floatgate"
            if words[0] == "lifetime":
                # Forecasts take long; their settings are checked as a run's are.
                assert accepted(case, words)
            else:
                assert cli(*words, "-q").done() == ""


def accepted(case: Case, words: list[str]) -> bool:
    assert words[:2] == ["lifetime", str(case.file)]
    pairs = [text.partition("=") for text in words[3::2]]
    assert set(words[2::2]) == {"--set"}
    return case.refusal([(key, value) for key, _, value in pairs]) is None


def test_paths_with_blanks_are_quoted(tmp_path: Path) -> None:
    floatgate.run(SMALL).save(tmp_path / "my run", report=False)
    with reading(str(tmp_path / "my run")) as case:
        answer = explain(case)
    assert all(f"'{case.file}'" in command for one in answer.suggestions for command in one.commands)


def test_a_forecast_with_set_write_amplification_suggests_no_reduction(tmp_path: Path) -> None:
    settings = {
        "drive.preset": "mlc-20nm",
        "drive.capacity": "1 GiB",
        "workload.file": str(TRACES / "sqlite-content.parquet"),
        "lifetime.forecast.waf": 1.1,
    }
    floatgate.lifetime(settings).write(RunFolder.named(str(tmp_path / "life"), force=False), report=False)
    with reading(str(tmp_path / "life")) as case:
        answer = explain(case, 20)
    assert named(answer, "lifetime.reduce.policy") is None
    assert {one.rule.name for one in answer.sentences} >= {"waf-given", "target-missed"}


def test_managers_by_page_type_need_types(tmp_path: Path) -> None:
    typed = {**SMALL, **DISTURBED, "ftl.reclaim.policy": "baseline", "drive.disturb.model": "tlc-base"}
    one = named(explained(typed, tmp_path), "ftl.reclaim.policy")
    assert one is not None
    assert [choice.value for choice in one.choices] == ["rrb", "redftl", "redftl-plus"]


def test_a_saved_drive_keeps_what_it_fixes(tmp_path: Path) -> None:
    saved = tmp_path / "saved.drive"
    floatgate.run(SMALL, save_drive=saved)
    settings = {key: value for key, value in SMALL.items() if key != "ftl.precondition"}
    answer = explained({**settings, "ftl.snapshot": str(saved), "workload.pattern": "zipf"}, tmp_path)
    fixed = {"ftl.spare_factor", "ftl.separate.policy", "ftl.collect.policy"}
    assert {one.key for one in answer.dropped} >= fixed
    assert {one.key for one in answer.suggestions}.isdisjoint(fixed)
    assert all(str(saved) in one.why for one in answer.dropped if one.key in fixed)
