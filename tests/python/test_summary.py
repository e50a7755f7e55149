"""The summary and its words and units."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import floatgate
from conftest import SMALL
from floatgate.base import units
from floatgate.report import sections, summary
from floatgate.report.sections import (
    amplification,
    backlog,
    buffer,
    drive,
    forced,
    latency,
    lifetime_headline,
    orders,
    programs,
    throttle,
    throughput,
    waiting,
    wear,
    workload,
)
from floatgate.report.sections.section import Section

RESULT: dict[str, Any] = {
    "drive": {
        "name": "mlc-20nm",
        "physical_bytes": 128 << 30,
        "logical_bytes": 119 << 30,
        "spare_factor": 0.07,
        "effective_spare_factor": 0.068,
    },
    "workload": {"kind": "trace", "format": "msr", "footprint_bytes": 21 << 30},
    "host": {"read_requests": 546_000, "write_requests": 3_654_000, "trim_requests": 0, "write_bytes": 148 * 10**9},
    "span_s": 7 * 86_400.0,
    "lifetime": {"years": 4.1, "pe_cycles": 3000, "tbw_bytes": 194e12, "dwpd": 0.56},
    "waf": 1.93,
    "waf_95": [1.92, 1.94],
    "stationary": True,
    "flash": {"programs": {"host": 520, "partial": 10, "gc": 470, "total": 1000}},
    "wear": {"erases_min": 398, "erases_mean": 412.0, "erases_max": 431, "erases_std": 6.1},
    "latency_us": {
        "read": {"count": 10, "p50": 61.0, "p99": 1900.0, "p999": 3600.0},
        "write": {"count": 10, "p50": 700.0, "p99": 11000.0, "p999": 12000.0},
    },
}
EXPERIMENT = {"workload": {"file": "some/web.csv.zst"}}


def test_writes_that_waited_for_whole_blocks_are_noted() -> None:
    """Under incremental collection none should; whole-block collection lets them wait by design."""

    def notes(mode: str, times: int) -> list[str | None]:
        facts = {"config": {"ftl": {"collect": {"mode": mode}}}, "gc": {"forced": times}}
        return list(forced.SECTION.remarks(facts))

    (note,) = notes("incremental", 18)
    assert note is not None
    assert note.startswith("host writes waited 18 times until whole blocks were collected (gc.forced): the spare space")
    assert notes("incremental", 0) == notes("whole-block", 18) == []
    settings = {
        **{key: value for key, value in SMALL.items() if key != "workload.rate_per_s"},
        "mode": "timed",
        "ftl.spare_factor": 0.07,
        "ftl.separate.policy": "sepbit",
        "workload.pattern": "zipf",
    }
    run = floatgate.run(settings)
    assert run.result.to_dict()["gc"]["forced"] > 0
    assert "until whole blocks were collected (gc.forced)" in run.summary()
    assert "until whole blocks were collected (gc.forced)" in run.report()


def test_the_lines_are_those_of_the_contract() -> None:
    assert (
        drive.line(RESULT)
        == "mlc-20nm: 128 GiB flash, 119 GiB visible, 7.0 % spare (6.8 % not counting free and open blocks)"
    )
    assert workload.line(RESULT, EXPERIMENT) == (
        "web.csv.zst (msr): 4.2 M requests, 87 % writes, 148 GB written in 7.0 days, 21 GiB footprint"
    )
    assert (
        lifetime_headline.line(RESULT) == "4.1 years at this rate (3000 P/E cycles; 194 TBW; 0.56 drive writes per day)"
    )
    assert amplification.line(RESULT) == "1.93 (95 %: 1.92-1.94, stationary)"
    assert programs.line(RESULT) == "52 % host, 47 % garbage collection, 1 % partial pages"
    assert wear.line(RESULT) == "412 erases per block (min 398, max 431, sd 6.1)"
    reads, writes = "read p50 61 us, p99 1.9 ms, p99.9 3.6 ms", "write p50 700 us, p99 11 ms, p99.9 12 ms"
    assert latency.line(RESULT) == f"{reads}; {writes}"


def test_a_timed_drive_shows_its_array_and_the_dies_that_it_lacks() -> None:
    geometry = {"channels": 2, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 2}
    config = {"drive": {"preset": "ssd-v", "geometry": geometry}}
    timed = {**RESULT, "mode": "timed", "config": config}
    assert (drive.line(timed) or "").endswith(" free and open blocks); 2 channels x 1 die, 2 planes each")
    (fewer,) = drive.remarks(timed)
    assert fewer.startswith("2 of 4 dies of ssd-v: it does fewer operations at a time; ")
    # Without time the array changes no figure; a drive with all its dies lacks none.
    assert drive.line({**timed, "mode": "functional"}) == drive.line(RESULT)
    assert drive.remarks({**timed, "mode": "functional"}) == []
    whole = {"drive": {"preset": "ssd-v", "geometry": {**geometry, "channels": 4}}}
    assert drive.remarks({**timed, "config": whole}) == []


def test_a_timed_run_says_how_it_collects_and_whose_choice_that_is() -> None:
    """A drive of a paper may bring its own mode of collection, which decides the tail."""
    timed = {**{key: value for key, value in SMALL.items() if key != "workload.rate_per_s"}, "mode": "timed"}
    chosen = {**timed, "workload.requests": 2_000, "drive.preset": "mlc-20nm", "ftl.collect.stop_free_blocks": 3}

    def collected(**settings: object) -> str | None:
        return drive.collection(floatgate.run(chosen, set=settings).result.to_dict())

    assert collected() == "whole-block (from drive mlc-20nm), victims greedy, until 3 blocks per plane are free"
    own = {"ftl.collect.mode": "incremental", "ftl.collect.policy": "fifo"}
    assert collected(**own) == "incremental, victims fifo"
    assert collected(mode="functional") is None
    assert "collection whole-block (from drive mlc-20nm), victims greedy" in floatgate.run(chosen).summary()


def test_a_run_that_is_too_short_tells_no_life() -> None:
    evidence = {"enough": False, "why": "too short", "drive_writes": 0.31, "drive_writes_needed": 1.0}
    result = {**RESULT, "evidence": evidence, "workload": {"kind": "trace", "passes": 2}}
    text = "too short: 0.31 drive writes, at least 1.0 needed"
    assert lifetime_headline.line(result) == f"no figure yet: {text} (workload.repeat = 8)"
    synthetic = {**result, "workload": {"kind": "synthetic"}, "config": {"workload": {"requests": 1000}}}
    assert lifetime_headline.too_short(synthetic) == f"{text} (workload.requests = 4000)"
    drifting = {**evidence, "why": "not stationary", "drive_writes": 80.0, "drive_writes_needed": 160.0}
    config = {"workload": {"requests": 1000, "warmup_requests": 40}}
    transient = {**synthetic, "evidence": {**drifting, "transient_requests": 125}, "config": config}
    assert lifetime_headline.too_short(transient) == (
        "not stationary: only the beginning differs (workload.warmup_requests = 165 leaves it out)"
    )
    assert (lifetime_headline.years(result), lifetime_headline.tbw_bytes(result)) == (None, None)
    assert lifetime_headline.years({**RESULT, "evidence": {**evidence, "enough": True}}) == 4.1


def test_the_beginning_of_a_trace_is_left_out_by_whole_passes() -> None:
    """Twice the length would hold the beginning, too: the remedy would never mend the run."""
    drifting = {"enough": False, "why": "not stationary", "drive_writes": 80.0, "drive_writes_needed": 160.0}

    def remedy(passes: int, transient: int | None, *, worn_in: int = 0, **config: int) -> tuple[str, int] | None:
        """What a run on a trace of 1000 requests names."""
        before = max(config.get("warmup_requests", 0), 1000 * max(config.get("warmup_passes", 0), worn_in))
        counted = 1000 * (passes + max(config.get("warmup_passes", 0), worn_in)) - before
        result = {
            **RESULT,
            "evidence": {**drifting, "transient_requests": transient},
            "workload": {"kind": "trace", "passes": passes, "requests": counted},
            "precondition": {"wear_in_passes": worn_in} if worn_in else None,
            "config": {"workload": config},
        }
        short = lifetime_headline.shortage(result)
        assert short is not None
        return short.setting

    assert remedy(16, 1200, warmup_passes=1) == ("workload.warmup_passes", 3)
    assert remedy(16, 1000, warmup_passes=1) == ("workload.warmup_passes", 2)
    assert remedy(16, 1200, warmup_passes=1, worn_in=4) == ("workload.warmup_passes", 6)
    assert remedy(4, 500, warmup_passes=1, warmup_requests=1700) == ("workload.warmup_passes", 3)
    assert remedy(4, 500, warmup_requests=1700) == ("workload.warmup_passes", 3)
    assert remedy(1, 500) == ("workload.warmup_passes", 1)
    # More passes before it do not change how a single pass begins.
    assert remedy(1, 500, warmup_passes=1) == ("workload.repeat", 2)
    assert remedy(4, None, warmup_passes=1) == ("workload.repeat", 8)


def test_a_run_that_programmed_nothing_tells_no_life() -> None:
    """What the host wrote is in an unfinished chunk: how long the run should be is not known."""
    settings = {"drive.capacity": "64 MiB", "lifetime.reduce.policy": "compress", "workload.compressed_share": 0.5}
    run = floatgate.run({**settings, "mode": "timed", "workload.requests": 1, "workload.read_share": 0.0})
    assert run.evidence.enough is False
    assert run.evidence.drive_writes_needed is None
    assert lifetime_headline.too_short(run.result.to_dict()) == "too short: 0.000066 drive writes"
    assert "no figure yet: too short" in run.summary()


def test_uneven_wear_leads_with_the_first_block() -> None:
    life = {**RESULT["lifetime"], "years_first_block": 0.8, "years_first_block_range": [0.8, 0.8]}
    life |= {"years_spare_blocks": 0.9, "tbw_first_block_bytes": 38e12}
    config = {"ftl": {"level": {"policy": "none"}}}
    result = {**RESULT, "lifetime": life, "wear": {"max_over_mean": 5.2}, "config": config}
    assert lifetime_headline.line(result) == (
        "292 days until the first block wears out (329 days until spare blocks run out; 4.1 years for the average "
        "block; 3000 P/E cycles; 38.0 TBW; 0.56 drive writes per day)"
    )
    assert lifetime_headline.warning(result) == (
        "wear is uneven: the most erased block has 5.20 times the erases of the mean block "
        '(ftl.level.policy = "hot-cold-swap" levels it)'
    )
    even = {**result, "wear": {"max_over_mean": 1.1}}
    even["lifetime"] = {**life, "years_first_block": 3.9, "years_first_block_range": [3.5, 4.0]}
    assert str(lifetime_headline.line(even)).startswith(
        "4.1 years at this rate (first block 3.9 years, 3.5 years to 4.0 years; "
    )
    assert lifetime_headline.warning(even) is None


def test_endurance_stands_beside_the_rating() -> None:
    drive = {**RESULT["drive"], "logical_bytes": 500 * 10**9, "rated": {"drive_writes": 600.0}}
    result = {**RESULT, "drive": drive}
    assert lifetime_headline.beside_rating(result) == "65 % of the rated drive writes"
    assert "194 TBW; 65 % of the rated drive writes; 0.56 drive writes per day" in str(lifetime_headline.line(result))
    assert (
        lifetime_headline.beside_rating({**result, "lifetime": {"tbw_bytes": 1e15}})
        == "3.33 times the rated drive writes"
    )
    assert lifetime_headline.beside_rating({**result, "drive": {**drive, "rated": None}}) is None


def test_bytes_and_pages_that_differ_are_explained() -> None:
    parts = {"host": 0.25, "partial": 3.62, "gc": 0.41, "total": 4.28}
    result = {"waf": 1.1, "waf_bytes": 4.28, "waf_bytes_95": [4.2, 4.4], "waf_bytes_parts": parts, "stationary": True}
    result |= {"drive": {"page_bytes": 16_384}}
    assert amplification.line(result) == "4.28 (95 %: 4.20-4.40, stationary)"
    assert amplification.sources(result) == "1.00 data, 2.87 rest of partial pages, 0.41 garbage collection"
    assert amplification.explanation(result) == (
        "counted in pages, write amplification is 1.10; the drive writes whole pages of 16 KiB, and many writes are "
        "smaller or not aligned to them"
    )
    merged = {**result, "waf": 1.5, "waf_bytes": 0.66, "waf_bytes_parts": {"host": 0.5, "gc": 0.16}}
    assert amplification.sources(merged) == "0.50 data (the buffer merged the rest), 0.16 garbage collection"
    assert "the buffer merges host writes" in str(amplification.explanation(merged))
    padded = {**result, "waf": 4.28, "waf_bytes_parts": {"host": 1.0, "gc": 2.28, "padding": 1.0}}
    assert amplification.sources(padded) == "1.00 data, 2.28 garbage collection, 1.00 padding"
    same = {**result, "waf": 4.28}
    assert amplification.sources(same) is None
    assert amplification.explanation(same) is None


def test_a_buffer_says_what_it_spared() -> None:
    facts = {"capacity_bytes": 32 << 20, "write_hits": 60, "write_misses": 40, "write_hit_ratio": 0.6}
    facts |= {"read_hit_ratio": 0.25, "pages_merged": 40, "pages_dropped": 10}
    assert buffer.line({"buffer": facts}) == (
        "32 MiB: 60 % of page writes hit, 25 % of page reads hit, 50 % of page writes never reached flash"
    )
    assert buffer.line({"buffer": None}) is None


def test_a_throttle_says_what_it_held_back() -> None:
    held = {"policy": "static", "delay_us_mean": 0.0, "held_share": 0.8, "waits": 4, "wait_s": 3.6, "held_back_s": 3.6}
    result = {**RESULT, "host": {"page_writes": 5}, "throttle": held}
    text = (
        "static: 80 % of page writes delayed, mean delay 720 ms over all, "
        "4 page writes waited for the throttle's budget"
    )
    assert throttle.line(result) == text
    assert throttle.line({**RESULT, "throttle": None}) is None
    waits = {"throttle_wait": {"read": None, "write": 720_000.0}}
    assert waiting.before_flash({"latency_us": waits}) == "writes wait 720 ms for the throttle"


def test_a_rate_below_ten_requests_is_not_rounded_to_zero() -> None:
    megabytes = dict.fromkeys(("read", "write", "flash_read", "flash_program"), 0.001)
    facts = {f"{name}_mb_per_s": value for name, value in megabytes.items()}
    for iops, text in ((0.1827, "0.183"), (9.5, "9.50"), (12.4, "12"), (12_300.0, "12.3 k")):
        assert throughput.cards({"throughput": {"iops": iops, **facts}})[0][1] == text
        assert str(throughput.line({"throughput": {"iops": iops, **facts}})).startswith(f"{text} IOPS; ")


def test_what_is_not_known_is_left_out() -> None:
    assert lifetime_headline.line({**RESULT, "lifetime": {"years": None, "pe_cycles": 3000, "tbw_bytes": 194e12}}) == (
        "194 TBW (3000 P/E cycles; no years, since the workload has no time span)"
    )
    assert amplification.line({**RESULT, "waf": None}) == "none: the workload wrote nothing"
    assert latency.line({**RESULT, "latency_us": None}) is None
    assert workload.line({}, {}) is None
    assert lifetime_headline.line({}) is None


def test_rest_makes_more_of_the_cycles() -> None:
    facts = {**RESULT["lifetime"], "pe_cycles_achievable": 8614.7, "mean_idle_h": 5.08}
    assert lifetime_headline.line({"lifetime": facts}) == (
        "4.1 years at this rate (8615 P/E cycles at 5.1 hours of rest, 3000 nominal; 194 TBW; 0.56 drive writes per "
        "day)"
    )
    facts = {"years": None, "pe_cycles": 3000, "pe_cycles_achievable": None, "mean_idle_h": None, "tbw_bytes": 194e12}
    assert (
        lifetime_headline.line({"lifetime": facts})
        == "194 TBW (3000 P/E cycles; no years, since the workload has no time span)"
    )


def test_a_short_run_says_so() -> None:
    assert amplification.line({"waf": 1.5, "waf_95": None, "stationary": None}) == "1.50 (too short for an interval)"


def test_remarks_name_what_was_done_to_the_input() -> None:
    workload = {
        "bad_lines_skipped": 3,
        "first_bad_line": "t.csv:2: what",
        "stamps_backwards": 2,
        "stamps_backwards_first": "line 7",
        "stamps_backwards_s_max": 0.002,
        "beyond": {"policy": "wrap", "requests_moved": 12},
        "assumed": ["time in us"],
    }
    assert summary.remarks({"workload": workload, "flash": {"unmapped_reads": 5}}) == [
        "3 bad lines skipped (the first bad line: t.csv:2: what)",
        "12 requests beyond the end of the drive moved (wrap)",
        (
            "2 time stamps run backwards, the first in line 7, by at most 2.0 ms; "
            "each counts as arriving with the request before it"
        ),
        "time in us",
        "5 pages read that were never written (they cost no flash read)",
    ]


def test_a_separator_by_context_that_found_nothing_says_so() -> None:
    def remarks_of(policy: str, streams: int) -> list[str]:
        config = {"ftl": {"separate": {"policy": policy}}}
        return summary.remarks({"config": config, "separate": {"streams": [{}] * streams}})

    assert remarks_of("pds", 1) == ["pds found nothing to separate: no context's data is overwritten often enough"]
    assert remarks_of("ids", 1)[0].startswith("ids found nothing")
    assert remarks_of("pds", 2) == remarks_of("hash", 1) == []


def test_update_blocks_that_are_collected_last_are_warned_of() -> None:
    def remarks_of(last: int, copied: float | None, **more: object) -> list[str]:
        config = {"ftl": {"separate": {"policy": "pds", "update_blocks_last": last, **more}}}
        return summary.remarks({"config": config, "gc": {"copied_pages_per_victim": copied}})

    [text] = remarks_of(1, 60.0)
    assert text == (
        "update blocks are collected last (ftl.separate.update_blocks_last = 1): other blocks are emptied first, "
        "with 60.0 pages copied per block; compare with update_blocks_last = 0"
    )
    assert remarks_of(2, 60.0) == [text.replace("= 1", "= 2")]
    # As any other, nothing copied, and no handle of update blocks.
    assert remarks_of(0, 60.0) == remarks_of(1, None) == remarks_of(1, 0.0) == []
    assert remarks_of(1, 60.0, update_from=4096, handles=8) == []
    assert remarks_of(1, 60.0, update_from=2, handles=8) == [text]


def test_a_workload_without_writes_has_a_summary() -> None:
    run = floatgate.run({"drive.capacity": "64 MiB", "workload.requests": 1000, "workload.read_share": 1.0})
    assert run.waf is None
    text = run.summary()
    assert "none: the workload wrote nothing" in text
    assert "<svg" in run.report()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (units.binary_bytes(128 << 30), "128 GiB"),
        (units.binary_bytes(1023), "1023 B"),
        (units.binary_bytes(1536), "1.50 KiB"),
        (units.decimal_bytes(148 * 10**9), "148 GB"),
        (units.decimal_bytes(0), "0 B"),
        (units.decimal_bytes(999_999), "1 MB"),
        (units.count(4_200_000), "4.2 M"),
        (units.count(9_999), "9999"),
        (units.count(999_999), "1.0 M"),
        (units.share(0.52), "52 %"),
        (units.share(0.0), "0 %"),
        (units.share(0.00001), "< 0.1 %"),
        (units.share(0.999), "99.9 %"),
        (units.share(1.0), "100 %"),
        (units.span(604_800), "7.0 days"),
        (units.span(939), "939 s"),
        (units.span(1900e-6), "1.9 ms"),
        (units.span(0.1e-6), "0.10 us"),
        (units.years(4.1), "4.1 years"),
        (units.years(0.1), "36.5 days"),
        (units.years(1e9), "more than 1000 years"),
        (units.figure(7.1238), "7.12"),
        (units.figure(9.999), "10.0"),
        (units.figure(0.05612, 2), "0.056"),
        (units.figure(12345.6), "12346"),
    ],
)
def test_numbers_read_as_people_write_them(made: str, expected: str) -> None:
    assert made == expected


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_numbers_keep_their_size(value: float) -> None:
    assert float(units.figure(value)) == pytest.approx(value, rel=0.006)
    for made in (units.binary_bytes(value), units.decimal_bytes(value), units.span(value)):
        assert "e" not in made.split()[0]


def test_a_drive_that_falls_behind_says_so() -> None:
    result = {
        "latency_us": {"arrivals_s": 100.0},
        "span_s": 150.0,
        "config": {"workload": {"arrival": "open"}},
    }
    assert (backlog.remark(result) or "").startswith(
        "the drive could not keep up: requests that arrived within 100 s took 150 s"
    )
    assert backlog.remark({**result, "span_s": 105.0}) is None
    assert backlog.remark({**result, "config": {"workload": {"arrival": "closed"}}}) is None
    assert backlog.remark({"span_s": 5.0}) is None


def test_contexts_that_are_not_told_apart_are_counted() -> None:
    result = {
        "config": {"ftl": {"separate": {"policy": "pds"}}},
        "separate": {"streams": [{}, {}], "found": {"pages_of_contexts_beyond": 1234.0}},
    }
    text = "1234 pages written from contexts beyond the limit of pds (ftl.separate.contexts), counted as"
    assert summary.remarks(result) == [f"{text} unknown"]


@pytest.mark.parametrize(
    ("member", "order"),
    [("lines", "SUMMARY"), ("remarks", "REMARKS"), ("cards", "CARDS"), ("parts", "PAGE"), ("columns", "COMPARED")],
)
def test_every_section_stands_where_it_has_something_to_show(member: str, order: str) -> None:
    empty = getattr(Section("empty"), member)
    # Charts that sections share, laws and lists, and the folder of what a forecast shows are no sections.
    files = {module.name for module in pkgutil.iter_modules(sections.__path__) if not module.ispkg}
    names = {name for name in files - {"section", "orders", "growing", "not_modelled"} if not name.endswith("_charts")}
    made = [import_module(f"floatgate.report.sections.{name}").SECTION for name in sorted(names)]
    shown = {section.name for section in made if getattr(section, member) is not empty}
    assert sorted(section.name for section in getattr(orders, order)) == sorted(shown)
    assert len({section.name for section in made}) == len(made)


def test_a_run_without_a_victim_says_so() -> None:
    result = {"gc": {"victims": 0}, "flash": {"programs": {"total": 9}}}
    note = "no block was collected: the spare space was not yet used"
    assert programs.remarks(result) == [note]
    assert programs.remarks({**result, "gc": {"victims": 1}}) == []
    assert programs.remarks({"gc": {"victims": 0}, "flash": {"programs": {"total": 0}}}) == []
