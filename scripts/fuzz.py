"""Damage what Python reads: traces, the text of perf in a recording, JSON documents of all kinds, tables of hints.

Nothing but an InputError may come of it; tables, patterns and paths for the preloaded library of hints must give what
Python gives (``fuzz_hints.py``). Each kind gets ``--seconds``; a failure prints the seed of its round and leaves the
input in a file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import fuzz_hints
import json_damage
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
ROUNDS_OF_HINTS = 10
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


def fuzz(one_round: Callable[[int], None], seconds: float | None, fixed: int = ROUNDS_WITHOUT_TIME) -> int:
    """Rounds within the time; without one a fixed number."""
    ends = None if seconds is None else time.monotonic() + seconds
    rounds = 0
    while rounds < fixed if ends is None else time.monotonic() < ends:
        one_round(rounds)
        rounds += 1
    return rounds


@contextlib.contextmanager
def kept_on_failure(what: str, name: str, content: bytes) -> Iterator[None]:
    """Leave the input of a round that fails in a file."""
    try:
        yield
    except InputError:
        pass
    except BaseException as error:
        kept = Path(f"fuzz-failure.{name}")
        kept.write_bytes(content)
        raise SystemExit(f"{what}: {error!r}; the input is {kept}") from error


def of_traces(name: str, sample: bytes, seed: int, folder: Path) -> Callable[[int], None]:
    """Rounds of a trace format."""
    path = folder / f"fuzz.{name}"

    def one_round(number: int) -> None:
        content = damaged(sample, np.random.default_rng([seed, number]))
        path.write_bytes(content)
        with kept_on_failure(f"{name}, seed {seed}, round {number}", name, content):
            if name == "perf":
                recorded(path)
            else:
                _core.trace_info(str(path), {"format": name, "on_bad_line": ("stop", "skip")[number % 2]})

    return one_round


def of_json(name: str, reader: json_damage.Reader, seed: int, folder: Path) -> Callable[[int], None]:
    """Rounds of a kind of JSON document."""

    def one_round(number: int) -> None:
        content = json_damage.damaged(reader.sample, random.Random(f"{seed}:{name}:{number}"))
        with kept_on_failure(f"{name}, seed {seed}, round {number}", f"{name}.json", content):
            json_damage.outcome(reader, content, folder / "document")

    return one_round


def of_hints(seed: int, folder: Path) -> Callable[[int], None]:
    """Rounds of the preloaded library."""
    program = fuzz_hints.build(folder)

    def one_round(number: int) -> None:
        try:
            fuzz_hints.fuzz_round(program, random.Random(f"{seed} {number}"), folder)
        except SystemExit as error:
            raise SystemExit(f"hints, seed {seed}, round {number}: {error}") from None

    return one_round


def main() -> None:
    """Fuzz all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="for each format; without it a fixed number of rounds")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seconds, seed = options.seconds, options.seed
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for name, sample in samples().items():
            print(f"{name}: {fuzz(of_traces(name, sample, seed, folder), seconds)} rounds from seed {seed}")
        for name, reader in json_damage.readers(folder / "samples").items():
            print(f"JSON of {name}: {fuzz(of_json(name, reader, seed, folder), seconds)} rounds from seed {seed}")
        if shutil.which("cc") is None:
            print("hints: left out, since there is no C compiler")
        else:
            print(f"hints: {fuzz(of_hints(seed, folder), seconds, ROUNDS_OF_HINTS)} rounds from seed {seed}")


if __name__ == "__main__":
    main()
