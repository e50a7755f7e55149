"""The library that ``floatgate placement --format fcntl`` writes, in programs with signals, forks, threads, exec.

``FLOATGATE_PRELOAD_ROUNDS=10000`` runs more of the random programs.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from floatgate.placement import paths
from floatgate.placement.formats.fcntl import BYTES_MAX, MAKEFILE, ROWS_MAX

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "python/floatgate/placement/preload/hints.c"
PROGRAMS = Path(__file__).parent / "preload"
STRICT = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"]
GET_RW_HINT = 1035
ROUNDS = int(os.environ.get("FLOATGATE_PRELOAD_ROUNDS", "100"))
ROUND_S = 30
PREFIX = "floatgate hints: "


@dataclass(frozen=True)
class Ended:
    """The end of a program; ``status`` is None if it had to be killed."""

    status: int | None
    out: str
    err: str


def run(command: list[str], folder: Path, environment: Mapping[str, str], timeout: float = ROUND_S) -> Ended:
    """Runs a program in a process group of its own, and leaves none of the group behind."""
    with (folder / ".out").open("w") as out, (folder / ".said").open("w") as err:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        waits = os.pidfd_open(child.pid)
        try:
            ended = bool(select.select([waits], [], [], timeout)[0])
        finally:
            # The leader is not reaped before, so the number of the group is still its own.
            os.killpg(child.pid, signal.SIGKILL)
            status = child.wait()
            os.close(waits)
        return Ended(status if ended else None, (folder / ".out").read_text(), (folder / ".said").read_text())


def built(folder: Path, *arguments: str | Path) -> None:
    subprocess.run(["cc", *STRICT, *arguments], cwd=folder, check=True, timeout=120)


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library, built by its makefile, the stress program and a table."""
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("no C compiler or no make on this machine")
    folder = tmp_path_factory.mktemp("preload")
    try:
        with (folder / "any").open("w") as file:
            fcntl.fcntl(file, GET_RW_HINT, struct.pack("Q", 0))
    except OSError as error:
        pytest.skip(f"this kernel has no write lifetime hints: {error}")
    shutil.copy(SOURCE, folder / "hints.c")
    (folder / "Makefile").write_text(MAKEFILE)
    strict = "CC=cc " + " ".join(STRICT)
    subprocess.run(["make", strict], cwd=folder, check=True, capture_output=True, timeout=120)
    built(folder, "-o", "stress", PROGRAMS / "stress.c", "-lpthread")
    (folder / "hints.table").write_text("# a comment\n\nshort *.log\nmedium d/*\nlong /whole/x\n")
    return folder


def preloaded(kit: Path, *, table: str | Path | None = None, verbose: bool = False) -> dict[str, str]:
    return {
        "LD_PRELOAD": str(kit / "hints.so"),
        "FLOATGATE_HINTS": str(kit / "hints.table" if table is None else table),
        "FLOATGATE_HINTS_VERBOSE": "1" if verbose else "0",
    }


def test_random_programs_survive(kit: Path, tmp_path: Path) -> None:
    """Threads, forks, handlers that open files on small stacks, cancelled opens, exec, data in place of stderr."""
    ended: Counter[str] = Counter()
    failed: list[str] = []
    began = time.monotonic()
    for seed in range(ROUNDS):
        done = run([str(kit / "stress"), str(seed)], tmp_path, preloaded(kit, verbose=seed // 4 % 2 == 1))
        what = "survived"
        if done.status is None:
            what = "hung"
        elif done.status < 0:
            what = "aborted"
        elif done.status > 0:
            what = "failed"
        elif seed % 2 == 0 and (tmp_path / "data").read_bytes() != b"data":
            what = "changed data"
        ended[what] += 1
        if what != "survived":
            failed.append(f"seed {seed} {what} ({done.status})")
    print(f"{ROUNDS} rounds in {time.monotonic() - began:.0f} s: {dict(ended)}")
    assert failed == []


# Messages


SAY = """
import os, sys
for name in ("a.log", "b.log", "c"):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
"""


FORKS = """
for n in range(3):
    if os.fork() == 0:
        os.open("d.log", os.O_CREAT | os.O_WRONLY)
        sys.exit(0)
    os.wait()
"""
ASK = """
import fcntl, struct
print(struct.unpack("Q", fcntl.fcntl(os.open("a.log", os.O_WRONLY), 1035, bytes(8)))[0])
"""


def python(folder: Path, environment: Mapping[str, str], code: str) -> Ended:
    program = folder / "program.py"
    program.write_text(code)
    return run([os.path.realpath(sys.executable), "-I", str(program)], folder, environment)


def test_counts_are_told_at_the_end(kit: Path, tmp_path: Path) -> None:
    """By the process that loaded the library, with those of its forked children."""
    done = python(tmp_path, preloaded(kit, verbose=True), SAY + FORKS)
    assert done.status == 0
    assert done.err.splitlines() == [
        f"{PREFIX}{kit}/hints.table: 3 patterns",
        f"{PREFIX}5 opened with the hint of short *.log",
        f"{PREFIX}1 match no pattern, 0 take no hint",
    ]
    assert python(tmp_path, preloaded(kit), SAY).err == ""


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (
            b"short *.log\nshort\n",
            ":2: is not a hint with a pattern; expected short, medium, long, extreme or none, one ",
        ),
        (b"short *.log\nshort \n", ":2: is not a hint with a pattern"),
        (b"\nsoon *.log", ":2: is not a hint with a pattern"),
        (b"\xef\xbb\xbfshort *.log\n", ":1: is not a hint with a pattern"),
        (b"short *.log\r\n", ":1: has a zero byte or a carriage return"),
        (b"#\0\nshort *.log\n", ":1: has a zero byte or a carriage return"),
        (b"short *.log\n" * (ROWS_MAX + 1), f":{ROWS_MAX + 1}: is one row too many; expected at most {ROWS_MAX}"),
        (b"#" * (BYTES_MAX + 1), ": is too large; expected at most 16 MiB"),
        (None, ": No such file or directory"),
    ],
    ids=["no pattern", "empty pattern", "unknown", "mark", "carriage return", "zero", "rows", "bytes", "missing"],
)
def test_a_damaged_table_gives_one_message_and_no_hints(
    kit: Path, tmp_path: Path, content: bytes | None, wrong: str
) -> None:
    table = tmp_path / "bad.table"
    if content is not None:
        table.write_bytes(content)
    for verbose in (False, True):
        done = python(tmp_path, preloaded(kit, table=table, verbose=verbose), SAY + ASK)
        assert (done.status, done.out) == (0, "0\n")
        (line,) = done.err.splitlines()
        assert line.startswith(f"{PREFIX}{table}{wrong}")
        assert line.endswith("; no file gets a hint")


def test_a_table_as_large_as_is_allowed_is_loaded(kit: Path, tmp_path: Path) -> None:
    table = tmp_path / "large.table"
    table.write_bytes(b"long x/y\n" * (ROWS_MAX - 1) + b"short *.log\n")
    done = python(tmp_path, preloaded(kit, table=table, verbose=True), SAY)
    assert f"{PREFIX}2 opened with the hint of short *.log\n" in done.err


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "socket"])
def test_only_regular_files_are_tables(kit: Path, tmp_path: Path, kind: str) -> None:
    table = tmp_path / "table"
    if kind == "fifo":
        os.mkfifo(table)
    elif kind == "folder":
        table.mkdir()
    elif kind == "device":
        table = Path("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(os.path.relpath(table))
    done = python(tmp_path, preloaded(kit, table=table), SAY)
    assert done.status == 0
    wrong = "No such device or address" if kind == "socket" else "is not a regular file; expected a table that "
    assert done.err.startswith(f"{PREFIX}{table}: {wrong}")
    assert len(done.err.splitlines()) == 1


def test_no_message_goes_into_data(kit: Path, tmp_path: Path) -> None:
    """A program that closes standard error may open a data file under its number, or under that of our copy."""
    bad = tmp_path / "bad.table"
    bad.write_text("nonsense\n")
    take = "fd = os.open('data', os.O_CREAT | os.O_RDWR | os.O_TRUNC)\n"
    closes = "import os\nos.close(2)\n" + take + "assert fd == 2\n" + SAY
    everywhere = "import os\nos.closerange(2, 4096)\n" + take + "[os.dup2(2, n) for n in range(3, 1024)]\n" + SAY
    deletes = everywhere.replace("import os\n", "import os\nos.rename('.said', '.was')\nos.unlink('.was')\n", 1)
    deletes += "open('.said', 'w')\n"
    for code in (closes, everywhere, deletes):
        (tmp_path / "data").write_bytes(b"")
        done = python(tmp_path, preloaded(kit, verbose=True), code)
        assert done.status == 0, done.err
        assert (tmp_path / "data").read_bytes() == b""
    # A child begins with data under the number of standard error, which its parent left to it.
    for table in (None, bad):
        command = 'exec 2<>data; exec "$0" -c pass'
        done = run(["sh", "-c", command, sys.executable], tmp_path, preloaded(kit, table=table, verbose=True))
        assert done.status == 0
        assert (tmp_path / "data").read_bytes() == b""
        command = 'exec 2>&-; exec "$0" -c "$1"'
        done = run(["sh", "-c", command, sys.executable, closes.replace("os.close(2)\n", "")], tmp_path, preloaded(kit))
        assert done.status == 0
        assert (tmp_path / "data").read_bytes() == b""


def test_standard_error_without_a_reader_stops_nobody(kit: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.table"
    bad.write_text("nonsense\n")
    program = str(kit / "stress")
    for full in (False, True):
        reading, writing = os.pipe()
        if full:
            os.set_blocking(writing, False)
            with contextlib.suppress(BlockingIOError):
                for _ in range(1000):
                    os.write(writing, bytes(65536))
            os.set_blocking(writing, True)
        else:
            os.close(reading)
        try:
            done = subprocess.run(
                [program],
                cwd=tmp_path,
                env={**os.environ, **preloaded(kit, table=bad)},
                stderr=writing,
                timeout=ROUND_S,
                check=False,
            )
        finally:
            os.close(writing)
            if full:
                os.close(reading)
        # The program's own refusal of its arguments, not a signal.
        assert done.returncode > 0


# Which opens are seen


EARLY = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int __open64_2(const char *path, int flags);
__attribute__((constructor)) static void first(void)
{
    char name[] = "XXXXXX";
    int flags = O_CREAT | O_WRONLY;
    int fds[] = {open("1", flags, 0600), open64("2", flags, 0600), openat(AT_FDCWD, "3", flags, 0600), creat("4", 0600),
                 mkstemp(name), openat64(AT_FDCWD, "5", flags, 0640), __open64_2("1", O_WRONLY)};
    FILE *stream = fopen("6", "w");
    int bad = stream == NULL || fclose(stream) != 0;
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
        bad |= fds[i] < 0 || write(fds[i], "x", i < 6) < 0 || close(fds[i]) != 0;
    puts(bad ? "bad" : "good");
}
"""


def test_libraries_may_open_files_before_the_constructor(kit: Path, tmp_path: Path) -> None:
    (tmp_path / "early.c").write_text(EARLY)
    built(tmp_path, "-shared", "-fPIC", "-o", "early.so", "early.c")
    environment = preloaded(kit, verbose=True)
    for order in ([environment["LD_PRELOAD"], str(tmp_path / "early.so")], [str(tmp_path / "early.so"), "hints"]):
        both = ":".join(environment["LD_PRELOAD"] if one == "hints" else one for one in order)
        done = run(["/bin/true"], tmp_path, {**environment, "LD_PRELOAD": both})
        assert (done.status, done.out) == (0, "good\n"), done.err
        assert (tmp_path / "5").stat().st_mode & 0o777 == 0o640
        assert all((tmp_path / name).stat().st_size == 1 for name in "12345")


LONG = """
import fcntl, os, struct
hint = lambda fd: struct.unpack("Q", fcntl.fcntl(fd, 1035, bytes(8)))[0]
write = os.O_CREAT | os.O_WRONLY
found = []
for length in (200, 12, 240, 250, 255):
    os.mkdir("x" * length)
    os.chdir("x" * length)
    found.append(hint(os.open("a.log", write)))
for _ in range(20):
    os.mkdir("y" * 250)
    os.chdir("y" * 250)
found.append(hint(os.open("a.log", write)))
found.append(hint(os.open("b", write)))
os.mkdir("d")
found.append(hint(os.open("d/c", write)))
print(found)
"""


def test_long_paths_are_matched_too(kit: Path, tmp_path: Path) -> None:
    """Beyond what /proc tells (one page), by the name that the program gave."""
    done = python(tmp_path, preloaded(kit), LONG)
    assert done.out == "[2, 2, 2, 2, 2, 2, 0, 3]\n", done.err
    shutil.rmtree(tmp_path / ("x" * 200), ignore_errors=True)


def test_static_programs_run_as_ever(kit: Path, tmp_path: Path) -> None:
    command = ["cc", *STRICT, "-static", "-o", "static", str(PROGRAMS / "stress.c")]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False).returncode != 0:
        pytest.skip("no static C library on this machine")
    done = run(["./static", "1"], tmp_path, preloaded(kit, verbose=True))
    # Its files have no hint, which is what it looks for first.
    assert done.status is not None
    assert done.status > 0
    assert done.err == ""


def test_the_wrappers_call_nothing_that_locks_or_allocates(kit: Path) -> None:
    """What the library imports, beyond which a reader should look for trouble."""
    command = ["nm", "-D", "--undefined-only", "hints.so"]
    listed = subprocess.run(command, cwd=kit, capture_output=True, text=True, check=True, timeout=60).stdout
    imported = {line.split()[-1].split("@")[0] for line in listed.splitlines() if " U " in line}
    in_handlers = (
        "__errno_location __fxstat64 __stack_chk_fail fcntl fcntl64 fileno fstat fstat64 memcmp readlink strchr strlen "
        "syscall"
    )
    at_start_or_end = (
        "close dlerror dlsym getpid getrlimit memchr memset mmap mprotect munmap poll pthread_sigmask read "
        "secure_getenv sigaddset sigemptyset sigismember sigpending sigtimedwait snprintf strcmp strerror strncmp "
        "vsnprintf write"
    )
    assert imported <= set(in_handlers.split()) | set(at_start_or_end.split())


def test_the_first_row_that_matches_counts_as_in_python(kit: Path, tmp_path: Path) -> None:
    """Tables as floatgate writes them: folded and literal patterns in their order."""
    built(tmp_path, f'-DSOURCE="{SOURCE}"', "-o", "table", PROGRAMS / "table.c")
    seen = 0
    for seed in range(40):
        rng = random.Random(seed)
        pieces = ["a", "b", "7", "42", ".", "-", "_", "[", "]", "*", "tmp", "\\", "?", "é"]
        made = [
            "/" + "/".join("".join(rng.choices(pieces, k=rng.randint(1, 5))) for _ in range(rng.randint(1, 4)))
            for _ in range(60)
        ]
        patterns = paths.in_order([*map(paths.fold, made[:15]), *map(paths.literal, made[15:25])])
        (tmp_path / "t").write_text("".join(f"short {pattern}\n" for pattern in patterns), "utf-8")
        (tmp_path / "names").write_bytes(b"".join(path.encode() + b"\0" for path in made))
        done = run(["./table", "first", "t", "names"], tmp_path, {})
        rows = [None if one == "-1" else int(one) for one in done.out.split()]
        matcher = paths.Matcher(patterns)
        assert rows == [matcher.first(path) for path in made], f"seed {seed}"
        assert None not in rows[:25]
        seen += sum(row is not None for row in rows)
    assert seen > 1000


def test_the_source_tells_the_limits(kit: Path) -> None:
    text = SOURCE.read_text()
    assert re.search(r"TABLE_ROWS_MAX (\d+)u", text).group(1) == str(ROWS_MAX)  # type: ignore[union-attr]
    assert f"TABLE_BYTES_MAX ({BYTES_MAX >> 20}u << 20)" in text
    assert len(text.splitlines()) <= 600
