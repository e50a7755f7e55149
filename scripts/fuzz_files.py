"""Damaged files: traces that Python reads, the text of perf in a recording, journals and proposals of sweeps."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import floatgate
from floatgate import _core
from floatgate.study.runs.journal import Journal
from floatgate.study.runs.points import parse_axis
from floatgate.study.sweeps.read_table import read_table
from floatgate.study.sweeps.sweep import planned
from floatgate.study.tune.proposals import Proposals
from floatgate.trace.recorder.calls import Tally
from floatgate.trace.recorder.contexts import ContextTable
from floatgate.trace.recorder.files import FileTracker
from floatgate.trace.recorder.layout import Layout
from floatgate.trace.recorder.page_cache import CacheModel, PageCache
from floatgate.trace.recorder.perf_text import PerfParser
from floatgate.trace.recorder.text_trace import possible
from fuzz_surface import Surface, kept_on_failure

Read = Callable[[Path, int], object]
"""Called with a damaged file and the number of the round."""

SAMPLES = Path(__file__).parents[1] / "tests/python/test_record_samples"
WORDS = [
    b"0",
    b"-1",
    b"18446744073709551616",
    b"0x",
    b"(",
    b")",
    b"<",
    b"> ",
    b'"',
    b"\\",
    b" = ",
    b"\n",
    b"\0",
    b"\xff",
]
WORDS += [b"cmsg_data=[", b"(deleted)", b"pipe:[1]", b"/proc/self/fd/3", b"receive", b"syscalls:sys_enter_mmap: "]
WORDS += [b"NaN", b"Infinity", b"-1e999", b"true", b"null", b"[]", b"{}", b'"run":', b'"x":1,', b"1.0", b"9" * 25]
WORDS += [b"<unfinished ...>", b"<... write resumed>", b"+++ exited with 0 +++", b"AT_FDCWD", b"NULL", b"[pid 1] "]


def traces() -> dict[str, bytes]:
    """Return a sample of each format of traces, and of the text of perf."""
    texts = {f["name"]: f["sample"] for f in json.loads(_core.catalogue())["formats"]}
    samples = {name: texts[name]["text"].encode() for name in ("strace", "perf-script")}
    samples["strace"] += (SAMPLES / "passed.strace.txt").read_bytes()
    samples["perf"] = (SAMPLES / "writer.perf.txt").read_bytes() + (SAMPLES / "unseen.perf.txt").read_bytes()
    samples["strace"] += (
        b'17 1732104000.1 write(3</w/a>, "x", 1 <unfinished ...>\n18 1732104000.2 clone(child_stack=NULL) = 19\n'
        b"17 1732104000.3 <... write resumed>) = 1\n17 1732104000.4 ftruncate(3</w/a>, 0) = 0\n"
        b'17 1732104000.5 rename("a", "b") = 0\n17 1732104000.6 close(3</w/a>) = 0\n'
    )
    table = pa.table(
        {
            "time_ns": pa.array(range(50)),
            "op": pa.array(["read", "write"] * 25).dictionary_encode(),
            "offset": pa.array([4096 * i for i in range(50)], pa.uint64()),
            "bytes": pa.array([4096] * 50, pa.uint64()),
            "context": pa.array([7, None] * 25, pa.uint64()),
            "fingerprints": pa.array([None, [5]] * 25, pa.list_(pa.uint64())),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=20)
    samples["parquet"] = sink.getvalue().to_pybytes()
    return samples


def damaged(sample: bytes, rng: np.random.Generator) -> bytes:
    """Return the sample with some damage."""
    out = bytearray(sample)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(0, len(out) + 1))
        to = min(len(out), at + int(rng.integers(0, 24)))
        match int(rng.integers(0, 5)):
            case 0 if at < len(out):
                out[at] = int(rng.integers(0, 256))
            case 1:
                del out[at:to]
            case 2:
                out[at:to] = WORDS[int(rng.integers(0, len(WORDS)))]
            case 3:
                out[at:at] = out[at:to]
            case _:
                del out[max(at, 1) :]
    return bytes(out)


def recorded(path: Path, _number: int) -> None:
    """Parse the text that the recorder gets of perf, which is no trace format, and follow its calls."""
    tracker = FileTracker(
        PageCache(Layout(), CacheModel(), lambda _request: None), ContextTable(), {}, "/", [], of_this_machine=False
    )
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        for call in PerfParser(Tally()).calls(lines):
            if possible(call):
                tracker.take(call)


def reading(name: str) -> Read:
    """Return how a trace of a format is read."""
    if name == "perf":
        return recorded
    return lambda path, number: _core.trace_info(
        str(path), {"format": name, "on_bad_line": ("stop", "skip")[number % 2]}
    )


def journal(folder: Path) -> tuple[bytes, Read]:
    """Return the journal of a small sweep, one run of which failed, and how it is read."""
    small = {"drive.capacity": "4 MiB", "drive.geometry.pages_per_block": 16, "workload.requests": 500}
    vary = {"ftl.collect.policy": ["greedy", "fifo"], "drive.endurance.pe_cycles": [3000, 1]}
    place = folder / "sweep"
    floatgate.sweep({**small, "ftl.spare_factor": 0.25, "ftl.precondition": "random"}, vary, out=place)
    plan = planned(place)

    def read(path: Path, _number: int) -> None:
        with contextlib.closing(Journal(path, plan.keys, plan.wrong)) as journal:
            journal.write_table(folder / "table.parquet")
        read_table(folder / "table.parquet", plan.keys, len(plan))

    return (place / "journal.jsonl").read_bytes(), read


def proposals() -> tuple[bytes, Read]:
    """Return the proposals of a search, and how they are read."""
    axes = [parse_axis("a=0.1..0.4"), parse_axis("b=x,y"), parse_axis("c=1..9:3")]
    lines = [
        {"trial": number, "params": {"a": 0.1 + number / 30, "b": "xy"[number % 2], "c": 1}} for number in range(9)
    ]

    def read(path: Path, _number: int) -> None:
        Proposals(path, axes).close()

    return "".join(json.dumps(line) + "\n" for line in lines).encode(), read


def surfaces(folder: Path, seed: int) -> Iterator[Surface]:
    """List damaged files of each kind."""
    kinds = {name: (sample, reading(name)) for name, sample in traces().items()}
    kinds |= {"journal": journal(folder), "trials": proposals()}
    for name, (sample, read) in kinds.items():
        yield Surface(name, one_round_of(name, sample, read, folder, seed))


def one_round_of(name: str, sample: bytes, read: Read, folder: Path, seed: int) -> Callable[[int], None]:
    """Return the rounds of a kind of files."""
    path = folder / f"fuzz.{name}"

    def one_round(number: int) -> None:
        content = damaged(sample, np.random.default_rng([seed, number]))
        path.write_bytes(content)
        with kept_on_failure(f"{name}, seed {seed}, round {number}", name, content):
            read(path, number)

    return one_round
