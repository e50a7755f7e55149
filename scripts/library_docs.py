"""Write docs/library.md with its figures and the tables of traces/README.md from the recorded traces; --check compares.

Every number in them is counted in the Parquet files. Words about single traces stand in the pages' own text.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from floatgate.trace import context_updates, library
from floatgate.trace.context_updates import ContextUpdates
from validation import mixed_runs, read_counts
from validation.mixed_runs import MixedRuns
from validation.read_counts import ReadCounts

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- counted by scripts/library_docs.py -->", "<!-- end of what is counted -->"
ORDER = (
    *("gcc-build", "cscope", "rendering", "two-at-once", "three-at-once"),
    *("sqlite-updates", "sqlite-content", "postgres-updates", "decision-support"),
    *("build-content", "media-content"),
)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, all columns but the first to the right."""
    marks = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, marks, *rows)) + "\n"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}".replace("%", " %")


def shares(traces: dict[str, ContextUpdates]) -> str:
    """Return the numbers of figure 27, beside the dissertation's."""
    header = (
        *("trace", "page writes", "updates", "of page writes", "updating contexts", "top five"),
        *("live updates", "updating contexts", "top five"),
    )
    rows = [
        (
            *(name, f"{f.pages:,}", f"{f.updates:,}", percent(f.updates / f.pages)),
            *(str(len(f.by_context)), percent(f.top_share())),
            *(f"{f.live_updates:,}", str(len(f.live_by_context)), percent(f.top_share(live=True))),
        )
        for name, f in traces.items()
    ]
    rows.append(("dissertation", "7,003-35,719", "119-20,910", "1.7-88.9 %", "48-89", "76 %", "-", "-", "-"))
    return table(header, rows)


def recorded(traces: dict[str, ContextUpdates]) -> str:
    """Return the content of each file and how it was recorded."""
    header = (
        *("trace", "bytes", "requests", "trims", "pages written", "distinct pages", "contexts", "updates"),
        *("live updates", "top five", "lost events", "broken stacks"),
    )
    rows = []
    for name, f in traces.items():
        recorder = f.metadata["recorder"]
        rows.append(
            (
                *(f"`{name}`", f"{(ROOT / 'traces' / f'{name}.parquet').stat().st_size:,}", f"{f.requests:,}"),
                *(f"{f.trims:,}", f"{f.pages:,}", f"{f.distinct_pages:,}", str(f.writing)),
                *(percent(f.updates / f.pages), percent(f.live_updates / f.pages), percent(f.top_share())),
                *(str(recorder["lost_events"]), str(recorder["broken_stacks"])),
            )
        )
    settings = []
    for name, f in traces.items():
        recorder = f.metadata["recorder"]
        cache, content = recorder["cache"], recorder["content"]
        known = content["pages_known"] / (content["pages_known"] + content["pages_unknown"])
        stack = f"{recorder['stack_bytes']:,}" if "stack_bytes" in recorder else "all"
        settings.append(
            (
                *(f"`{name}`", recorder["backend"], stack, f"{cache['cache_mb']:g} MiB"),
                *(percent(cache["dirty_ratio"]), f"{cache['flush_interval_s']:g} s", percent(known)),
            )
        )
    header_two = ("trace", "back end", "stack bytes", "page cache", "dirty at most", "flushed after", "content known")
    return f"{table(header, rows)}\n{table(header_two, settings)}"


def small_caches(traces: dict[str, ContextUpdates]) -> str:
    """Return the content of the files that were recorded through small caches, and the caches."""
    header = (
        *("trace", "bytes", "requests", "trims", "contexts", "processes", "updates", "live updates", "top five"),
        *("write-back", "page cache", "dirty at the end", "lost events", "broken stacks"),
    )
    rows = []
    for name, f in traces.items():
        recorder = f.metadata["recorder"]
        cache = recorder["cache"]
        rows.append(
            (
                *(f"`{name}`", f"{(ROOT / 'traces' / f'{name}.parquet').stat().st_size:,}", f"{f.requests:,}"),
                *(f"{f.trims:,}", str(f.writing), str(len(f.metadata["processes"])), percent(f.updates / f.pages)),
                *(percent(f.live_updates / f.pages), percent(f.top_share()), cache["writeback"]),
                *(f"{cache['cache_mb']:g} MiB", str(recorder["dirty_at_end"])),
                *(str(recorder["lost_events"]), str(recorder["broken_stacks"])),
            )
        )
    return table(header, rows)


def to_separate(runs: dict[str, MixedRuns]) -> str:
    """Return how mixed the runs of each trace are, and the contexts that write most."""
    header = ("trace", "page writes", "distinct pages", "writes per page", "mixed runs", "top contexts (page writes)")
    rows = [
        (
            *(f"`{name}`", f"{f.pages:,}", f"{f.distinct_pages:,}", f"{f.writes_per_page or 0:.1f}"),
            *(
                percent(f.mixed_share),
                "; ".join(
                    f"{count / f.pages:.0%} `{label}`".replace("%", " %", 1)
                    for label, count in f.contexts[: mixed_runs.TOP]
                ),
            ),
        )
        for name, f in runs.items()
    ]
    return table(header, rows)


def read_mostly(counts: dict[str, ReadCounts]) -> str:
    """Return the content of the read-mostly files, and how they were recorded."""
    header = (
        *("trace", "bytes", "requests", "reads", "pages read", "distinct pages", "busiest tenth"),
        *("back end", "page cache", "lost events"),
    )
    rows = []
    for name, f in counts.items():
        recorder = f.metadata["recorder"]
        rows.append(
            (
                *(f"`{name}`", f"{(ROOT / 'traces' / f'{name}.parquet').stat().st_size:,}", f"{f.requests:,}"),
                *(percent(f.reads / f.requests), f"{f.pages:,}", f"{f.distinct_pages:,}", percent(f.busiest_tenth)),
                *(recorder["backend"], f"{recorder['cache']['cache_mb']:g} MiB", str(recorder["lost_events"])),
            )
        )
    return table(header, rows)


def top(traces: dict[str, ContextUpdates]) -> str:
    """Return the five commonest contexts by name."""
    parts = []
    for name, f in traces.items():
        shares = [
            f"{percent(count / f.updates)} `{f.name(context)}`"
            for context, count in f.by_context.most_common(context_updates.TOP)
        ]
        picture = f"![Contexts over the updates of {name}](img/contexts-{name}.svg)"
        parts.append("\n".join([f"### {name}", picture, "", "; ".join(shares), ""]))
    return "\n".join(parts)


def svg(name: str, trace: ContextUpdates) -> str:
    """Return the figure, with as many digits as can be seen."""
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(context_updates.figure(trace, name).to_dict())
    text = re.sub(r"\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), text)
    return text.replace("<svg ", f'<svg role="img" aria-label="Contexts over the updates of {name}" ', 1) + "\n"


def filled(page: Path, parts: Sequence[str]) -> str:
    """Return the page with its counted parts renewed."""
    text = page.read_text(encoding="utf-8")
    pieces = text.split(BEGIN)
    if len(pieces) != len(parts) + 1:
        raise SystemExit(f"error: {page}: {len(pieces) - 1} lines '{BEGIN}'; expected {len(parts)}")
    out = [pieces[0]]
    for piece, part in zip(pieces[1:], parts, strict=True):
        out.append(f"{BEGIN}\n{part.rstrip()}\n{END}{piece.partition(END)[2]}")
    return "".join(out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")
    check = parser.parse_args().check
    names = [name for name in ORDER if (ROOT / "traces" / f"{name}.parquet").exists()]
    traces = {name: context_updates.read(ROOT / "traces" / f"{name}.parquet") for name in names}
    reads = {name: read_counts.read(library.path(name)) for name in library.READS}
    small = {name: context_updates.read(library.path(name)) for name in library.SMALL_CACHES}
    runs = {name: mixed_runs.read(library.path(name)) for name in (*names, *library.SMALL_CACHES)}
    readme, updates = ROOT / "traces" / "README.md", ROOT / "docs" / "library.md"
    pages = {
        readme: filled(readme, [recorded(traces), read_mostly(reads), small_caches(small), to_separate(runs)]),
        updates: filled(updates, [shares(traces), shares(small), top(traces)]),
    }
    if check:
        stale = [page for page, text in pages.items() if page.read_text(encoding="utf-8") != text]
        for page in stale:
            print(f"error: {page.relative_to(ROOT)} is not current; expected make docs", file=sys.stderr)
        return int(bool(stale))
    # Text of the figures depends on the renderer's version, so --check leaves them alone.
    pages |= {ROOT / "docs" / "img" / f"contexts-{name}.svg": svg(name, f) for name, f in traces.items()}
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
        print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
