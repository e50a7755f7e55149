"""The two ways to watch a program, which of them works here, and running it.

``perf``: the kernel copies the stack at every write (tracepoints, DWARF unwinding afterwards); strace, stopped only by
the calls that open, close, rename, truncate and sync files, gives the names. ``strace``: every write stops the program
and its stack is unwound there and then.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from pathlib import Path
from typing import TextIO

from floatgate.base.errors import PATH_MAX, input_error, quote
from floatgate.trace.recorder import perf_data, perf_text, strace_data, strace_text
from floatgate.trace.recorder.calls import Call, Tally
from floatgate.trace.recorder.processes import Birth

PERF, STRACE = "perf", "strace"
BACKENDS = (PERF, STRACE)
_POLL_S = 0.02
_RING_MIB = (16, 256)
"""Least and most that perf keeps of a processor's events until it has stored them. With stacks of 8 KiB a linker or a
database fills 16 MiB within some 40 ms; what comes on top is lost."""
_LEAST_RING_MIB = 4
"""Least where the kernel refuses more. A run of SQLite lost no event with 16 or 4, hundreds with 1 or 0.5, which is
what perf takes without rights: there strace is the better one."""
_RING_SHARE = 32
"""The rings of all processors together take at most this part of the memory that is free."""
_NOT_STRACE = ("--filter", 'comm != "strace"')
"""Strace writes each of its lines by itself. Perf would keep a stack for every one of them: of a compilation, with its
many opens, some fifty times as much as of the compiler."""
_TRACEPOINTS = Path("/sys/kernel/tracing/events/syscalls")
_FILTERS = {"mmap": perf_text.MAPPED}
_SIGNALS = "hup,int,quit,ill,trap,abrt,bus,fpe,kill,segv,pipe,term,xcpu,xfsz,sys"
"""Signals that strace prints, for the end of a process that one of them kills. With ``-k`` it unwinds the stack at each
signal that it prints, before the program's handler runs. Where that takes longer than the period of a timer, the next
signal is there when the handler returns, and the program makes no step more. So those that timers send are not among
them: ALRM, VTALRM, PROF, IO, USR1, USR2, those of real time."""
_APART = 'log=$1; shift; exec "$@" {0}>&2 2> "$log"'
"""Keeps the messages of perf apart from those of the program. ``{0}`` is a free descriptor, one digit for the shell."""
_WRAPPER = 'echo $$ > "$1"; shift; exec "$@" 2>&{0} {0}>&-'
_READINGS = 9
"""Readings of both clocks, of which the best counts. On a busy machine of two processors one of 300 single readings
took 40 us, and the best of nine never more than 0.2 us."""
_EXCERPT_MAX = 300
_STAMPS = "--absolute-timestamps=format:unix,precision:ns"
_ALLOW_PERF = (
    "allow it with `sysctl kernel.perf_event_paranoid=-1` and `mount -t tracefs nodev /sys/kernel/tracing` readable "
    "for you, or record as root"
)
_ALLOW_RING = (
    f"allow it with `sysctl kernel.perf_event_mlock_kb={(_RING_MIB[0] << 10) + 4}` or "
    "`sysctl kernel.perf_event_paranoid=-1`, or record as root or with the capability IPC_LOCK"
)
_ALLOW_STRACE = "allow it with `sysctl kernel.yama.ptrace_scope=0` or the capability SYS_PTRACE"
_INSTALL_PERF = "install perf (package linux-perf, on Ubuntu linux-tools-generic)"
_INSTALL_STRACE = "install strace (package strace)"


@dataclass(frozen=True)
class Problem:
    """The reason why a back end does not work here, and the remedy."""

    what: str
    remedy: str

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True)
class Ring:
    """Mebibytes of perf's ring for each processor, and how many the free memory would allow."""

    mib: int
    fair_mib: int


@dataclass(frozen=True)
class Choice:
    """A back end, why it was chosen, and the mebibytes of perf's rings (None: as the free memory allows)."""

    name: str
    reason: str
    ring_mib: int | None = None


@dataclass
class Recording:
    """A program that was run; its record is in files."""

    backend: str
    wall_s: float
    root: int | None
    strace_file: Path
    perf_text_file: Path | None
    strace_process: int | None
    clock: Callable[[int], int] | None
    numbers: dict[int, int]
    """Real process numbers by those in the text of perf."""
    data: bool = False
    """Whether the text has the written data."""
    status: int | None = None
    """The status with which the back end ended, which is the program's where it ran to its end."""

    def spawned(self) -> dict[int, Birth]:
        """Return which task started which."""
        with _text(self.strace_file) as lines:
            return strace_text.spawned(lines)

    def calls(self, tally: Tally) -> Iterator[Call]:
        """Yield all calls in the order of time."""
        with _text(self.strace_file) as lines:
            named = strace_text.StraceParser(tally, self.clock, data=self.data).calls(lines)
            if self.perf_text_file is None:
                yield from named
                return
            with _text(self.perf_text_file) as more:
                written = perf_text.PerfParser(tally, self.strace_process, self.numbers).calls(more)
                named = (call for call in named if not _is_perfs(call))
                yield from merge(_monotone(named), _monotone(written), key=lambda call: call.time_ns)


def _is_perfs(call: Call) -> bool:
    """Return whether perf reports this call of strace's, too: a copy to the descriptor's own offset."""
    return strace_text.COPY in call.flags and call.offset is None


def _text(path: Path) -> TextIO:
    return path.open(encoding="utf-8", errors="surrogateescape", newline="\n")


def _monotone(calls: Iterator[Call]) -> Iterator[Call]:
    """Yield the same calls; a stamp before its forerunner's is raised to that."""
    latest = 0
    for call in calls:
        latest = max(latest, call.time_ns)
        yield call if call.time_ns == latest else call._replace(time_ns=latest)


def choose(wanted: str | None, folder: Path) -> Choice:
    """Return the back end that works here, or the wanted one if that does.

    Args:
        wanted: ``perf``, ``strace``, or None for perf where it may and strace elsewhere.
        folder: where to try them.

    Raises:
        InputError: it does not work; the message says what to allow.
    """
    if wanted == STRACE:
        problem = strace_problem(folder)
        if problem is not None:
            raise input_error(f"--backend strace: {problem}; {problem.remedy}")
        return Choice(STRACE, "asked for")
    perf = perf_ring(folder)
    if isinstance(perf, Ring):
        reason = "asked for" if wanted == PERF else "perf may read the system-call tracepoints"
        if perf.mib < perf.fair_mib:
            reason += f"; rings of {perf.mib} MiB, for kernel.perf_event_mlock_kb forbids {perf.fair_mib}"
        return Choice(PERF, reason, perf.mib)
    strace = strace_problem(folder)
    if wanted == PERF:
        instead = ", or use --backend strace" if strace is None else ""
        raise input_error(f"--backend perf: {perf}; {perf.remedy}{instead}")
    if strace is not None:
        remedies = "; ".join(dict.fromkeys((perf.remedy, strace.remedy)))
        raise input_error(f"no back end works here: perf: {perf}; strace: {strace}; {remedies}")
    return Choice(STRACE, f"perf does not work here ({perf})")


def strace_problem(folder: Path, *, stacks: bool = True) -> Problem | None:
    """Return why strace does not work here; None where it does."""
    if shutil.which("strace") is None:
        return Problem("strace is not installed", _INSTALL_STRACE)
    command = [
        "strace",
        "-f",
        *(["-k"] if stacks else []),
        "--seccomp-bpf",
        _STAMPS,
        "-o",
        str(folder / "probe"),
        "true",
    ]
    failure = _failure(command, "strace")
    return None if failure is None else Problem(failure, _ALLOW_STRACE)


def perf_problem(folder: Path) -> Problem | None:
    """Return why perf does not work here; None where it does."""
    ring = perf_ring(folder)
    return ring if isinstance(ring, Problem) else None


def perf_ring(folder: Path) -> Ring | Problem:
    """Return the ring that perf gets here, or why perf does not work."""
    if shutil.which("perf") is None:
        return Problem("perf is not installed", _INSTALL_PERF)
    version = re.search(r"(\d+)\.(\d+)", _output_of(["perf", "--version"]))
    if version is not None and (int(version[1]), int(version[2])) < (5, 16):
        what = f"perf {version[0]} prints no addresses relative to modules; 5.16 or newer does"
        return Problem(what, "install a newer perf")
    names = strace_problem(folder, stacks=False)
    if names is not None:
        return Problem(f"strace, which tells perf the names of files, does not work: {names}", names.remedy)
    fair = ring_mib(_free_bytes(), os.cpu_count() or 1)
    ring = fair
    while True:
        failure = _perf_failure(folder, ring)
        if failure is None:
            return Ring(ring, fair)
        if not _ring_refused(failure):
            return Problem(failure, _ALLOW_PERF)
        if ring <= _LEAST_RING_MIB:
            return Problem(f"rings of {ring} MiB a processor: {failure}", _ALLOW_RING)
        ring = max(_LEAST_RING_MIB, ring // 4)


def _perf_failure(folder: Path, ring: int) -> str | None:
    """Return perf's message if a trial with rings of this size fails; None if it succeeds."""
    data = folder / "probe.data"
    command = [*_perf_record(data, ring), *_perf_events(8192, reads=False), "--", "true"]
    try:
        return _failure(command, "perf")
    finally:
        data.unlink(missing_ok=True)


def _perf_record(data: Path, ring: int) -> list[str]:
    """Return the start of a recording's command line. With -q perf would not report why it gets no ring."""
    return ["perf", "record", "-k", "mono", "-m", f"{ring}M", "-o", str(data)]


def _ring_refused(text: str) -> bool:
    return "mapping pages" in text or "failed to mmap" in text


def _output_of(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout  # noqa: S603


def _failure(command: list[str], name: str) -> str | None:
    """Return the first words of a trial that failed; None if it succeeded."""
    try:
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", check=False, timeout=60, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{name} cannot be run ({error})"
    if ended.returncode == 0:
        return None
    return f"{name} failed with status {ended.returncode}: {_excerpt(ended.stderr)}"


def _excerpt(text: str) -> str:
    """Return what a back end says when it fails: all, or if that is long, the most telling line and the last."""
    lines = [line.strip().removeprefix("Error:").strip() for line in text.splitlines()]
    lines = [line for line in lines if line not in ("", "Warning:")]
    whole = " ".join(lines)
    if len(whole) <= _EXCERPT_MAX:
        return whole or "(it says nothing)"
    telling = next((line for line in lines if "ermission" in line or "not permitted" in line), lines[0])
    half = _EXCERPT_MAX // 2
    return f"{telling[:half]} ... {lines[-1][-half:]}"


def _perf_events(stack_bytes: int, *, reads: bool) -> list[str]:
    """List the events: entries of writes with stacks; exits, seeks and reads without.

    Without rights perf (6.1 at least) limits them to user space by itself, adds that to their names, and then has no
    formats for these names to store. ``perf script`` refuses such a file. So they all end in ``u`` from the start.
    """
    arguments: list[str] = []
    with_stack = [name for name in perf_text.WRITES if _has(name)]
    without = [name for name in ("lseek", *(perf_text.READS if reads else ())) if _has(name)]
    for name in with_stack:
        arguments += ["-e", f"syscalls:sys_enter_{name}/call-graph=dwarf,stack-size={stack_bytes}/u", *_NOT_STRACE]
        arguments += ["-e", f"syscalls:sys_exit_{name}/call-graph=no/u", *_NOT_STRACE]
    for name, mine in ((name, _FILTERS.get(name)) for name in perf_text.UNSEEN if _has(name)):
        phrases = [_NOT_STRACE[0], _NOT_STRACE[1] if mine is None else f"{_NOT_STRACE[1]} && {mine}"]
        arguments += ["-e", f"syscalls:sys_enter_{name}/call-graph=no/u", *phrases]
    for name in without:
        for side in ("enter", "exit"):
            arguments += ["-e", f"syscalls:sys_{side}_{name}/call-graph=no/u", *_NOT_STRACE]
    return arguments


def _has(name: str) -> bool:
    """Return whether the kernel has tracepoints of a call; yes if that cannot be looked up."""
    try:
        return not _TRACEPOINTS.is_dir() or (_TRACEPOINTS / f"sys_enter_{name}").is_dir()
    except OSError:
        return True


def _strace_command(output: Path, names: Sequence[str], *, stacks: bool, data: bool = False) -> list[str]:
    traced = ",".join(f"?{name}" for name in names)
    whole = ",".join(f"?{name}" for name in strace_text.WHOLE)
    return [
        "strace", "-f", *(["-k"] if stacks else []), "--seccomp-bpf", "-y",
        "-s", str(strace_data.LIMIT if data else 0), _STAMPS,
        "-e", "quiet=attach,path-resolution", "-e", f"signal={_SIGNALS}",
        "-e", f"trace={traced}", "-e", f"abbrev=!{whole}",
        "-o", str(output), "--",
    ]  # fmt: skip


def run(
    choice: Choice,
    command: list[str],
    folder: Path,
    *,
    reads: bool,
    stack_bytes: int,
    with_data: bool = False,
    stdout: int | None = None,
) -> Recording:
    """Run the program to its end under a back end.

    Args:
        choice: the back end.
        command: the program and its arguments.
        folder: for the back end's files.
        reads: whether reads are recorded.
        stack_bytes: how much of the stack perf copies.
        with_data: whether strace prints the written data.
        stdout: where the program's standard output goes, if not to ours.

    Raises:
        InputError: the back end failed without running the program.
    """
    output = folder / "strace.txt"
    if choice.name == STRACE:
        others = tuple(name for name in strace_text.OTHERS if name not in strace_text.NAMELESS)
        names = (*others, *strace_text.WRITES, *(strace_text.READS if reads else ()))
        full = [*_strace_command(output, names, stacks=True, data=with_data), *command]
        wall_s, _, status = _watch(full, folder, stdout)
        return Recording(STRACE, wall_s, _first_task(output), output, None, None, None, {}, with_data, status)
    others = tuple(name for name in strace_text.OTHERS if name not in strace_text.FREQUENT or not _has(name))
    names = (*others, *strace_text.BY_STRACE)
    data, pid_file = folder / "perf.data", folder / "strace.pid"
    events = _perf_events(stack_bytes, reads=reads)
    spare = _spare_descriptor()
    traced = [*_strace_command(output, names, stacks=False), *command]
    wrapped = ["sh", "-c", _WRAPPER.format(spare), "sh", str(pid_file), *traced]
    ring = choice.ring_mib or ring_mib(_free_bytes(), os.cpu_count() or 1)
    perf_says = folder / "perf.err"
    full = ["sh", "-c", _APART.format(spare), "sh", str(perf_says), *_perf_record(data, ring), *events, "--", *wrapped]
    wall_s, clock, status = _watch(full, folder, stdout, perf_says)
    if not perf_data.is_complete(data):
        raise input_error(f"perf ended before it had stored all: {_excerpt(_content(perf_says))}; try --backend strace")
    numbers = perf_data.separate_programs(data)
    text = folder / "perf.txt"
    _perf_script(data, text, folder)
    data.unlink(missing_ok=True)
    strace = int(pid_file.read_text())
    return Recording(PERF, wall_s, _first_task(output), output, text, strace, clock, numbers, status=status)


def _spare_descriptor() -> int:
    """Find a descriptor that the program does not inherit, for perf's own messages."""
    for fd in range(9, 2, -1):
        try:
            taken = os.get_inheritable(fd)
        except OSError:
            return fd
        if not taken:
            return fd
    raise input_error("descriptors 3 to 9 are all inherited; expected a free one for perf, or --backend strace")


def _content(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def ring_mib(free_bytes: int, processors: int) -> int:
    """Compute the mebibytes of perf's ring per processor: a power of two, as perf requires."""
    least, most = _RING_MIB
    fair = free_bytes // _RING_SHARE // processors >> 20
    return max(least, min(most, 1 << max(0, fair.bit_length() - 1)))


def _free_bytes() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _first_task(output: Path) -> int | None:
    with _text(output) as lines:
        first: str = next(iter(lines), "")
    return int(first.split(maxsplit=1)[0]) if first[:1].isdigit() else None


def _perf_script(data: Path, text: Path, folder: Path) -> None:
    fields = "pid,tid,time,event,trace,ip,sym,symoff,dso"
    command = ["perf", "script", "-i", str(data), "--ns", "--no-inline", "--show-lost-events", "-F", fields]
    with text.open("wb") as out, (folder / "script.err").open("wb") as errors:
        status = subprocess.run(command, stdout=out, stderr=errors, check=False).returncode  # noqa: S603
    if status != 0:
        reason = _excerpt(_content(folder / "script.err"))
        raise input_error(f"perf script failed with status {status}: {reason}; try --backend strace")


def _watch(
    command: list[str], folder: Path, stdout: int | None, perf_says: Path | None = None
) -> tuple[float, Callable[[int], int], int]:
    """Run a back end to its end; also keep how the two clocks stand to each other, which may drift.

    Returns:
        Seconds, what turns the one clock's times into the other's, and the status; 128 + the signal that ended it.
    """
    started = time.monotonic()
    drift = [_clocks()]
    process = subprocess.Popen(command, stdout=stdout, close_fds=False)  # noqa: S603
    try:
        while True:
            try:
                process.wait(_POLL_S)
                break
            except subprocess.TimeoutExpired:
                drift.append(_clocks())
    except KeyboardInterrupt:
        _stop(process)
        raise
    wall_s = time.monotonic() - started
    drift.append(_clocks())
    if not (folder / "strace.txt").exists():
        what = f"ended with status {process.returncode} before the program began"
        if perf_says is None:
            raise input_error(f"{command[0]} {what}")
        reason = _excerpt(_content(perf_says))
        remedy = _ALLOW_RING if _ring_refused(reason) else "try --backend strace"
        raise input_error(f"perf {what}: {reason}; {remedy}")
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return wall_s, _to_monotonic(drift), status


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the program and the back end; on a terminal the program got the interrupt too and may end on its own."""
    for number, patience_s in ((0, 2.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 60.0)):
        for child in _descendants(process.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, number)
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(patience_s)
            return
    process.kill()


def _descendants(root: int) -> list[int]:
    """List the processes that a process started, and those that they started, the youngest generation last."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int(entry.read_text("utf-8", "replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.parent.name))
    processes = list(children.get(root, []))
    for process in processes:
        processes += children.get(process, [])
    return processes


def _clocks() -> tuple[int, int]:
    """Return the time since 1970, and what to add to it for the monotonic clock, both in nanoseconds.

    The tightest of several readings: one that is interrupted in its midst is off by up to half of the interruption. The
    calls of strace would then move against the writes of perf, and an fsync stand before the write that it follows.
    """
    return min((_reading() for _ in range(_READINGS)), key=lambda reading: reading[0])[1:]


def _reading() -> tuple[int, int, int]:
    """Return how long a reading of both clocks took, and its result (see :func:`_clocks`)."""
    before = time.monotonic_ns()
    real = time.time_ns()
    after = time.monotonic_ns()
    return after - before, real, (before + after) // 2 - real


def _to_monotonic(drift: list[tuple[int, int]]) -> Callable[[int], int]:
    """Turns times since 1970 into monotonic ones, straight between the moments at which both were read."""
    stamps = [real for real, _ in drift]

    def clock(real: int) -> int:
        right = bisect.bisect_right(stamps, real)
        if right == 0 or right == len(drift):
            return real + drift[min(right, len(drift) - 1)][1]
        (left_stamp, left_add), (right_stamp, right_add) = drift[right - 1], drift[right]
        part = (real - left_stamp) / max(1, right_stamp - left_stamp)
        return real + left_add + round((right_add - left_add) * part)

    return clock


@dataclass(frozen=True)
class PlainRun:
    """A run of the program without a recorder; its status is 128 + the signal where one ended it."""

    wall_s: float
    status: int


def run_without(command: list[str], stdout: int | None) -> PlainRun:
    """Run the program without a recorder, and time it."""
    started = time.monotonic()
    code = subprocess.run(command, check=False, stdout=stdout, close_fds=False).returncode  # noqa: S603
    return PlainRun(time.monotonic() - started, 128 - code if code < 0 else code)


def executable(command: list[str]) -> None:
    """Refuse a command that is missing or no program.

    Raises:
        InputError: the command is empty, or its program does not exist.
    """
    if not command or not command[0]:
        raise input_error("no command to record; expected floatgate trace record [options] -- COMMAND...")
    if shutil.which(command[0]) is None:
        there = Path(command[0]).exists()
        what = "cannot be executed" if there else "no such program"
        raise input_error(f"{quote(command[0], PATH_MAX)}: {what}; expected a program to run after --")
