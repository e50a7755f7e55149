"""Kill live drives at random moments, and check that what was flushed is still there.

``scripts/live_cuts.py fio 500``: fio writes through the socket, is cut, and verifies afterwards.
``scripts/live_cuts.py sqlite 50`` and ``postgres 50``: a database on ext4, mounted. These need root, nbdfuse and loop
devices; PostgreSQL also a user ``postgres``.

fio runs on a drive whose writes are in the file at once: all that the drive has confirmed must be there. SQLite and
PostgreSQL run with ``--cache volatile``: a kill loses half of what was not flushed, the file system must mount, and
every transaction that was committed must be there. Prints a line per cut with its seed; ends with status 1 at the first
loss.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

DRIVE = ("--drive", "ent-tlc-ri-1t92", "--capacity", "4GiB", "--no-report", "--quiet")
START_S = 60.0
JOURNAL_HEADER_BYTES = 40


class LostError(Exception):
    """Something that was flushed is not there."""


def run(*command: object, check: bool = True, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run a command, and return what it printed."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=check, text=True, capture_output=True, timeout=300, **settings)  # type: ignore[call-overload,no-any-return]


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    bound = time.monotonic() + START_S
    while not condition():
        if time.monotonic() > bound:
            raise TimeoutError(what)
        time.sleep(0.05)


class Drive:
    """A live drive in a process of its own.

    Attributes:
        folder: of the drive.
        process: that serves it.
    """

    def __init__(self, folder: Path, cache: str) -> None:
        """Serve a drive, new or as it was left."""
        self.folder = folder
        self.socket = folder / "socket"
        self.socket.unlink(missing_ok=True)
        command = [sys.executable, "-m", "floatgate", "live", str(folder), *DRIVE, "--cache", cache]
        with (folder.parent / "printed").open("a") as printed:
            self.process = subprocess.Popen(command, stdout=printed, stderr=printed)
        wait_for(lambda: self.socket.exists() or self.process.poll() is not None, "the drive does not start")
        if self.process.poll() is not None:
            raise LostError(f"the drive does not start: {(folder.parent / 'printed').read_text()}")

    def kill(self) -> None:
        """Kill it as a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """End it in order."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(START_S)


@contextlib.contextmanager
def block_device(drive: Drive) -> Iterator[str]:
    """Make the drive a block device while the block runs."""
    place = drive.folder.parent / "nbd"
    place.mkdir(exist_ok=True)
    fuse = subprocess.Popen(["nbdfuse", str(place), f"nbd+unix:///?socket={drive.socket}"], stderr=subprocess.DEVNULL)
    device = ""
    try:
        wait_for((place / "nbd").exists, "nbdfuse does not start")
        options = ("--sector-size", "4096", "--direct-io=on", "-f", "--show")
        device = run("losetup", *options, place / "nbd").stdout.strip()
        yield device
    finally:
        if device:
            run("losetup", "-d", device, check=False)
        # After a kill nbdfuse waits for its server: the mount goes away without it.
        run("umount", "-l", place, check=False)
        fuse.kill()
        fuse.wait()


@contextlib.contextmanager
def mounted(device: str, place: Path) -> Iterator[Path]:
    """Keep a device mounted while the block runs."""
    place.mkdir(exist_ok=True)
    run("mount", device, place)
    try:
        yield place
    finally:
        if run("umount", place, check=False).returncode != 0:
            run("umount", "-l", place, check=False)


def fio(folder: Path, drawn: random.Random) -> str:
    """Cut the power of fio; it saves what the drive has confirmed, and verifies that."""
    drive = Drive(folder / "drive", "safe")
    job = [
        "fio",
        "--name=cut",
        "--ioengine=nbd",
        f"--uri=nbd+unix:///?socket={drive.socket}",
        "--rw=randwrite",
        "--bs=4k",
        "--size=1g",
        "--verify=crc32c",
        f"--randseed={drawn.randrange(1 << 30)}",
    ]
    depth = drawn.choice((1, 4, 16))
    after_ms = drawn.randrange(20, 1500)
    trigger = f"kill -9 {drive.process.pid}"
    cut = folder / "cut"
    state = [
        f"--iodepth={depth}",
        "--verify_state_save=1",
        "--do_verify=0",
        f"--trigger-file={cut}",
        f"--trigger={trigger}",
    ]
    with subprocess.Popen([*job, *state], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as writer:
        wait_for(lambda: (folder / "drive/journal").stat().st_size > JOURNAL_HEADER_BYTES, "fio does not write")
        time.sleep(after_ms / 1e3)
        cut.touch()
        writer.wait(START_S)
    drive.kill()
    drive = Drive(folder / "drive", "safe")
    # One at a time: with more under way fio 3.33 does not see where the writes that were under way at the cut begin.
    check = ("--iodepth=1", "--verify_state_load=1", "--verify_state_save=0", "--verify_only")
    verified = run(*job, *check, check=False, cwd=folder)
    drive.end()
    if verified.returncode != 0:
        raise LostError(f"fio's verify at depth {depth} after {after_ms} ms: {verified.stderr}{verified.stdout}")
    read = re.search(r"READ:.* io=(\S+)", verified.stdout)
    if read is None:
        raise LostError(f"fio verified nothing: {verified.stdout}")
    return f"depth {depth}, after {after_ms} ms: {read[1]} verified"


def on_ext4(folder: Path, drawn: random.Random, work: Callable[[Path, Drive, float], Callable[[Path], str]]) -> str:
    """Let a program work on ext4 until the power is cut; then it checks what is there."""
    drive = Drive(folder / "drive", "volatile")
    with block_device(drive) as device:
        run("mkfs.ext4", "-q", device)
        with mounted(device, folder / "mnt") as place:
            check = work(place, drive, drawn.uniform(0.3, 2.5))
    drive = Drive(folder / "drive", "volatile")
    try:
        with block_device(drive) as device, mounted(device, folder / "mnt") as place:
            return check(place)
    finally:
        drive.end()


SQLITE = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute("pragma synchronous=extra")  # "full" does not sync the folder after the commit
base.execute("create table t(n integer primary key, text blob)")
n = 0
while True:
    base.execute("begin")
    base.executemany("insert into t values(?, randomblob(200))", ((n + i,) for i in range(20)))
    base.execute("commit")
    n += 20
    print(n, flush=True)
"""


def sqlite(place: Path, drive: Drive, time_s: float) -> Callable[[Path], str]:
    """Insert rows until the power is cut; all that were committed must be there."""
    command = [sys.executable, "-c", SQLITE, str(place / "a.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        time.sleep(time_s)
        drive.kill()
        time.sleep(0.2)
        process.kill()
        outcome = process.stdout.read().split() if process.stdout else []
    committed = int(outcome[-1]) if outcome else 0

    def check(place: Path) -> str:
        rows = run("sqlite3", place / "a.db", "pragma integrity_check; select count(*) from t;", check=False)
        lines = rows.stdout.split()
        if committed and (rows.returncode != 0 or lines[0] != "ok" or int(lines[1]) < committed):
            raise LostError(f"SQLite: {committed} rows were committed: {rows.stdout}{rows.stderr}")
        return f"after {time_s:.1f} s: {committed} rows committed, {' '.join(lines)}"

    return check


def postgres(place: Path, drive: Drive, time_s: float) -> Callable[[Path], str]:
    """Run transactions of PostgreSQL until the power is cut; all that were committed must be there."""
    tools = _postgres_tools()
    data = place / "pg"
    data.mkdir()
    shutil.chown(data, "postgres")
    place.chmod(0o755)
    _as_postgres(tools / "initdb", "-D", data, "-A", "trust", "--no-instructions")
    start = ("-D", data, "-l", data / "log", "-o", f"-k {data} -c listen_addresses=", "-w")
    _as_postgres(tools / "pg_ctl", *start, "start")
    psql = ("psql", "-h", str(data), "-qAt", "postgres")
    _as_postgres(*psql, "-c", "create table t(n int primary key, x text)")
    loop = (
        "i=1; while psql -h " + str(data) + " -qAt postgres -c "
        '"insert into t select $i * 100 + g, md5(g::text) from generate_series(0, 99) g"; '
        "do echo $i; i=$((i + 1)); done"
    )
    with subprocess.Popen(
        ["runuser", "-u", "postgres", "--", "sh", "-c", loop],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        time.sleep(time_s)
        drive.kill()
        run("pkill", "-9", "-u", "postgres", check=False)
        outcome = process.stdout.read().split() if process.stdout else []
    committed = len(outcome)

    def check(place: Path) -> str:
        # A process may have the number of the killed server by now.
        for lock in (data / "postmaster.pid", *data.glob(".s.PGSQL.*")):
            lock.unlink(missing_ok=True)
        try:
            _as_postgres(tools / "pg_ctl", *start, "start")
        except subprocess.CalledProcessError:
            raise LostError(f"PostgreSQL does not start: {(place / 'pg/log').read_text()}") from None
        rows = _as_postgres(*psql, "-c", "select count(*) from t").stdout.strip()
        _as_postgres(tools / "pg_ctl", "-D", data, "-m", "fast", "-w", "stop")
        if int(rows) < 100 * committed:
            raise LostError(f"PostgreSQL: {100 * committed} rows were committed, {rows} are there")
        return f"after {time_s:.1f} s: {100 * committed} rows committed, {rows} there"

    return check


def _postgres_tools() -> Path:
    """Return the folder of initdb and pg_ctl."""
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    rows = packaged[-1] if packaged else Path(shutil.which("initdb") or "initdb")
    return rows.parent


def _as_postgres(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a command as the user of the database."""
    return run("runuser", "-u", "postgres", "--", *command)


def cuts(kind: str, count: int, seed: int) -> int:
    """Cut the power so many times; returns the exit status."""
    for number in range(seed, seed + count):
        drawn = random.Random(f"{kind} {number}")
        with tempfile.TemporaryDirectory(prefix="floatgate-cut-") as text:
            folder = Path(text)
            folder.chmod(0o755)
            (folder / "drive").mkdir()
            try:
                if kind == "fio":
                    outcome = fio(folder, drawn)
                else:
                    outcome = on_ext4(folder, drawn, sqlite if kind == "sqlite" else postgres)
            except LostError as error:
                print(f"{kind} {number}: LOST: {error}", flush=True)
                return 1
        print(f"{kind} {number}: {outcome}", flush=True)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("fio", "sqlite", "postgres"))
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args(arguments)
    return cuts(wanted.kind, wanted.count, wanted.seed)


if __name__ == "__main__":
    sys.exit(main())
