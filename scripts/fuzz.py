"""Damage samples of the traces that Python reads (Parquet, strace, perf script); look for other than InputError.

Queries run over folders with hostile names, which must be literal, and with damaged SQL, which must change no file.
Each format, the names and the SQL get ``--seconds``; a failure prints the seed of its round, and a damaged trace is
kept in a file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from floatgate import _core
from floatgate.errors import InputError, RunError
from floatgate.query import query

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
WORDS += [b"<unfinished ...>", b"<... write resumed>", b"+++ exited with 0 +++", b"AT_FDCWD", b"NULL", b"[pid 1] "]


def samples() -> dict[str, bytes]:
    """A sample of each format."""
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


def fuzz(name: str, sample: bytes, seconds: float | None, seed: int, folder: Path) -> int:
    """Rounds survived within the time; without one a fixed number."""
    ends = None if seconds is None else time.monotonic() + seconds
    path = folder / f"fuzz.{name}"
    rounds = 0
    while rounds < ROUNDS_WITHOUT_TIME if ends is None else time.monotonic() < ends:
        content = damaged(sample, np.random.default_rng([seed, rounds]))
        path.write_bytes(content)
        try:
            _core.trace_info(str(path), {"format": name, "on_bad_line": ("stop", "skip")[rounds % 2]})
        except InputError:
            pass
        except BaseException as error:
            kept = Path(f"fuzz-failure.{name}")
            kept.write_bytes(content)
            raise SystemExit(f"{name}, seed {seed}, round {rounds}: {error!r}; the input is {kept}") from error
        rounds += 1
    return rounds


NAMES = [
    "a",
    "b",
    "1",
    "..",
    ".",
    "s3:",
    "file:",
    "%20",
    "$HOME",
    "\x1b",
    "\u202e",
    "é",
    "\udcff",
    *"[]*?\\'\"\n~:={}, -!();@#",
]


def names(seconds: float | None, seed: int, folder: Path) -> int:
    """Query two folders with hostile names; each answer must come from the one that was named."""
    ends = None if seconds is None else time.monotonic() + seconds
    rounds = 0
    while rounds < ROUNDS_WITHOUT_TIME // 4 if ends is None else time.monotonic() < ends:
        rng = np.random.default_rng([seed, rounds])
        here = folder / f"names{rounds}"
        for number in range(3):
            name = "".join(rng.choice(NAMES, int(rng.integers(1, 6))))
            one = here / name
            if name.startswith(".") or one.exists():
                continue
            one.mkdir(parents=True)
            (one / "sweep.json").write_text("{}")
            with (one / "sweep.parquet").open("wb") as file:
                pq.write_table(pa.table({"number": [number]}), file)
        for one in sorted(here.iterdir()) if here.exists() else []:
            with (one / "sweep.parquet").open("rb") as file:
                own = pq.read_table(file)["number"].to_pylist()
            if query([one], "select number from sweep")["number"].to_pylist() != own:
                raise SystemExit(f"names, seed {seed}, round {rounds}: {str(one)!r} is not literal")
        shutil.rmtree(here, ignore_errors=True)
        rounds += 1
    return rounds


SQL = ["select", "*", "from", "sweep", "copy", "to", "(", ")", "explain", "analyze", "with", "a", "as", ",", ";"]
SQL += ["attach", "read_text", "set", "=", "1", "install", "pivot", "on"]
SQL += ["create", "table", "load", "call", "query", "prepare", "'{new}'", "'{table}'", "/**/", "--\n"]
SQL += ["insert into", "export database", "(use_tmp_file false)", "union all"]


def statements(seconds: float | None, seed: int, folder: Path) -> int:
    """Run damaged SQL; it must end in an answer or an error of ours, and change no file."""
    ends = None if seconds is None else time.monotonic() + seconds
    here = folder / "sql"
    here.mkdir()
    (here / "sweep.json").write_text("{}")
    table = here / "sweep.parquet"
    pq.write_table(pa.table({"a": [1]}), table)
    before = table.read_bytes()
    rounds = 0
    while rounds < ROUNDS_WITHOUT_TIME // 4 if ends is None else time.monotonic() < ends:
        rng = np.random.default_rng([seed, rounds, 1])
        sql = " ".join(rng.choice(SQL, int(rng.integers(1, 12)))).format(new=here / "new", table=table)
        if rounds % 2:
            sql = (
                ("", "explain analyze ")[rounds % 4 // 2]
                + f"copy (select 1 as a) to '{table}' (use_tmp_file false) "
                + sql
            )
        with contextlib.suppress(InputError, RunError):
            query([here], sql)
        if table.read_bytes() != before or len(list(here.iterdir())) != 2:
            raise SystemExit(f"sql, seed {seed}, round {rounds}: {sql!r} has changed files")
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
        for what in (names, statements):
            rounds = what(options.seconds, options.seed, Path(folder))
            print(f"query, {what.__name__}: {rounds} rounds from seed {options.seed}")


if __name__ == "__main__":
    main()
