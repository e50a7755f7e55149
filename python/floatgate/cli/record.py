"""``floatgate trace record``: run a program and keep what it writes."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate.base import units
from floatgate.base.errors import PATH_MAX, RunError, input_error, meant, quote
from floatgate.base.text_table import named, table
from floatgate.base.units import counted
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results.folder import must_be_new_file

if TYPE_CHECKING:
    from floatgate.trace.recorder.page_cache import CacheModel

_STACK_LIMIT = 65528

Writeback = Annotated[
    str,
    typer.Option(
        metavar="linux|lru",
        help="When dirty pages leave the cache. linux: when old, evicted or synced, or when too many are dirty. "
        "lru: when evicted as the least recently used, nothing else; fsync is ignored.",
    ),
]
DirtyRatio = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Share of the cache that may be dirty before write-back starts. Default: 0.2."),
]
FlushIntervalS = Annotated[
    float | None, typer.Option(metavar="S", help="Age at which a dirty page is written back. Default: 30.")
]


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command("record")(record)


def record(
    command: Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The program to run.")] = None,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The Parquet file to write.")
    ] = "recorded.parquet",
    backend: Annotated[
        str | None,
        typer.Option(metavar="perf|strace", help="What traces the program. Default: perf if permitted, else strace."),
    ] = None,
    cache_mb: Annotated[float, typer.Option(metavar="MIB", help="Size of the modelled page cache.")] = 1024.0,
    writeback: Writeback = "linux",
    dirty_ratio: DirtyRatio = None,
    flush_interval_s: FlushIntervalS = None,
    reads: Annotated[bool, typer.Option("--reads", help="Also record reads that miss the page cache.")] = False,
    content: Annotated[
        bool,
        typer.Option(
            "--content",
            help="Add a fingerprint and the compressed size of each page: for every write with strace, for the last "
            "write of a page with perf.",
        ),
    ] = False,
    stack_bytes: Annotated[
        int, typer.Option(metavar="N", help="Bytes of the stack that perf copies at each write.")
    ] = 8192,
    measure_overhead: Annotated[
        bool, typer.Option("--measure-overhead", help="Run the program again without the recorder and compare.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Run a program and record the pages it writes, with the program context of each write."""
    from floatgate.trace.recorder import Options, backends
    from floatgate.trace.recorder import record as run

    output = Output(json, quiet=quiet, force=force)
    if backend is not None and backend not in backends.BACKENDS:
        raise input_error(f"--backend: {quote(backend)} is unknown; {meant(backend, backends.BACKENDS)}")
    model = _model(cache_mb, writeback, dirty_ratio, flush_interval_s)
    if not 512 <= stack_bytes <= _STACK_LIMIT or stack_bytes % 8:
        raise input_error(f"--stack-bytes: {stack_bytes}; expected a multiple of 8 from 512 to {_STACK_LIMIT}")
    _make_place(out, force=force)
    sys.stdout.flush()
    done = run(
        command or [],
        Path(out),
        Options(
            backend=backend,
            model=model,
            reads=reads,
            content=content,
            stack_bytes=stack_bytes,
            measure_overhead=measure_overhead,
            stdout=sys.stderr.fileno() if output.prints_json else None,
        ),
    )
    output.give(done.facts)
    output.say(_text(done.facts))
    name = quote((command or [""])[0], PATH_MAX)
    if done.status:
        raise RunError(f"{name} ended with status {done.status}; its trace is kept in {out}")
    if done.facts["exit_status_without"]:
        raise RunError(
            f"--measure-overhead: the second run of {name}, without the recorder, ended with status "
            f"{done.facts['exit_status_without']}; expected a program that can run twice in a row "
            f"(the trace of the first run is kept in {out})"
        )


def _model(cache_mb: float, writeback: str, dirty_ratio: float | None, flush_interval_s: float | None) -> CacheModel:
    """Build the requested model of the page cache.

    Raises:
        InputError: a value is out of range, or is given where it has no effect.
    """
    from floatgate.trace.recorder.page_cache import LRU, WRITEBACKS, CacheModel

    if writeback not in WRITEBACKS:
        raise input_error(f"--writeback: {quote(writeback)} is unknown; {meant(writeback, WRITEBACKS)}")
    _must_be(cache_mb, "--cache-mb", low=0.0, high=math.inf, expected="a number above 0")
    for value, name in ((dirty_ratio, "--dirty-ratio"), (flush_interval_s, "--flush-interval-s")):
        if value is not None and writeback == LRU:
            raise input_error(f"{name}: has no effect under --writeback lru; expected --writeback linux")
    default = CacheModel()
    model = CacheModel(
        cache_mb,
        default.dirty_ratio if dirty_ratio is None else dirty_ratio,
        default.flush_interval_s if flush_interval_s is None else flush_interval_s,
        writeback=writeback,
    )
    _must_be(model.dirty_ratio, "--dirty-ratio", low=0.0, high=1.0, expected="a share above 0, at most 1")
    _must_be(model.flush_interval_s, "--flush-interval-s", low=0.0, high=1e9, expected="seconds above 0")
    return model


def _make_place(out: str, *, force: bool) -> None:
    """Make the folder of a new file.

    Raises:
        InputError: no file can be written there, or one exists that must not be overwritten.
    """
    must_be_new_file(out, "a file to write the trace to", force=force)
    try:
        Path(out).absolute().parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise input_error(f"{out}: {error.strerror}; expected a file that can be written") from None


def _must_be(value: float, name: str, *, low: float, high: float, expected: str) -> None:
    if not math.isfinite(value) or not low < value <= high:
        raise input_error(f"{name}: {value:g}; expected {expected}")


def _text(facts: dict[str, Any]) -> str:
    kinds = ", ".join(counted(facts[f"{kind}s"], kind) for kind in ("read", "write", "trim") if facts[f"{kind}s"])
    overwrite = "overwrites" if facts["updates"] == 1 else "overwrite"
    lines = [
        ("trace", f"{facts['out']} (recorded by {facts['backend']}: {facts['backend_reason']})"),
        ("requests", f"{facts['requests']}: {kinds}"),
        ("pages", f"{facts['pages_written']} of 4 KiB written, {facts['updates']} of them {overwrite} data"),
        ("drive", f"{counted(facts['files'], 'file')} on {units.binary_bytes(facts['drive_bytes'])}"),
        ("contexts", f"{facts['contexts']}"),
        *_incomplete(facts),
        ("time", _time(facts)),
    ]
    if facts["cache"]["writeback"] == "lru":
        cache = (
            f"{facts['cache']['cache_mb']:g} MiB, evictions alone; {counted(facts['dirty_at_end'], 'page')} dirty in it"
        )
        lines.insert(5, ("cache", f"{cache} at the end"))
    if facts["content"] is not None:
        lines.insert(-1 - len(_incomplete(facts)), ("content", _content(facts["content"], facts["backend"])))
    rows = [
        [
            units.share(row["pages_share"]),
            "-" if row["updates_share"] is None else units.share(row["updates_share"]),
            row["name"],
        ]
        for row in facts["top_contexts"]
    ]
    top = table(["pages", "updates", "context"], rows, right=frozenset({0, 1}))
    return f"{named(lines)}\n\n{top}"


def _content(content: dict[str, Any], backend: str) -> str:
    known, unknown = content["pages_known"], content["pages_unknown"]
    share = units.share(known / (known + unknown)) if known + unknown else "-"
    text = f"{share} of page writes known ({known} of {known + unknown})"
    if content.get("bytes_cut_off"):
        text += f", {counted(content['bytes_cut_off'], 'byte')} cut off by strace"
    if backend == "perf" and unknown:
        text += ": the last write of each page; --backend strace sees the data of all"
    return text


def _incomplete(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """List what the trace lacks. That nothing was lost is only stated if everything was seen."""
    from floatgate.trace.recorder.session import not_seen

    unseen, lost = not_seen(facts["not_seen"]), _lost(facts)
    if not unseen:
        return [("lost", lost or "0 events")]
    return [("not seen", unseen), *([("lost", lost)] if lost else [])]


def _lost(facts: dict[str, Any]) -> str:
    keys = ("lost_events", "malformed_lines", "unpaired_calls", "broken_stacks")
    nouns = {key: key.removeprefix("lost_").removesuffix("s").replace("_", " ") for key in keys}
    parts = [counted(facts[key], noun) for key, noun in nouns.items() if facts[key]]
    if facts["first_malformed_line"]:
        parts.append(f"the first: {facts['first_malformed_line']}")
    return ", ".join(parts)


def _time(facts: dict[str, Any]) -> str:
    text = f"{units.span(facts['program_s'])} recorded ({units.span(facts['wall_s'])} with the recorder's start)"
    if facts["slowdown"] is None:
        return text
    return f"{text}, {units.span(facts['program_without_s'])} without: {units.figure(facts['slowdown'])} times as long"
