"""Damage samples of what Python reads (Parquet, strace, perf script, perf's text in a recording).

Anything but InputError is a failure.

Each format gets ``--seconds``; a failure prints the seed of its round and leaves the input in a file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from floatgate import _core
from floatgate.errors import InputError
from floatgate.recorder.calls import Tally
from floatgate.recorder.contexts import ContextTable
from floatgate.recorder.files import FileTracker
from floatgate.recorder.layout import Layout
from floatgate.recorder.page_cache import CacheModel, PageCache
from floatgate.recorder.perf_text import PerfParser
from floatgate.recorder.text_trace import possible

ROUNDS_WITHOUT_TIME = 200
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
WORDS += [b"<unfinished ...>", b"<... write resumed>", b"+++ exited with 0 +++", b"AT_FDCWD", b"NULL", b"[pid 1] "]


def samples() -> dict[str, bytes]:
    """A sample of each format."""
    texts = {f["name"]: f["sample"] for f in json.loads(_core.catalogue())["formats"]}
    found = {name: texts[name]["text"].encode() for name in ("strace", "perf-script")}
    found["strace"] += (SAMPLES / "passed.strace.txt").read_bytes()
    found["perf"] = (SAMPLES / "writer.perf.txt").read_bytes() + (SAMPLES / "unseen.perf.txt").read_bytes()
    found["strace"] += (
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
    found["parquet"] = sink.getvalue().to_pybytes()
    return found


def damaged(sample: bytes, rng: np.random.Generator) -> bytes:
    """The sample with some damage."""
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


def recorded(path: Path) -> None:
    """Parse the text that the recorder gets of perf, which is no trace format, and follow its calls."""
    tracker = FileTracker(
        PageCache(Layout(), CacheModel(), lambda _request: None), ContextTable(), {}, "/", [], of_this_machine=False
    )
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        for call in PerfParser(Tally()).calls(lines):
            if possible(call):
                tracker.take(call)


def fuzz(name: str, sample: bytes, seconds: float | None, seed: int, folder: Path) -> int:
    """Rounds survived within the time; without one a fixed number."""
    ends = None if seconds is None else time.monotonic() + seconds
    path = folder / f"fuzz.{name}"
    rounds = 0
    while rounds < ROUNDS_WITHOUT_TIME if ends is None else time.monotonic() < ends:
        content = damaged(sample, np.random.default_rng([seed, rounds]))
        path.write_bytes(content)
        try:
            if name == "perf":
                recorded(path)
            else:
                _core.trace_info(str(path), {"format": name, "on_bad_line": ("stop", "skip")[rounds % 2]})
        except InputError:
            pass
        except BaseException as error:
            kept = Path(f"fuzz-failure.{name}")
            kept.write_bytes(content)
            raise SystemExit(f"{name}, seed {seed}, round {rounds}: {error!r}; the input is {kept}") from error
        rounds += 1
    return rounds


def main() -> None:
    """Fuzz all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="for each format; without it a fixed number of rounds")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, sample in samples().items():
            rounds = fuzz(name, sample, options.seconds, options.seed, Path(folder))
            print(f"{name}: {rounds} rounds from seed {options.seed}")


if __name__ == "__main__":
    main()
