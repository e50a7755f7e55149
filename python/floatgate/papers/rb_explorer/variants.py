"""What other seeds, readings of the text and map units make of the states of section 5.1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from floatgate.papers import readings
from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, mean_95, ratio
from floatgate.papers.rb_explorer.micros import LARGE, WRITES, micros
from floatgate.papers.rb_explorer.stable import Course
from floatgate.papers.rb_explorer.states import DRIVES, Lookup, Table, courses, judged
from floatgate.papers.rb_explorer.workloads import APART, apart

SEEDS = (1, 2, 3, 4, 5)
JOURNALS = ("journal-512", "journal-64", "journal-14")
"""Variants of SSD-I by the changes of the map that fill a page of its journal."""
UNITS = {"unit-4": None, "unit-8": "unit-8", "unit-16": "unit-16"}
"""Variant of SSD-S by the unit of its map; 4 KiB is the preset's."""
OF_POSITIONS = ("initial-sq", "initial-alignment", "initial-reads", "initial-reads-s")
OF_ENDS = (
    *("steady-sq", "steady-rd", "steady-512b", "steady-most-m", "steady-most-s", "steady-s-worst"),
    *("steady-reads", "steady-sizes", "steady-m-varies", "initial-below-steady", "sq-below-rd", "sq-near-one"),
)
OF_UNITS = (
    *("initial-512b", "initial-cache", "initial-reads-s"),
    *("steady-rd", "steady-512b", "steady-most-s", "steady-s-worst"),
)
"""Claims that are judged under each reading."""
ENDS: dict[str, tuple[float, Callable[[Course], float | None]]] = {
    "whole": (1.0, Course.whole),
    "short": (0.5, Course.whole),
    "long": (2.0, Course.whole),
    "settled": (1.0, Course.settled),
    "first": (1.0, Course.first),
}
"""By reading: the scale of the rounds by which a test ends (2 GiB, 256 MiB of 512 bytes), and what of it counts."""


def values(findings: Findings) -> dict[str, Any]:
    """Return ``over_seeds.``, ``verdict.READING.CLAIM`` and ``unit.`` values, and means by reading."""
    table = judged(findings)
    made = _seeds(findings) | _units(findings, table) | _metadata(findings)
    for how, (scale, of) in ENDS.items():
        own = Table(_ended(table, courses(findings, scale), of)).values()
        made |= _verdicts(how, own, OF_ENDS)
        made |= {f"{how}.{key}": own[key] for key in own if key.startswith(("sq.steady.", "rd.steady."))}
    for name, lookup in (("one-position", _by_firmware(findings)), ("apart", _apart(findings))):
        own = Table(lookup).values()
        made |= _verdicts(name, own, OF_POSITIONS)
        keys = ("sq_no_align.initial.", "alignment.initial.", "reads_over_writes.initial.")
        made |= {f"{name}.{key}": own[key] for key in own if key.startswith(keys)}
    for unit, variant in UNITS.items():
        own = Table(_with_unit(findings, table, variant)).values()
        made |= _verdicts(unit, own, OF_UNITS)
    return made


def _ended(table: Table, tests: Mapping[tuple[str, str], Course], of: Callable[[Course], float | None]) -> Lookup:
    """Return the initial state as it is judged, and of each test in the steady state what counts of it."""

    def wa(state: str, drive: str, micro: str) -> float | None:
        if state == "initial":
            return table.one(state, drive, micro)
        return of(tests[drive, micro]) if (drive, micro) in tests else None

    return wa


def _verdicts(name: str, own: dict[str, Any], ids: tuple[str, ...]) -> dict[str, Any]:
    """Return the verdicts on some claims under one reading; nothing where it has no values."""
    if all(value is None for value in own.values()):
        return {}
    whole = own | _quantities(own) | {f"over_seeds.{key}": value for key, value in _quantities(own).items()}
    return readings.cells(f"verdict.{name}", readings.verdicts(Path(__file__).parent, Findings({}, whole), ids))


def _quantities(own: dict[str, Any]) -> dict[str, Any]:
    """Return the figures that claims compare on the new drives, by name."""
    made = {
        f"{what}.initial.{drive}": own[f"{what}.initial.{drive}"]
        for what in ("reads_over_writes", "512b_align")
        for drive in DRIVES
    }
    for drive in ("ssd-i", "ssd-m"):
        made[f"512b_rd_over_s.initial.{drive}"] = ratio(own[f"512b_rd.initial.{drive}"], own["512b_rd.initial.ssd-s"])
    made["8k_on_m_over_i.initial"] = ratio(own["8k_on.initial.ssd-m"], own["8k_on.initial.ssd-i"])
    return made


def _by_firmware(findings: Findings, batch: str = "initial") -> Lookup:
    """Return what the firmware of the new drives counts, in one batch."""
    return lambda state, drive, micro: (
        findings.figure(f"{batch}.{micro}.{drive}.waf_bytes") if state == "initial" else None
    )


def _apart(findings: Findings) -> Lookup:
    """Return the same, where reads and writes of sequential micro-benchmarks have a position each."""
    one_position, with_two = _by_firmware(findings), set(apart())

    def wa(state: str, drive: str, micro: str) -> float | None:
        if state == "initial" and f"{APART}{micro}" in with_two:
            return findings.figure(f"apart.{APART}{micro}.{drive}.waf_bytes")
        return one_position(state, drive, micro)

    return wa


def _with_unit(findings: Findings, table: Table, variant: str | None) -> Lookup:
    """Return the figures of the page, with those of SSD-S under another unit of the map."""

    def wa(state: str, drive: str, micro: str) -> float | None:
        if drive != "ssd-s" or variant is None:
            return table.one(state, drive, micro)
        return findings.figure(f"{state}-unit.{micro}.{variant}.waf_bytes")

    return wa


def _units(findings: Findings, table: Table) -> dict[str, Any]:
    """Return figures of SSD-S by the unit of its map: ``unit.QUANTITY.UNIT``."""
    made: dict[str, Any] = {}
    for unit, variant in UNITS.items():
        own = Table(_with_unit(findings, table, variant)).values()
        for writes in WRITES:
            for what in ("most", "rd"):
                made[f"unit.{what}-{writes}.{unit}"] = own[f"{what}.steady.ssd-s-{writes}"]
        made[f"unit.512b_rd_new.{unit}"] = own["512b_rd.initial.ssd-s"]
        made[f"unit.reads.{unit}"] = own["reads_over_writes.initial.ssd-s"]
    return made


def _metadata(findings: Findings) -> dict[str, Any]:
    """Return means of SSD-I with its map on flash: ``metadata.JOURNAL``, and its pages per page that the host wrote."""
    made: dict[str, Any] = {}
    cases = micros(LARGE, ["sq"], ["100w"], ["no-align"])
    for journal in ("none", *JOURNALS):
        runs = [
            f"initial.{micro}.ssd-i" if journal == "none" else f"initial-metadata.{micro}.{journal}" for micro in cases
        ]
        made[f"metadata.{journal}"] = mean([findings.figure(f"{run}.waf_bytes") for run in runs])
        for kind in ("journal", "map"):
            shares = [
                ratio(findings.figure(f"{run}.metadata.{kind}_pages"), findings.figure(f"{run}.host.page_writes"))
                for run in runs
            ]
            made[f"metadata.{kind}.{journal}"] = mean(shares)
    return made


def _seeds(findings: Findings) -> dict[str, Any]:
    """Return means over five seeds and half of their 95 % intervals; of a quick run, the one seed."""
    batches = ["initial", *(f"initial-seed-{seed}" for seed in SEEDS[1:])]
    by_seed = [_quantities(Table(_by_firmware(findings, batch)).values()) for batch in batches]
    made: dict[str, Any] = {}
    for name, first in by_seed[0].items():
        figures = [one[name] for one in by_seed]
        middle, half = mean_95(figures)
        made |= {f"over_seeds.{name}": first if middle is None else middle, f"half.{name}": half}
    for drive in DRIVES:
        for micro in micros(["4k", "512b"], ["rd"], alignments=["align"]):
            figures = [findings.figure(f"steady-seed-{seed}.{micro}.{drive}.waf_bytes") for seed in SEEDS]
            middle, half = mean_95(figures)
            made |= {f"over_seeds.steady.{micro}.{drive}": middle, f"half.steady.{micro}.{drive}": half}
    return made
