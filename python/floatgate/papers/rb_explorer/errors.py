"""Errors of what a pin, and a simulator, say of SSD-v (sections 4.3 and 4.4, Equations 9 to 14)."""

from __future__ import annotations

import statistics
from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.means import ratio
from floatgate.papers.rb_explorer.micros import WRITES, micros

READINGS = ("paper", "printed", "one", "all", "polled-1", "polled", "polled-100", "found")
POLLING = {"polled-1": "polling-1", "polled": "polling", "polled-100": "polling-100"}
"""Errors of sampling by reading of all pins: every 1, 20 and 100 us."""
SIMS = ("ssdsim", "pre-write", "no-read-cache", "greedy", "no-leveling")
STATES = {"new": "simulated", "worn": "simulated-worn"}
"""Batches by the state in which a simulator begins."""
DIES = 4
SEEN = 0.14
"""Most of SSDsim's errors are larger where half of the requests read."""


def values(findings: Findings) -> dict[str, Any]:
    """Return ``true.MICRO``, ``error.SOURCE.MICRO`` (shares, without sign), and how far simulators are off.

    The simulators are floatgate with SSDsim's deviations, together and each alone.
    """
    made: dict[str, Any] = {}
    for micro in micros():
        made |= _pins(findings, micro) | _simulated(findings, micro)
        # F_SIM_RB (Equation 14) from the worn drive, too.
        made[f"factor.worn.{micro}"] = ratio(made[f"off.worn.ssdsim.{micro}"], made.get(f"error.paper.{micro}"))
    return made | _over_all(made)


def _pins(findings: Findings, micro: str) -> dict[str, Any]:
    run = f"verify.{micro}.ssd-v"
    pages = findings.figure(f"{run}.waveform.flash.programs")
    host_bytes = findings.figure(f"{run}.host.write_bytes")
    if not pages or not host_bytes:
        return {}
    document = {reading: _pages(findings, run, reading) for reading in READINGS}
    made: dict[str, Any] = {f"true.{micro}": pages * 4096 / host_bytes}
    for reading, count in document.items():
        made[f"error.{reading}.{micro}"] = error(count, pages)
    # One pin against all, by the same interval: the remaining difference is that between dies.
    made[f"error.dies.{micro}"] = error(document["one"], document["all"])
    for reading, source in POLLING.items():
        made[f"error.{source}.{micro}"] = error(document[reading], document["all"])
    return made


def _simulated(findings: Findings, micro: str) -> dict[str, Any]:
    """Return the programs that a simulator counts beside those of SSD-v, from the same state, both without time."""
    made: dict[str, Any] = {}
    for state, batch in STATES.items():
        true = findings.figure(f"{batch}.{micro}.ssd-v.flash.programs.total")
        for name in SIMS:
            made[f"off.{state}.{name}.{micro}"] = error(
                findings.figure(f"{batch}.{micro}.{name}.flash.programs.total"), true
            )
    run = f"new.{micro}.ssd-v"
    pages = findings.figure(f"{run}.waveform.flash.programs")
    measured, sim = _pages(findings, run, "paper"), findings.figure(f"simulated.{micro}.ssdsim.flash.programs.total")
    made |= {f"error.new.{micro}": error(measured, pages), f"error.ssdsim.{micro}": error(sim, pages)}
    made[f"factor.new.{micro}"] = ratio(made[f"error.ssdsim.{micro}"], made[f"error.new.{micro}"])
    return made


def _over_all(made: dict[str, Any]) -> dict[str, Any]:
    """Return largest and median errors of each kind by write share, and in how many cases the simulator does worse."""
    over: dict[str, Any] = {}
    for writes in WRITES:
        cases = micros(writes=[writes])
        kinds = [
            f"error.{source}" for source in (*READINGS, "dies", "polling-1", "polling", "polling-100", "new", "ssdsim")
        ]
        kinds += [f"off.{state}.{sim}" for state in STATES for sim in SIMS]
        for kind in kinds:
            errors = [made[f"{kind}.{micro}"] for micro in cases if made.get(f"{kind}.{micro}") is not None]
            if len(errors) == len(cases):
                over[f"most.{kind}.{writes}"] = max(errors)
                over[f"median.{kind}.{writes}"] = statistics.median(errors)
    seen = [made.get(f"error.ssdsim.{micro}") for micro in micros(writes=["50w"])]
    over["share.ssdsim-50-over-14"] = None if None in seen else sum(one > SEEN for one in seen if one) / len(seen)
    pairs = [
        (made.get(f"{sim}.{micro}"), made.get(f"{pin}.{micro}"))
        for sim, pin in (("error.ssdsim", "error.new"), ("off.worn.ssdsim", "error.paper"))
        for micro in micros()
    ]
    known = [(sim, pin) for sim, pin in pairs if sim is not None and pin is not None]
    if len(known) == len(pairs):
        over["share.pin-better"] = sum(sim > pin for sim, pin in known) / len(pairs)
        over["share.pin-worse"] = sum(sim < pin for sim, pin in known) / len(pairs)
    return over


def _pages(findings: Findings, run: str, reading: str) -> float | None:
    """Return the pages that the whole drive programmed by one reading of the pins (Equation 11)."""
    per_die = findings.figure(f"{run}.captured.{reading}.n_p")
    return None if per_die is None else DIES * per_die


def error(measured: float | None, true: float | None) -> float | None:
    """Return the relative error, without sign (Equation 12); None where one is not known."""
    return None if measured is None or not true else abs(measured - true) / true
