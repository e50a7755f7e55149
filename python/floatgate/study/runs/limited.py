"""Runs with a memory limit: each thread runs them in a separate process, which the system ends in our place.

The process is kept from run to run and started once. A run that allocates more than its limit ends it,
and that is the run's error; the next run gets a new one.
"""

from __future__ import annotations

import contextlib
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from floatgate.base import units
from floatgate.plugins import kept
from floatgate.plugins.api import load_policies
from floatgate.study.runs.work import FAILED, Answer, Job, Progress, do

_HEAD = struct.Struct("<Q")
_LOOK_S = 0.1
"""Seconds between two looks at whether a run is to be stopped."""


def perform(job: Job, progress: Progress | None = None) -> Answer:
    """Do a job: here, or where it has a limit of memory in this thread's process for such runs."""
    if job.memory_bytes is None:
        return do(job, progress)
    child = _of_thread(job.memory_bytes)
    try:
        return child.do(job, progress)
    except BaseException:
        child.close()
        raise


_threads = threading.local()


def _of_thread(memory_bytes: int) -> _Child:
    child: _Child | None = getattr(_threads, "child", None)
    policies = kept.files()
    if child is None or not child.alive or (child.memory_bytes, child.policies) != (memory_bytes, policies):
        if child is not None:
            child.close()
        child = _threads.child = _Child(memory_bytes, policies)
    return child


class _Child:
    """The process that does the runs of a thread."""

    def __init__(self, memory_bytes: int, policies: tuple[str, ...]) -> None:
        self.memory_bytes, self.policies = memory_bytes, policies
        command = [sys.executable, "-m", "floatgate.study.runs.limited", str(memory_bytes), *policies]
        self._process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def __del__(self) -> None:
        self.close()

    def do(self, job: Job, progress: Progress | None) -> Answer:
        """Return the answer to a job; that it needed too much memory where the process has ended over it."""
        assert self._process.stdin is not None  # noqa: S101 - for mypy
        assert self._process.stdout is not None  # noqa: S101
        try:
            _send(self._process.stdin, job)
            while not select.select([self._process.stdout], [], [], _LOOK_S)[0]:
                if progress is not None:
                    progress(0, None, "")
            answer = _receive(self._process.stdout)
        except (BrokenPipeError, EOFError):
            self.close()
            limit = units.binary_bytes(self.memory_bytes)
            what = f"needs more memory than --memory {limit}: its process {_end(self._process.returncode)}"
            return Answer(job.number, FAILED, f"the run {what}; expected a larger limit or a smaller drive")
        assert isinstance(answer, Answer)  # noqa: S101
        return answer

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.kill()
        self._process.wait()


def _end(status: int) -> str:
    return f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"


def _send(pipe: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    pipe.write(_HEAD.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    (size,) = _HEAD.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - from a process of ours


def _main() -> None:
    """Do the jobs that come through standard input until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for file in sys.argv[2:]:
        load_policies(file)
    # Mappings of the interpreter and the libraries do not count as memory of a run.
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = mapped + int(sys.argv[1])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            job: Job = _receive(sys.stdin.buffer)
            try:
                answer = do(job)
            except MemoryError:
                text = f"the run needs more memory than --memory {units.binary_bytes(int(sys.argv[1]))}"
                answer = Answer(job.number, FAILED, f"{text}; expected a larger limit or a smaller drive")
            _send(sys.stdout.buffer, answer)


if __name__ == "__main__":
    _main()
