"""Write amplification of the three drives in the initial and in the steady state (section 5.1, Figures 6 to 9)."""

from __future__ import annotations

import statistics
from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, ratio
from floatgate.papers.rb_explorer.errors import error
from floatgate.papers.rb_explorer.micros import ALIGNMENTS, LARGE, ORDERS, SIZES, WRITES, micros

DRIVES = ("ssd-i", "ssd-m", "ssd-s")
STATES = ("initial", "steady")
READS = ("plain", "read-cache", "disturb", "both", "disturb-64")
AGREE = {"ssd-v": "agree", "ssd-i": "agree-real", "ssd-m": "agree-real", "ssd-s": "agree-real"}
"""Batches in which all pins of a drive are measured."""


class Table:
    """Write amplification by state, drive and micro-benchmark, as the pin tells it."""

    def __init__(self, findings: Findings) -> None:
        """Look it up."""
        self._wa = {
            (state, drive, micro): findings.figure(f"{state}.{micro}.{drive}.captured.paper.wa")
            for state in STATES
            for drive in DRIVES
            for micro in micros()
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


def values(findings: Findings) -> dict[str, Any]:
    """Return figures by QUANTITY.STATE.DRIVE or QUANTITY.STATE.DRIVE-WRITES."""
    table = Table(findings)
    made: dict[str, Any] = {}
    for state in STATES:
        for drive in DRIVES:
            made |= _of_drive(table, state, drive)
            for writes in WRITES:
                made |= _of_writes(table, state, drive, writes)
            for micro in micros():
                run = f"{state}.{micro}.{drive}"
                true, host = (
                    findings.figure(f"{run}.{key}") for key in ("waveform.flash.programs", "host.write_bytes")
                )
                page_bytes = findings.figure(f"{run}.drive.page_bytes")
                true_wa = ratio(None if true is None or page_bytes is None else true * page_bytes, host)
                made[f"true.{run}"] = true_wa
                made[f"pin.{run}"] = error(table.one(state, drive, micro), true_wa)
    for drive in DRIVES:
        worn, new = (table.mean(state, drive) for state in ("steady", "initial"))
        made[f"steady_over_initial.{drive}"] = ratio(worn, new)
    return made | _pins(made) | _agree(findings) | _reads(findings) | _planes(findings)


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


def _pins(made: dict[str, Any]) -> dict[str, Any]:
    """Return the largest error of a pin by drive, over both states."""
    over: dict[str, Any] = {}
    for drive in DRIVES:
        for writes in WRITES:
            errors = [made[f"pin.{state}.{micro}.{drive}"] for state in STATES for micro in micros(writes=[writes])]
            known = [one for one in errors if one is not None]
            over[f"most.pin.{drive}-{writes}"] = max(known) if len(known) == len(errors) else None
    return over


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
