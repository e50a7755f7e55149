"""How each back end sees the ways in which programs change files (``test_record_samples/descriptors.c``).

Writes that belong to no known file are counted and reported, never taken for writes to a pipe or terminal.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conftest import Cli
from floatgate.cli.record import _text
from floatgate.trace.recorder.descriptors import Unseen
from test_record_cli import described, problem, some_backend

__all__ = ["some_backend"]

SOURCE = Path(__file__).parent / "test_record_samples" / "descriptors.c"
PAGE = 4096

ATTRIBUTED = {
    "passed": 11,  # one before the descriptor goes through the socket, ten by who receives it
    "passed_in_many": 3,
    "passed_deleted": 4,
    "stolen": 3,
    "by_proc": 2,
    "duplicated": 3,
    "shared_table": 3,
    "over_exec": 2,
    "inherited": 2,
    "spliced": 1,
    "sent": 2,
    "copied": 2,
}
"""Pages that both back ends attribute, by the file's name."""
NEITHER = ("mapped", "by_ring", "by_aio")


@functools.cache
def program(folder: Path) -> Path:
    """The compiled program."""
    compiled = folder / "descriptors"
    subprocess.run(["gcc", "-g", "-O1", "-Wall", "-Werror", SOURCE, "-o", compiled], check=True)
    return compiled


def record(folder: Path, backend: str, *arguments: object) -> tuple[str, set[str]]:
    """Record in a process of its own, whose descriptor 7 is a file; also name the ways that do not work here."""
    command = [
        sys.executable,
        "-m",
        "floatgate",
        "trace",
        "record",
        "--backend",
        backend,
        "--json",
        "--force",
        "-o",
        "t.parquet",
    ]
    shell = ["sh", "-c", 'exec "$@" 7> inherited', "sh"]
    done = subprocess.run(
        [*shell, *command, "--", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, set(re.findall(r"^(\w+): status", done.stderr, re.MULTILINE))


@functools.cache
def outcome(base: Path, backend: str) -> tuple[dict[str, Any], dict[str, list[int]], Path, set[str]]:
    """The facts of a recording of all ways, the pages written of each file, the folder, and the ways that fail here."""
    folder = base / f"descriptors-{backend}"
    folder.mkdir(exist_ok=True)
    output, failed = record(folder, backend, program(base))
    facts = json.loads(output)
    names = described(folder / "t.parquet")["files"]
    pages: dict[str, list[int]] = {}
    extents: dict[str, int] = {}
    for row in pq.read_table(folder / "t.parquet").to_pylist():
        if row["op"] == "write":
            name = names[str(row["file"])]
            first = row["offset"] // PAGE
            start = extents.setdefault(name, first - first % 256)
            pages.setdefault(name, []).extend(range(first - start, first - start + row["bytes"] // PAGE))
    return facts, pages, folder, failed


def recorded(base: Path, backend: str, *needed: str) -> tuple[dict[str, Any], dict[str, list[int]], Path]:
    """The first three of :func:`outcome`, where the needed ways work here."""
    facts, pages, folder, failed = outcome(base, backend)
    if failed & set(needed):
        pytest.skip(f"this system refuses {', '.join(sorted(failed & set(needed)))}")
    return facts, pages, folder


@pytest.fixture(params=["strace", "perf"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every back end that works here."""
    name: str = request.param
    why = problem(name, tmp_path_factory.getbasetemp())
    if why is not None:
        pytest.skip(f"{name}: {why}")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is missing")
    return name


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all tests share."""
    return tmp_path_factory.getbasetemp()


@pytest.mark.parametrize("name", ATTRIBUTED)
def test_a_write_belongs_to_the_file_of_its_descriptor(base: Path, backend: str, name: str) -> None:
    _, pages, _ = recorded(base, backend, name)
    # Each way writes each page once; of the copies the one with an offset of its own lies at page 3.
    expected = [0, 3] if name == "copied" else list(range(ATTRIBUTED[name]))
    assert sorted(pages[name]) == expected


@pytest.mark.parametrize("name", NEITHER)
def test_what_no_back_end_sees_is_not_in_the_trace(base: Path, backend: str, name: str) -> None:
    facts, pages, folder = recorded(base, backend, *NEITHER)
    assert name not in pages
    assert (folder / name).stat().st_size > 0
    seen = facts["not_seen"]
    assert (seen["io_uring_calls"], seen["aio_calls"], seen["mapped_files"]) == (3, 1, 1)


def test_writes_to_descriptors_of_unknown_origin_are_counted(base: Path, backend: str) -> None:
    facts, pages, _ = recorded(base, backend, "by_ring")
    seen = facts["not_seen"]
    if backend == "strace":  # which names the file of each write
        assert pages["opened_by_ring"] == [0, 1]
        assert (seen["writes"], seen["write_bytes"], seen["writes_to"]) == (0, 0, {})
    else:  # the descriptor came out of io_uring, and no call that strace prints has it
        assert "opened_by_ring" not in pages
        unknown = {"descriptor of unknown origin": {"writes": 2, "bytes": 2 * PAGE}}
        assert (seen["writes"], seen["write_bytes"], seen["writes_to"]) == (2, 2 * PAGE, unknown)


def test_system_calls_of_32_bits_are_recorded_or_counted(base: Path, backend: str) -> None:
    facts, pages, _ = recorded(base, backend, "by_32_bit")
    expected = ([0], 0) if backend == "strace" else (None, 1)
    assert (pages.get("by_32_bit"), facts["not_seen"]["threads_of_32_bit"]) == expected


def test_writes_elsewhere_are_known_to_be_so(base: Path, backend: str) -> None:
    facts, _, folder = recorded(base, backend, "elsewhere", "spliced", "stolen")
    # `elsewhere` makes one each; pipes also carry the page of `spliced` and what `stolen` says to its child.
    kinds = Counter(described(folder / "t.parquet")["recorder"]["elsewhere"])
    assert kinds == {"pipe": 4, "socket": 1, "device": 1, "memory": 1, "kernel": 1}
    assert facts["writes_elsewhere"] == sum(kinds.values())
    assert (facts["lost_events"], facts["malformed_lines"], facts["unpaired_calls"]) == (0, 0, 0)


def test_nothing_lost_is_only_said_where_all_was_seen(base: Path, backend: str) -> None:
    facts, _, _ = recorded(base, backend, *NEITHER, "by_32_bit")
    lines = [line for line in _text(facts).splitlines() if line.startswith(("not seen", "lost"))]
    of_both = "3 io_uring calls, 1 Linux AIO call, 1 file mapped for writing"
    unknown = f"2 writes ({2 * PAGE} bytes) to descriptors of unknown origin, "
    of_perf = f"{unknown}{of_both}, the calls of 1 thread of 32 bits"
    assert lines == [f"not seen   {of_both if backend == 'strace' else of_perf}"]
    lost = _text({**facts, "lost_events": 3, "unpaired_calls": 1}).splitlines()
    assert "lost       3 events, 1 unpaired call" in lost
    # A recording of which nothing is missing.
    text = _text({**facts, "not_seen": Unseen().to_dict()})
    assert "not seen" not in text
    assert "lost       0 events" in text


def test_a_program_whose_writes_cannot_be_seen_is_no_program_that_writes_nothing(
    cli: Cli, base: Path, tmp_path: Path, some_backend: str
) -> None:
    message = cli("trace", "record", "--backend", some_backend, "--", program(base), "mapped").refused()
    assert message.endswith("wrote no file in a way that can be recorded; not seen: 1 file mapped for writing")
    assert (tmp_path / "mapped").read_bytes() == b"m" * 4 * PAGE
