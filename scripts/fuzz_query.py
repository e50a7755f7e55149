"""Queries of folders with hostile names, which must be literal, and damaged SQL, which must change no file."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from floatgate.base.errors import InputError, RunError
from floatgate.study.query import query
from fuzz_surface import Surface

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
SQL = ["select", "*", "from", "sweep", "copy", "to", "(", ")", "explain", "analyze", "with", "a", "as", ",", ";"]
SQL += ["attach", "read_text", "set", "=", "1", "install", "pivot", "on"]
SQL += ["create", "table", "load", "call", "query", "prepare", "'{new}'", "'{table}'", "/**/", "--\n"]
SQL += ["insert into", "export database", "(use_tmp_file false)", "union all"]


def surfaces(folder: Path, seed: int) -> Iterator[Surface]:
    """Yield names and SQL."""
    yield Surface("names in queries", names(folder, seed), 50)
    yield Surface("SQL", statements(folder, seed), 50)


def names(folder: Path, seed: int) -> Callable[[int], None]:
    """Query two folders with hostile names; each answer must come from the one that was named."""

    def one_round(number: int) -> None:
        rng = np.random.default_rng([seed, number])
        here = folder / f"names{number}"
        for which in range(3):
            name = "".join(rng.choice(NAMES, int(rng.integers(1, 6))))
            one = here / name
            if name.startswith(".") or one.exists():
                continue
            one.mkdir(parents=True)
            (one / "sweep.json").write_text("{}")
            with (one / "sweep.parquet").open("wb") as file:
                pq.write_table(pa.table({"number": [which]}), file)
        for one in sorted(here.iterdir()) if here.exists() else []:
            with (one / "sweep.parquet").open("rb") as file:
                own = pq.read_table(file)["number"].to_pylist()
            if query([one], "select number from sweep")["number"].to_pylist() != own:
                raise SystemExit(f"names in queries, seed {seed}, round {number}: {str(one)!r} is not literal")
        shutil.rmtree(here, ignore_errors=True)

    return one_round


def statements(folder: Path, seed: int) -> Callable[[int], None]:
    """Run damaged SQL; it must end in an answer or an error of ours, and change no file."""
    here = folder / "sql"
    here.mkdir()
    (here / "sweep.json").write_text("{}")
    table = here / "sweep.parquet"
    pq.write_table(pa.table({"a": [1]}), table)
    before = table.read_bytes()

    def one_round(number: int) -> None:
        rng = np.random.default_rng([seed, number, 1])
        sql = " ".join(rng.choice(SQL, int(rng.integers(1, 12)))).format(new=here / "new", table=table)
        if number % 2:
            explained = ("", "explain analyze ")[number % 4 // 2]
            sql = f"{explained}copy (select 1 as a) to '{table}' (use_tmp_file false) {sql}"
        with contextlib.suppress(InputError, RunError):
            query([here], sql)
        if table.read_bytes() != before or len(list(here.iterdir())) != 2:
            raise SystemExit(f"SQL, seed {seed}, round {number}: {sql!r} has changed files")

    return one_round
