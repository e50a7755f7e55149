"""Damage samples of what Python reads; look for other than InputError.

Traces (Parquet, strace, perf script), journals of sweeps and proposals of searches. A damaged journal that is accepted
must still make a table that loads.

Each format gets ``--seconds``; a failure prints the seed of its round and leaves the input in a file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import floatgate
from floatgate import _core
from floatgate.errors import InputError
from floatgate.sweeps.journal import Journal
from floatgate.sweeps.points import parse_axis
from floatgate.sweeps.read_table import read_table
from floatgate.sweeps.sweep import planned
from floatgate.tune.proposals import Proposals

Read = Callable[[Path, int], object]
"""Called with a damaged file and the number of the round."""

ROUNDS_WITHOUT_TIME = 200
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
WORDS += [b"NaN", b"Infinity", b"-1e999", b"true", b"null", b"[]", b"{}", b'"run":', b'"x":1,', b"1.0", b"9" * 25]
WORDS += [b"<unfinished ...>", b"<... write resumed>", b"+++ exited with 0 +++", b"AT_FDCWD", b"NULL", b"[pid 1] "]


def traces() -> dict[str, bytes]:
    """A sample of each format of traces."""
    texts = {f["name"]: f["sample"] for f in json.loads(_core.catalogue())["formats"]}
    found = {name: texts[name]["text"].encode() for name in ("strace", "perf-script")}
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


def reading(name: str) -> Read:
    """How a trace of a format is read."""
    return lambda path, number: _core.trace_info(
        str(path), {"format": name, "on_bad_line": ("stop", "skip")[number % 2]}
    )


def journal(folder: Path) -> tuple[bytes, Read]:
    """The journal of a small sweep, one run of which failed, and how it is read."""
    small = {"drive.capacity": "4 MiB", "drive.geometry.pages_per_block": 16, "workload.requests": 500}
    vary = {"ftl.collect.policy": ["greedy", "fifo"], "drive.endurance.pe_cycles": [3000, 1]}
    place = folder / "sweep"
    floatgate.sweep({**small, "ftl.spare_factor": 0.25, "ftl.precondition": "random"}, vary, out=place)
    plan = planned(place)

    def read(path: Path, _number: int) -> None:
        with contextlib.closing(Journal(path, plan.keys, plan.wrong)) as found:
            found.write_table(folder / "table.parquet")
        read_table(folder / "table.parquet", plan.keys, len(plan))

    return (place / "journal.jsonl").read_bytes(), read


def proposals() -> tuple[bytes, Read]:
    """The proposals of a search, and how they are read."""
    axes = [parse_axis("a=0.1..0.4"), parse_axis("b=x,y"), parse_axis("c=1..9:3")]
    lines = [
        {"trial": number, "params": {"a": 0.1 + number / 30, "b": "xy"[number % 2], "c": 1}} for number in range(9)
    ]

    def read(path: Path, _number: int) -> None:
        Proposals(path, axes).close()

    return "".join(json.dumps(line) + "\n" for line in lines).encode(), read


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


def fuzz(name: str, sample: bytes, read: Read, seconds: float | None, seed: int, folder: Path) -> int:
    """Rounds survived within the time; without one a fixed number."""
    ends = None if seconds is None else time.monotonic() + seconds
    path = folder / f"fuzz.{name}"
    rounds = 0
    while rounds < ROUNDS_WITHOUT_TIME if ends is None else time.monotonic() < ends:
        content = damaged(sample, np.random.default_rng([seed, rounds]))
        path.write_bytes(content)
        try:
            read(path, rounds)
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
        kinds = {name: (sample, reading(name)) for name, sample in traces().items()}
        kinds |= {"journal": journal(Path(folder)), "trials": proposals()}
        for name, (sample, read) in kinds.items():
            rounds = fuzz(name, sample, read, options.seconds, options.seed, Path(folder))
            print(f"{name}: {rounds} rounds from seed {options.seed}")


if __name__ == "__main__":
    main()
