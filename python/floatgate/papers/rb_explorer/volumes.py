"""Write amplification by volume written: partitions of SSD-I, and two traces (sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, ratio

SUBTESTS = 15
OPS = ("op-7", "op-8", "op-10", "op-12", "op-15")
TRACES = ("f1", "f2")
STATES = ("initial", "steady")
REACHED = 8
"""The sub-test by which write amplification is stable ("after the sixth to eighth")."""


def values(findings: Findings) -> dict[str, Any]:
    """Return ``walvd.OP.K`` and ``oltp.STATE.TRACE.K`` with their summaries."""
    return _partitions(findings) | _traces(findings)


def _partitions(findings: Findings) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for op in OPS:
        figures = [findings.figure(f"walvd-{k}.random.{op}.captured.paper.wa") for k in range(1, SUBTESTS + 1)]
        # The data that fill the partition are programmed, but not counted as host writes (section 5.2).
        programmed = findings.figure(f"partitioned.initial-data.{op}.captured.paper.p_volume_bytes")
        written = findings.figure(f"walvd-1.random.{op}.host.write_bytes")
        initial = ratio(programmed, written)
        made[f"initial.{op}"] = initial
        if figures[0] is not None and initial is not None:
            figures[0] += initial
        known = [one for one in figures if one is not None]
        if len(known) != SUBTESTS or initial is None:
            continue
        made |= {f"walvd.{op}.{k}": wa for k, wa in enumerate(known, start=1)}
        made |= {
            f"first.{op}": known[0],
            f"lowest.{op}": min(known),
            f"stable.{op}": mean(known[REACHED - 1 :]),
            f"first_over_rest.{op}": known[0] / max(known[1:]),
            f"settled.{op}": max(known[REACHED - 1 :]) / min(known[REACHED - 1 :]) - 1,
        }
    return made


def _traces(findings: Findings) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for trace in TRACES:
        for state in STATES:
            place = f"{state}.{trace}"
            runs = [f"oltp-{state}-{k}.{trace}.ssd-i" for k in range(1, SUBTESTS + 1)]
            wa = [findings.figure(f"{run}.captured.paper.wa") for run in runs]
            rate = [findings.figure(f"{run}.throughput.write_mb_per_s") for run in runs]
            known = [(one, fast) for one, fast in zip(wa, rate, strict=True) if one is not None and fast is not None]
            if len(known) != SUBTESTS:
                continue
            was, rates = [one for one, _ in known], [fast for _, fast in known]
            for k in range(SUBTESTS):
                made |= {f"oltp.{place}.{k + 1}": was[k], f"rate.{place}.{k + 1}": rates[k]}
            made |= {
                f"oltp.{place}.least": min(was),
                f"oltp.{place}.most": max(was),
                f"rate.{place}.least": min(rates),
                f"rate.{place}.most": max(rates),
                f"oltp.{place}.last": mean(was[12:]),
                f"rate.{place}.last": mean(rates[12:]),
                f"rate.{place}.mean": mean(rates),
                f"together.{place}": correlation(was, rates),
            }
        new, worn = (made.get(f"oltp.{state}.{trace}.last") for state in STATES)
        made[f"last_steady_over_initial.{trace}"] = ratio(worn, new)
    for key in ("write_requests", "read_requests", "write_bytes", "read_bytes"):
        for trace in TRACES:
            made[f"{key}.{trace}"] = findings.figure(f"oltp-initial-1.{trace}.ssd-i.host.{key}")
    return made | _of_table_3(made)


def _of_table_3(made: dict[str, Any]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for trace in TRACES:
        writes, reads = made[f"write_requests.{trace}"], made[f"read_requests.{trace}"]
        if writes is None or reads is None:
            continue
        table[f"write_kib.{trace}"] = ratio(made[f"write_bytes.{trace}"], writes * 1024)
        table[f"read_kib.{trace}"] = ratio(made[f"read_bytes.{trace}"], reads * 1024)
        table[f"write_share.{trace}"] = ratio(writes, writes + reads)
    return table


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Compute Pearson's coefficient; None if one of them does not vary."""
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    both = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    spread = sum((x - x_mean) ** 2 for x in xs) * sum((y - y_mean) ** 2 for y in ys)
    return both / spread**0.5 if spread > 0 else None
