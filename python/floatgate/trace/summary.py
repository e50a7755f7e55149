"""The text summary of a trace: the most telling figures of its JSON, one line per subject."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.base.text_table import named, table
from floatgate.report import timestamp_warning, trace_format
from floatgate.report.sections.forecast.lines import too_short
from floatgate.results.result_view import look

Facts = dict[str, Any]

# Remarks on a trace, for those that apply.
NOTED = (
    ("bad_lines_skipped", "bad lines skipped"),
    ("first_bad_line", "first bad line"),
)
CACHES = (16 << 20, 256 << 20, 4 << 30)
"""Sizes of LRU caches whose hit ratio the summary shows."""
WINDOWS_MIN = 4
"""Windows from which on the busiest one describes bursts."""
CONTEXTS = 5
"""Contexts that the summary shows."""
_WEEK_S, _ALMOST = 7 * 86_400.0, 0.99
"""A trace of a week may lack a hundredth: requests do not come at its very ends."""


def screen(path: str, facts: Facts) -> str:
    """Return the text for a terminal.

    Args:
        path: the trace as the user called it.
        facts: the JSON of ``floatgate trace info``.
    """
    text = named(lines(path, facts))
    parts = [text, _contexts_table(facts), _devices_table(facts)]
    return "\n\n".join(part for part in parts if part)


def lines(path: str, facts: Facts) -> list[tuple[str, str]]:
    """Return subject and text of each line; subjects without data in the trace are left out."""
    made = [("trace", f"{path} ({trace_format.named(facts['format'], facts)})"), *_counts(facts)]
    for name, tell in (
        ("sizes", _sizes),
        ("aligned", _aligned),
        ("updates", _updates),
        ("reuse", _reuse),
        ("skew", _skew),
        ("sequential", _sequential),
        ("demand", _demand),
        ("length", _length),
        ("content", _content),
        ("streams", _streams),
        ("contexts", _contexts),
        ("note", _notes),
    ):
        text = tell(facts)
        if text:
            made.append((name, text))
    return made


def _counts(facts: Facts) -> list[tuple[str, str]]:
    trims = f", {facts['trims']} trims ({units.decimal_bytes(facts['trim_bytes'])})" if facts["trims"] else ""
    duration = facts.get("duration_s")
    rewritten = facts.get("rewrite_share")
    return [
        ("requests", f"{facts['requests']}" + ("" if duration is None else f" in {units.span(duration)}")),
        *_per_day(facts),
        ("reads", f"{facts['reads']} ({units.decimal_bytes(facts['read_bytes'])})"),
        ("writes", f"{facts['writes']} ({units.decimal_bytes(facts['write_bytes'])}){trims}"),
        (
            "footprint",
            f"{units.binary_bytes(facts['footprint_bytes'])}{_addressed(facts)}: "
            f"{facts['pages_written_distinct']} pages of 4 KiB "
            f"written, {facts['pages_read_distinct']} read"
            + ("" if rewritten is None else f"; {units.share(rewritten)} of page writes rewrite"),
        ),
    ]


def _addressed(facts: Facts) -> str:
    """Format as `` of the 20.5 GiB addressed``: the range up to the last byte, of all devices together."""
    end = sum(device.get("end_bytes") or 0 for device in facts.get("devices") or [])
    return f" of the {units.binary_bytes(end)} addressed" if end else ""


def _length(facts: Facts) -> str:
    """Say whether the trace is long enough for a forecast of years, or what it lacks."""
    span = facts.get("duration_s")
    if not span:
        return ""
    if span >= _WEEK_S * _ALMOST:
        return f"{units.span(span)} of trace are long enough for a forecast of years: nights and a weekend are in them"
    lacks = too_short(span) or ": not all weekdays are in them; record a week"
    return f"{units.span(span)} of trace stand for years in a forecast{lacks}"


def _per_day(facts: Facts) -> list[tuple[str, str]]:
    written, read = facts.get("write_bytes_per_day"), facts.get("read_bytes_per_day")
    if written is None or read is None:
        return []
    return [("per day", f"{units.decimal_bytes(written)} written, {units.decimal_bytes(read)} read, at the mean rate")]


def _by_op(facts: Facts, section: str, tell: Any) -> str:
    """Apply ``tell`` to reads and to writes, if there are any."""
    rows = [(name, look(facts, section, key)) for key, name in (("read", "reads"), ("write", "writes"))]
    return "; ".join(f"{name} {tell(values)}" for name, values in rows if values)


def _sizes(facts: Facts) -> str:
    def tell(sizes: Facts) -> str:
        low, middle, high = (units.binary_bytes(sizes[key]) for key in ("p10", "p50", "p90"))
        return middle if low == middle == high else f"{middle} (p10-p90: {low}-{high})"

    return _by_op(facts, "sizes", tell)


def _aligned(facts: Facts) -> str:
    alignment = facts.get("alignment")
    if not alignment:
        return ""
    at = dict(
        zip(
            alignment["offset_multiple_of"],
            map(sum, zip(*(alignment[op] for op in ("reads", "writes", "trims")), strict=True)),
            strict=True,
        )
    )
    begin = sum(count for multiple, count in at.items() if multiple >= 4096) / facts["requests"]
    return f"{units.share(begin)} begin at a multiple of 4 KiB, {units.share(facts['aligned_share'])} also end at one"


def _updates(facts: Facts) -> str:
    update = facts.get("update_interval") or {}
    if not update.get("updates"):
        return ""
    text = f"after {_spread(update['bytes'], units.decimal_bytes)} of page writes"
    times = update.get("time_s")
    return text + (f", {_spread(times, units.span)}" if times else "") + _estimated(update)


def _spread(distribution: Facts, unit: Any) -> str:
    low, middle, high = (unit(distribution[key]) for key in ("p10", "p50", "p90"))
    return f"{middle} (p10-p90: {low} - {high})"


def _estimated(section: Facts) -> str:
    share = section.get("sampled_share", 1.0)
    return "" if share == 1.0 else f" (estimated from 1 page in {round(1 / share)})"


def _reuse(facts: Facts) -> str:
    curve = look(facts, "reuse_distance", "lru")
    if not curve:
        return ""
    footprint = facts["footprint_bytes"]
    hits = dict(zip(curve["cache_bytes"], curve["hit_ratio"], strict=True))
    wanted = [size for size in CACHES if size in hits and size < footprint]
    phrases = [
        f"{units.share(hits[size])} with {units.binary_bytes(size)}" for size in wanted if hits[size] is not None
    ]
    largest = curve["hit_ratio"][-1]
    if largest is not None:
        phrases.append(f"{units.share(largest)} if everything fits")
    return f"an LRU cache hits {', '.join(phrases)}" if phrases else ""


def _skew(facts: Facts) -> str:
    def tell(frequency: Facts) -> str:
        busiest = dict(zip(frequency["busiest"]["page_share"], frequency["busiest"]["access_share"], strict=True))
        return f"{units.share(busiest[0.01])} to the busiest 1 %, {units.share(busiest[0.2])} to 20 %"

    rows = [(name, look(facts, "frequency", key)) for key, name in (("read", "page reads"), ("written", "page writes"))]
    return "; ".join(f"{name} {tell(values)}" for name, values in rows if values)


def _sequential(facts: Facts) -> str:
    def tell(of: Facts) -> str:
        strict, near = units.share(of["sequential_share"]), units.share(of["near_sequential_share"])
        return f"{strict} (among 32 streams {near}), runs of {units.binary_bytes(of['run_mean_bytes'])}"

    return _by_op(facts, "sequentiality", tell)


def _demand(facts: Facts) -> str:
    demand = facts.get("demand")
    if not demand:
        return ""
    phrases = []
    for key, name in (("read", "reads"), ("write", "writes")):
        peaks = [_peak(windows, f"{key}_bytes", facts["duration_s"]) for windows in _windows(demand)]
        known = [text for text in peaks if text]
        phrases += [f"{name} at most {', '.join(known)}"] if known else []
    if demand["interarrival_cv"] is not None:
        mean = units.span(demand["interarrival_mean_s"])
        phrases.append(f"a request every {mean} (CV {units.figure(demand['interarrival_cv'], 2)})")
    return "; ".join(phrases)


def _windows(demand: Facts) -> list[Facts]:
    """Return the demand by windows of several widths, the shortest first; those that a trace fills some times."""
    widths = [one for one in (demand.get("course"), demand) if one and len(one["requests"]) > 1]
    telling = [one for one in widths if len(one["requests"]) >= WINDOWS_MIN] or widths[:1]
    by_width = {one["window_s"]: one for one in telling}
    return [by_width[width] for width in sorted(by_width)]


def _peak(windows: Facts, key: str, duration_s: float) -> str:
    """Format as ``51.9 kB/s over 10 min (1.0 times the mean)``: the busiest window; empty without such requests."""
    most, mean = max(windows[key]) / windows["window_s"], sum(windows[key]) / duration_s
    if not most:
        return ""
    times = units.figure(most / mean, 2)
    return f"{units.decimal_bytes(most)}/s over {units.span(windows['window_s'])} ({times} times the mean)"


def _content(facts: Facts) -> str:
    content = facts.get("content") or {}
    phrases = []
    if content.get("duplicate_share") is not None:
        known = units.count(content["known_page_writes"])
        phrases.append(f"{units.share(content['duplicate_share'])} of {known} known page writes are duplicates")
    if content.get("compressed_share") is not None:
        phrases.append(f"compresses to {units.share(content['compressed_share'])}")
    return ", ".join(phrases) + (_estimated(content) if phrases else "")


def _streams(facts: Facts) -> str:
    streams = facts.get("streams")
    if not streams or not streams["list"]:
        return ""
    count = "more than 65536" if streams["count"] is None else str(streams["count"])
    first = streams["list"][0]
    return f"{count}; stream {first['stream']} has {units.share(first['page_write_share'])} of the page writes"


def _contexts(facts: Facts) -> str:
    contexts = facts.get("contexts")
    if not contexts:
        return ""
    top = contexts["top5_update_share"]
    return str(contexts["count"]) + (
        "" if top is None else f"; the five busiest wrote {units.share(top)} of the overwritten data"
    )


def _notes(facts: Facts) -> str:
    notes = [*(facts.get("assumed") or []), *(facts.get("suspicions") or [])]
    ran_backwards = timestamp_warning.remark(facts)
    if ran_backwards:
        notes.append(ran_backwards)
    notes += [f"{what}: {facts[key]}" for key, what in NOTED if facts.get(key)]
    return "; ".join(notes)


def _contexts_table(facts: Facts) -> str:
    contexts = facts.get("contexts")
    if not contexts or not contexts["list"]:
        return ""
    total = contexts["updates"]
    rows = [
        [
            units.share(entry["page_write_share"]),
            units.share(entry["updates"] / total) if total else "-",
            _bytes(entry["update_interval_median_bytes"]),
            context_name(entry),
        ]
        for entry in contexts["list"][:CONTEXTS]
    ]
    return table(["page writes", "updates", "median interval", "context"], rows, right=frozenset(range(3)))


def context_name(entry: Facts) -> str:
    """Return the functions on the path, or the number where they are not known."""
    return entry["name"] or f"context {int(entry['id']):016x}"


def _bytes(value: float | None) -> str:
    return "-" if value is None else units.decimal_bytes(value)


def _devices_table(facts: Facts) -> str:
    devices = facts.get("devices") or []
    if len(devices) < 2:
        return ""
    keys = ("reads", "writes", "trims")
    rows = [
        [
            str(device.get("name", "-")),
            *(str(device.get(key, "-")) for key in keys),
            *(units.decimal_bytes(device.get(key) or 0) for key in ("read_bytes", "write_bytes")),
            str(device.get("pages_written_distinct", "-")),
        ]
        for device in devices
    ]
    header = ["device", *keys, "read", "written", "pages written"]
    return table(header, rows, right=frozenset(range(1, len(header))))
