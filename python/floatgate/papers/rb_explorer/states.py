"""Write amplification of the three drives in the initial and in the steady state (section 5.1, Figures 6 to 9)."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, ratio
from floatgate.papers.rb_explorer.errors import error
from floatgate.papers.rb_explorer.micros import ALIGNMENTS, LARGE, ORDERS, SIZES, WRITES, micros
from floatgate.papers.rb_explorer.stable import Course, course
from floatgate.papers.rb_explorer.workloads import WRITTEN, WRITTEN_OTHERWISE

DRIVES = ("ssd-i", "ssd-m", "ssd-s")
STATES = ("initial", "steady")
READS = ("plain", "read-cache", "disturb", "both", "disturb-64")
AGREE = {"ssd-v": "agree", "ssd-i": "agree-real", "ssd-m": "agree-real", "ssd-s": "agree-real"}
"""Batches in which all pins of a drive are measured."""
TIMED = "4k-sq-100w-align"
"""The micro-benchmark that runs until stable in time, too."""
Lookup = Callable[[str, str, str], "float | None"]
"""Write amplification by state, drive and micro-benchmark."""


class Table:
    """Write amplification by state, drive and micro-benchmark, with means over some micro-benchmarks."""

    def __init__(self, wa: Lookup) -> None:
        """Look all of them up."""
        self._wa = {
            (state, drive, micro): wa(state, drive, micro) for state in STATES for drive in DRIVES for micro in micros()
        }

    def one(self, state: str, drive: str, micro: str) -> float | None:
        """Look up one micro-benchmark."""
        return self._wa[state, drive, micro]

    def mean(self, state: str, drive: str, **of: Any) -> float | None:
        """Return the mean over the micro-benchmarks that ``of`` names (:func:`micros`)."""
        return mean(self._wa[state, drive, micro] for micro in micros(**of))

    def most(self, state: str, drive: str, **of: Any) -> float | None:
        """Return the largest of them."""
        figures = [self._wa[state, drive, micro] for micro in micros(**of)]
        known = [one for one in figures if one is not None]
        return max(known) if known and len(known) == len(figures) else None

    def values(self) -> dict[str, Any]:
        """Return figures by QUANTITY.STATE.DRIVE or QUANTITY.STATE.DRIVE-WRITES."""
        made: dict[str, Any] = {}
        for drive in DRIVES:
            for state in STATES:
                made |= _of_drive(self, state, drive)
                for writes in WRITES:
                    made |= _of_writes(self, state, drive, writes)
            worn, new = (self.mean(state, drive) for state in ("steady", "initial"))
            made[f"steady_over_initial.{drive}"] = ratio(worn, new)
        return made


def round_bytes(micro: str) -> int:
    """Return what a micro-benchmark writes in a round: what it writes in all on a new drive."""
    return WRITTEN.get(micro.split("-", 1)[0], WRITTEN_OTHERWISE)


def courses(findings: Findings, scale: float = 1.0) -> dict[tuple[str, str], Course]:
    """Return the known tests in the steady state, round by round, by drive and micro-benchmark.

    Args:
        findings: the results.
        scale: of the rounds of long tests. Random ones go on for five rounds only, and keep theirs.
    """
    made: dict[tuple[str, str], Course] = {}
    for drive in DRIVES:
        for micro in micros():
            for batch, by in ((f"until-stable-{drive}", scale), ("until-stable", 1.0)):
                one = course(findings.look(f"{batch}.{micro}.{drive}"), by * round_bytes(micro))
                if one is not None:
                    made[drive, micro] = one
    return made


def judged(findings: Findings) -> Table:
    """Return what claims are judged on: one pin of the new drives, and whole tests on the worn ones."""
    tests = courses(findings)

    def wa(state: str, drive: str, micro: str) -> float | None:
        if state == "initial":
            return findings.figure(f"initial.{micro}.{drive}.captured.paper.wa")
        return tests[drive, micro].whole() if (drive, micro) in tests else None

    return Table(wa)


def values(findings: Findings) -> dict[str, Any]:
    """Return figures by QUANTITY.STATE.DRIVE or QUANTITY.STATE.DRIVE-WRITES, as they are judged."""
    table = judged(findings)
    made: dict[str, Any] = {
        f"wa.{state}.{micro}.{drive}": table.one(state, drive, micro)
        for state in STATES
        for drive in DRIVES
        for micro in micros()
    }
    made |= table.values()
    made |= _ends(findings) | _pins(findings)
    return made | _agree(findings) | _reads(findings) | _planes(findings)


def _of_drive(table: Table, state: str, drive: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        f"reads_over_writes.{state}.{drive}": ratio(
            table.mean(state, drive, writes=["50w"]), table.mean(state, drive, writes=["100w"])
        ),
        f"sq_over_rd.{state}.{drive}": ratio(
            table.mean(state, drive, orders=["sq"]), table.mean(state, drive, orders=["rd"])
        ),
        f"512b_align.{state}.{drive}": ratio(
            table.mean(state, drive, sizes=["512b"], orders=["sq"], alignments=["align"]),
            table.mean(state, drive, sizes=["512b"], orders=["sq"], alignments=["no-align"]),
        ),
        f"sq_8k_on.{state}.{drive}": table.mean(state, drive, sizes=LARGE[1:], orders=["sq"]),
        f"8k_on.{state}.{drive}": table.mean(state, drive, sizes=LARGE[1:], writes=["50w"]),
        f"512b_rd.{state}.{drive}": table.mean(state, drive, sizes=["512b"], orders=["rd"], writes=["50w"]),
    }
    figures = [table.one(state, drive, micro) for micro in micros()]
    known = [one for one in figures if one is not None]
    made[f"deviation.{state}.{drive}"] = statistics.stdev(known) if len(known) == len(figures) else None
    for size in SIZES:
        made[f"size.{size}.{state}.{drive}"] = table.mean(state, drive, sizes=[size], writes=["50w"])
    return made


def _of_writes(table: Table, state: str, drive: str, writes: str) -> dict[str, Any]:
    def mean_of(**of: Any) -> float | None:
        return table.mean(state, drive, writes=[writes], **of)

    place = f"{state}.{drive}-{writes}"
    made: dict[str, Any] = {
        f"sq.{place}": mean_of(sizes=LARGE, orders=["sq"]),
        f"sq_no_align.{place}": mean_of(sizes=LARGE, orders=["sq"], alignments=["no-align"]),
        f"rd.{place}": mean_of(sizes=LARGE, orders=["rd"]),
        f"512b_over_others.{place}": ratio(mean_of(sizes=["512b"]), mean_of(sizes=LARGE)),
        f"most.{place}": table.most(state, drive, writes=[writes]),
        f"512b_over_most.{place}": ratio(
            table.most(state, drive, writes=[writes], sizes=["512b"]),
            table.most(state, drive, writes=[writes], sizes=LARGE),
        ),
    }
    aligned, shifted = (mean_of(sizes=LARGE, orders=["sq"], alignments=[one]) for one in ALIGNMENTS)
    made[f"alignment.{place}"] = error(shifted, aligned)
    return made


def _ends(findings: Findings) -> dict[str, Any]:
    """Return by order and drive how many tests end stable, of how many, and after how many GiB: least and most."""
    tests = courses(findings)
    made: dict[str, Any] = {}
    for drive in DRIVES:
        for order in ORDERS:
            mine = [tests[drive, micro] for micro in micros(LARGE, [order]) if (drive, micro) in tests]
            if not mine:
                continue
            gib = [sum(one.host_bytes[: one.end]) / 2**30 for one in mine]
            made |= {
                f"ends.stable.{order}.{drive}": f"{sum(one.is_stable for one in mine)} of {len(mine)}",
                f"ends.least_gib.{order}.{drive}": min(gib),
                f"ends.most_gib.{order}.{drive}": max(gib),
            }
        timed = course(findings.look(f"in-time-{drive}.{TIMED}.{drive}"), round_bytes(TIMED))
        for name, one in (("timed", timed), ("counted", tests.get((drive, TIMED)))):
            if one is not None:
                made |= {
                    f"ends.{name}.gib.{drive}": sum(one.host_bytes[: one.end]) / 2**30,
                    f"ends.{name}.whole.{drive}": one.whole(),
                    f"ends.{name}.settled.{drive}": one.settled(),
                }
    return made


def _pins(findings: Findings) -> dict[str, Any]:
    """Return the largest error of a pin by drive and write share: on the new and on the worn drive."""
    over: dict[str, Any] = {}
    for drive in DRIVES:
        for writes in WRITES:
            worn = [micro for micro in findings.look("agree-real") or {} if writes in micro.split("-")]
            errors = {
                "new": [_pin_error(findings, f"initial.{micro}.{drive}") for micro in micros(writes=[writes])],
                "worn": [_pin_error(findings, f"agree-real.{micro}.{drive}") for micro in worn],
            }
            for state, all_of in errors.items():
                known = [one for one in all_of if one is not None]
                whole = known and len(known) == len(all_of)
                over[f"most.pin.{state}.{drive}-{writes}"] = max(known) if whole else None
    return over


def _pin_error(findings: Findings, run: str) -> float | None:
    """Return the error of one pin beside the firmware's count (Equation 12)."""
    programs, page_bytes, host_bytes = (
        findings.figure(f"{run}.{key}") for key in ("waveform.flash.programs", "drive.page_bytes", "host.write_bytes")
    )
    true = ratio(None if programs is None or page_bytes is None else programs * page_bytes, host_bytes)
    return error(findings.figure(f"{run}.captured.paper.wa"), true)


def _agree(findings: Findings) -> dict[str, Any]:
    """Check whether the truth lies in the interval that the measurement of all pins states, by MICRO.DRIVE."""
    made: dict[str, Any] = {}
    for drive, batch in AGREE.items():
        for micro, variants in (findings.look(batch) or {}).items():
            run = variants.get(drive)
            if run is None:
                continue
            captured, table = run["captured"]["found"], run["waveform"]
            true = table["flash"]["programs"] * run["drive"]["page_bytes"] / run["host"]["write_bytes"]
            made |= {f"agree.true.{micro}.{drive}": true}
            made |= {f"agree.{key}.{micro}.{drive}": captured[key] for key in ("wa", "wa_low", "wa_high")}
            # One count in a billion is for the rounding of a quotient.
            made[f"agrees.{micro}.{drive}"] = (
                captured["wa_low"] * (1 - 1e-9) <= true <= captured["wa_high"] * (1 + 1e-9)
            )
    for drive in AGREE:
        held = [value for name, value in made.items() if name.startswith("agrees.") and name.endswith(f".{drive}")]
        made[f"agrees.{drive}"] = all(held) if held else None
    return made


def _reads(findings: Findings) -> dict[str, Any]:
    """Return what cached and disturbing reads add to write amplification of SSD-S, each alone and both."""
    made: dict[str, Any] = {}
    for micro in micros(writes=["50w"]):
        plain = findings.figure(f"reads.{micro}.plain.waf_bytes")
        for one in READS:
            made[f"reads.{one}.{micro}"] = ratio(findings.figure(f"reads.{micro}.{one}.waf_bytes"), plain)
    for one in READS:
        for order in ORDERS:
            for size in SIZES:
                cases = micros(sizes=[size], orders=[order], writes=["50w"])
                made[f"reads.{one}.{size}-{order}"] = mean(made[f"reads.{one}.{micro}"] for micro in cases)
        known = [made[f"reads.{one}.{micro}"] for micro in micros(writes=["50w"])]
        made[f"reads.{one}"] = mean(known)
    return made


def _planes(findings: Findings) -> dict[str, Any]:
    """Return M_p by the procedure of section 3.5, and the measured interval of programs (Table 2)."""
    made: dict[str, Any] = {}
    for drive in AGREE:
        captured = findings.look(f"planes.32k-sq-100w-align.{drive}.captured.found")
        if captured is None or captured["wa"] is None:
            continue
        # With one page per program; nearer to 1 or to 1/2 (step 2).
        single = captured["wa"] / captured["multi_page"]
        made |= {f"wa_single.{drive}": single, f"m_p.{drive}": 1 if abs(single - 1) < abs(single - 0.5) else 2}
        made |= {f"interval.{end}.{drive}": captured["interval_us"][n] for n, end in enumerate(("low", "high"))}
    return made
