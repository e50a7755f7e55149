"""The summary of a run: the answer first, then where it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from floatgate.base import units
from floatgate.base.errors import one_line
from floatgate.pages.causes import by_cause, by_reason, cause, reason
from floatgate.report import (
    amplification,
    dispatch,
    disturb,
    leveling,
    lifetime_headline,
    precondition_text,
    reduce,
    timestamp_warning,
    waveform,
)
from floatgate.results.result_view import look
from floatgate.results.run_view import RunView

Line = tuple[str, str]


def text(run: RunView) -> str:
    """The summary as lines of text."""
    return "\n".join(f"{name:<10} {one_line(value)}" for name, value in lines(run))


def lines(run: RunView) -> list[Line]:
    """Name and text of each line; a line that the result knows nothing for is left out."""
    result, experiment = run.result.to_dict(), run.experiment()
    made: list[tuple[str, str | None]] = [
        ("drive", drive(result)),
        ("state", precondition_text.line(result)),
        ("workload", workload(result, experiment)),
        ("life", lifetime_headline.line(result)),
        ("WAF", amplification.line(result)),
        ("", amplification.sources(result)),
        ("programs", programs(result)),
        ("reduce", reduce.line(result)),
        ("", reduce.manager(result)),
        ("wear", wear(result)),
        ("leveling", leveling.line(result)),
        ("dispatch", dispatch.line(result)),
        ("streams", streams(result)),
        ("reads", disturb.line(result)),
        ("buffer", buffer(result)),
        ("throttle", throttle(result)),
        ("latency", latency(result)),
        ("rate", rate(result)),
        ("waiting", before_flash(result)),
        *(("waiting", why) for why in waiting(result)),
        ("energy", energy(result)),
        ("waveform", waveform.line(result)),
        ("", waveform.command(result)),
        *(("note", remark) for remark in remarks(result)),
    ]
    return [(name, value) for name, value in made if value]


def drive(result: dict[str, Any]) -> str | None:
    """``mlc-20nm: 128 GiB flash, 119 GiB visible, 7.0 % spare (6.8 % effective)``."""
    facts = look(result, "drive")
    if not facts:
        return None
    parts = []
    if facts.get("physical_bytes") is not None:
        parts.append(f"{units.binary_bytes(facts['physical_bytes'])} flash")
    if facts.get("logical_bytes") is not None:
        parts.append(f"{units.binary_bytes(facts['logical_bytes'])} visible")
    if facts.get("spare_factor") is not None:
        effective = facts.get("effective_spare_factor")
        more = "" if effective is None else f" ({units.percent1(effective)} effective)"
        parts.append(f"{units.percent1(facts['spare_factor'])} spare{more}")
    name = facts.get("name")
    return f"{name}: {', '.join(parts)}" if name else ", ".join(parts)


def workload(result: dict[str, Any], experiment: dict[str, Any]) -> str | None:
    """``web.csv.zst (msr): 4.2 M requests, 87 % writes, 148 GB written in 7.0 days, 21 GiB footprint``."""
    facts, host = look(result, "workload") or {}, look(result, "host") or {}
    if not host:
        return None
    reads, writes, trims = (host.get(f"{kind}_requests") or 0 for kind in ("read", "write", "trim"))
    requests = reads + writes + trims
    parts = [f"{units.count(requests)} requests"]
    if requests:
        parts.append(f"{units.share(writes / requests)} writes")
    if trims:
        parts.append(f"{units.share(trims / requests)} trims")
    written = f"{units.decimal_bytes(host.get('write_bytes') or 0)} written"
    seconds = span_s(result)
    parts.append(f"{written} in {units.span(seconds)}" if seconds else written)
    footprint = facts.get("footprint_bytes")
    if footprint:
        parts.append(f"{units.binary_bytes(footprint)} footprint")
    return f"{workload_name(facts, experiment)}: {', '.join(parts)}"


def workload_name(facts: dict[str, Any], experiment: dict[str, Any]) -> str:
    """``web.csv.zst (msr)`` for a trace, the pattern for a synthetic workload."""
    file = look(experiment, "workload", "file")
    if file:
        form = facts.get("format") or look(experiment, "workload", "format")
        return f"{Path(file).name} ({form})" if form else Path(file).name
    return str(look(experiment, "workload", "pattern") or facts.get("kind") or "workload")


def span_s(result: dict[str, Any]) -> float | None:
    """The time that the counted workload took by its own clock, in seconds; None where it has none."""
    for place in (("workload", "span_s"), ("workload", "duration_s"), ("span_s",)):
        seconds = look(result, *place)
        if seconds:
            return float(seconds)
    return None


def programs(result: dict[str, Any]) -> str | None:
    """``52 % host, 47 % garbage collection, 1 % partial pages``: shares of what was programmed, padding apart."""
    counts = look(result, "flash", "pages_written") or look(result, "flash", "programs") or {}
    parts = by_cause(counts)
    total = counts.get("total") or sum(value for _, value in parts)
    return ", ".join(f"{units.share(value / total)} {cause(name).label}" for name, value in parts) if total else None


def wear(result: dict[str, Any]) -> str | None:
    """``412 erases per block (min 398, max 431, sd 6.1)``."""
    facts = look(result, "wear") or {}
    mean = facts.get("erases_mean")
    if mean is None:
        return None
    spread = [
        f"{name} {units.figure(facts[key], 2) if name == 'sd' else format(facts[key], 'g')}"
        for name, key in (("min", "erases_min"), ("max", "erases_max"), ("sd", "erases_std"))
        if facts.get(key) is not None
    ]
    return f"{units.figure(mean)} erases per block ({', '.join(spread)})"


def streams(result: dict[str, Any]) -> str | None:
    """``hash: 2 streams, 61 free pages in open blocks on average``; None where no separator looks at pages."""
    facts = look(result, "separate") or {}
    found = facts.get("streams")
    if found is None:
        return None
    parts = [f"{units.count(len(found))} stream{'' if len(found) == 1 else 's'}"]
    free = facts.get("open_free_pages_mean")
    if free is not None:
        parts.append(f"{units.figure(free)} free pages in open blocks on average")
    if facts.get("memory_bytes") is not None:
        parts.append(f"{units.binary_bytes(facts['memory_bytes'])} of tables")
    chooser = dispatch.policy(result) or look(result, "config", "ftl", "separate", "policy")
    return f"{chooser}: {', '.join(parts)}"


def buffer(result: dict[str, Any]) -> str | None:
    """``32 MiB: 61 % of page writes hit, 40 % of page reads hit, 5 % of page writes never reached flash``."""
    facts = look(result, "buffer")
    if not facts:
        return None
    written = (facts.get("write_hits") or 0) + (facts.get("write_misses") or 0)
    parts = []
    for kind in ("write", "read"):
        ratio = facts.get(f"{kind}_hit_ratio")
        if ratio is not None:
            parts.append(f"{units.share(ratio)} of page {kind}s hit")
    if written:
        spared = (facts.get("pages_merged") or 0) + (facts.get("pages_dropped") or 0)
        parts.append(f"{units.share(spared / written)} of page writes never reached flash")
    return f"{units.binary_bytes(facts['capacity_bytes'])}: {', '.join(parts) or 'nothing read or written'}"


def throttle(result: dict[str, Any]) -> str | None:
    """``static: 80 % of page writes delayed, mean delay 0.9 s over all``; None where there is no throttle."""
    facts = look(result, "throttle")
    if not facts:
        return None
    pages = look(result, "host", "page_writes")
    parts = [f"{units.share(facts.get('held_share') or 0.0)} of page writes delayed"]
    if pages and facts.get("held_back_s"):
        parts.append(f"mean delay {units.span(facts['held_back_s'] / pages)} over all")
    if facts.get("waits"):
        parts.append(f"{units.count(facts['waits'])} waited for capacity")
    if facts.get("epochs"):
        last = f", the last of {units.span(facts['epoch_s'])}" if facts.get("epoch_s") else ""
        parts.append(f"{units.count(facts['epochs'])} epochs{last}")
    return f"{facts['policy']}: {', '.join(parts)}"


def latency(result: dict[str, Any]) -> str | None:
    """``read p50 61 us, p99 1.9 ms, p99.9 3.6 ms; write ...``; None where the mode knows no latency."""
    named = (("p50", "p50"), ("p99", "p99"), ("p99.9", "p999"))
    parts = []
    for kind in ("read", "write"):
        facts = look(result, "latency_us", kind)
        if facts and facts.get("count"):
            parts.append(f"{kind} " + ", ".join(f"{name} {units.span(facts[key] * 1e-6)}" for name, key in named))
    return "; ".join(parts) or None


def rate(result: dict[str, Any]) -> str | None:
    """``12 300 requests/s; host 12 MB/s read, 48 MB/s written; flash 60 MB/s read, 96 MB/s programmed``."""
    facts = look(result, "throughput")
    if not facts:
        return None
    mb = {name: units.figure(value) for name, value in facts.items() if value is not None}
    return (
        f"{units.count(facts['iops'])} IOPS; host {mb['read_mb_per_s']} MB/s read, {mb['write_mb_per_s']} MB/s "
        f"written; flash {mb['flash_read_mb_per_s']} MB/s read, {mb['flash_program_mb_per_s']} MB/s programmed"
    )


def waiting(result: dict[str, Any]) -> list[str]:
    """``host reads of flash take 61 us: 82 % own work, waiting 18 % for the channel``; one text per class."""
    said = []
    for name, means in (look(result, "latency_us", "waiting") or {}).items():
        reasons = by_reason(means) if isinstance(means, dict) else []
        total = sum(value for _, value in reasons)
        if name == "background" or not total:
            continue
        why = [(units.share(value / total), reason(key).label) for key, value in reasons]
        work = [f"{share} {label}" for share, label in why if not label.startswith("waiting ")]
        waits = [f"{share} {label.removeprefix('waiting ')}" for share, label in why if label.startswith("waiting ")]
        text = ", ".join(work + ([f"waiting {', '.join(waits)}"] if waits else []))
        said.append(f"host {name}s of flash take {units.span(total * 1e-6)}: {text}")
    return said


def before_flash(result: dict[str, Any]) -> str | None:
    """``reads wait 1.2 ms in the host queue; writes wait ...``, means of requests; None where nothing holds any up."""
    said = []
    for kind, label in (("read", "reads"), ("write", "writes")):
        waits = (
            ("for the throttle", look(result, "latency_us", "throttle_wait", kind)),
            ("in the host queue", look(result, "latency_us", "queue_wait", kind)),
            ("for space in the buffer", look(result, "latency_us", "buffer_wait", kind, "place")),
            ("until data are on flash", look(result, "latency_us", "buffer_wait", kind, "flushed")),
        )
        parts = [f"{units.span(value * 1e-6)} {where}" for where, value in waits if value]
        if parts:
            said.append(f"{label} wait {', '.join(parts)}")
    return "; ".join(said) or None


def energy(result: dict[str, Any]) -> str | None:
    """``12.4 J (61 % host, 39 % garbage collection)``; None where the experiment gives no energies."""
    table = look(result, "energy") or {}
    total, parts = table.get("total_j"), by_cause(table.get("by_cause_j") or {})
    if total is None or engines_alone(table):
        return None
    said = [f"{units.share(value / total)} {cause(name).label}" for name, value in parts]
    if look(table, "by_operation_j", "program") is None and "hash" in (table.get("by_operation_j") or {}):
        said.append("programs not counted: the drive does not say what one takes")
    return f"{units.joules(total)} ({', '.join(said)})" if said else units.joules(total)


def engines_alone(table: dict[str, Any]) -> bool:
    """Whether energies are only known of hash and compressor, since the drive says none of its flash."""
    flash = ("read", "program", "erase", "transfer")
    known = table.get("by_operation_j") or {}
    return bool(known) and all(known.get(name) is None for name in flash)


def backlog(result: dict[str, Any]) -> str | None:
    """That a timed drive fell behind the stamps of its requests, where it did."""
    arrived, served = look(result, "latency_us", "arrivals_s"), look(result, "span_s")
    if not arrived or not served or look(result, "config", "workload", "arrival") != "open":
        return None
    # The last requests may well take a moment; what lags by a tenth has a queue that grows.
    if served < 1.1 * arrived:
        return None
    return (
        f"the drive could not keep up: requests that arrived within {units.span(arrived)} took {units.span(served)}; "
        "latencies include the growing queue, and life counts the longer time (use more channels or dies, or "
        'workload.arrival = "closed")'
    )


def remarks(result: dict[str, Any]) -> list[str]:
    """What a reader of the figures must know: lines skipped, requests moved, stamps that ran back, an empty drive."""
    facts = look(result, "workload") or {}
    said = []
    if (look(result, "drive") or {}).get("effective_spare_factor", 0) is None:
        said.append("the drive was not full: garbage collection had more free space than on a used drive")
    makers = (lifetime_headline.warning, amplification.explanation, disturb.remark, reduce.remark, backlog)
    said += [text for text in (make(result) for make in makers) if text]
    skipped = facts.get("bad_lines_skipped")
    if skipped:
        first = facts.get("first_bad_line")
        lines = "bad line" if skipped == 1 else "bad lines"
        said.append(f"{skipped} {lines} skipped" + (f" (the first bad line: {first})" if first else ""))
    moved = look(facts, "beyond", "requests_moved")
    if moved:
        said.append(
            f"{units.count(moved)} requests beyond the end of the drive moved ({look(facts, 'beyond', 'policy')})"
        )
    ran_backwards = timestamp_warning.remark(facts)
    if ran_backwards:
        said.append(ran_backwards)
    separator, streams = look(result, "config", "ftl", "separate", "policy"), look(result, "separate", "streams")
    if separator in ("pds", "ids") and streams and len(streams) == 1:
        said.append(f"{separator} found nothing to separate: no context's data is overwritten often enough")
    beyond = look(result, "separate", "found", "pages_of_contexts_beyond")
    if beyond:
        said.append(
            f"{units.count(int(beyond))} pages written from contexts beyond the limit of {separator} "
            "(ftl.separate.contexts), counted as unknown"
        )
    said += dispatch.remarks(result)
    said += look(facts, "suspicions") or []
    said += look(facts, "assumed") or []
    unmapped = look(result, "flash", "unmapped_reads")
    if unmapped:
        said.append(f"{units.count(unmapped)} pages read that were never written (they cost no flash read)")
    return said
