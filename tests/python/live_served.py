"""Live drives in processes of their own, for tests."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SETTINGS = ("--set", "drive.capacity=64 MiB", "--set", "ftl.spare_factor=0.25")


@dataclass
class Served:
    """A drive that is being served, or was.

    Attributes:
        status: its exit status, once it has ended.
        printed: the file of all that it printed.
    """

    printed: Path
    status: int | None = None

    def text(self) -> str:
        return self.printed.read_text()

    def address(self) -> str:
        """The address of the dashboard."""
        match = re.search(r"http://\S+", self.text())
        assert match, self.text()
        return match[0]


@contextlib.contextmanager
def served(folder: Path, *more: str, end: int = signal.SIGTERM) -> Iterator[Served]:
    """Serve a drive while the block runs, then end it."""
    command = [sys.executable, "-m", "floatgate", "live", str(folder), *SETTINGS, "--no-report", *more]
    drive = Served(folder.with_suffix(".printed"))
    with drive.printed.open("w") as printed, subprocess.Popen(command, stdout=printed, stderr=printed) as process:
        try:
            bound = time.monotonic() + 60
            while "Ctrl-C" not in drive.text():
                assert process.poll() is None, drive.text()
                assert time.monotonic() < bound
                time.sleep(0.02)
            yield drive
        finally:
            process.send_signal(end)
            drive.status = process.wait(60)


def refused(*words: str) -> str:
    """Run a command that must end with status 2; returns its message."""
    command = [sys.executable, "-m", "floatgate", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    return done.stderr


def without_run(path: Path) -> dict[str, object]:
    result: dict[str, object] = json.loads(path.read_text())
    del result["run"]
    return result
